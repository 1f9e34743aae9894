"""Theorem fractional.slope: the gap that a softmax read-out demands at a score ratio."""

from __future__ import annotations

from typing import Any

import sympy

from bmin_derivations import routes
from bmin_derivations.instances import whole
from bmin_derivations.records import Enclosure, Instance, Part, Step, Theorem
from bmin_derivations.relations import eq, ge, gt, le
from bmin_derivations.symbols import D_MIN, A, D, E, L, a, c, g, k, m
from bminlib import extremal

_half = sympy.Rational(1, 2)
_u = sympy.Symbol("u", integer=True, positive=True)
_rho, _t, _f = sympy.symbols("y_s y_t y_f", real=True)
ROWS = "all pairs of rows c <= alpha + D c/(a + c) <= c + 1, by brute force"

READ_OUT = A + (c * D + g * m * E) / (a + c + g * m)


def low(count: Any) -> Any:
    """c - D c/(a + c): the row c bounds alpha = A + 1/2 by it from below, by 1 + it from above."""
    return count - D * count / (a + count)


def pair_steps() -> tuple[Step, ...]:
    """What two rows force, and the form of the read-out."""
    value = A + D * k / (a + k)
    at_end = A + D * L / (a + L)
    upper_slack = (k + 1) - D * k / (a + k)
    lower_slack = D * a * (L - k) / ((a + k) * (a + L)) - (L - 1 - k)
    return (
        Step(
            "The softmax read-out with scores in the ratios a : 1 : g and read values y_s, y_t, "
            "y_f has this form, D = y_t - y_s, E = y_f - y_s.",
            eq(
                (a * _rho + c * _t + g * m * _f) / (a + c + g * m),
                READ_OUT.subs({A: _rho, D: _t - _rho, E: _f - _rho}),
            ),
        ),
        Step(
            "Without fillers, yhat(0) >= -1/2 and yhat(k) <= k + 1/2 give D k/(a+k) <= k + 1.",
            eq((k + _half - value) + (A + _half), upper_slack),
        ),
        Step(
            "yhat(k) <= k + 1/2 and yhat(L) >= L - 1/2 give D a (L-k)/((a+k)(a+L)) >= L - 1 - k.",
            eq((at_end - L + _half) + (k + _half - value), lower_slack),
        ),
        Step(
            "The second times k (a+L) plus the first times a (L-k), both nonnegative, eliminate "
            "D: a >= k (L-1-k) for every 0 < k < L, and strictly if the rows are strict.",
            eq(
                k * (a + L) * lower_slack + a * (L - k) * upper_slack,
                L * (a - k * (L - 1 - k)),
            ),
        ),
        Step(
            "Solved for D, the second row pair is the gap of row u = L - k.",
            eq(
                (D - extremal.gap_by_row(L, a, L - k)) * a * (L - k) / ((a + k) * (a + L)),
                lower_slack,
            ),
        ),
    )


def _slope_steps() -> tuple[Step, ...]:
    row = extremal.gap_by_row(L, a, L - k)
    alpha = low(L)
    rise = extremal.gap_by_row(L, a, _u + 1) - extremal.gap_by_row(L, a, _u)
    return (
        *pair_steps(),
        Step(
            "alpha = A + 1/2 must lie between h(c) = c - D c/(a+c) and 1 + h(c) for every c. "
            "h is convex, so its largest value is at c = 0 or c = L.",
            gt(sympy.Derivative(low(c), (c, 2)), 0),
        ),
        Step(
            "For a >= k (L-1-k) the row's gap is at most a + L (less where a is greater) ...",
            eq((a + L) - row, (a + L) * (a - k * (L - 1 - k)) / (a * (L - k))),
        ),
        Step(
            "... so h(L) >= 0 = h(0) at D = D(a), and alpha = h(L) meets every lower row.",
            eq(alpha, L * (a + L - D) / (a + L)),
        ),
        Step(
            "With alpha = h(L), the upper row at c = k holds iff D is at least the gap of row L-k.",
            eq(
                1 + low(k) - alpha,
                (D - row) * a * (L - k) / ((a + k) * (a + L)),
            ),
        ),
        Step(
            "Above a* every row leaves room once D exceeds all row gaps and stays below a + L: "
            "then h(L) > 0, and a little more than h(L) is strictly within all rows.",
            gt(1 + low(k) - alpha, 0),
            given=(gt(D, row), gt(L, k)),
        ),
        Step(
            "Fillers with E = 0, g = 1 lower the read-out ...",
            le(D * c / (a + c + m), D * c / (a + c)),
        ),
        Step(
            "... but not below c - 1/2, for c + m <= L and D <= a + L.",
            ge(alpha + D * c / (a + c + m) - c, 0),
            given=(ge(L, c + m), le(D, a + L)),
        ),
        Step(
            "From row u to u + 1 the gap rises by a multiple of (a+L)/(u(u+1)) - 1: it is largest "
            "at the u with u(u-1) <= a + L <= u(u+1), or at u = L.",
            eq(rise, (a + L) / a * ((a + L) / (_u * (_u + 1)) - 1)),
        ),
    )


def gap_route(instance: Instance) -> Enclosure:
    """Least gap at the instance's score ratio."""
    context = routes.reals()
    ratio = routes.number(context, instance.at[a])
    return routes.around(context, routes.gap_rows(whole(instance), ratio, context))


def _at_ratio(*triples: tuple[int, Any, int]) -> tuple[Instance, ...]:
    return tuple(
        Instance({L: sympy.Integer(n), a: sympy.sympify(ratio), _u: sympy.Integer(row)})
        for n, ratio, row in triples
    )


SLOPE = Theorem(
    "fractional.slope",
    "The least gap D(a) at a given score ratio",
    (
        Part(
            eq(D_MIN, extremal.gap_by_row(L, a, _u)),
            (
                ge(a, extremal.least_score_ratio(L)),
                ge(a + L, _u * (_u - 1)),
                le(a + L, _u * (_u + 1)),
                le(_u, L),
            ),
            _at_ratio(
                (2, "1/3", 2),
                (3, 1, 2),
                (3, 3, 2),
                (4, 2, 2),
                (5, 4, 3),
                (6, 7, 4),
                (6, 14, 4),
                (9, "33/2", 5),
                (12, 50, 8),
            ),
            gap_route,
            ROWS,
        ),
        Part(
            eq(D_MIN, extremal.gap_by_row(L, a, L)),
            (ge(a, extremal.least_score_ratio(L)), ge(a + L, L * (L - 1))),
            tuple(
                Instance({L: sympy.Integer(n), a: sympy.sympify(ratio)})
                for n, ratio in ((1, "1/2"), (2, 5), (3, 3), (4, 8), (5, 100))
            ),
            gap_route,
            ROWS,
        ),
    ),
    _slope_steps,
    reader="Rows of all (c, m) reduce to those listed; a finite set of rows alpha <= x, alpha >= y "
    "has a solution iff every pair has one.",
    source="this work",
    justifies=("bminlib.extremal.gap_by_row", "bminlib.extremal.binding_row"),
)

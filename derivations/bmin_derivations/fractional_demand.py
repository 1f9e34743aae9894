"""Theorem fractional.demand: the least score ratio and the least gap of a softmax read-out."""

from __future__ import annotations

from typing import Any

import sympy

from bmin_derivations import routes
from bmin_derivations.fractional import READ_OUT, ROWS, gap_route, pair_steps
from bmin_derivations.instances import whole
from bmin_derivations.records import Enclosure, Instance, Part, Step, Theorem
from bmin_derivations.relations import at, eq, ge, gt, le
from bmin_derivations.symbols import A_MIN, D_MIN, A, D, E, L, a, c, g, j, k, m, s
from bminlib import extremal

_half = sympy.Rational(1, 2)
_root3 = sympy.sqrt(3)


def whole_parts(formula: Any) -> Any:
    """Integer parts taken out of floors, at a length of known parity."""
    return formula.replace(sympy.floor, lambda inner: sympy.floor(sympy.expand(inner)))


def lattice_steps() -> tuple[Step, ...]:
    """At a = a*, D = D_L = a* + L, alpha = 0, E = 0 and g <= 1 every count is met."""
    counted = READ_OUT.subs({A: -_half, E: 0})
    room = (gt(g, 0), le(g, 1))
    counts = (eq(D, a + L), ge(L, c + m))
    z = s / (2 * (a + L))
    looser = counted + z
    above = ge(a, c * (L - 1 - c))
    return (
        *_parities(
            "D_L = a* + L", lambda n: eq(extremal.least_gap(n), extremal.least_score_ratio(n) + n)
        ),
        Step(
            "a* >= c (L-1-c) at L = 2j + 1: the slack is (j-c)^2.",
            ge(whole_parts(extremal.least_score_ratio(2 * j + 1)), c * (2 * j - c)),
        ),
        Step(
            "a* >= c (L-1-c) at L = 2j: the slack is a product of neighbouring integers.",
            ge(whole_parts(extremal.least_score_ratio(2 * j)), c * (2 * j - 1 - c)),
            cases=(le(c, j - 1), ge(c, j)),
        ),
        Step("So yhat >= c - 1/2 at a = a*, D = D_L ...", ge(counted, c - _half), (*counts, *room)),
        Step("... and yhat <= c + 1/2.", le(counted, c + _half), (*counts, above)),
        Step(
            "At a = a* + s, D = D_L + s and alpha = s/(2(a+L)), s > 0, all is strict: "
            "yhat > c - 1/2 ...",
            gt(looser, c - _half),
            (*counts, *room),
        ),
        Step(
            "... and yhat < c + 1/2, so D_L and a* are infima over strict counting too.",
            gt(c + _half, looser),
            (*counts, ge(a, c * (L - 1 - c) + s), *room),
        ),
    )


def _parities(words: str, claim: Any) -> tuple[Step, ...]:
    return tuple(
        Step(f"{words}, at L = {f'{n}'.replace('*', '')}.", claim(n)) for n in (2 * j + 1, 2 * j)
    )


def _demand_steps() -> tuple[Step, ...]:
    odd, even = 2 * j + 1, 2 * j
    return (
        *pair_steps(),
        Step(
            "The pair k = j at L = 2j + 1 gives a >= j^2 = a* ...",
            eq(at(k * (L - 1 - k), (L, odd), (k, j)), extremal.least_score_ratio(odd)),
        ),
        Step(
            "... and k = j - 1 at L = 2j gives a >= j (j-1) = a*.",
            eq(at(k * (L - 1 - k), (L, even), (k, j - 1)), extremal.least_score_ratio(even)),
        ),
        Step(
            "For a >= a* the same row forces D >= D_L, at odd L >= 5 ...",
            ge(extremal.gap_by_row(odd, a, j + 1), whole_parts(extremal.least_gap(odd))),
            (ge(j, 2), ge(a, j**2)),
        ),
        Step(
            "... and at even L >= 4.",
            ge(extremal.gap_by_row(even, a, j + 1), whole_parts(extremal.least_gap(even))),
            (ge(j, 2), ge(a, j * (j - 1))),
        ),
        *lattice_steps(),
        *_small_length_steps(),
    )


def _small_length_steps() -> tuple[Step, ...]:
    """L = 1, 2, 3 by theorem fractional.slope."""
    least, last = extremal.gap_at_three(_root3), extremal.gap_by_row(L, a, L)
    return (
        Step(
            "L = 3: the row at c = 1 is at least 2 + sqrt 3 at every a ...",
            eq(extremal.gap_by_row(3, a, 2) - least, (a - _root3) ** 2 / (2 * a)),
        ),
        Step(
            "... reached at a = sqrt 3 > a* = 1 ...",
            eq(at(extremal.gap_by_row(3, a, 2), (a, _root3)), least),
        ),
        Step(
            "... where the row at c = 0 asks less, so D(sqrt 3) = 2 + sqrt 3 (fractional.slope).",
            gt(least, at(extremal.gap_by_row(3, a, 3), (a, _root3))),
        ),
        Step(
            "L = 2: the row at c = 0 is all there is: D(a) = 1 + a/2.",
            eq(at(last, (L, 2)), extremal.small_gap(_half, 1 / a)),
        ),
        Step("L = 1: no row asks for a gap.", eq(at(last, (L, 1)), 0)),
    )


def _least_gap_route(instance: Instance) -> Enclosure:
    return routes.least_amount(whole(instance), lambda gap, _: gap, routes.reals())


def _least_ratio_route(instance: Instance) -> Enclosure:
    context = routes.reals()
    return routes.around(context, routes.least_ratio(whole(instance), context))


def _lengths(*values: int) -> tuple[Instance, ...]:
    return tuple(Instance({L: sympy.Integer(n)}) for n in values)


DEMAND = Theorem(
    "fractional.demand",
    "The least score ratio a* and the least gap D_L of a softmax read-out",
    (
        Part(
            eq(D_MIN, extremal.least_gap(L)),
            (ge(L, 4),),
            _lengths(4, 5, 6, 7, 8, 12),
            _least_gap_route,
            ROWS,
        ),
        Part(
            eq(A_MIN, extremal.least_score_ratio(L)),
            (ge(L, 3),),
            _lengths(3, 4, 5, 6, 7, 8, 12),
            _least_ratio_route,
            ROWS,
        ),
        Part(
            eq(D_MIN, extremal.gap_at_three(_root3)),
            (eq(L, 3),),
            _lengths(3),
            _least_gap_route,
            ROWS,
        ),
        Part(
            eq(D_MIN, extremal.small_gap(_half, 1 / a)),
            (eq(L, 2),),
            tuple(Instance({L: sympy.Integer(2), a: sympy.sympify(r)}) for r in ("1/7", 1, 9)),
            gap_route,
            ROWS,
        ),
    ),
    _demand_steps,
    reader="The lower bounds use m = 0 alone; the read-out given meets all (c, m), so they are "
    "least values; a* and D_L are reached together.",
    source="this work",
    justifies=("bminlib.extremal.least_score_ratio", "bminlib.extremal.least_gap"),
)

"""Steps and routes where norms supply a gap x and scores within [-rate x, rate x]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy

from bmin_derivations import routes
from bmin_derivations.fractional_demand import lattice_steps, whole_parts
from bmin_derivations.instances import whole
from bmin_derivations.records import Enclosure, Instance, Part, Step
from bmin_derivations.relations import at, eq, ge, gt, le, lt
from bmin_derivations.symbols import B_MIN, L, a, j, x
from bminlib import extremal

HALF = sympy.Rational(1, 2)
ROOT3 = sympy.sqrt(3)
RATE = sympy.Symbol("kappa", positive=True)
_b = sympy.Symbol("b", positive=True)
_ROUTE = "rows by brute force, least norm over all score ratios by golden section"


def gap_of_two(rate: Any) -> Any:
    """The least x at L = 2 when ln(1/a) may reach rate x."""
    return extremal.self_limited_gap(HALF, rate, sympy.exp, sympy.LambertW)


def gap_at_three_by_scores(rate: Any, gap: Any) -> Any:
    """The gap that L = 3 demands where a = e^(rate gap) is the largest ratio."""
    return extremal.gap_by_row(3, sympy.exp(rate * gap), 2)


def three_steps() -> tuple[Step, ...]:
    """L = 3 where scores may fall short of sqrt 3."""
    return (
        Step(
            "L = 3: up to a = 3 the row at c = 1 is the larger one.",
            eq(
                extremal.gap_by_row(3, a, 2) - extremal.gap_by_row(3, a, 3),
                (9 - a**2) / (6 * a),
            ),
        ),
        Step(
            "It falls while a < b <= sqrt 3, so there the largest ratio allowed is best.",
            eq(
                extremal.gap_by_row(3, a, 2) - extremal.gap_by_row(3, _b, 2),
                (_b - a) * (3 - a * _b) / (2 * a * _b),
            ),
        ),
    )


def self_limited_steps(share: Any, words: str) -> tuple[Step, ...]:
    """x >= 1 + share a with a >= e^(-kappa x), and its least solution."""
    formula = extremal.self_limited_gap(share, RATE, sympy.exp, sympy.LambertW)
    demand = extremal.small_gap(share, sympy.exp(RATE * x))
    return (
        Step(
            f"{words} and a >= e^(-kappa x): the surplus x - 1 - share e^(-kappa x) grows in x.",
            gt(sympy.Derivative(x - demand, x), 0),
        ),
        Step(
            "Its zero is 1 + W(share kappa e^(-kappa))/kappa with Lambert's W.",
            eq(formula, demand.subs(x, formula)),
        ),
    )


def _binding_steps() -> tuple[Step, ...]:
    """From which length on the read-out binds, not the scores."""
    length = sympy.Symbol("L", positive=True)
    smooth_gap, smooth_ratio = (length**2 + 2 * length) / 4, (length - 1) ** 2 / 4
    surplus = RATE * smooth_gap - sympy.log(smooth_ratio)
    found = [
        Step(
            "The scores ask for x >= ln(a*)/kappa, the read-out for x >= D_L. "
            "kappa (L^2+2L)/4 - ln((L-1)^2/4) grows in L where kappa (L^2-1) >= 4 ...",
            eq(
                sympy.Derivative(surplus, length),
                (RATE * (length**2 - 1) - 4) / (2 * (length - 1)),
            ),
        )
    ]
    for size, words in ((2 * j, "even"), (2 * j + 1, "odd")):
        gap, ratio = (
            whole_parts(formula(size))
            for formula in (extremal.least_gap, extremal.least_score_ratio)
        )
        found += [
            Step(f"... D_L >= (L^2+2L)/4 at {words} L ...", ge(gap, (size**2 + 2 * size) / 4)),
            Step(
                f"... and a* <= (L-1)^2/4 at {words} L: once it is positive there, "
                "kappa D_L > ln a* for good.",
                le(ratio, (size - 1) ** 2 / sympy.Integer(4)),
            ),
        ]
    return tuple(found)


def demand_steps() -> tuple[Step, ...]:
    """What L >= 4, L = 3 and L = 2 need of x, with scores limited by rate x."""
    return (
        *lattice_steps(),
        *_binding_steps(),
        *three_steps(),
        Step(
            "With a = e^(kappa x) < sqrt 3 the surplus x - D(a) grows in x, so its zero is the "
            "least x ...",
            gt(1 + RATE * (3 - a**2) / (2 * a), 0),
            (gt(a, 0), le(a, ROOT3)),
        ),
        Step(
            "... the slope meant is this one ...",
            eq(
                sympy.Derivative(x - gap_at_three_by_scores(RATE, x), x),
                1 + RATE * (3 - sympy.exp(2 * RATE * x)) / (2 * sympy.exp(RATE * x)),
            ),
        ),
        Step(
            "... and the zero lies below 4 = D(1), since D falls from a = 1.",
            eq(at(extremal.gap_by_row(3, a, 2), (a, 1)), 4),
        ),
        *self_limited_steps(HALF, "L = 2: x >= D(a) = 1 + a/2 (share 1/2)"),
    )


def parts(
    capacity: Any,
    scores: Any,
    instances: Callable[..., tuple[Instance, ...]],
    route: Callable[[Instance], Enclosure],
) -> tuple[Part, ...]:
    """The four cases of a placement with gap capacity B^2 and score differences scores B^2."""
    rate = scores / capacity
    ratio, gap = extremal.least_score_ratio(L), extremal.least_gap(L)
    three = extremal.gap_at_three(ROOT3)
    wide, narrow = ge(rate * three, sympy.log(3) / 2), lt(rate * three, sympy.log(3) / 2)
    long_norm = sympy.sqrt(sympy.Max(gap / capacity, sympy.log(ratio) / scores))
    amount = capacity * B_MIN**2
    return (
        Part(eq(B_MIN, long_norm), (ge(L, 4),), instances("long"), route, _ROUTE),
        Part(
            eq(B_MIN, sympy.sqrt(three / capacity)),
            (eq(L, 3), wide),
            instances("wide"),
            route,
            _ROUTE,
        ),
        Part(
            eq(amount, gap_at_three_by_scores(rate, amount)),
            (eq(L, 3), narrow),
            instances("narrow"),
            route,
            _ROUTE,
        ),
        Part(
            eq(B_MIN, sympy.sqrt(gap_of_two(rate) / capacity)),
            (eq(L, 2),),
            instances("two"),
            route,
            _ROUTE,
        ),
    )


def least_norm(
    instance: Instance, capacity: Any, scores: Any, relative: str, margin: str = "0"
) -> Enclosure:
    """The least B over all score ratios, for numbers capacity and scores."""
    context = routes.reals()

    def cost(gap: Any, ratio: Any) -> Any:
        return max(context.sqrt(gap / capacity), context.sqrt(abs(context.log(ratio)) / scores))

    found = routes.least_amount(whole(instance), cost, context, context.mpf(margin))
    return routes.around(context, (found.low + found.high) / 2, relative)

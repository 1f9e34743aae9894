"""The gap D that counting to L demands of a softmax read-out without post-normalisation."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from bminlib import balls, extremal
from bminlib.demand import Demand, Touch, touches
from bminlib.expressions import EquationRoot, Expression, Number, Value, function
from bminlib.powers import as_power, rational_power
from bminlib.supply import Supply

if TYPE_CHECKING:
    from flint import arb

_HALF = Fraction(1, 2)


def gap_by_norms(L: int, supply: Supply) -> Demand:
    """Least gap for L >= 2 where scores follow the norms. Source: theorems none, pre.learned."""
    rate = supply.score_rate
    if rate is None:
        raise TypeError("a score rate is needed")
    if L == 2:
        return Demand(_self_limited(_HALF, rate), touches((0, "+"), (2, "-")), regime="both")
    if L == 3:
        return _three(rate)
    gap, ratio = extremal.least_gap(L), extremal.least_score_ratio(L)
    by_scores = function("log", ratio) / rate
    if balls.compare(as_power(gap), by_scores) > 0:
        return Demand(as_power(gap), _lattice_touches(L), regime="readout")
    return Demand(by_scores, _lattice_touches(L), regime="scores")


def gap_in_range(L: int, score_range: Number) -> Demand:
    """Least gap for L >= 2 where |a_s - a_t| <= score_range. Source: theorem pre.bare."""
    ratio = function("exp", score_range)
    if L == 2:
        return Demand(_small_gap(_HALF, ratio), touches((0, "+"), (2, "-")))
    if L > 3:
        return Demand(as_power(extremal.least_gap(L)), _lattice_touches(L))
    if balls.compare(ratio, rational_power(3, 2)) > 0:
        return Demand(_GAP_AT_THREE, touches((1, "+"), (3, "-")))
    return gap_at_ratio(L, ratio, row=2)


def gap_at_two_points(L: int, score_range: Number) -> Demand:
    """Least gap for L >= 2 where a_s - a_t is 0 or +-score_range. Source: theorem pre.bare."""
    ratio = function("exp", score_range)
    if L == 2:
        return gap_in_range(L, score_range)
    if balls.compare(ratio, as_power(L * L)) > 0:
        return gap_at_ratio(L, ratio, row=L)
    return gap_at_ratio(L, ratio, extremal.binding_row(L, L + balls.floor(ratio)))


def gap_at_ratio(L: int, ratio: Expression, row: int) -> Demand:
    """Least gap at a given score ratio above a*, for L >= 3 and the row that binds there."""
    return Demand(extremal.gap_by_row(L, ratio, row), touches((L - row, "+"), (L, "-")))


def exact_gap(supply: Supply) -> Demand:
    """Least gap that counts exactly at L = 1. Source: theorem softmax.exact.small."""
    if supply.score_range is not None:
        return Demand(_small_gap(1, function("exp", supply.score_range)))
    if supply.score_rate is None:
        raise TypeError("a score rate is needed")
    return Demand(_self_limited(1, supply.score_rate), regime="both")


_GAP_AT_THREE: Expression = extremal.gap_at_three(Expression("root2", (3,)))


def _lattice_touches(L: int) -> tuple[Touch, ...]:
    """Active counts at a = a*, D = D_L, for L >= 4: both ends below, the middle above."""
    middle = tuple(Touch(c, "+") for c in range((L - 1) // 2, L // 2 + 1))
    return (Touch(0, "-"), *middle, Touch(L, "-"))


def _self_limited(share: Fraction | int, rate: Value) -> Value:
    gap: Expression = extremal.self_limited_gap(share, rate, _exp, _lambertw)
    return gap.beside((rational_power(1), 1), (rational_power(1 + share), -1))


def _small_gap(share: Fraction | int, ratio: Expression) -> Value:
    gap: Expression = extremal.small_gap(share, ratio)
    return gap.beside((rational_power(1), 1), (rational_power(1 + share), -1))


def _exp(argument: Number) -> Expression:
    return function("exp", argument)


def _lambertw(argument: Number) -> Expression:
    return function("lambertw", argument)


def _three(rate: Value) -> Demand:
    """L = 3: 2 + sqrt 3 where the scores reach a = sqrt 3, else the root of D(exp(rate x)) = x."""
    active = touches((1, "+"), (3, "-"))
    if balls.compare(rate * _GAP_AT_THREE, function("log", 3) / 2) > 0:
        return Demand(_GAP_AT_THREE, active, regime="readout")
    residual, slope = _three_equation(rate)
    root = EquationRoot(
        "x = (a + 3)(a + 1)/(2a), a = exp(rate x)", residual, slope, _GAP_AT_THREE, 4
    )
    return Demand(Expression("value", (root,)), active, regime="both")


def _three_equation(rate: Value) -> tuple[Callable[[arb], arb], Callable[[arb], arb]]:
    """D(exp(rate x)) - x and its derivative, for balls x; the derivative is negative."""

    def ratio(x: arb) -> arb:
        return (_rate_ball(rate) * x).exp()

    def residual(x: arb) -> arb:
        gap: arb = extremal.gap_by_row(3, ratio(x), 2)
        return gap - x

    def slope(x: arb) -> arb:
        a = ratio(x)
        return _rate_ball(rate) * (a - 3 / a) / 2 - 1

    return residual, slope


def _rate_ball(rate: Value) -> arb:
    from flint import ctx

    return rate.ball(ctx.prec)

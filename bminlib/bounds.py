"""B_min(L): the least norm bound at which some parameters count, and why no smaller one does."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from bminlib import balls, demand, extremal
from bminlib.decimals import Rounding, integer_text
from bminlib.demand import Demand, Regime, Touch
from bminlib.errors import InfeasibleError
from bminlib.exact import RationalPower, Value, as_power, function, rational_power
from bminlib.problem import CountingProblem
from bminlib.supply import Supply, supply

if TYPE_CHECKING:
    from flint import arb

Method = Literal["closed form", "root"]
_ZERO = rational_power(0)
_SHOWN_DIGITS = 40


@dataclass(frozen=True, slots=True)
class Asymptote:
    """The leading term constant L^exponent of B_min, and B_min's ratio to it at this L."""

    constant: Value
    exponent: Fraction
    ratio: Value


@dataclass(frozen=True, slots=True)
class Bound:
    """B_min of a problem, or the reason why there is none.

    value: the infimum, exact; None where infeasible, and then `reason` is the broken inequality.
    attained: whether parameters of largest norm B_min satisfy the closed problem.
    active: counts at which the optimal read-out touches c + 1/2 or c - 1/2 with m = 0.
    regime: which resource binds where two compete. theorem: id of what it rests on.
    """

    problem: CountingProblem
    theorem: str
    value: Value | None
    reason: str | None = None
    attained: bool = False
    active: tuple[Touch, ...] = ()
    regime: Regime | None = None
    asymptote: Asymptote | None = None

    @property
    def feasible(self) -> bool:
        """Whether any parameters count."""
        return self.value is not None

    @property
    def method(self) -> Method | None:
        """How the value is known; None where there is none."""
        if self.value is None:
            return None
        return "closed form" if self.text is not None else "root"

    @property
    def text(self) -> str | None:
        """The value as sympy parses it; None where only an equation defines it."""
        return None if self.value is None else self.value.text

    @property
    def exact(self) -> Any:
        """The value as a sympy expression; None where only an equation defines it."""
        from sympy import sympify

        return None if self.text is None else sympify(self.text)

    @property
    def stored_numbers(self) -> int:
        """How many numbers the read-out stores. Source: theorem classification.storage."""
        rows = self.problem.L + 1 if self.problem.readout == "classification" else 1
        return rows * (self.problem.d + 1)

    def decimal(self, digits: int = 15, rounding: Rounding = "nearest") -> str:
        """B_min to `digits` significant digits, correctly rounded; raises InfeasibleError."""
        return self._existing().decimal(digits, rounding)

    def enclosure(self, digits: int = 15) -> arb:
        """A ball of relative radius below 10^-digits that holds B_min; raises InfeasibleError."""
        return balls.enclosure(self._existing(), digits)

    def _existing(self) -> Value:
        if self.value is None:
            raise InfeasibleError(f"no parameters count: {self.reason}; ask `feasible` first")
        return self.value


def b_min(problem: CountingProblem) -> Bound:
    """The exact B_min of `problem`, for every L >= 1 without a loop over L."""
    if problem.readout == "classification":
        return Bound(problem, "classification.bounded", _ZERO)
    if problem.exactness == "exact":
        return _exact(problem)
    if problem.L == 1:
        return _trivial(problem)
    if problem.norm == "post":
        return _post(problem)
    if problem.attention == "linear":
        return _linear(problem)
    return _softmax(problem)


def infeasible_length(problem: CountingProblem, score_range: RationalPower) -> bool:
    """Whether bare scores in [-score_range, score_range]/2 are too narrow for a*(L)."""
    ratio = extremal.least_score_ratio(problem.L)
    return ratio > 1 and balls.compare(function("log", ratio), score_range) > 0


def _trivial(problem: CountingProblem) -> Bound:
    """L = 1: yhat = 1/2 serves both counts, so the infimum is 0."""
    return Bound(
        problem,
        "trivial",
        _ZERO,
        attained=problem.norm == "none",  # elsewhere a zero vector would have to be normalised
        active=demand.touches((0, "+"), (1, "-")),
        asymptote=_asymptote(problem, _ZERO),
    )


def _bound(problem: CountingProblem, theorem: str, need: Demand, has: Supply) -> Bound:
    return Bound(
        problem,
        theorem,
        has.norm_for(need.amount),
        attained=need.attained,
        active=need.active,
        regime=need.regime,
        asymptote=_asymptote(problem, need.amount),
    )


def _post(problem: CountingProblem) -> Bound:
    theorem = f"post.{problem.affine}"
    if problem.two_points:
        return Bound(problem, theorem, None, _two_points_reason(problem))
    return _bound(problem, theorem, demand.circular(problem.L), supply(problem))


def _linear(problem: CountingProblem) -> Bound:
    if problem.two_points and problem.affine == "bare":
        return Bound(problem, "linear.rounded", None, _filler_reason(problem))
    need = Demand(as_power(extremal.linear_slope(problem.L)), _linear_touches(problem.L))
    return _bound(problem, "linear.rounded", need, supply(problem))


def _softmax(problem: CountingProblem) -> Bound:
    has = supply(problem)
    if has.score_range is None:
        theorem = "none" if problem.norm == "none" else "pre.learned"
        return _bound(problem, theorem, demand.fractional(problem.L, has), has)
    if infeasible_length(problem, has.score_range):
        reason = _horizon_reason(problem.L, has.score_range)
        return Bound(problem, "pre.bare.horizon", None, reason)
    of = demand.fractional_two_points if problem.two_points else demand.fractional_bounded
    return _bound(problem, "pre.bare", of(problem.L, has.score_range), has)


def _exact(problem: CountingProblem) -> Bound:
    """No rounding: yhat = c. Source: theorems linear.exact, softmax.exact.small, softmax.inexact."""
    if problem.norm == "post":
        return _exact_post(problem)
    has = supply(problem)
    if problem.attention == "linear":
        if problem.two_points and problem.affine == "bare":
            return Bound(problem, "linear.exact", None, _filler_reason(problem))
        return _bound(problem, "linear.exact", Demand(as_power(1)), has)
    if problem.L == 1:
        return _bound(problem, "softmax.exact.small", demand.exact_gap(has), has)
    reason = "yhat(2) - 2 yhat(1) + yhat(0) = -2aD/((a+1)(a+2)) != 0: softmax bends every line"
    return Bound(problem, "softmax.inexact", None, reason)


def _exact_post(problem: CountingProblem) -> Bound:
    """Radius 1/2 at L = 1, and 1 (in the limit of a step) at L = 2."""
    L = problem.L
    if L > 2:
        reason = f"a line meets the curve at most 3 times < L + 1 = {_long(L + 1)} counts"
        return Bound(problem, "softmax.inexact", None, reason)
    if L == 2 and problem.two_points:
        return Bound(problem, "softmax.inexact", None, _two_points_reason(problem))
    need = Demand(rational_power(Fraction(L, 2)), attained=L == 1)
    return _bound(problem, "softmax.exact.small", need, supply(problem))


def _linear_touches(L: int) -> tuple[Touch, ...]:
    """A line of slope 1 - 1/L from 1/2 touches at both ends only."""
    return demand.touches((0, "+"), (L, "-"))


def _asymptote(problem: CountingProblem, amount: Value) -> Asymptote | None:
    """Leading term for L -> oo; None where lengths end at a horizon. Source: theorem rates."""
    if problem.two_points and problem.affine == "bare" or problem.exactness == "exact" and (
        problem.attention == "softmax" or problem.norm == "post"
    ):
        return None
    has = supply(problem)
    if has.score_range is not None:
        return None
    coefficient, exponent = _leading(problem)
    leading = coefficient * rational_power(problem.L**exponent.numerator, exponent.denominator)
    ratio = amount / leading if isinstance(amount, RationalPower) else amount.over(leading)
    return Asymptote(has.norm_for(coefficient), exponent / has.power, ratio.root(has.power))


def _leading(problem: CountingProblem) -> tuple[RationalPower, Fraction]:
    """(coefficient, exponent) of the demanded amount's leading term in L."""
    if problem.norm == "post":
        return rational_power(Fraction(1, 32), 2), Fraction(3, 2)
    if problem.attention == "linear":
        return rational_power(1), Fraction(0)
    return rational_power(Fraction(1, 4)), Fraction(2)


def _normalizer_name(problem: CountingProblem) -> str:
    return "LayerNorm" if problem.normalizer == "layer" else "RMSNorm"


def _two_points_reason(problem: CountingProblem) -> str:
    counts = _long(problem.L + 1)
    return f"{_normalizer_name(problem)} at d = {problem.d} has 2 points < L + 1 = {counts} counts"


def _filler_reason(problem: CountingProblem) -> str:
    return (
        f"{_normalizer_name(problem)} at d = {problem.d} has 2 points: a filler moves yhat as far "
        f"as a target does, |<w, v_f> a_f| = |<w, v_t> a_t| > 0"
    )


def _horizon_reason(L: int, score_range: RationalPower) -> str:
    ratio = _long(extremal.least_score_ratio(L))
    return f"a*({_long(L)}) = {ratio} > e^{_exponent_text(score_range)}"


def _exponent_text(score_range: RationalPower) -> str:
    """`8` or `(2 sqrt 23)`, whatever tau is."""
    if score_range.is_rational:
        text = score_range.text
        return f"({text})" if "/" in text else text
    inner = (score_range / 2).radicand
    text = str(inner) if inner.denominator == 1 else f"({inner})"
    return f"(2 sqrt {text})"


def _long(number: int) -> str:
    """A whole number as a reason quotes it: in full up to 40 digits, then rounded."""
    text = integer_text(number)
    return text if len(text) <= _SHOWN_DIGITS else f"about {as_power(number).decimal(4)}"

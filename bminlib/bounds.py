"""B_min(L): the least norm bound at which some parameters count, and why no smaller one does."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from bminlib import demand, extremal, reasons
from bminlib.decimals import MAX_EXACT_DIGITS, Rounding, is_too_long
from bminlib.demand import Demand, Regime, Touch
from bminlib.errors import DomainError, InfeasibleError, shown
from bminlib.powers import RationalPower, as_power, rational_power
from bminlib.problem import CountingProblem
from bminlib.supply import Supply, supply

if TYPE_CHECKING:
    from flint import arb

    from bminlib.expressions import Value

Method = Literal["closed form", "root"]
_ZERO = rational_power(0)


class Asymptote(NamedTuple):
    """The leading term constant L^exponent of B_min, and B_min's ratio to it at this L."""

    constant: Value
    exponent: Fraction
    ratio: Value


@dataclass(frozen=True, slots=True, repr=False)
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

    def __repr__(self) -> str:
        answer = f"B_min {self.decimal()}" if self.feasible else self.reason
        return f"Bound({self.problem!r}, {self.theorem}: {answer})"

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
        """The value as a sympy expression; None where only an equation defines it.

        Raises DomainError where an integer in it has over 4000 digits.
        """
        if self.text is None:
            return None
        if is_too_long(self.text):
            raise DomainError(
                f"L={shown(self.problem.L)}: an integer in the exact value has over "
                f"{MAX_EXACT_DIGITS} digits, too many for sympy; take decimal or enclosure"
            )
        from sympy import sympify

        return sympify(self.text)

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
        from bminlib.balls import enclosure

        return enclosure(self._existing(), digits)

    def _existing(self) -> Value:
        if self.value is None:
            raise InfeasibleError(f"no parameters count: {self.reason}; ask `feasible` first")
        return self.value


def b_min(problem: CountingProblem) -> Bound:
    """The exact B_min of `problem`, for every L >= 1 without a loop over L.

    Raises DomainError for anything but a CountingProblem.
    """
    if not isinstance(problem, CountingProblem):
        raise DomainError(
            f"problem={shown(problem)}: b_min takes a CountingProblem; write CountingProblem(L=5)"
        )
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
    from bminlib import balls
    from bminlib.expressions import function

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
        return Bound(problem, theorem, None, reasons.two_points(problem))
    return _bound(problem, theorem, demand.circular(problem.L), supply(problem))


def _linear(problem: CountingProblem) -> Bound:
    if problem.two_points and problem.affine == "bare":
        return Bound(problem, "linear.rounded", None, reasons.filler(problem))
    return _bound(problem, "linear.rounded", demand.linear(problem.L), supply(problem))


def _softmax(problem: CountingProblem) -> Bound:
    from bminlib import fractional

    has = supply(problem)
    if has.score_range is None:
        theorem = "none" if problem.norm == "none" else "pre.learned"
        return _bound(problem, theorem, fractional.gap_by_norms(problem.L, has), has)
    if infeasible_length(problem, has.score_range):
        reason = reasons.horizon(problem.L, has.score_range)
        return Bound(problem, "pre.bare.horizon", None, reason)
    least_gap = fractional.gap_at_two_points if problem.two_points else fractional.gap_in_range
    return _bound(problem, "pre.bare", least_gap(problem.L, has.score_range), has)


def _exact(problem: CountingProblem) -> Bound:
    """No rounding: yhat = c. Source: theorems linear.exact, softmax.exact.small, .inexact."""
    if problem.norm == "post":
        return _exact_post(problem)
    has = supply(problem)
    if problem.attention == "linear":
        if problem.two_points and problem.affine == "bare":
            return Bound(problem, "linear.exact", None, reasons.filler(problem))
        return _bound(problem, "linear.exact", Demand(as_power(1)), has)
    if problem.L == 1:
        from bminlib.fractional import exact_gap

        return _bound(problem, "softmax.exact.small", exact_gap(has), has)
    return Bound(problem, "softmax.inexact", None, reasons.BENT)


def _exact_post(problem: CountingProblem) -> Bound:
    """Radius 1/2 at L = 1, and 1 (in the limit of a step) at L = 2."""
    L = problem.L
    if L > 2:
        return Bound(problem, "softmax.inexact", None, reasons.arc(L))
    if L == 2 and problem.two_points:
        return Bound(problem, "softmax.inexact", None, reasons.two_points(problem))
    need = Demand(rational_power(Fraction(L, 2)), attained=L == 1)
    return _bound(problem, "softmax.exact.small", need, supply(problem))


def _asymptote(problem: CountingProblem, amount: Value) -> Asymptote | None:
    """Leading term for L -> oo; None where lengths end at a horizon. Source: theorem rates."""
    if _ends(problem):
        return None
    has = supply(problem)
    coefficient, exponent = _leading(problem)
    leading = coefficient * rational_power(problem.L**exponent.numerator, exponent.denominator)
    ratio = amount / leading if isinstance(amount, RationalPower) else amount.over(leading)
    return Asymptote(has.norm_for(coefficient), exponent / has.power, ratio.root(has.power))


def _ends(problem: CountingProblem) -> bool:
    """Whether no length is feasible beyond some horizon. Source: theorem pre.bare.horizon."""
    if problem.exactness == "exact" and (problem.norm == "post" or problem.attention == "softmax"):
        return True
    if problem.norm == "pre" and problem.affine == "bare" and problem.attention == "softmax":
        return True
    return problem.two_points and (problem.norm == "post" or problem.affine == "bare")


def _leading(problem: CountingProblem) -> tuple[RationalPower, Fraction]:
    """(coefficient, exponent) of the demanded amount's leading term in L."""
    if problem.norm == "post":
        return rational_power(Fraction(1, 32), 2), Fraction(3, 2)
    if problem.attention == "linear":
        return rational_power(1), Fraction(0)
    return rational_power(Fraction(1, 4)), Fraction(2)

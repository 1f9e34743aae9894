"""How fast B_min grows: B_min ~ C L^p (1 + r/L + ...), found from computed values alone.

The values are exact B_min at lengths L that double, or grow by 2. Local slopes tend to p,
B_min/L^p to C, and L (B_min/(C L^p) - 1) to r, each with an error that is a series in 1/L, which
Richardson's scheme removes. The theorems' p, C and r stand beside them and play no part in the fit.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from bminlib.bounds import b_min
from bminlib.decimals import integer_text
from bminlib.errors import DomainError
from bminlib.extrapolation import LEAST_TERMS, Estimate, limit
from bminlib.lines import Line, line_through
from bminlib.powers import rational_power
from bminlib.problem import CountingProblem
from bminlib.supply import supply
from bminlib.windows import Window, window

if TYPE_CHECKING:
    from flint import arb

    from bminlib.expressions import Value

DIGITS = 60
_VALUE_DIGITS = 100
_BITS = 400
_SMALL = range(4, 33)

# The demands in the next order: D_L = L^2/4 (1 + 2/L + ...), the slope 1 - 1/L, and
# W_L = L^(3/2)/(4 sqrt 2) (1 + 3/(4L) + ...).
_NEXT = {"fractional": Fraction(2), "circular": Fraction(3, 4), "linear": Fraction(-1)}


class Slope(NamedTuple):
    """log(B_min(to)/B_min(L)) / log(to/L) between neighbouring lengths."""

    L: int
    to: int
    slope: Estimate


class Law(NamedTuple):
    """What a theorem says: B_min = C L^p (1 + r/L + O(1/L^2)); r is None where C is 0."""

    exponent: Fraction
    constant: Value
    next_ratio: Fraction | None


@dataclass(frozen=True, slots=True)
class Rate:
    """The fit of one placement.

    exponent, constant, next_ratio: p, C and r with their errors; None where too few lengths are
    feasible. small: an ordinary least-squares line through log B_min at L = 4..32, which is biased.
    digits_agreed: of p and C both, with the theorem's, errors included; at most DIGITS.
    """

    problem: CountingProblem
    window: Window
    theorem: str
    law: Law | None
    slopes: tuple[Slope, ...]
    exponent: Estimate | None
    constant: Estimate | None
    next_ratio: Estimate | None
    small: Line | None

    @property
    def regime(self) -> str | None:
        """What there is to say besides a power of L, as a phrase; None where there is nothing."""
        if self.problem.readout == "classification":
            return "flat: any norm > 0 will do"
        if self.window.ends_at is not None:
            return f"ends at {self.window.ends_at}"
        if self.window.scores is not None:
            first, last = map(integer_text, self.window.scores)
            return f"sqrt(log L) at L = {first}..{last}, then L"
        flat = self.law is not None and self.law.exponent == 0
        return "flat: tends to a constant" if flat else None

    @property
    def digits_agreed(self) -> int | None:
        """None where either side is missing."""
        from flint import ctx

        if self.law is None or self.exponent is None or self.constant is None:
            return None
        with ctx.workprec(_BITS):
            exponent = rational_power(self.law.exponent).ball(_BITS)
            constant = self.law.constant.ball(_BITS)
            agreed = self.exponent.agreed_digits(exponent, DIGITS)
            return min(agreed, self.constant.agreed_digits(constant, DIGITS))


def rate(problem: CountingProblem) -> Rate:
    """The growth of B_min for a placement after rounding; `problem.L` plays no part.

    Raises DomainError for exactness "exact". Source: theorem rates.
    """
    from flint import ctx

    if problem.exactness == "exact":
        raise DomainError(
            "exactness='exact': rates are those of counting after rounding; take 'rounded'"
        )
    span, theirs = window(problem), law(problem)
    bounds = {L: b_min(dataclasses.replace(problem, L=L)) for L in span.lengths}
    with ctx.workprec(_BITS):
        values = {L: bound.enclosure(_VALUE_DIGITS) for L, bound in bounds.items()}
        slopes = _slopes(values)
        fitted = theirs is not None and len(slopes) >= LEAST_TERMS
        p, C, r = _fits(values, slopes) if fitted else (None, None, None)
    shown = bounds[max(bounds)] if bounds else b_min(dataclasses.replace(problem, L=_SMALL.start))
    return Rate(problem, span, shown.theorem, theirs, slopes, p, C, r, _small(problem, span))


def law(problem: CountingProblem) -> Law | None:
    """The theorems' law for a placement: for bare pre the one that holds up to its end.

    None for a placement that ends too early for one. `problem.L` plays no part.
    """
    if problem.readout == "classification":
        return Law(Fraction(0), rational_power(0), None)
    demanded = _demanded(problem)
    has = supply(problem)
    next_ratio = _NEXT[demanded] / has.power
    asymptote = b_min(dataclasses.replace(problem, L=_SMALL.start)).asymptote
    if asymptote is not None:
        return Law(asymptote.exponent, asymptote.constant, next_ratio)
    if demanded == "fractional" and not problem.two_points:
        return Law(Fraction(2), has.norm_for(rational_power(Fraction(1, 4))), next_ratio)
    return None


def _demanded(problem: CountingProblem) -> str:
    if problem.norm == "post":
        return "circular"
    return "linear" if problem.attention == "linear" else "fractional"


def _slopes(values: Mapping[int, arb]) -> tuple[Slope, ...]:
    """Local slopes; 0 where B_min is 0 throughout."""
    from flint import arb

    flat, pairs = _vanish(values), list(pairwise(values))
    zero = Estimate(arb(0))
    return tuple(Slope(L, to, zero if flat else _slope(values, L, to)) for L, to in pairs)


def _slope(values: Mapping[int, arb], L: int, to: int) -> Estimate:
    from flint import arb

    return Estimate((values[to] / values[L]).log() / (arb(to) / L).log())


def _fits(
    values: Mapping[int, arb], slopes: Sequence[Slope]
) -> tuple[Estimate, Estimate, Estimate | None]:
    """(p, C, r); the error of each widens the next."""
    from flint import arb

    exponent = limit([at.L for at in slopes], [at.slope.ball for at in slopes])
    if _vanish(values):
        return exponent, Estimate(arb(0)), None
    constant = _swayed(lambda p: _constant(values, p), exponent)
    by_exponent = _swayed(lambda p: _next_ratio(values, p, _constant(values, p).ball), exponent)
    by_constant = _swayed(lambda C: _next_ratio(values, exponent.ball.mid(), C), constant)
    return exponent, constant, by_exponent.widened(by_constant.ball.rad())


def _constant(values: Mapping[int, arb], exponent: arb) -> Estimate:
    """C, at a given p."""
    return limit(list(values), [value / L**exponent for L, value in values.items()])


def _next_ratio(values: Mapping[int, arb], exponent: arb, constant: arb) -> Estimate:
    """r, at a given p and C."""
    rest = [(value / (constant * L**exponent) - 1) * L for L, value in values.items()]
    return limit(list(values), rest)


def _swayed(at: Callable[[arb], Estimate], given: Estimate) -> Estimate:
    """`at` the centre of `given`, widened by how far it moves across its error."""
    low, high = (at(end).ball.mid() for end in (given.ball.lower(), given.ball.upper()))
    return at(given.ball.mid()).widened(high - low)


def _vanish(values: Mapping[int, arb]) -> bool:
    return all(value == 0 for value in values.values())


def _small(problem: CountingProblem, span: Window) -> Line | None:
    """The least-squares line on a log-log plot of small L; None where there is none to draw."""
    short = span.ends is not None and span.ends < _SMALL.stop
    if short or problem.readout == "classification":
        return None
    values = [b_min(dataclasses.replace(problem, L=L)).enclosure(17) for L in _SMALL]
    return line_through(_SMALL, [float(value) for value in values])

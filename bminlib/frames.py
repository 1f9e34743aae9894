"""Two orthogonal directions with small integer entries, and dyadic numbers to scale them by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from bminlib.problem import CountingProblem

if TYPE_CHECKING:
    from flint import arb

Vector = list[Fraction]


@dataclass(frozen=True, slots=True)
class Frame:
    """Integer vectors `main`, along which the layer is read, and `side`, orthogonal to it.

    Under LayerNorm both have mean 0. `side` is all zeros where the space has one dimension only.
    """

    main: tuple[int, ...]
    side: tuple[int, ...]

    @property
    def main_square(self) -> int:
        """Squared norm of `main`."""
        return sum(x * x for x in self.main)

    @property
    def side_square(self) -> int:
        """Squared norm of `side`; 0 where there is none."""
        return sum(x * x for x in self.side)

    def vector(self, main: Fraction | int = 0, side: Fraction | int = 0) -> Vector:
        """main * (the main direction) + side * (the side direction)."""
        return [Fraction(main * x + side * y) for x, y in zip(self.main, self.side, strict=True)]

    def polar(self, norm: arb, cosine: arb, bits: int) -> Vector:
        """A vector of about this norm at this angle from `main`, towards `side`."""
        from flint import arb

        main = dyadic(norm * cosine / arb(self.main_square).sqrt(), bits)
        if not self.side_square:
            return self.vector(main)
        squared = ((1 - cosine) * (1 + cosine)).mid()
        sine = squared.sqrt() if squared > 0 else arb(0)
        return self.vector(main, dyadic(norm * sine / arb(self.side_square).sqrt(), bits))


def plane_frame(problem: CountingProblem) -> Frame:
    """The shortest frame: e1, e2; under LayerNorm (1, -1, 0...), (1, 1, -2, 0...)."""
    if problem.normalizer == "layer":
        return Frame(_padded((1, -1), problem.d), _padded((1, 1, -2), problem.d))
    return Frame(_padded((1,), problem.d), _padded((0, 1), problem.d))


def gain_frame(problem: CountingProblem) -> Frame:
    """A frame whose main direction is e1 without its mean, where a gain can be concentrated."""
    if problem.normalizer == "layer":
        spread = (problem.d - 1, *[-1] * (problem.d - 1))
        return Frame(spread, _padded((0, 1, -1), problem.d))
    return plane_frame(problem)


def frame_of(problem: CountingProblem) -> Frame:
    """`gain_frame` where gamma is learned, `plane_frame` elsewhere."""
    return gain_frame(problem) if problem.affine == "learned" else plane_frame(problem)


def first_axis(d: int, size: Fraction) -> Vector:
    """size * e1."""
    return [size, *[Fraction(0)] * (d - 1)]


def dyadic(number: arb, bits: int) -> Fraction:
    """The midpoint of a ball, rounded to `bits` significant bits."""
    mantissa, exponent = map(int, number.mid().man_exp())
    surplus = abs(mantissa).bit_length() - bits
    if surplus > 0:
        mantissa, exponent = _shifted(mantissa, surplus), exponent + surplus
    return mantissa * power_of_two(exponent)


def dyadic_below(number: arb, bits: int) -> Fraction:
    """A number of `bits` significant bits just below every number in a ball of numbers > 0."""
    mantissa, exponent = map(int, number.lower().man_exp())
    surplus = max(mantissa.bit_length() - bits, 0)
    return (mantissa >> surplus) * power_of_two(exponent + surplus)


def dyadic_near(number: arb, tolerance: arb) -> Fraction:
    """A number with few bits at most `tolerance` from the midpoint of a ball."""
    mantissa, exponent = map(int, number.mid().man_exp())
    above, scale = map(int, tolerance.mid().man_exp())
    surplus = scale + above.bit_length() - 1 - exponent
    if surplus > 0:
        mantissa, exponent = _shifted(mantissa, surplus), exponent + surplus
    return mantissa * power_of_two(exponent)


def floor_of_middle(number: arb) -> int:
    """floor of the midpoint of a ball."""
    mantissa, exponent = map(int, number.mid().man_exp())
    return mantissa << exponent if exponent >= 0 else mantissa >> -exponent


def power_of_two(exponent: int) -> Fraction:
    """2^exponent, for a negative exponent too."""
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def power_below(number: arb) -> Fraction:
    """A power of two in (number/4, number], for a narrow ball of numbers > 0."""
    mantissa, exponent = map(int, number.mid().man_exp())
    return power_of_two(exponent + mantissa.bit_length() - 1)


def _shifted(mantissa: int, places: int) -> int:
    """mantissa / 2^places, rounded to nearest."""
    return (mantissa + (1 << (places - 1))) >> places


def _padded(entries: Sequence[int], d: int) -> tuple[int, ...]:
    """`entries` filled up with zeros; all zeros where they are too many for d entries."""
    return (*entries, *[0] * (d - len(entries))) if len(entries) <= d else (0,) * d

"""Limits of sequences over growing lengths L by Richardson extrapolation, in balls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from bminlib.decimals import decimal_text
from bminlib.errors import DomainError

if TYPE_CHECKING:
    from flint import arb

LEAST_TERMS = 4
_CAUTION = 2
_EXACT = Context(prec=1000, rounding=ROUND_HALF_EVEN)
_TWO_DIGITS_UP = Context(prec=2, rounding=ROUND_CEILING)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number known to within an error: `ball` is centred on it, with the error as radius."""

    ball: arb

    def texts(self, digits: int) -> tuple[str, str]:
        """(value, error): at most `digits` significant digits, and none that the error swamps.

        The error, rounded up to two digits, covers the rounding of the value too.
        """
        value, radius = as_fraction(self.ball.mid()), as_fraction(self.ball.rad())
        if not value and not radius:
            return "0", "0"
        places = _places(value, digits) if abs(value) > radius else digits
        if radius:
            places = min(places, _places(radius, 1))
        shown = _decimal(value).quantize(Decimal(1).scaleb(-places), context=_EXACT)
        error = radius + abs(Fraction(shown) - value)
        rounded_up = _TWO_DIGITS_UP.divide(Decimal(error.numerator), Decimal(error.denominator))
        return _text(shown), f"{rounded_up:.1e}" if error else "0"

    def widened(self, by: arb) -> Estimate:
        """The same number with `by` more error."""
        from flint import arb

        return Estimate(self.ball + arb(0, by.abs_upper()))

    def agreed_digits(self, truth: arb, most: int) -> int:
        """How many digits the estimate shares with `truth` at least, error included; <= `most`."""
        distance = as_fraction((self.ball - truth).abs_upper())
        size = as_fraction(truth.abs_lower()) or Fraction(1)
        digits = 0
        while digits < most and distance * 10 ** (digits + 1) < size:
            digits += 1
        return digits


def limit(lengths: Sequence[int], terms: Sequence[arb]) -> Estimate:
    """The limit of terms at ascending lengths L that differ from it by a series in 1/L.

    Each column of the scheme removes one more power of 1/L. The error is twice the last two
    corrections together, though the last alone already holds the error of the column before; the
    balls carry every error of the arithmetic. Raises DomainError below LEAST_TERMS terms.
    """
    if len(terms) < LEAST_TERMS:
        raise DomainError(
            f"{len(terms)} terms: an extrapolation needs at least {LEAST_TERMS} of them; "
            "give more lengths"
        )
    column, tips = list(terms), [terms[-1]]
    for width in range(1, len(terms)):
        ends = zip(lengths, lengths[width:], strict=False)
        column = [
            (far * column[i + 1] - near * column[i]) / (far - near)
            for i, (near, far) in enumerate(ends)
        ]
        tips.append(column[-1])
    corrections = abs(tips[-1] - tips[-2]) + abs(tips[-2] - tips[-3])
    return Estimate(tips[-1]).widened(corrections * _CAUTION)


def as_fraction(exact: arb) -> Fraction:
    """The rational number that a ball of radius 0 holds."""
    mantissa, exponent = (int(part) for part in exact.man_exp())
    return Fraction(mantissa) * Fraction(2) ** exponent


def _text(number: Decimal) -> str:
    """All digits of `number`, in powers of ten where it is large or small."""
    if not number:
        return f"{abs(number):f}"
    digits = "".join(map(str, number.as_tuple().digits))
    return ("-" if number < 0 else "") + decimal_text(digits, number.adjusted())


def _places(number: Fraction, digits: int) -> int:
    """How many decimal places show `digits` significant digits of a number that is not 0."""
    return digits - 1 - _decimal(number).adjusted()


def _decimal(number: Fraction) -> Decimal:
    return _EXACT.divide(Decimal(number.numerator), Decimal(number.denominator))

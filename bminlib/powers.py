"""Rational powers of rationals: exact by integer arithmetic alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from bminlib.decimals import (
    Rounding,
    check_digits,
    check_rounding,
    decimal_text,
    integer_text,
    root_digits,
)

if TYPE_CHECKING:
    from flint import arb

_FLOAT_DIGITS = 300


@dataclass(frozen=True, slots=True)
class RationalPower:
    """radicand^(1/degree): radicand >= 0 rational, degree the least possible power of two."""

    radicand: Fraction
    degree: int = 1

    @property
    def is_rational(self) -> bool:
        """Whether the value is a rational number."""
        return self.degree == 1

    @property
    def text(self) -> str:
        """The value as sympy parses it, e.g. `3/2`, `5/sqrt(3)`, `(2/3)**(1/8)`."""
        above, below = (rational_power(n, self.degree) for n in self.radicand.as_integer_ratio())
        if above.degree == below.degree == self.degree:
            return _radical(_fraction_text(self.radicand), self.degree)
        top, bottom = (_radical(_fraction_text(x.radicand), x.degree) for x in (above, below))
        return top if bottom == "1" else f"{top}/{bottom}"

    def ball(self, bits: int) -> arb:
        """Enclosure computed at a working precision of `bits`."""
        from flint import arb, ctx, fmpq

        with ctx.workprec(bits):
            ball = arb(fmpq(*self.radicand.as_integer_ratio()))
            return ball if self.degree == 1 else ball.root(self.degree)

    def decimal(self, digits: int, rounding: Rounding = "nearest") -> str:
        """The value to `digits` significant digits, correctly rounded; "0" for zero."""
        check_digits(digits)
        check_rounding(rounding)
        if not self.radicand:
            return "0"
        ratio = self.radicand.as_integer_ratio()
        return decimal_text(*root_digits(*ratio, self.degree, digits, rounding))

    def root(self, degree: int) -> RationalPower:
        """The `degree`-th root; `degree` is a power of two."""
        return rational_power(self.radicand, self.degree * degree)

    def power(self, exponent: int) -> RationalPower:
        """The value to an integer power."""
        return rational_power(self.radicand**exponent, self.degree)

    def __mul__(self, other: Rational) -> RationalPower:
        if not isinstance(other, RationalPower | int | Fraction):
            return NotImplemented
        x, y = self, as_power(other)
        degree = max(x.degree, y.degree)
        raised = x.radicand ** (degree // x.degree) * y.radicand ** (degree // y.degree)
        return rational_power(raised, degree)

    __rmul__ = __mul__

    def __truediv__(self, other: Rational) -> RationalPower:
        if not isinstance(other, RationalPower | int | Fraction):
            return NotImplemented
        return self * as_power(other).power(-1)

    def __rtruediv__(self, other: int | Fraction) -> RationalPower:
        return as_power(other) / self


Rational: TypeAlias = int | Fraction | RationalPower


def rational_power(radicand: int | Fraction, degree: int = 1) -> RationalPower:
    """radicand^(1/degree) in canonical form, for radicand >= 0 and `degree` a power of two."""
    root = radicand if isinstance(radicand, Fraction) else Fraction(radicand)
    while degree > 1:
        above, below = root.as_integer_ratio()
        top, bottom = math.isqrt(above), math.isqrt(below)
        if top * top != above or bottom * bottom != below:
            break
        root, degree = Fraction(top, bottom), degree // 2
    return RationalPower(root, degree)


def as_power(number: Rational) -> RationalPower:
    """An int or Fraction as a RationalPower."""
    return number if isinstance(number, RationalPower) else RationalPower(Fraction(number))


def short_integer(number: int, longest: int = 40) -> str:
    """A whole number as a sentence or a table shows it: in full up to `longest` digits, then as
    `10^n` or rounded to four digits, `about 2.500e+1999`."""
    text = integer_text(number)
    if len(text) <= longest:
        return text
    if text.strip("0") == "1":
        return f"10^{len(text) - 1}"
    return f"about {as_power(number).decimal(4)}"


def _radical(text: str, degree: int) -> str:
    if degree == 1:
        return text
    if len(text) > _FLOAT_DIGITS:  # sympy would look for perfect powers by way of a float
        return f"Pow({text}, 1/{degree}, evaluate=False)"
    if degree == 2:
        return f"sqrt({text})"
    return f"({text})**(1/{degree})" if "/" in text else f"{text}**(1/{degree})"


def _fraction_text(number: Fraction) -> str:
    above, below = map(integer_text, number.as_integer_ratio())
    return above if below == "1" else f"{above}/{below}"

"""Exact positive numbers: rational powers of rationals, and closed expressions over them.

Both kinds share one interface: `text` (sympy parses it), `ball(bits)` (a python-flint
enclosure) and `decimal(digits, rounding)` (right in every digit).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from bminlib.decimals import (
    Rounding,
    check_digits,
    decimal_text,
    integer_text,
    root_digits,
)

if TYPE_CHECKING:
    from flint import arb

_ATOM = 9
_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2}


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
        if not self.radicand:
            return "0"
        ratio = self.radicand.as_integer_ratio()
        return decimal_text(*root_digits(*ratio, self.degree, digits, rounding), digits)

    def root(self, degree: int) -> RationalPower:
        """The `degree`-th root; `degree` is a power of two."""
        return rational_power(self.radicand, self.degree * degree)

    def power(self, exponent: int) -> RationalPower:
        """The value to an integer power."""
        return rational_power(self.radicand**exponent, self.degree)

    def __mul__(self, other: Number) -> RationalPower:
        if isinstance(other, Expression | EquationRoot):
            return NotImplemented
        x, y = self, as_power(other)
        degree = max(x.degree, y.degree)
        raised = x.radicand ** (degree // x.degree) * y.radicand ** (degree // y.degree)
        return rational_power(raised, degree)

    __rmul__ = __mul__

    def __truediv__(self, other: Number) -> RationalPower:
        if isinstance(other, Expression | EquationRoot):
            return NotImplemented
        return self * as_power(other).power(-1)

    def __rtruediv__(self, other: int | Fraction) -> RationalPower:
        return as_power(other) / self


@dataclass(frozen=True, slots=True)
class Expression:
    """A positive irrational number built by `operation` from exact numbers.

    `sides` are facts known beforehand: (bound, +1) says that the value lies strictly above that
    rational power, (bound, -1) strictly below. They decide a rounding where the distance is too
    small to resolve, as in 1 + exp(-2^31).
    """

    operation: str
    arguments: tuple[Number, ...]
    sides: tuple[tuple[RationalPower, int], ...] = ()

    @property
    def text(self) -> str | None:
        """The value as sympy parses it; None where a part is defined by an equation only."""
        return None if (rendered := _render(self)) is None else rendered[0]

    def ball(self, bits: int) -> arb:
        """Enclosure computed at a working precision of `bits`."""
        from flint import ctx

        with ctx.workprec(bits):
            return _evaluate(self, bits)

    def decimal(self, digits: int, rounding: Rounding = "nearest") -> str:
        """The value to `digits` significant digits, correctly rounded."""
        from bminlib.balls import ball_digits

        check_digits(digits)
        return decimal_text(*ball_digits(self, digits, rounding), digits)

    def over(self, divisor: RationalPower) -> Expression:
        """The value divided by a positive rational power, with its sides."""
        sides = tuple((bound / divisor, sign) for bound, sign in self.sides)
        return Expression("/", (self, divisor), sides)

    def root(self, degree: int) -> Expression:
        """The `degree`-th root, with its sides; `degree` is a power of two."""
        if degree == 1:
            return self
        sides = tuple((bound.root(degree), sign) for bound, sign in self.sides)
        return Expression(f"root{degree}", (self,), sides)

    def beside(self, *sides: tuple[RationalPower, int]) -> Expression:
        """The same value with `sides` on record."""
        return Expression(self.operation, self.arguments, sides)

    def __add__(self, other: Number) -> Expression:
        return self if other == 0 else Expression("+", (self, other))

    def __radd__(self, other: Number) -> Expression:
        return Expression("+", (other, self))

    def __sub__(self, other: Number) -> Expression:
        return Expression("-", (self, other))

    def __rsub__(self, other: Number) -> Expression:
        return Expression("-", (other, self))

    def __mul__(self, other: Number) -> Expression:
        return Expression("*", (self, other))

    def __rmul__(self, other: Number) -> Expression:
        return self if other == 1 else Expression("*", (other, self))

    def __truediv__(self, other: Number) -> Expression:
        return Expression("/", (self, other))

    def __rtruediv__(self, other: Number) -> Expression:
        return Expression("/", (other, self))


@dataclass(frozen=True, slots=True)
class EquationRoot:
    """The only zero of `residual` in (low, high), proved by interval Newton on each call.

    `residual` and `slope` (its derivative) take a ball and return one; `slope` has no zero there.
    """

    equation: str
    residual: Callable[[arb], arb]
    slope: Callable[[arb], arb]
    low: Number
    high: Number

    @property
    def text(self) -> None:
        """None: only `equation` defines the value."""
        return None

    def ball(self, bits: int) -> arb:
        """Enclosure computed at a working precision of `bits`."""
        from bminlib.balls import newton_root

        return newton_root(self, bits)


Value: TypeAlias = RationalPower | Expression
Number: TypeAlias = Union[int, Fraction, RationalPower, Expression, EquationRoot]


def rational_power(radicand: int | Fraction, degree: int = 1) -> RationalPower:
    """radicand^(1/degree) in canonical form, for radicand >= 0 and `degree` a power of two."""
    above, below = radicand.as_integer_ratio()
    while degree > 1:
        top, bottom = math.isqrt(above), math.isqrt(below)
        if top * top != above or bottom * bottom != below:
            break
        above, below, degree = top, bottom, degree // 2
    return RationalPower(Fraction(above, below), degree)


def as_power(number: Number) -> RationalPower:
    """An int or Fraction as a RationalPower."""
    if isinstance(number, RationalPower):
        return number
    if isinstance(number, int | Fraction):
        return RationalPower(Fraction(number))
    raise TypeError(f"{number!r} is not a rational power")


def as_exact(number: Number) -> RationalPower | Expression | EquationRoot:
    """An int or Fraction as a RationalPower; any other exact number as it is."""
    return as_power(number) if isinstance(number, int | Fraction) else number


def add(x: int, y: RationalPower) -> Value:
    """x + y: exact where y is rational, an expression elsewhere."""
    return as_power(x + y.radicand) if y.is_rational else Expression("+", (x, y))


def function(name: str, argument: Number) -> Expression:
    """exp, log or lambertw (principal branch) of `argument`."""
    return Expression(name, (argument,))


def _evaluate(number: Number, bits: int) -> arb:
    if not isinstance(number, Expression):
        return as_exact(number).ball(bits)
    balls = [_evaluate(argument, bits) for argument in number.arguments]
    return _ON_BALLS[number.operation](*balls)


_ON_BALLS: dict[str, Callable[..., Any]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / y,
    "value": lambda x: x,
    "exp": lambda x: x.exp(),
    "log": lambda x: x.log(),
    "lambertw": lambda x: x.lambertw(),
    "root2": lambda x: x.sqrt(),
    "root4": lambda x: x.root(4),
}


def _render(number: Number) -> tuple[str, int] | None:
    """(text, precedence) of a number."""
    if isinstance(number, EquationRoot):
        return None
    if not isinstance(number, Expression):
        text = as_power(number).text
        return text, _PRECEDENCE["/"] if "/" in text else _ATOM
    parts = [_render(argument) for argument in number.arguments]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    if number.operation not in _PRECEDENCE:
        return _call(number.operation, known[0][0]), _ATOM
    level = _PRECEDENCE[number.operation]
    left, right = known
    text = f"{_wrapped(left, level)}{_spaced(number.operation)}{_wrapped(right, level + 1)}"
    return text, level


def _call(operation: str, argument: str) -> str:
    if operation == "root2":
        return f"sqrt({argument})"
    if operation.startswith("root"):
        return f"({argument})**(1/{operation[4:]})"
    return f"{'LambertW' if operation == 'lambertw' else operation}({argument})"


def _spaced(operation: str) -> str:
    return f" {operation} " if operation in "+-" else operation


def _wrapped(part: tuple[str, int], level: int) -> str:
    text, precedence = part
    return text if precedence >= level else f"({text})"


def _radical(text: str, degree: int) -> str:
    if degree == 1:
        return text
    if degree == 2:
        return f"sqrt({text})"
    return f"({text})**(1/{degree})" if "/" in text else f"{text}**(1/{degree})"


def _fraction_text(number: Fraction) -> str:
    above, below = map(integer_text, number.as_integer_ratio())
    return above if below == "1" else f"{above}/{below}"

"""Closed expressions over exact numbers, and numbers that only an equation defines.

They share RationalPower's interface: `text` (sympy parses it), `ball(bits)` (a python-flint
enclosure) and `decimal(digits, rounding)` (right in every digit).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from bminlib.decimals import Rounding, check_digits, check_rounding, decimal_text
from bminlib.powers import RationalPower, as_power

if TYPE_CHECKING:
    from flint import arb

_ATOM = 9
_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2}


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
        check_rounding(rounding)
        return decimal_text(*ball_digits(self, digits, rounding))

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
Number: TypeAlias = int | Fraction | RationalPower | Expression | EquationRoot


def as_exact(number: Number) -> RationalPower | Expression | EquationRoot:
    """An int or Fraction as a RationalPower; any other exact number as it is."""
    return as_power(number) if isinstance(number, int | Fraction) else number


def function(name: str, argument: Number) -> Expression:
    """exp, log or lambertw (principal branch) of `argument`."""
    return Expression(name, (argument,))


def _evaluate(number: Number, bits: int) -> arb:
    if not isinstance(number, Expression):
        return as_exact(number).ball(bits)
    balls = [_evaluate(argument, bits) for argument in number.arguments]
    ball: arb = _ON_BALLS[number.operation](*balls)
    return ball


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

"""Decisions and digits from python-flint balls of rising precision."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol, TypeVar

from bminlib.decimals import (
    Rounding,
    check_digits,
    decimal_text,
    digits_and_exponent,
)
from bminlib.errors import UndecidedError
from bminlib.expressions import EquationRoot, Expression, as_exact
from bminlib.powers import RationalPower, rational_power

if TYPE_CHECKING:
    from flint import arb

T = TypeVar("T")

_BITS_PER_DIGIT = 3.3219280948873626
_FIRST_BITS = 64
_MAX_BITS = 1 << 26


class _TooWideError(ArithmeticError):
    """A ball too wide to give digits."""


class HasBall(Protocol):
    """A real number that encloses itself in a ball."""

    def ball(self, bits: int) -> arb:
        """Enclosure computed at a working precision of `bits`."""


def sign(value: HasBall) -> int:
    """The sign of a nonzero real; raises UndecidedError where it can't be told from 0."""
    return _refine(lambda bits: _ball_sign(value.ball(bits)), _FIRST_BITS)


def compare(left: HasBall, right: HasBall) -> int:
    """-1 or 1 as left < right or left > right, for different reals."""

    def difference(bits: int) -> int | None:
        from flint import ctx

        with ctx.workprec(bits):
            return _ball_sign(left.ball(bits) - right.ball(bits))

    return _refine(difference, _FIRST_BITS)


def enclosure(value: HasBall, digits: int) -> arb:
    """A ball that holds `value`, with a relative radius below 10^-digits."""
    check_digits(digits)

    def narrow(bits: int) -> arb | None:
        ball = value.ball(bits)
        done = ball.is_exact() or ball.rel_accuracy_bits() > digits * _BITS_PER_DIGIT + 1
        return ball if done else None

    return _refine(narrow, round(digits * _BITS_PER_DIGIT) + 16)


def floor(value: HasBall) -> int:
    """The integer part of a real that is no integer itself."""

    def unique(bits: int) -> int | None:
        from flint import ctx

        with ctx.workprec(bits):
            return _unique_floor(value.ball(bits))

    return _refine(unique, _FIRST_BITS)


def ball_digits(value: Expression, digits: int, rounding: Rounding) -> tuple[str, int]:
    """(digits, exponent) as in `decimals.root_digits`, for any positive expression."""

    def attempt(bits: int) -> tuple[str, int] | None:
        from flint import ctx

        with ctx.workprec(bits):
            try:
                return _digits_at(value, bits, digits, rounding)
            except _TooWideError:
                return None

    return _refine(attempt, round(digits * _BITS_PER_DIGIT) + 32)


def ball_text(ball: arb, digits: int = 15) -> str:
    """The number in a ball, rounded to nearest: `digits` significant digits, fewer in a wide one.

    A ball that leaves even the first digit open is given as [middle +/- radius].
    """
    if ball.is_zero():
        return "0"
    if ball > 0 or ball < 0:
        for count in range(digits, 0, -1):
            text = nearest_text(abs(ball), count)
            if text is not None:
                return f"-{text}" if ball < 0 else text
    return str(ball.str(6))


def nearest_text(ball: arb, digits: int) -> str | None:
    """What every number in a positive ball rounds to at `digits` digits; None where they differ.

    Rounding is monotone, so its ends decide. A tie goes to even, but needs an exact ball.
    """
    from flint import ctx

    with ctx.workprec(max(ctx.prec, ball.bits(), 64) + round(digits * _BITS_PER_DIGIT)):
        try:
            low, high = (_exact_digits(end, digits) for end in (ball.lower(), ball.upper()))
        except _TooWideError:
            return None
    return decimal_text(*low) if low == high else None


def _exact_digits(number: arb, digits: int) -> tuple[str, int]:
    """(digits, exponent) of a positive ball of radius 0, rounded to nearest."""
    from flint import arb

    def scaled_floor(shift: int) -> tuple[int, bool]:
        ten = arb(10) ** abs(shift)
        doubled = 2 * number * ten if shift > 0 else 2 * number / ten  # either can be exact
        floor = _unique_floor(doubled)
        if floor is None:
            raise _TooWideError
        return floor, bool(doubled == floor)

    exponent = _unique_floor((number.log() / arb(10).log()).mid())
    if exponent is None:
        raise _TooWideError
    return digits_and_exponent(scaled_floor, exponent, digits, "nearest")


def newton_root(root: EquationRoot, bits: int) -> arb:
    """Enclosure of the zero by interval Newton steps, each of which proves it anew.

    N(X) = mid - residual(mid)/slope(X) holds every zero in X; the steps stop when they no longer
    halve the radius.
    """
    from flint import ctx

    with ctx.workprec(bits + 16):
        current = as_exact(root.low).ball(bits + 16).union(as_exact(root.high).ball(bits + 16))
        while True:
            middle = current.mid()
            step = middle - root.residual(middle) / root.slope(current)
            narrowed = current.intersection(step)
            if not 2 * narrowed.rad() < current.rad():
                return narrowed
            current = narrowed


def _refine(attempt: Callable[[int], T | None], bits: int) -> T:
    """The first answer of `attempt` as its precision doubles."""
    while bits <= _MAX_BITS:
        answer = attempt(bits)
        if answer is not None:
            return answer
        bits *= 2
    raise UndecidedError(f"undecided at {_MAX_BITS} bits of working precision")


def _ball_sign(ball: arb) -> int | None:
    if ball > 0:
        return 1
    return -1 if ball < 0 else None


def _unique_floor(ball: arb) -> int | None:
    whole = ball.floor().unique_fmpz() if ball.is_finite() else None
    return None if whole is None else int(whole)


def _digits_at(value: Expression, bits: int, digits: int, rounding: Rounding) -> tuple[str, int]:
    """`ball_digits` from the ball at `bits`."""
    return _digits_in(value.ball(bits), digits, rounding, value.sides)


def _digits_in(
    ball: arb, digits: int, rounding: Rounding, sides: tuple[tuple[RationalPower, int], ...] = ()
) -> tuple[str, int]:
    """The digits that every number in a positive ball rounds to, at the current precision."""
    from flint import arb

    exponent = _unique_floor((ball.log() / arb(10).log()).mid())
    if exponent is None:
        raise _TooWideError
    return digits_and_exponent(
        lambda shift: (_floor_beside(2 * ball * arb(10) ** shift, shift, sides), False),
        exponent,
        digits,
        rounding,
    )


def _floor_beside(scaled: arb, shift: int, sides: tuple[tuple[RationalPower, int], ...]) -> int:
    """floor(scaled) for scaled = 2 x 10^shift, by the sides of x if need be."""
    floor = _unique_floor(scaled)
    if floor is not None:
        return floor
    nearest = scaled.unique_fmpz()
    if nearest is None:
        raise _TooWideError
    boundary = rational_power(Fraction(int(nearest), 2) / Fraction(10) ** shift)
    for bound, side in sides:
        if bound == boundary:
            return int(nearest) if side > 0 else int(nearest) - 1
    raise _TooWideError

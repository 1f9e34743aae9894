"""Decimal text of exact numbers by integer arithmetic: every digit is right at any length."""

import math
import re
from collections.abc import Callable
from typing import Any, Literal

from bminlib.errors import DomainError, shown

Rounding = Literal["nearest", "down", "up"]

MAX_DIGITS = 1_000_000
MAX_EXACT_DIGITS = 4000
_PYTHON_DIGITS = 4000  # CPython refuses to convert integers of more than 4300 digits
_FLINT_DIGITS = 400  # from here on FLINT's integers are faster than Python's
_LOG10_2 = math.log10(2)


def check_digits(digits: object) -> int:
    """`digits` if it is an integer from 1 to MAX_DIGITS; raises DomainError otherwise."""
    if isinstance(digits, bool) or not isinstance(digits, int) or not 1 <= digits <= MAX_DIGITS:
        raise DomainError(
            f"digits={shown(digits)}: the number of significant digits must be an integer "
            f"from 1 to {MAX_DIGITS}; 15 is the default"
        )
    return digits


def check_rounding(rounding: object) -> None:
    """Raises DomainError unless `rounding` is nearest, down or up."""
    if rounding not in ("nearest", "down", "up"):
        raise DomainError(
            f"rounding={shown(rounding)}: must be one of nearest, down, up; pick one of these"
        )


def integer_text(number: Any) -> str:
    """Every decimal digit of an int or fmpz, however long it is."""
    if not isinstance(number, int) or number.bit_length() * _LOG10_2 < _PYTHON_DIGITS:
        return str(number)
    from flint import fmpz

    return str(fmpz(number))


def integer_from_text(text: str) -> int:
    """The integer that a string of ASCII digits spells, however long it is."""
    if len(text) <= _PYTHON_DIGITS:
        return int(text)
    from flint import fmpz

    return int(fmpz(text))


def is_too_long(text: str) -> bool:
    """Whether an integer in `text` has over MAX_EXACT_DIGITS digits."""
    return len(text) > MAX_EXACT_DIGITS and bool(re.search(rf"\d{{{MAX_EXACT_DIGITS + 1}}}", text))


def root_digits(
    numerator: int, denominator: int, degree: int, digits: int, rounding: Rounding
) -> tuple[str, int]:
    """(significant digits, decimal exponent) of x = (numerator/denominator)^(1/degree), x > 0.

    x = d.ddd... 10^exponent after correct rounding (ties go to even). `degree` is a power of two.
    """
    return digits_and_exponent(
        lambda shift: _scaled_floor(numerator, denominator, degree, shift),
        _decimal_exponent(numerator, denominator, degree),
        digits,
        rounding,
    )


def digits_and_exponent(
    scaled_floor: Callable[[int], tuple[Any, bool]], exponent: int, digits: int, rounding: Rounding
) -> tuple[str, int]:
    """The answer of `root_digits` for the x that `scaled_floor` knows, from a guessed exponent.

    scaled_floor(shift) is floor(2 x 10^shift), and whether 2 x 10^shift is that integer.
    """
    while True:
        doubled, exact = scaled_floor(digits - 1 - exponent)
        up = _goes_up(doubled, exact, rounding)
        text = integer_text((doubled >> 1) + up)
        to_power = up and text.strip("0") == "1"
        if len(text) > digits and to_power:
            return text[:-1], exponent + 1
        if len(text) > digits:
            exponent += 1
        elif len(text) < digits or to_power:  # x itself lies below 10^exponent
            exponent -= 1
        else:
            return text, exponent


def decimal_text(text: str, exponent: int) -> str:
    """d.ddd... 10^exponent, with all the digits of `text`.

    Positional where that needs no filler zeros before the point, scientific otherwise.
    """
    if 0 <= exponent < len(text):
        whole, part = text[: exponent + 1], text[exponent + 1 :]
        return f"{whole}.{part}" if part else whole
    if -5 <= exponent < 0:
        return "0." + "0" * (-exponent - 1) + text
    point = f"{text[0]}.{text[1:]}" if len(text) > 1 else text
    sign = "-" if exponent < 0 else "+"
    return f"{point}e{sign}{integer_text(abs(exponent)):0>2}"


def _decimal_exponent(numerator: int, denominator: int, degree: int) -> int:
    """floor(log10 x), or off by one near a power of ten."""
    shift_n = max(numerator.bit_length() - 60, 0)
    shift_d = max(denominator.bit_length() - 60, 0)
    leading = math.log10((numerator >> shift_n) / (denominator >> shift_d))
    return math.floor((leading + (shift_n - shift_d) * _LOG10_2) / degree)


def _scaled_floor(numerator: int, denominator: int, degree: int, shift: int) -> tuple[Any, bool]:
    """floor(2 x 10^shift), and whether 2 x 10^shift is that integer."""
    if abs(shift) > _FLINT_DIGITS:
        from flint import fmpz

        return _nested_roots(fmpz(numerator), fmpz(denominator), degree, shift, fmpz(10))
    return _nested_roots(numerator, denominator, degree, shift, 10)


def _nested_roots(
    numerator: Any, denominator: Any, degree: int, shift: int, ten: Any
) -> tuple[Any, bool]:
    """The same for int or fmpz operands; floor(sqrt(floor(y))) = floor(sqrt(y)) nests."""
    scale = ten ** (degree * abs(shift))
    if shift >= 0:
        numerator = numerator * scale
    else:
        denominator = denominator * scale
    floor, rest = divmod(numerator << degree, denominator)
    exact = rest == 0
    while degree > 1:
        root = math.isqrt(floor) if isinstance(floor, int) else floor.isqrt()
        exact = exact and root * root == floor
        floor, degree = root, degree // 2
    return floor, exact


def _goes_up(doubled: Any, exact: bool, rounding: Rounding) -> int:
    """1 if rounding takes the next integer above floor(doubled/2), else 0."""
    half = doubled & 1
    if rounding == "down":
        return 0
    if rounding == "up":
        return 0 if exact and not half else 1
    return int(doubled >> 1 & 1 if half and exact else half)

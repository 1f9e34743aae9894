"""Short rational numbers: the simplest in an interval, and exact roots behind their enclosures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flint import arb, fmpq


def simplest_between(low: float | Fraction, high: float | Fraction) -> Fraction:
    """The rational of least denominator in (low, high), for 0 <= low < high."""
    low, high = Fraction(low), Fraction(high)
    wholes: list[int] = []  # a continued fraction, as long as the ends share it
    while True:
        whole = math.floor(low)
        if whole + 1 < high:
            value = Fraction(whole + 1)
            break
        if low == whole:
            value = whole + Fraction(1, math.floor(1 / (high - whole)) + 1)
            break
        wholes.append(whole)
        low, high = 1 / (high - whole), 1 / (low - whole)
    for whole in reversed(wholes):
        value = whole + 1 / value
    return value


def simplest_in(balls: Sequence[arb]) -> list[fmpq]:
    """The simplest rational in each ball."""
    return [_simplest_in(ball) for ball in balls]


def _simplest_in(ball: arb) -> fmpq:
    from flint import fmpq

    low, high = as_fraction(ball.lower()), as_fraction(ball.upper())
    if low <= 0 <= high:
        return fmpq(0)
    if low == high:
        return fmpq(*low.as_integer_ratio())
    sign = 1 if low > 0 else -1
    found = simplest_between(*sorted((sign * low, sign * high)))
    return fmpq(sign * found.numerator, found.denominator)


def as_fraction(exact: arb) -> Fraction:
    """The value of a ball of radius 0."""
    mantissa, exponent = exact.man_exp()
    return int(mantissa) * Fraction(2) ** int(exponent)

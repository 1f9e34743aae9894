"""Weights with fewer bits: entries rounded to multiples of 2^-b, or to a floating-point format."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from bminlib.weights import Weights

if TYPE_CHECKING:
    import numpy as np


class FloatFormat(NamedTuple):
    """significand: bits, the hidden one included. least: the exponent of the least positive number.

    greatest: the largest finite number.
    """

    name: str
    significand: int
    least: int
    greatest: Fraction


def _format(name: str, significand: int, least_normal: int, top: int) -> FloatFormat:
    """A binary format whose normal numbers range from 2^least_normal to below 2^top."""
    greatest = Fraction(2) ** top - Fraction(2) ** (top - significand)
    return FloatFormat(name, significand, least_normal - significand + 1, greatest)


FLOAT32 = _format("float32", 24, -126, 128)
FLOAT16 = _format("float16", 11, -14, 16)
BFLOAT16 = _format("bfloat16", 8, -126, 128)
_FLOAT_BITS = 53
_SAFE_EXPONENT = 900  # of a float64 that neither overflows nor loses bits
FORMATS = (FLOAT32, FLOAT16, BFLOAT16)


def fixed_point(weights: Weights, bits: int) -> Weights:
    """Every entry rounded to the nearest multiple of 2^-bits, ties to even."""
    return _rounded(weights, lambda _: -bits)


def floating(weights: Weights, kind: FloatFormat) -> Weights | None:
    """Every entry rounded to nearest in a format, ties to even; None where one overflows."""

    def unit(exponent: int) -> int:
        return max(exponent - kind.significand, kind.least)

    rounded = _rounded(weights, unit)
    greatest = max(abs(x) for array in rounded.arrays().values() for x in _extremes(array))
    return None if greatest > kind.greatest else rounded


def _rounded(weights: Weights, unit: Callable[[int], int]) -> Weights:
    """Entries x with 2^(e-1) <= |x| < 2^e rounded to multiples of 2^unit(e)."""
    arrays = {
        name: (_fractions if array.dtype == object else _floats)(array, unit)
        for name, array in weights.arrays().items()
    }
    return Weights(weights.problem, arrays, arrays.pop("b"), weights.ln_eps)


def _floats(array: np.ndarray, unit: Callable[[int], int]) -> np.ndarray:
    """The same for float64: dividing by the unit is exact, and so is multiplying again."""
    import numpy as np

    _, exponents = np.frexp(array)
    table = {e: unit(e) for e in np.unique(exponents).tolist()}
    units = np.vectorize(table.__getitem__, otypes=[int])(exponents)
    coarse = exponents - units < _FLOAT_BITS  # elsewhere the entry is a multiple already
    steps = np.rint(np.ldexp(array, np.where(coarse, -units, 0)))
    return np.where(coarse, np.ldexp(steps, np.where(coarse, units, 0)), array)


def _fractions(array: np.ndarray, unit: Callable[[int], int]) -> np.ndarray:
    """The same for Fractions; most entries of a read-out are 0."""
    import numpy as np

    entries = [_nearest(x, unit) if x else 0.0 for x in array.ravel().tolist()]
    exact = any(type(x) is Fraction for x in entries)
    flat = np.empty(len(entries), dtype=object if exact else float)
    flat[:] = entries
    return flat.reshape(array.shape)


def _nearest(x: Fraction, unit: Callable[[int], int]) -> float | Fraction:
    """x != 0 rounded, as a float64 where that is one for certain."""
    above, below = x.as_integer_ratio()
    size = abs(above)
    exponent = size.bit_length() - below.bit_length()  # 2^(exponent-1) < |x| < 2^(exponent+1)
    if size << max(-exponent, 0) >= below << max(exponent, 0):
        exponent += 1
    places = unit(exponent)
    multiple = _quotient(above << max(-places, 0), below << max(places, 0))
    if abs(multiple) < 1 << _FLOAT_BITS and abs(places) < _SAFE_EXPONENT:
        return math.ldexp(multiple, places)
    return multiple * Fraction(2) ** places


def _quotient(above: int, below: int) -> int:
    """above/below rounded to the nearest integer, ties to even."""
    whole, rest = divmod(above, below)
    return whole + (2 * rest > below or (2 * rest == below and whole % 2 == 1))


def _extremes(array: np.ndarray) -> tuple[Fraction, Fraction]:
    return Fraction(array.min()), Fraction(array.max())

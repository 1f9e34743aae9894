"""Arrays of exact entries: float64 as it is, Fractions where that is not enough."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from bminlib.errors import DomainError, shown

if TYPE_CHECKING:
    import numpy as np

_WHOLE_FLOATS = 1 << 53


def as_array(name: str, values: Any) -> np.ndarray:
    """`values` as a fresh array of floats, with Fractions where an entry can be no float."""
    import numpy as np

    array = values if isinstance(values, np.ndarray) else np.array(values, dtype=object)
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        return array.astype(np.float64)
    if array.dtype.kind not in "iuO":
        raise _entry_error(name, array.flat[0] if array.size else values)
    numbers = [_number(name, entry) for entry in array.flat]
    exact = any(isinstance(number, Fraction) for number in numbers)
    fresh = np.empty(array.shape, dtype=object if exact else np.float64)
    fresh.reshape(-1)[:] = numbers
    return fresh


def _number(name: str, entry: Any) -> float | Fraction:
    """`entry` as a float if it is one or is an integer that equals one, else as a Fraction."""
    import numpy as np

    number = entry.item() if isinstance(entry, np.generic) else entry
    if isinstance(number, bool) or not isinstance(number, int | float | Fraction):
        raise _entry_error(name, entry)
    if isinstance(number, int):
        return float(number) if abs(number) <= _WHOLE_FLOATS else Fraction(number)
    return number


def as_fractions(array: np.ndarray) -> np.ndarray:
    """The entries as Fractions."""
    import numpy as np

    exact = np.empty(array.shape, dtype=object)
    exact.reshape(-1)[:] = [Fraction(number) for number in array.flat]
    return exact


def check_finite(name: str, array: np.ndarray) -> None:
    """Raises DomainError for NaN and infinity."""
    import numpy as np

    floats = array
    if array.dtype == object:
        floats = np.array([x for x in array.flat if isinstance(x, float)])
    wrong = floats[~np.isfinite(floats)]
    if wrong.size:
        raise _entry_error(name, wrong.flat[0].item())


def float64_array(name: str, entries: Sequence[Fraction] | np.ndarray) -> np.ndarray:
    """`entries` as float64; raises DomainError where one of them is no float64."""
    import numpy as np

    given = np.asarray(entries)
    try:
        floats = np.array([float(entry) for entry in given.flat]).reshape(given.shape)
    except OverflowError as error:
        raise _precision_error(name) from error
    if any(Fraction(x) != y for x, y in zip(floats.flat, given.flat, strict=True)):
        raise _precision_error(name)
    return floats


def _entry_error(name: str, entry: object) -> DomainError:
    kind = type(entry).__name__
    return DomainError(
        f"{name} has the entry {shown(entry)} of type {kind}: every entry must be a finite real "
        "number; give floats, or Fractions where they are to be exact"
    )


def _precision_error(name: str) -> DomainError:
    return DomainError(
        f"{name}: an entry needs more than the 53 bits of a float64, and rounding it would change "
        "the weights; keep them exact (JSON), or take a larger slack"
    )

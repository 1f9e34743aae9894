"""A percentile bootstrap of a log-log slope that draws whole units, such as seeds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np

RESAMPLES = 2000
CONFIDENCE = 0.95


class Interval(NamedTuple):
    """The middle CONFIDENCE of the slopes of RESAMPLES resamples over `units` units."""

    low: float
    high: float
    units: int


def slope_interval(
    x: Sequence[float], y: Sequence[float], units: Sequence[object], seed: int
) -> Interval | None:
    """The interval of the least-squares slope of log y on log x; the same for the same seed.

    Units are drawn with replacement, each with all its points; where there is one unit only, points
    are drawn. None with fewer than two different x, or where no two resamples have that.
    """
    import numpy as np

    if len(set(x)) < 2:
        return None
    if len(set(units)) < 2:
        units = range(len(x))
    number = {unit: i for i, unit in enumerate(dict.fromkeys(units))}
    sums = _unit_sums(np.log(x), np.log(y), np.array([number[unit] for unit in units]))
    slopes = _slopes(np.stack([sums[drawn].sum(axis=0) for drawn in _draws(len(sums), seed)]))
    if len(slopes) < 2:
        return None
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(slopes, [tail, 1 - tail])
    return Interval(float(low), float(high), len(sums))


def _draws(units: int, seed: int) -> Iterator[np.ndarray]:
    """RESAMPLES times `units` indices, drawn with replacement."""
    import numpy as np

    stream = np.random.RandomState(seed)  # frozen: later numpy versions draw the same
    for _ in range(RESAMPLES):
        yield (stream.random_sample(units) * units).astype(int)


def _unit_sums(u: np.ndarray, v: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Sums of 1, u, v, u^2, u v over the points of each unit. (units, 5)"""
    import numpy as np

    u, v = u - u.mean(), v - v.mean()  # centred, lest the sums of squares cancel
    columns = [np.ones_like(u), u, v, u * u, u * v]
    return np.stack([np.bincount(unit, weights=column) for column in columns], axis=1)


def _slopes(sums: np.ndarray) -> np.ndarray:
    """The slopes of the resamples that have one."""
    n, u, v, uu, uv = sums.T
    spread = n * uu - u * u
    kept = spread > 1e-9 * n * uu
    slopes: np.ndarray = (n * uv - u * v)[kept] / spread[kept]
    return slopes

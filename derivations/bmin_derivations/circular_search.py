"""The least radius of a circular read-out, found by search over all lines p + c g.

For a given line (kappa, c0) the least-norm read-out is a point of a plane polygon; a coarse grid
and a simplex search find the best line, and Newton's method on the optimality system of the rows
that bind there gives many digits. No symmetry is assumed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from bmin_derivations import routes
from bmin_derivations.records import Enclosure

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

_CHUNK = 100
_MOVES = 90
_STEP_LIMIT = 4  # up to here the best line degenerates, and rows stop binding one by one


@cache
def least_radius(L: int) -> Enclosure:
    """Least |p| such that some line and shift count to L >= 2."""
    context = routes.reals()
    value, line = best_line(L, _radius)
    if L <= _STEP_LIMIT:
        return routes.around(context, context.mpf(value), "1e-7")
    return routes.around(context, _polished(L, line, context), "1e-22")


def best_line(
    L: int, radius: Callable[[int, float, float], tuple[float, Array]]
) -> tuple[float, tuple[float, float]]:
    """(least radius, (c0, ln kappa)) by a coarse grid and a shrinking pattern search."""
    import numpy as np

    centres, slopes = np.linspace(-0.5, L + 0.5, 9), np.linspace(-3.0, 3.0, 9)
    value, line = min((radius(L, c0, rate)[0], (c0, rate)) for c0 in centres for rate in slopes)
    step = 0.7
    for _ in range(_MOVES):
        moves = [(line[0] + x * step, line[1] + y * step) for x, y in _DIRECTIONS]
        best, moved = min((radius(L, *move)[0], move) for move in moves)
        if best < value:
            value, line = best, moved
        else:
            step /= 2
        if step < 1e-6:
            break
    return float(value), (float(line[0]), float(line[1]))


_DIRECTIONS = [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1)]


def _radius(L: int, c0: float, rate: float) -> tuple[float, Array]:
    """(least |p|, p) for a line: p.(u_j - u_i) >= j - i - 1 for all pairs of counts."""
    import numpy as np

    u = directions(L, c0, rate)
    i, j = np.meshgrid(np.arange(L + 1), np.arange(L + 1))
    keep = (i != j).ravel()
    rows = (u[:, j.ravel()] - u[:, i.ravel()]).T[keep]
    needs = (j - i - 1).ravel()[keep].astype(float)
    return _least_norm(rows, needs)


def directions(L: int, c0: float, rate: float) -> Array:
    """The unit vectors of the counts on the line, shape (2, L + 1)."""
    import numpy as np

    x = np.exp(rate) * (np.arange(L + 1) - c0)
    return np.stack([x, np.ones_like(x)]) / np.sqrt(1 + x * x)  # type: ignore[no-any-return]


def _least_norm(rows: Array, needs: Array) -> tuple[float, Array]:
    """The point of least norm with rows @ p >= needs, from single rows and pairs of rows."""
    import numpy as np

    some = needs > 0
    if not some.any():
        return 0.0, np.zeros(2)
    lengths = (rows * rows).sum(axis=1)
    single = rows[some] * (needs[some] / lengths[some])[:, None]
    first, second = np.triu_indices(len(rows), 1)
    det = rows[first, 0] * rows[second, 1] - rows[first, 1] * rows[second, 0]
    solvable = abs(det) > 1e-14
    first, second, det = first[solvable], second[solvable], det[solvable]
    vertex = np.stack(
        [
            (needs[first] * rows[second, 1] - needs[second] * rows[first, 1]) / det,
            (needs[second] * rows[first, 0] - needs[first] * rows[second, 0]) / det,
        ],
        axis=1,
    )
    points = np.concatenate([single, vertex])
    sizes = np.hypot(points[:, 0], points[:, 1])
    order = np.argsort(sizes)
    for start in range(0, len(order), _CHUNK):
        chunk = order[start : start + _CHUNK]
        fits = (points[chunk] @ rows.T >= needs - 1e-9).all(axis=1)
        if fits.any():
            best = chunk[int(fits.argmax())]
            return float(sizes[best]), points[best]
    return float("inf"), np.zeros(2)


def _polished(L: int, line: tuple[float, float], context: Any) -> Any:
    """The radius from Newton's method on the stationarity of all binding rows."""
    import numpy as np

    c0, rate = line
    p = _radius(L, c0, rate)[1]
    x = np.exp(rate) * (np.arange(L + 1) - c0)
    y = (p[0] * x + p[1]) / np.sqrt(1 + x * x)
    b = (np.max(np.arange(L + 1) - 0.5 - y) + np.min(np.arange(L + 1) + 0.5 - y)) / 2
    offsets = y + b - np.arange(L + 1)
    targets = {c: round(float(2 * e)) for c, e in enumerate(offsets) if abs(abs(e) - 0.5) < 2e-4}
    start = [p[0], p[1], b, np.exp(rate), c0]
    system = _optimality(targets, context)
    weights = _multipliers(targets, start)
    solution = context.findroot(system, [*map(float, start), *weights], tol=1e-50, maxsteps=60)
    return context.sqrt(solution[0] ** 2 + solution[1] ** 2)


def _gradient(p1: Any, p2: Any, kappa: Any, c0: Any, c: int, root: Any) -> tuple[Any, ...]:
    """(reading, its derivatives in p1, p2, b, kappa, c0) at count c."""
    x = kappa * (c - c0)
    size = root(1 + x * x)
    turn = (p1 - p2 * x) / size**3
    return (p1 * x + p2) / size, x / size, 1 / size, 1, turn * (c - c0), -turn * kappa


def _optimality(targets: dict[int, int], context: Any) -> Any:
    def system(*unknowns: Any) -> list[Any]:
        p1, p2, b, kappa, c0, *weights = unknowns
        force = [2 * p1, 2 * p2, 0, 0, 0]
        rows = []
        for (c, side), weight in zip(targets.items(), weights, strict=True):
            reading, *slopes = _gradient(p1, p2, kappa, c0, c, context.sqrt)
            rows.append(reading + b - c - context.mpf(side) / 2)
            force = [f - weight * slope for f, slope in zip(force, slopes, strict=True)]
        return force + rows

    return system


def _multipliers(targets: dict[int, int], start: list[Any]) -> list[float]:
    """Least-squares multipliers at the start."""
    import numpy as np

    p1, p2, _, kappa, c0 = start
    slopes = np.array([_gradient(p1, p2, kappa, c0, c, np.sqrt)[1:] for c in targets], dtype=float)
    pull = np.array([2 * p1, 2 * p2, 0, 0, 0], dtype=float)
    return [float(w) for w in np.linalg.lstsq(slopes.T, pull, rcond=None)[0]]

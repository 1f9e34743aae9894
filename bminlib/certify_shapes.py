"""Search for a lower bound under post-normalisation: boxes of arcs, each closed by weights.

Skew s and steepness t describe an arc; docs/certificate.md defines them and proves the bound that
closes a box. Everything here is float64 and only looks for a proof; the checker proves it.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from bminlib.certify_program import best_weights
from bminlib.errors import UndecidedError
from bminlib.solve.rationals import simplest_between

if TYPE_CHECKING:
    import numpy as np

Array: TypeAlias = "np.ndarray"

_MAX_BOXES, _LEAST_WIDTH = 50_000, 1e-13
_CLOSED = 1 - 1e-12
_DIGITS = (3, 6, 9, 12, 15)


class Box(NamedTuple):
    """Arcs of skew s0..s1 and steepness t0..t1."""

    s0: Fraction
    s1: Fraction
    t0: Fraction
    t1: Fraction


def shape_proof(L: int, radius: float, gap: float) -> dict[str, Any]:
    """The checker's `proof` that no radius up to `radius`, (1 - gap) of the least, counts to L.

    Raises UndecidedError where the search finds none.
    """
    if 2 * radius <= (L - 1) * _CLOSED:
        return {"steepness": ["inf", "inf"], "tree": []}
    flat = (L - 1) / math.sqrt(4 * radius**2 - (L - 1) ** 2)
    reach = max((i - 1) * (L - 2 * i) for i in range(2, (L + 1) // 2))
    low = simplest_between(flat * (1 - gap / 20), flat * (1 - gap / 40))
    high = simplest_between(1.001 * L * radius / reach, 1.01 * L * radius / reach)
    tree = _tree(L, radius, Box(Fraction(0), Fraction(1), low, high)) if low < high else []
    return {"steepness": [str(low), str(high)], "tree": tree}


def _tree(L: int, radius: float, root: Box) -> list[Any]:
    """Splits and leaves in preorder, lower half first."""
    tree: list[Any] = []
    stack: list[tuple[Box, Array | None]] = [(root, None)]
    while stack:
        box, hint = stack.pop()
        if len(tree) > _MAX_BOXES or box.t1 - box.t0 < _LEAST_WIDTH * box.t0:
            raise UndecidedError(f"no proof found within {len(tree)} boxes; ask for a wider gap")
        leaf, hint = _close(L, radius, box, hint)
        if leaf is not None:
            tree.append(leaf)
            continue
        if _splits_skew(L, box):
            at = (box.s0 + box.s1) / 2
            halves = box._replace(s1=at), box._replace(s0=at)
            tree.append(["skew", str(at)])
        else:
            at = _middle(box.t0, box.t1)
            halves = box._replace(t1=at), box._replace(t0=at)
            tree.append(["steepness", str(at)])
        stack += [(halves[1], hint), (halves[0], hint)]
    return tree


def _middle(low: Fraction, high: Fraction) -> Fraction:
    """A short number near the geometric mean."""
    mean = Fraction(math.sqrt(low * high)) if high > 2 * low else (low + high) / 2
    return simplest_between(mean - (mean - low) / 4, mean + (high - mean) / 4)


def _close(
    L: int, radius: float, box: Box, hint: Array | None
) -> tuple[dict[str, str] | None, Array]:
    """(weights that close the box or None, the best weights as a hint for its halves)."""
    import numpy as np

    points = np.array([_points(L, s, t) for s in box[:2] for t in box[2:]])
    rho = np.add(*_deviations(L, box))
    if hint is not None and _value(points, rho, hint) * radius <= _CLOSED:
        weights = hint
    else:
        weights, value = best_weights(points, rho, _CLOSED / radius)
        if value * radius > _CLOSED:
            return None, weights
    for digits in _DIGITS:
        rounded = _rounded(weights, digits)
        if rounded.any() and _value(points, rho, rounded) * radius <= _CLOSED:
            leaf = {str(c): str(int(n)) for c, n in enumerate(rounded) if n}
            return leaf, weights
    return None, weights


def _splits_skew(L: int, box: Box) -> bool:
    """Whether the weights that suit the middle of the box change their sum more along the skew."""
    import numpy as np

    s, t = float(box.s0 + box.s1) / 2, math.sqrt(box.t0 * box.t1)
    weights, _ = best_weights(_points(L, s, t)[None], np.full(L + 1, 1e-9), 0)
    ends = [_points(L, x, t) for x in box[:2]], [_points(L, s, x) for x in box[2:]]
    changes = [np.hypot(*(weights @ (high - low))) / 2 for low, high in ends]
    bends = [abs(weights) @ part for part in _deviations(L, box)]
    return bool(changes[0] + bends[0] > changes[1] + bends[1])


def _points(L: int, s: Any, t: Any) -> Array:
    """u(c) for c = 0..L. (L + 1, 2)"""
    import numpy as np

    targets = np.arange(L + 1) * float(s)
    fillers = np.arange(L, -1, -1.0)
    x, y = fillers + targets, float(t) * (targets - fillers)
    x[L], y[L] = 1, float(t)
    points: Array = np.stack([x, y], 1) / np.hypot(x, y)[:, None]
    return points


def _deviations(L: int, box: Box) -> tuple[Array, Array]:
    """How far u(c) lies at most from interpolation, by skew and by steepness. (L + 1,)"""
    import numpy as np

    s0, s1, t0, t1 = map(float, box)
    c = np.arange(L + 1.0)
    x = np.maximum(L - c + c * s0, 1 * (c == L))
    y = t0 * np.maximum(np.maximum(c * s0 - (L - c), L - c - c * s1), 0)
    bend = 4 * c**2 * (L - c) * t1 * math.hypot(1, t1) / np.hypot(x, y) ** 3
    bend[L] = 0
    steep = np.full(L + 1, 7 / 192 * (t1 - t0) ** 2 / (t0 * t1))
    return (s1 - s0) ** 2 / 8 * bend, steep


def _value(points: Array, rho: Array, weights: Array) -> float:
    """(max |S| + sum |n_c| rho_c)/N, infinite where N is not positive."""
    import numpy as np

    sums = weights @ points
    surplus = weights @ np.arange(len(weights)) - abs(weights).sum() / 2
    if surplus <= 0:
        return math.inf
    return float((np.hypot(sums[:, 0], sums[:, 1]).max() + abs(weights) @ rho) / surplus)


def _rounded(weights: Array, digits: int) -> Array:
    """Whole numbers in the proportions of `weights`, the greatest 10^digits, that sum to 0."""
    import numpy as np

    scaled: Array = np.rint(weights * (10.0**digits / abs(weights).max()))
    scaled[abs(scaled).argmax()] -= scaled.sum()
    return scaled

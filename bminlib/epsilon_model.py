"""Post-normalised softmax attention with an eps in its normaliser, reduced to 13 numbers.

The vectors lie in the plane of the read-out. eps adds a coordinate sqrt(d eps) S to N that grows
with every token and that no value vector can reach.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

SIZE = 13  # ln B; (main, side) of r, N_s, N_t, N_f; a_s, a_t, a_f; b
RESIDUAL, STEPS, SCORES = slice(1, 3), slice(3, 9), slice(9, 12)
_VECTORS = ("r", "v_s", "v_t", "v_f")
_FEW = 20


@dataclass(frozen=True, slots=True)
class PostModel:
    """A placement in the plane: |y - c| < 1/2 with y = W p/|(p, side, leak S)| + b.

    radius: W = radius B^power. leak: sqrt(d eps). tau: score factor.
    """

    L: int
    radius: float
    power: int
    leak: float
    tau: float


@dataclass(frozen=True, slots=True)
class Shape:
    """A point of the search: B; (main, side) of r, v_s, v_t, v_f; a_s, a_t, a_f; b."""

    B: float
    vectors: dict[str, tuple[float, float]]
    scores: tuple[float, float, float]
    b: float


def unknowns(point: Shape) -> np.ndarray:
    """The vector of unknowns at a point."""
    import numpy as np

    r = np.array(point.vectors["r"])
    steps = [
        math.exp(score) * (r + np.array(point.vectors[name]))
        for name, score in zip(_VECTORS[1:], point.scores, strict=True)
    ]
    return np.concatenate([[math.log(point.B)], r, *steps, point.scores, [point.b]])


def shape(x: np.ndarray) -> Shape:
    """The point that a vector of unknowns stands for."""
    import numpy as np

    parts = [x[RESIDUAL], *_values(x)]
    vectors = {name: (float(v[0]), float(v[1])) for name, v in zip(_VECTORS, parts, strict=True)}
    a_s, a_t, a_f = x[SCORES].tolist()
    return Shape(float(np.exp(x[0])), vectors, (a_s, a_t, a_f), float(x[12]))


def first_pairs(model: PostModel) -> np.ndarray:
    """All pairs (c, m) where they are few; no, half of the, and all possible fillers elsewhere."""
    import numpy as np

    counts = range(model.L + 1)
    if model.L <= _FEW:
        every = [(c, m) for c in counts for m in range(model.L - c + 1)]
    else:
        every = [(c, m) for c in counts for m in {0, (model.L - c) // 2, model.L - c}]
    return np.array(every, dtype=float)


def worst_turns(model: PostModel, x: np.ndarray) -> np.ndarray:
    """For each c the integers m on both sides of where y turns, as pairs (c, m). (2(L + 1), 2)

    At fixed c, y - b = (A + Fm)/sqrt(q0 + 2 q1 m + q2 m^2) turns once at most, where
    F (q0 + q1 m) = A (q1 + q2 m).
    """
    import numpy as np

    counts = np.arange(model.L + 1.0)
    leak = model.leak * np.exp(x[SCORES])
    rows = np.column_stack([x[STEPS].reshape(3, 2), leak])  # (3, 3): s, t, f by coordinate
    at = rows[0] + counts[:, None] * rows[1]
    filler = rows[2]
    q0, q1, q2 = (at * at).sum(axis=1), at @ filler, filler @ filler
    A, F = at[:, 0], filler[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        turn = np.floor(np.nan_to_num((F * q0 - A * q1) / (A * q2 - F * q1)))
    m = np.concatenate([np.clip(turn + step, 0, model.L - counts) for step in (0, 1)])
    return np.column_stack([np.tile(counts, 2), m])


def constraints(
    model: PostModel, pairs: np.ndarray, x: np.ndarray, *, slopes: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """(slacks, their gradients): outputs, then the squared norms and scores."""
    import numpy as np

    c, m = pairs.T
    y, dy = _outputs(model, x, c, m, slopes=slopes)
    values = _values(x)
    square = np.exp(2 * x[0])
    parts = np.concatenate([x[None, RESIDUAL], values])
    norms = 1 - (parts**2).sum(axis=1) / square
    limits = 1 - (x[SCORES] / (model.tau * square)) ** 2
    slacks = np.concatenate([y - c + 0.5, c + 0.5 - y, norms, limits])
    if not slopes:
        return slacks, dy
    bounds = np.zeros((7, SIZE))
    bounds[:4, 0], bounds[4:, 0] = 2 * (1 - norms), 4 * (1 - limits)
    bounds[0, RESIDUAL] = -2 * parts[0] / square
    for j in range(3):
        pull, inverse = -2 * values[j] / square, np.exp(-x[9 + j])
        bounds[1 + j, 3 + 2 * j : 5 + 2 * j] = pull * inverse
        bounds[1 + j, RESIDUAL] = -pull
        bounds[1 + j, 9 + j] = -pull @ x[3 + 2 * j : 5 + 2 * j] * inverse
        bounds[4 + j, 9 + j] = -2 * x[9 + j] / (model.tau * square) ** 2
    return slacks, np.concatenate([dy, -dy, bounds])


def _values(x: np.ndarray) -> np.ndarray:
    """v_s, v_t, v_f = N_j e^-a_j - r. (3, 2)"""
    import numpy as np

    values: np.ndarray = x[STEPS].reshape(3, 2) * np.exp(-x[SCORES])[:, None] - x[RESIDUAL]
    return values


def _outputs(
    model: PostModel, x: np.ndarray, c: np.ndarray, m: np.ndarray, *, slopes: bool
) -> tuple[np.ndarray, np.ndarray]:
    """y at pairs, and its gradient by the unknowns. (n,), (n, 13)"""
    import numpy as np

    N, S = x[STEPS].reshape(3, 2), np.exp(x[SCORES])
    weights = np.stack([np.ones_like(c), c, m], axis=1)  # (n, 3)
    p, side, leak = weights @ N[:, 0], weights @ N[:, 1], model.leak * (weights @ S)
    size = np.sqrt(p * p + side * side + leak * leak)
    W = model.radius * np.exp(model.power * x[0])
    signal = W * p / size
    if not slopes:
        return signal + x[12], np.zeros((0, SIZE))
    by_main = (W - signal * p / size) / size
    by_side, by_leak = -signal * side / size**2, -signal * leak / size**2
    gradient = np.zeros((len(c), SIZE))
    gradient[:, 0] = model.power * signal
    gradient[:, 3:9:2] = by_main[:, None] * weights
    gradient[:, 4:9:2] = by_side[:, None] * weights
    gradient[:, SCORES] = by_leak[:, None] * model.leak * weights * S
    gradient[:, 12] = 1
    return signal + x[12], gradient

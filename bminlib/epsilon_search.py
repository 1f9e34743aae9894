"""Least norms for `epsilon_model`, by search: no closed form is known.

ln B is minimised under a logarithmic barrier by primal-dual Newton steps. Each point is strictly
inside the constraints, so that its B is an upper bound wherever the search stops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bminlib.epsilon_model import (
    RESIDUAL,
    SCORES,
    SIZE,
    STEPS,
    PostModel,
    constraints,
    first_pairs,
    worst_turns,
)

if TYPE_CHECKING:
    import numpy as np

_MOST_STEPS = 600
_MOST_CUTS = 8
_SETTLED = 0.1
_TRUST = 1e4
_DIFFERENCE = 1e-6


def least_shape(model: PostModel, start: np.ndarray, weight: float, accuracy: float) -> np.ndarray:
    """The unknowns of least B that the search finds from a feasible start.

    `weight` is the barrier's first weight; `accuracy`, how far ln B may be from a local minimum.
    """
    import numpy as np

    pairs, x = first_pairs(model), start
    for _ in range(_MOST_CUTS):
        x = _minimum(model, pairs, start, weight, accuracy)
        turns = worst_turns(model, x)
        slacks = constraints(model, turns, x, slopes=False)[0]
        broken = slacks[: 2 * len(turns)].reshape(2, -1).min(axis=0) < 0
        if not broken.any():
            break
        pairs = np.unique(np.concatenate([pairs, turns[broken]]), axis=0)
    return x


def _minimum(
    model: PostModel, pairs: np.ndarray, x: np.ndarray, weight: float, accuracy: float
) -> np.ndarray:
    slacks = constraints(model, pairs, x, slopes=False)[0]
    final = accuracy / len(slacks)
    multipliers = weight / slacks
    for _ in range(_MOST_STEPS):
        x, multipliers, decrement = _step(model, pairs, x, multipliers, weight)
        if decrement < _SETTLED * weight:
            if weight <= final:
                break
            weight = max(final, min(weight / 5, weight**1.4))
    return x


def _step(
    model: PostModel, pairs: np.ndarray, x: np.ndarray, multipliers: np.ndarray, weight: float
) -> tuple[np.ndarray, np.ndarray, float]:
    """One primal-dual Newton step: (x, multipliers, how much a first-order gain it promised)."""
    import numpy as np

    slacks, slopes = constraints(model, pairs, x)
    gradient = -weight * (slopes / slacks[:, None]).sum(axis=0)
    gradient[0] += 1
    hessian = (slopes.T * (multipliers / slacks)) @ slopes - _bending(model, pairs, x, multipliers)
    unit = 1 / np.sqrt(np.abs(np.diag(hessian)) + 1e-300)
    sizes, axes = np.linalg.eigh(hessian * unit * unit[:, None])
    sizes = np.maximum(np.abs(sizes), 1e-13)
    step = -unit * (axes @ ((axes.T @ (unit * gradient)) / sizes))  # downhill, convex or not
    slope, value, length = float(gradient @ step), _barrier(model, pairs, x, weight), 1.0
    while not _barrier(model, pairs, x + length * step, weight) <= value + 1e-4 * length * slope:
        length /= 2
        if length < 1e-9:
            return x, weight / slacks, 0.0
    x = x + length * step
    moved = (weight - multipliers * (slopes @ step)) / slacks
    multipliers = multipliers + length * (moved - multipliers)
    now = weight / constraints(model, pairs, x, slopes=False)[0]
    return x, np.clip(multipliers, now / _TRUST, now * _TRUST), -slope


def _bending(
    model: PostModel, pairs: np.ndarray, x: np.ndarray, multipliers: np.ndarray
) -> np.ndarray:
    """The second derivatives of multipliers . slacks, by differences of the first."""
    import numpy as np

    rows, scale = np.empty((SIZE, SIZE)), np.ones(SIZE)
    scale[RESIDUAL] = np.exp(x[0])
    scale[STEPS] = np.repeat(np.exp(x[0] + x[SCORES]), 2)
    for i in range(SIZE):
        move = np.zeros(SIZE)
        move[i] = _DIFFERENCE * scale[i]
        ahead, behind = (constraints(model, pairs, x + sign * move)[1] for sign in (1, -1))
        rows[i] = multipliers @ (ahead - behind) / (2 * move[i])
    return (rows + rows.T) / 2


def _barrier(model: PostModel, pairs: np.ndarray, x: np.ndarray, weight: float) -> float:
    import numpy as np

    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        slacks, _ = constraints(model, pairs, x, slopes=False)
    if not (slacks > 0).all():
        return float("inf")
    return float(x[0] - weight * np.log(slacks).sum())


def is_feasible(model: PostModel, x: np.ndarray) -> bool:
    """Whether every constraint holds strictly."""
    slacks, _ = constraints(model, first_pairs(model), x, slopes=False)
    return bool((slacks > 0).all())

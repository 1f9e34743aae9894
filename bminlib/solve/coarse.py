"""The coarse start in float64: an interior point method over a few counts, which may be wrong.

It follows the minimum of ln(objective) - mu sum ln(1/4 - e(c)^2), from the line yhat = c on, as mu
falls. Its dual estimates tell which counts are active; the exchange and the proof start there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from bminlib.solve.curves import Curve, Hessian

if TYPE_CHECKING:
    import numpy as np

Array: TypeAlias = "np.ndarray"

_COUNTS = 24
_LEAST_EPS = 1e-7  # longer lengths start from this one: the scaled curves hardly differ
_FALL, _LAST_MU = 0.03, 1e-7
_STEPS, _HALVINGS = 25, 40


class Guess(NamedTuple):
    """Parameters, and (c, side, multiplier) of what seems active, ascending in c."""

    v: list[float]
    rows: list[tuple[int, int, float]]


def coarse(curve: Curve, L: int) -> Guess:
    """Where the least objective seems to be, for L >= 2."""
    import numpy as np

    count = min(L, _COUNTS)
    counts = [(2 * i * L + count) // (2 * count) for i in range(count + 1)]
    eps = max(1 / min(L, 1 << 60), _LEAST_EPS)
    path = _Path(
        curve, np.array([i / count if L > _COUNTS else i / L for i in range(count + 1)]), eps
    )
    v, mu = np.array(curve.start()), 1.0
    while mu > _LAST_MU:
        v = path.centre(v, mu)
        mu *= _FALL
    pull = path.multipliers(v, mu / _FALL)
    rows = [(c, 1 if x > 0 else -1, float(abs(x))) for c, x in zip(counts, pull, strict=True)]
    most = max(size for _, _, size in rows)
    return Guess(v.tolist(), _merged([row for row in rows if row[2] > 1e-3 * most], counts))


def _merged(rows: list[tuple[int, int, float]], counts: list[int]) -> list[tuple[int, int, float]]:
    """Neighbours on one side as one row at the stronger of them: the peak lies between."""
    place = {c: i for i, c in enumerate(counts)}
    merged: list[tuple[int, int, float]] = []
    for row in rows:
        last = merged[-1] if merged else None
        if last and last[1] == row[1] and place[row[0]] - place[last[0]] == 1:
            c = max(last, row, key=lambda one: one[2])[0]
            merged[-1] = (c, row[1], last[2] + row[2])
        else:
            merged.append(row)
    return merged


class _Path:
    """The central path of one curve over some counts."""

    def __init__(self, curve: Curve, y: Array, eps: float) -> None:
        self._curve, self._y, self._eps = curve, y, eps

    def centre(self, v: Array, mu: float) -> Array:
        """Newton's method with eigenvalues made positive, from inside to the minimum at mu."""
        import numpy as np

        for _ in range(_STEPS):
            value, gradient, hessian = self._model(v, mu)
            sizes, axes = np.linalg.eigh(hessian)
            sizes = np.maximum(abs(sizes), 1e-12 * abs(sizes).max())
            step = -axes @ ((axes.T @ gradient) / sizes)
            gain = -float(gradient @ step)
            if not gain > 1e-3 * mu:
                break
            v = self._along(v, step, mu, value, gain)
        return v

    def multipliers(self, v: Array, mu: float) -> Array:
        """The dual estimates, signed like the errors."""
        e = self._curve.error(v, self._y, self._eps).value
        pull: Array = mu * 2 * e / (0.25 - e * e)
        return pull

    def _along(self, v: Array, step: Array, mu: float, value: float, gain: float) -> Array:
        length = 1.0
        for _ in range(_HALVINGS):
            trial: Array = v + length * step
            if self._value(trial, mu) <= value - 0.1 * length * gain:
                return trial
            length /= 2
        return v

    def _value(self, v: Array, mu: float) -> float:
        import numpy as np

        if v[-1] <= 0:
            return float("inf")
        objective = self._curve.objective(v, self._eps).value
        e = self._curve.error(v, self._y, self._eps).value
        room = 0.25 - e * e
        if objective <= 0 or not (room > 0).all():
            return float("inf")
        return float(np.log(objective) - mu * np.log(room).sum())

    def _model(self, v: Array, mu: float) -> tuple[float, Array, Array]:
        """Value, gradient and Hessian."""
        import numpy as np

        n = len(v)
        goal = self._curve.objective(v, self._eps)
        error = self._curve.error(v, self._y, self._eps)
        e = error.value
        room = 0.25 - e * e
        first = 2 * mu * e / room
        second = 2 * mu * (0.25 + e * e) / (room * room)
        slopes = np.stack([g + 0 * e for g in error.gradient])  # (n, counts)
        ascent = np.array(goal.gradient, dtype=float) / goal.value
        hessian = (slopes * second) @ slopes.T - np.outer(ascent, ascent)
        _add(hessian, goal.hessian, lambda part: part / goal.value)
        _add(hessian, error.hessian, lambda part: first @ (part + 0 * e))
        value = float(np.log(goal.value) - mu * np.log(room).sum())
        return value, ascent + slopes @ first, hessian.reshape(n, n)


def _add(matrix: Array, parts: Hessian, weigh: Any) -> None:
    for (i, j), part in parts.items():
        amount = weigh(part)
        matrix[i, j] += amount
        if i != j:
            matrix[j, i] += amount

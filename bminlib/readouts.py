"""The read-outs as duels: for each count, the rivals whose scores it has to beat."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from bminlib.filter64 import BITS, Duels, FloatLayer, Floats, floats
from bminlib.weights import to_ball

if TYPE_CHECKING:
    import numpy as np

    from bminlib.weights import Weights

Array: TypeAlias = "np.ndarray"


@dataclass(frozen=True, slots=True, eq=False)
class Regression:
    """Every count c has the rivals c + 1 and c - 1; see `exact_gaps`."""

    layer: FloatLayer
    weights: Weights

    @property
    def rivals(self) -> int:
        """How many duels a count has."""
        return 2

    def duels(self, start: int, stop: int) -> Duels:
        """The duels of the counts from `start` to `stop` - 1, in that order."""
        import numpy as np

        w, b = self.weights.vectors["w"], self.weights.b
        score = floats(_row_scores(self.layer, w[None], b[None])[0])  # (4,)
        c = np.repeat(np.arange(start, stop), 2)
        side = np.tile([-1, 1], stop - start)
        k, k_size = score.value[3], score.size[3]
        gap_k = Floats(0.5 + side * (k - c), 0.5 + k_size + c)
        return Duels(c, c - side, score[:3, None].scaled(side), gap_k)


@dataclass(frozen=True, slots=True, eq=False)
class Neighbours:
    """Classification, each count against the one above and the one below."""

    layer: FloatLayer
    weights: Weights

    @property
    def rivals(self) -> int:
        """How many duels a count has, at most."""
        return 2

    def duels(self, start: int, stop: int) -> Duels:
        """The duels of the counts from `start` to `stop` - 1, in that order."""
        import numpy as np

        W, b = self.weights.vectors["W"], self.weights.b
        low = max(start - 1, 0)
        scores = _row_scores(self.layer, W[low : stop + 1], b[low : stop + 1])
        steps = floats(scores[:-1] - scores[1:])  # from each count to the next
        c = np.repeat(np.arange(start, stop), 2)
        side = np.tile([1, -1], stop - start)
        inside = (c + side >= 0) & (c + side < len(b))
        c, side = c[inside], side[inside]
        gaps = steps[np.minimum(c, c + side) - low].scaled(side[:, None])
        return Duels(c, c + side, _columns(gaps), gaps[:, 3])


@dataclass(frozen=True, eq=False)
class Everyone:
    """Classification, each count against all the others."""

    layer: FloatLayer
    weights: Weights

    @property
    def rivals(self) -> int:
        """How many duels a count has."""
        return len(self.weights.b) - 1

    def duels(self, start: int, stop: int) -> Duels:
        """The duels of the counts from `start` to `stop` - 1, in that order."""
        import numpy as np

        counts, others = np.arange(start, stop), np.arange(self.rivals)
        c = np.repeat(counts, self.rivals)
        rival = (others + (others >= counts[:, None])).reshape(-1)
        gaps = self._scores[c] - self._scores[rival]
        return Duels(c, rival, _columns(gaps), gaps[:, 3])

    @cached_property
    def _scores(self) -> Floats:
        return floats(_row_scores(self.layer, self.weights.vectors["W"], self.weights.b))


def _row_scores(layer: FloatLayer, rows: Array, b: Array) -> Array:
    """Balls alpha_s, alpha_t, alpha_f (each times e^(E_j)) and k of some rows. (n, 4)"""
    import numpy as np
    from flint import arb_mat, ctx

    with ctx.workprec(BITS):
        balls = arb_mat([[to_ball(x) for x in row] for row in rows.tolist()]) * layer.directions
        scores = np.array(balls.tolist(), dtype=object)
        scores[:, 3] += np.array([to_ball(x) for x in b.tolist()], dtype=object)
    return scores


def _columns(scores: Floats) -> Floats:
    """alpha of shape (3, n) from scores of shape (n, 4)."""
    return Floats(scores.value[:, :3].T, scores.size[:, :3].T)

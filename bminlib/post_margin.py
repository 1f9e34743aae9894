"""How safely weights with post-normalisation count, in balls and without a look at every pair."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from bminlib.layer import Layer
from bminlib.weights import Weights, to_ball

if TYPE_CHECKING:
    import numpy as np
    from flint import arb


@dataclass(frozen=True, slots=True, eq=False)
class _Output:
    """yhat = constant + <linear, x>/sqrt(<x, square x>) at x = (1, c, m), in balls."""

    constant: Any
    linear: np.ndarray
    square: np.ndarray

    @classmethod
    def of(cls, weights: Weights) -> _Output:
        """The output of weights at the current precision."""
        import numpy as np

        layer, d = Layer.in_balls(weights), weights.problem.d
        N, S = layer.pencil()
        if weights.problem.normalizer == "layer":
            N = N - N.sum(axis=1, keepdims=True) / d
        w, constant = layer.vectors["w"], layer.b[()]
        if weights.problem.affine == "learned":
            w, constant = w * layer.vectors["gamma"], constant + w @ layer.vectors["beta"]
        square = N @ N.T / d + np.outer(S, S) * layer.ln_eps
        return cls(constant, N @ w, square)

    def __call__(self, c: int, m: int) -> Any:
        """yhat at one pair."""
        x = (1, c, m)
        above = sum(self.linear[i] * x[i] for i in range(3))
        below = sum(self.square[i, j] * (x[i] * x[j]) for i in range(3) for j in range(3))
        return self.constant + above / below.sqrt()

    def critical(self, c: int, most: int) -> set[int]:
        """The m in [0, most] at which yhat is extreme: both ends, and around where it turns."""
        linear = [float(x.mid()) for x in self.linear]
        square = [[float(x.mid()) for x in row] for row in self.square]
        A, F = linear[0] + c * linear[1], linear[2]
        q0 = square[0][0] + 2 * c * square[0][1] + c * c * square[1][1]
        q1, q2 = square[0][2] + c * square[1][2], square[2][2]
        below = A * q2 - F * q1
        turn = (F * q0 - A * q1) / below if below else 0.0
        near = math.floor(turn) if 0 <= turn <= most else 0
        return {0, most} | {min(max(near + step, 0), most) for step in (-1, 0, 1, 2)}


def post_margin(weights: Weights) -> arb:
    """How far yhat stays from the half-integers around c, over the pairs where that is least.

    At fixed c the output turns at most once in m: the ends and the integers at the turn suffice.
    """
    from flint import arb

    output, margin, half = _Output.of(weights), arb(1), to_ball(Fraction(1, 2))
    for c in range(weights.problem.L + 1):
        for m in output.critical(c, weights.problem.L - c):
            margin = margin.min(half - abs(output(c, m) - c))
    return margin

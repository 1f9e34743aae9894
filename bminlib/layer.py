"""The layer itself, defined once: it takes float64 arrays and python-flint balls alike.

The layer sees c targets and m fillers; its state before the read-out is h = N/S with
N = N_s + c N_t + m N_f (vectors) and S = S_s + c S_t + m S_f (scalars, 1 for linear attention).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bminlib.errors import DomainError
from bminlib.problem import CountingProblem
from bminlib.weights import Weights, to_ball

if TYPE_CHECKING:
    import numpy as np

_KINDS = ("s", "t", "f")  # the read-out token, a target, a filler


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """Weights in one number type: arrays of float64, or object arrays of balls (arb).

    Balls keep the working precision they were made at; a vector without spread, whose
    normalisation divides by zero, gives balls that are not finite.
    """

    problem: CountingProblem
    vectors: dict[str, np.ndarray]
    b: np.ndarray
    tau: Any
    ln_eps: Any

    @classmethod
    def in_floats(cls, weights: Weights) -> Layer:
        """The layer in float64, each number rounded to nearest; raises DomainError on overflow."""
        tau = float(weights.problem.score_scale.ball(64))
        try:
            return cls._of(weights, float, tau)
        except OverflowError as error:
            raise _overflow() from error

    @classmethod
    def in_balls(cls, weights: Weights) -> Layer:
        """The layer in balls at the current precision of python-flint."""
        from flint import ctx

        return cls._of(weights, to_ball, weights.problem.score_scale.ball(ctx.prec))

    @classmethod
    def _of(cls, weights: Weights, number: Callable[[Any], Any], tau: Any) -> Layer:
        arrays = {name: _converted(array, number) for name, array in weights.arrays().items()}
        b = arrays.pop("b")
        return cls(weights.problem, arrays, b, tau, number(weights.ln_eps))

    def attending(self, name: str) -> np.ndarray:
        """The vector q, k_* or v_* as attention sees it, after any pre-normalisation. (d,)"""
        vector = self.vectors[name]
        return self.normalised(vector) if self.problem.norm == "pre" else vector

    def scores(self) -> np.ndarray:
        """a_s, a_t, a_f = tau <q, k_j>. (3,)"""
        import numpy as np

        keys = np.stack([self.attending(f"k_{kind}") for kind in _KINDS])
        return keys @ self.attending("q") * self.tau  # type: ignore[no-any-return]

    def pencil(self) -> tuple[np.ndarray, np.ndarray]:
        """(N, S): rows N_s, N_t, N_f of shape (3, d), and S_s, S_t, S_f of shape (3,).

        Softmax: S_j = e^(a_j - a) with a the greatest score, N_j = S_j (r + v_j). Linear:
        S = (1, 0, 0), N_j = a_j v_j, plus r in the first row.
        """
        import numpy as np

        scores = self.scores()
        values = np.stack([self.attending(f"v_{kind}") for kind in _KINDS])
        residual = self.vectors["r"]
        if self.problem.attention == "linear":
            once = np.array([1, 0, 0])
            return scores[:, None] * values + once[:, None] * residual, once
        shares = np.exp(scores - max(scores))
        return shares[:, None] * (values + residual), shares

    def normalised(self, x: np.ndarray) -> np.ndarray:
        """LayerNorm or RMSNorm along the last axis, learned gamma and beta included."""
        import numpy as np

        if self.problem.normalizer == "layer":
            x = x - x.sum(axis=-1, keepdims=True) / self.problem.d
        mean_square = (x * x).sum(axis=-1, keepdims=True) / self.problem.d
        y = x / np.sqrt(mean_square + self.ln_eps)
        if self.problem.affine == "learned":
            y = self.vectors["gamma"] * y + self.vectors["beta"]
        return y  # type: ignore[no-any-return]

    def read(self, h: np.ndarray) -> np.ndarray:
        """yhat, or the scores of all classes, for states h = r + o of shape (..., d)."""
        z = self.normalised(h) if self.problem.norm == "post" else h
        readout = self.vectors["W" if self.problem.readout == "classification" else "w"]
        return z @ readout.T + self.b  # type: ignore[no-any-return]

    def states(self, c: np.ndarray, m: np.ndarray) -> np.ndarray:
        """h = r + o at pairs c, m of one shape; h has shape (*shape, d)."""
        N, S = self.pencil()
        c, m = c[..., None], m[..., None]
        return (N[0] + c * N[1] + m * N[2]) / (S[0] + c * S[1] + m * S[2])  # type: ignore[no-any-return]


def forward(weights: Weights, c: Any, m: Any) -> np.ndarray:
    """The layer's output in float64 at c targets and m fillers, arrays that broadcast together.

    yhat with the pairs' shape, or the scores of the L + 1 classes along a last axis.
    Raises DomainError where a number overflows or a state to be normalised has no spread.
    """
    import numpy as np

    c, m = np.broadcast_arrays(np.asarray(c, dtype=np.float64), np.asarray(m, dtype=np.float64))
    layer = Layer.in_floats(weights)
    return guarded(lambda: layer.read(layer.states(c, m)))


def forward_balls(weights: Weights, c: Any, m: Any) -> Any:
    """The layer's output at one pair, c and m integers or balls, at the current precision.

    A ball yhat, or an array of L + 1 balls; not finite where h has no spread.
    """
    return ball_output(Layer.in_balls(weights), c, m)


def ball_output(layer: Layer, c: Any, m: Any) -> Any:
    """`forward_balls` of a layer that is in balls already."""
    import numpy as np
    from flint import arb

    pair = (np.array(arb(x), dtype=object) for x in (c, m))
    return np.asarray(layer.read(layer.states(*pair)), dtype=object)[()]


def _converted(array: np.ndarray, number: Callable[[Any], Any]) -> np.ndarray:
    import numpy as np

    if number is float and array.dtype != object:
        return array
    fresh = np.empty(array.shape, dtype=np.float64 if number is float else object)
    fresh.reshape(-1)[:] = [number(entry) for entry in array.flat]
    return fresh


def guarded(compute: Callable[[], np.ndarray]) -> np.ndarray:
    """The finite result of a float64 computation; raises DomainError where there is none."""
    import numpy as np

    try:
        with np.errstate(over="raise", divide="raise", invalid="raise", under="ignore"):
            result = compute()
    except FloatingPointError as error:
        raise _overflow() from error
    if not np.isfinite(result).all():
        raise _overflow()
    return result


def _overflow() -> DomainError:
    return DomainError(
        "the layer has no finite output in float64: entries or scores are too large, or a vector "
        "to be normalised has equal entries only; use smaller weights, or give it spread"
    )

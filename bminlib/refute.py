"""A quick look for a count that is misread: float64 finds it, exact arithmetic proves it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from bminlib.errors import DomainError
from bminlib.exact_gaps import ExactClassification, ExactRegression
from bminlib.exact_layer import reduce_weights
from bminlib.layer import forward

if TYPE_CHECKING:
    import numpy as np

    from bminlib.weights import Weights

Array: TypeAlias = "np.ndarray"

_LOOKS = 48
_PROOFS = 3


def refuted_quickly(weights: Weights) -> bool:
    """True where a count among a few is proved to be misread; False says nothing.

    Raises DomainError where pre-normalisation meets a vector without spread.
    """
    import numpy as np

    L = weights.problem.L
    c = np.unique(np.linspace(0, L, _LOOKS).astype(int))
    pairs = np.concatenate([c, c]), np.concatenate([np.zeros_like(c), L - c])
    try:
        rivals, lack = _rivals(weights, *pairs)
    except DomainError:
        return False
    worst = np.argsort(lack)[: -_PROOFS - 1 : -1]
    suspects = [i for i in worst.tolist() if lack[i] > 0]
    if not suspects:
        return False
    kind = ExactClassification if weights.problem.readout == "classification" else ExactRegression
    readout = kind(reduce_weights(weights), weights)
    found = ((int(pairs[0][i]), int(rivals[i]), int(pairs[1][i])) for i in suspects)
    return any(readout.gap(count, rival).sign(m) <= 0 for count, rival, m in found)


def _rivals(weights: Weights, c: Array, m: Array) -> tuple[Array, Array]:
    """The strongest rival of each count, and by how much it seems to win."""
    import numpy as np

    scores = forward(weights, c, m)
    if weights.problem.readout == "regression":
        error = scores - c
        return c + np.sign(error).astype(int), np.abs(error) - 0.5
    own = scores[np.arange(len(c)), c]
    scores[np.arange(len(c)), c] = -np.inf
    rivals = scores.argmax(axis=1)
    return rivals, scores[np.arange(len(c)), rivals] - own

"""A layer run on a real sequence of tokens, and the count that it reads there."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from bminlib.errors import DomainError, UndecidedError, shown
from bminlib.layer import Layer, forward_balls, guarded
from bminlib.weights import Weights, to_ball

if TYPE_CHECKING:
    import numpy as np

_CHUNK = 1 << 16
_COUNT_BITS = (64, 256, 1024, 4096)


def forward_tokens(weights: Weights, tokens: Sequence[int]) -> np.ndarray:
    """The layer's output in float64 on a sequence of targets (1) and fillers (0), any length.

    Attention over the read-out token and every token in turn, each with its own score.
    Raises DomainError as `forward` does, and for a token other than 0 and 1.
    """
    kinds = check_tokens(tokens)
    layer = Layer.in_floats(weights)
    return guarded(lambda: layer.read(layer.vectors["r"] + _attend(layer, kinds)))


def count(weights: Weights, tokens: Sequence[int]) -> int:
    """How many targets (1) among fillers (0) the layer counts: yhat rounded, or the top class.

    Decided in balls, so that it is what the weights say in exact arithmetic.
    Raises DomainError for a bad token, and UndecidedError at a tie.
    """
    from flint import ctx

    kinds = check_tokens(tokens)
    targets = int(kinds.sum())
    decide = _top_class if weights.problem.readout == "classification" else _nearest_integer
    for bits in _COUNT_BITS:
        with ctx.workprec(bits):
            answer = decide(forward_balls(weights, targets, len(kinds) - targets))
        if answer is not None:
            return answer
    normalised = ", or a state without spread that can't be normalised"
    raise UndecidedError(
        f"c={targets}, m={len(kinds) - targets}: at {_COUNT_BITS[-1]} bits the output is still "
        f"a tie between two counts{normalised if weights.problem.norm == 'post' else ''}"
    )


def check_tokens(tokens: Sequence[int]) -> np.ndarray:
    """`tokens` as an array of 0 (filler) and 1 (target); raises DomainError for any other."""
    import numpy as np

    try:
        kinds = np.asarray(tokens)
    except ValueError:  # lists of different lengths
        kinds = np.array(tokens, dtype=object)
    if kinds.size == 0 and kinds.ndim == 1:
        return np.zeros(0, dtype=np.intp)
    if kinds.ndim != 1 or kinds.dtype.kind not in "iu" or not np.isin(kinds, (0, 1)).all():
        wrong = next((x for x in np.ravel(kinds).tolist() if x is True or x not in (0, 1)), kinds)
        raise DomainError(
            f"token {shown(wrong)}: tokens must be a flat list of 1 (target) and 0 (filler); "
            "translate other alphabets first"
        )
    return kinds.astype(np.intp)


def _attend(layer: Layer, kinds: np.ndarray) -> np.ndarray:
    """o over the read-out token and `kinds`, a block of tokens at a time. (d,)"""
    import numpy as np

    keys = np.stack([layer.attending(f"k_{kind}") for kind in ("f", "t", "s")])
    values = np.stack([layer.attending(f"v_{kind}") for kind in ("f", "t", "s")])
    query, softmax = layer.attending("q"), layer.problem.attention == "softmax"
    tokens = np.append(kinds, 2)
    shift = (keys[np.unique(tokens)] @ query * layer.tau).max()
    above, below = np.zeros(layer.problem.d), 0.0
    for start in range(0, len(tokens), _CHUNK):
        block = tokens[start : start + _CHUNK]
        scores = keys[block] @ query * layer.tau  # (block,)
        shares = np.exp(scores - shift) if softmax else scores
        above = above + shares @ values[block]
        below += shares.sum()
    return above / below if softmax else above


def _nearest_integer(yhat: Any) -> int | None:
    """The only integer that is nearest to every number in the ball; None for a tie too."""
    if not yhat.is_finite():
        return None
    moved = yhat + to_ball(Fraction(1, 2))
    whole = moved.floor().unique_fmpz()
    return int(whole) if whole is not None and moved > whole else None


def _top_class(scores: Any) -> int | None:
    """The class whose score is above every other."""
    best = max(range(len(scores)), key=lambda j: float(scores[j].mid()))
    beaten = all(scores[best] > score for j, score in enumerate(scores) if j != best)
    return best if beaten else None

"""What became of a run: counted only where `verify` proves its weights, else its least error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bminlib.balls import ball_text
from bminlib.bounds import b_min
from bminlib.errors import DomainError
from bminlib.layer import forward
from bminlib.train.experiments import Experiment
from bminlib.train.pairs import every_pair
from bminlib.verify import verify
from bminlib.weights import Weights

if TYPE_CHECKING:
    import numpy as np

_DIGITS = 15
_MARGIN_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Outcome:
    """One row of runs.csv; numbers are decimal text, right in every digit.

    steps: up to the first success, else all that were taken. b_min, ratio: None where there is no
    B_min, or it is 0. counts: whether all pairs are proved to be counted. margin: the least of
    1/2 - |yhat - c|, or of the score of c less the greatest other; < 0 where it does not count;
    None where float64 can't say. seconds: those of the whole batch.
    """

    experiment: Experiment
    steps: int
    largest_norm: str
    b_min: str | None
    ratio: str | None
    counts: bool
    margin: str | None
    seconds: float


def weights_of(experiment: Experiment, arrays: Mapping[str, np.ndarray]) -> Weights:
    """Arrays by name, b among them, as the weights of a run."""
    vectors = {name: array for name, array in arrays.items() if name != "b"}
    return Weights(experiment.problem, vectors, arrays["b"])


def judge(
    experiment: Experiment, arrays: Mapping[str, np.ndarray], steps: int, seconds: float
) -> Outcome:
    """The outcome of a run whose best weights are `arrays`."""
    weights = weights_of(experiment, arrays)
    found = verify(weights)
    bound = b_min(experiment.problem)
    proved = found.verdict == "proved" and found.margin is not None
    margin = ball_text(found.margin.value, _MARGIN_DIGITS) if found.margin else _margin(weights)
    return Outcome(
        experiment,
        steps,
        ball_text(found.largest_norm, _DIGITS),
        bound.decimal(_DIGITS) if bound.feasible else None,
        None if found.ratio is None else ball_text(found.ratio, _DIGITS),
        proved,
        margin,
        round(seconds, 3),
    )


def _margin(weights: Weights) -> str | None:
    """The worst margin over all pairs, in float64."""
    import numpy as np

    L = weights.problem.L
    pairs = every_pair(L)
    try:
        output = forward(weights, pairs.c, pairs.m)
    except DomainError:
        return None
    if output.ndim == 1:
        return f"{0.5 - np.abs(output - pairs.c).max():.{_MARGIN_DIGITS}g}"
    c = pairs.c.astype(int)
    own = output[np.arange(len(c)), c]
    output[np.arange(len(c)), c] = -np.inf
    return f"{(own - output.max(axis=1)).min():.{_MARGIN_DIGITS}g}"

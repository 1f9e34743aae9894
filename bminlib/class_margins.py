"""By how much a classification head gets each count right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bminlib.exact_gaps import ExactClassification
from bminlib.exact_layer import reduce_weights
from bminlib.layer import forward

if TYPE_CHECKING:
    from flint import arb

    from bminlib.weights import Weights

_NEAR = 2  # rivals whose gaps are enclosed, for float64 may mistake the order of two


def class_margins(weights: Weights, counts: Sequence[int]) -> list[arb]:
    """The score of each count less the greatest other, the less of m = 0 and m = L - c, in balls.

    Negative where the count is not read. The rivals are found in float64, their gaps enclosed.
    Raises DomainError where the layer has no finite output.
    """
    import numpy as np

    readout = ExactClassification(reduce_weights(weights), weights)
    L = weights.problem.L
    margins = []
    for c in counts:
        m = sorted({0, L - c})
        scores = forward(weights, c, np.array(m))  # (pairs, L + 1)
        scores[:, c] = -np.inf
        rivals = np.argsort(scores, axis=1)[:, -min(_NEAR, L) :]
        gaps = [
            readout.gap(c, int(rival)).ball(fillers)
            for fillers, row in zip(m, rivals, strict=True)
            for rival in row
        ]
        least = gaps[0]
        for gap in gaps[1:]:
            least = least.min(gap)
        margins.append(least)
    return margins

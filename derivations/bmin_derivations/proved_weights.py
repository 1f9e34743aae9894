"""The library's explicit weights beside a theorem: proved just above B_min, refuted below it."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from bmin_derivations import routes
from bmin_derivations.records import Enclosure, Instance
from bminlib import CountingProblem, b_min

if TYPE_CHECKING:
    import numpy as np

    from bminlib.weights import Weights

SLACK = Fraction(1, 10**6)
_SHRINK = 1 - 2 * SLACK


def takes_weights(problem: CountingProblem) -> bool:
    """Whether rounded weights can count: after rounding, at a feasible problem."""
    return problem.exactness == "rounded" and b_min(problem).feasible


def sandwich_complaint(problem: CountingProblem) -> str:
    """Empty when weights of norm (1 + slack) B_min are proved and smaller ones refuted.

    Smaller ones: the same weights with every vector shrunk until the largest norm is below B_min.
    """
    from bminlib.verify import verify
    from bminlib.witness import witness

    weights = witness(problem, SLACK)
    verdict = verify(weights).verdict
    if verdict != "proved":
        return f"weights at B_min (1 + {SLACK}) are {verdict}"
    bound = b_min(problem)
    if not bound.decimal(3).strip("0."):
        return ""
    smaller = shrunk(weights, _SHRINK)
    if not smaller.largest_norm() < bound.enclosure(30):
        return "shrunk weights are not below B_min"
    verdict = verify(smaller).verdict
    return "" if verdict == "refuted" else f"weights below B_min are {verdict}"


def shrunk(weights: Weights, factor: Fraction) -> Weights:
    """The same weights with every vector times `factor`, exact."""
    from bminlib.weights import Weights as Fresh

    vectors = {name: _times(array, factor) for name, array in weights.vectors.items()}
    return Fresh(weights.problem, vectors, weights.b, weights.ln_eps)


def _times(entries: np.ndarray, factor: Fraction) -> np.ndarray:
    import numpy as np

    scaled = np.empty(entries.shape, dtype=object)
    scaled.reshape(-1)[:] = [Fraction(entry) * factor for entry in entries.flat]
    return scaled


def tiny_norm_route(instance: Instance) -> Enclosure:
    """[0, largest norm] of weights of norm at most 10^-6 that the verifier proves to count."""
    from bminlib.verify import verify
    from bminlib.witness import witness

    context, problem = routes.reals(), instance.problem
    if problem is None:
        raise ValueError("weights need a problem")
    weights = witness(problem, SLACK, norm=SLACK)
    if verify(weights).verdict != "proved":
        return routes.infinite(context)
    largest = weights.largest_norm().upper().str(10, radius=False)
    return Enclosure(context.mpf(0), context.mpf(largest))

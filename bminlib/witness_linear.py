"""Explicit weights for linear attention without post-normalisation: a line c -> A + slope c.

The filler's key and value are silent: zero, orthogonal to what reads them, or, where gamma and
beta are learned, mapped to 0. Source: theorem linear.rounded.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from bminlib.frames import Frame, Vector, dyadic, dyadic_near, first_axis, frame_of
from bminlib.layer import Layer
from bminlib.problem import CountingProblem
from bminlib.reach import image, offset_share, slope_reach
from bminlib.weights import Weights, exact_weights, to_ball

if TYPE_CHECKING:
    from flint import arb


def linear_witness(
    problem: CountingProblem, B: arb, slack: Fraction, ln_eps: Fraction, bits: int
) -> tuple[Weights, arb]:
    """(weights, a ball for their margin), as `fractional_witness`."""
    from flint import arb

    above = B * (1 + to_ball(slack / 2))
    greatest = slope_reach(problem, above, ln_eps)
    readout = above * (1 / greatest).min(arb(1))  # a slope above 1 would only lose room
    vectors = silenced_vectors(problem, above, ln_eps, bits)
    vectors["w"] = readout_vector(problem, frame_of(problem), readout, bits)
    return _with_bias(problem, vectors, ln_eps)


def silenced_vectors(
    problem: CountingProblem, B: arb, ln_eps: Fraction, bits: int
) -> dict[str, Vector]:
    """All vectors of norm B but the read-out; fillers and the read-out token add nothing."""
    frame = frame_of(problem)
    if problem.norm == "none":
        loud, silent = frame.vector(dyadic(B, bits)), frame.vector()
    else:
        loud, silent = _normalised_pair(problem, frame, B, ln_eps, bits)
    names = {"q": loud, "k_t": loud, "v_t": loud}
    names |= dict.fromkeys(("k_s", "k_f", "v_s", "v_f"), silent)
    if problem.two_points and problem.affine == "bare":  # nothing is silent: fillers count down
        names |= dict.fromkeys(("v_s", "v_f"), loud)
    if problem.affine == "learned":
        gain = dyadic(B, bits)
        share = dyadic(offset_share(image(problem, B, ln_eps)), bits)
        names |= {"gamma": first_axis(problem.d, gain)}
        names |= {"beta": first_axis(problem.d, gain * share)}
    return names | {"r": frame.vector()}


def readout_vector(problem: CountingProblem, frame: Frame, norm: arb, bits: int) -> Vector:
    """A read-out of this norm: along e1 where the gain is, along the frame elsewhere."""
    from flint import arb

    if problem.affine == "learned":
        return first_axis(problem.d, dyadic(norm, bits))
    return frame.polar(norm, arb(1), bits)


def _normalised_pair(
    problem: CountingProblem, frame: Frame, B: arb, ln_eps: Fraction, bits: int
) -> tuple[Vector, Vector]:
    """A vector along the read-out, and one whose image is read as 0."""
    from flint import arb

    cosine = arb(0)
    if problem.affine == "learned":
        n = image(problem, B, ln_eps)
        cosine = -(offset_share(n) / n).min(arb(1))
    elif problem.two_points:
        cosine = arb(-1)
    return frame.polar(B, arb(1), bits), frame.polar(B, cosine, bits)


def _with_bias(
    problem: CountingProblem, vectors: dict[str, Vector], ln_eps: Fraction
) -> tuple[Weights, arb]:
    """The weights with the line centred, and how far it stays from the half-integers."""
    from flint import arb

    unbiased = exact_weights(problem, vectors, Fraction(0), ln_eps)
    constant, slope, leak = line_parts(unbiased)
    L, half = problem.L, to_ball(Fraction(1, 2))
    spread = (1 - slope) * L
    room = 1 - abs(spread)
    if not room > 0:
        return unbiased, arb(-1)
    b = dyadic_near(spread / 2 - constant, room / 64)
    start = constant + to_ball(b)
    corners = (start, start - spread, start + leak * L)
    margin = half
    for corner in corners:
        margin = margin.min(half - abs(corner))
    return exact_weights(problem, vectors, b, ln_eps), margin


def line_parts(weights: Weights) -> tuple[arb, arb, arb]:
    """Balls for (A, slope, leak): yhat = A + slope c + leak m, along w (or e1 beside W)."""
    layer = Layer.in_balls(weights)
    N, _ = layer.pencil()
    constant, slope, leak = N @ layer.vectors["w"]
    return constant + layer.b[()], slope, leak

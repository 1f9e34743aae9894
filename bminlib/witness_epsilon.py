"""Explicit weights for post-normalisation whose normaliser has an eps > 0.

Softmax: found by search, since every token adds to the eps part of the norm. Linear attention: eps
adds the same to every |N|^2, as if `side` were longer; the pattern of eps = 0 serves, but its
vectors are no longer free of scale.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from bminlib.bounds import b_min
from bminlib.epsilon_model import PostModel, Shape, shape, unknowns
from bminlib.epsilon_norms import longest_step
from bminlib.epsilon_search import is_feasible, least_shape
from bminlib.errors import UndecidedError
from bminlib.frames import Frame, Vector, dyadic, first_axis, frame_of
from bminlib.post_margin import post_margin
from bminlib.problem import CountingProblem
from bminlib.weights import Weights, exact_weights, short_weights, to_ball
from bminlib.witness_post import flatness_bounds, post_readout

if TYPE_CHECKING:
    from flint import arb

_MOST_SCORE = 15.0  # e^-30 silences a filler well enough
_BITS = (40, 44, 52, 64, 96)
_GROWTH = 1.5


def epsilon_witness(problem: CountingProblem, slack: Fraction, ln_eps: Fraction) -> Weights:
    """Weights for L >= 2 whose norms are near the least that is found, and count strictly.

    Raises UndecidedError where none are found.
    """
    from flint import ctx

    with ctx.workprec(128):
        point = _found(problem, slack, ln_eps)
        for bits in _BITS:
            made = _weights(problem, point, ln_eps, bits)
            if post_margin(made) > 0:
                return short_weights(made)
    raise UndecidedError(f"no weights were proved to count at eps = {ln_eps}; raise the slack")


def _model(problem: CountingProblem, least: float, ln_eps: Fraction) -> PostModel:
    learned = problem.affine == "learned"
    radius = math.sqrt(problem.spread_squared if learned else problem.d)
    own, most = float(problem.score_scale.ball(64)), _MOST_SCORE / (least * least)
    leak = math.sqrt(problem.d * ln_eps)
    return PostModel(problem.L, radius, 2 if learned else 1, leak, own if own < most else most)


def _found(problem: CountingProblem, slack: Fraction, ln_eps: Fraction) -> Shape:
    """The shape that the search ends at, from the nearest feasible start above B_min."""
    least = float(b_min(problem).enclosure(15).mid())
    model, excess = _model(problem, least, ln_eps), 1e-4
    while excess < 1e6:
        start = _start(model, least * (1 + excess))
        if start is not None and is_feasible(model, unknowns(start)):
            first = min(1e-2, excess / 30)
            return shape(
                least_shape(model, unknowns(start), first, float(min(slack, Fraction(1))) / 8)
            )
        excess *= _GROWTH
    raise UndecidedError(f"no weights were found at eps = {ln_eps}; lower ln_eps or d")


def _start(model: PostModel, B: float) -> Shape | None:
    """The pattern of eps = 0 with fillers and targets as faint as the scores allow."""
    from flint import arb

    low, high = flatness_bounds(model.L, arb(model.radius * B**model.power))
    if not low < high:
        return None
    kappa = 1 / float(arb(model.radius * B**model.power) * ((low + high) / 2).sqrt())
    most = min(0.95 * model.tau * B * B, _MOST_SCORE)
    of_targets = max(-most, most + min(0.0, math.log(4 / (model.L + 4))))
    half = (-kappa * model.L / 4, 0.5)
    target = (kappa * math.exp(most - of_targets) - half[0], -half[1])
    scale = 0.97 * B / max(math.hypot(*half), math.hypot(*target))
    parts = {"r": half, "v_s": half, "v_t": target, "v_f": (-half[0], -half[1])}
    vectors = {name: (scale * main, scale * side) for name, (main, side) in parts.items()}
    return Shape(B, vectors, (most, of_targets, -most), model.L / 2)


def _weights(problem: CountingProblem, point: Shape, ln_eps: Fraction, bits: int) -> Weights:
    """The shape in d dimensions, rounded."""
    from flint import arb, ctx

    frame, B, tau = frame_of(problem), arb(point.B), problem.score_scale.ball(ctx.prec)
    vectors, _ = post_readout(problem, frame, B, bits)
    vectors |= {name: _planar(frame, part, bits) for name, part in point.vectors.items()}
    vectors["q"] = first_axis(problem.d, dyadic(B, bits))
    for name, score in zip(("k_s", "k_t", "k_f"), point.scores, strict=True):
        vectors[name] = first_axis(problem.d, dyadic(score / (tau * B), bits))
    return exact_weights(problem, vectors, dyadic(arb(point.b), bits), ln_eps)


def _planar(frame: Frame, part: tuple[float, float], bits: int) -> Vector:
    from flint import arb

    squares = (frame.main_square, frame.side_square)
    return frame.vector(
        *(dyadic(arb(x) / arb(n).sqrt(), bits) for x, n in zip(part, squares, strict=True))
    )


def linear_epsilon_witness(
    problem: CountingProblem, B: arb, slack: Fraction, ln_eps: Fraction, bits: int
) -> tuple[Weights, arb]:
    """(weights, a ball for their margin), as `fractional_witness`, for linear attention.

    N = r + a (v_s + c v_t) with r along the read-out, v_s across it and a = tau |q|^2.
    """
    from flint import arb, ctx

    frame, above = frame_of(problem), B * (1 + to_ball(slack / 2))
    vectors, radius = post_readout(problem, frame, above, bits)
    low, high = flatness_bounds(problem.L, radius)
    step, leak = longest_step(problem, above), (problem.d * to_ball(ln_eps)).sqrt()
    flatness = ((low + high) / 2).max((high + (leak / (step * radius)) ** 2) / 2)
    kappa = 1 / (radius * flatness.sqrt())
    score = problem.score_scale.ball(ctx.prec) * above**2
    step = step.min(kappa * ((score * above / 2) ** 2 + leak**2).sqrt())
    squared = ((step / kappa) ** 2 - leak**2).mid()
    side = squared.sqrt() if squared > 0 else arb(0)
    main_unit, side_unit = (arb(n).sqrt() for n in (frame.main_square, frame.side_square))
    nothing, key = frame.vector(), first_axis(problem.d, dyadic(above, bits))
    vectors |= {"q": key, "k_s": key, "k_t": key, "k_f": nothing, "v_f": nothing}
    vectors["r"] = frame.vector(dyadic(-step * problem.L / (2 * main_unit), bits))
    vectors["v_s"] = frame.vector(0, dyadic(side / (score * side_unit), bits))
    vectors["v_t"] = frame.vector(dyadic(step / (score * main_unit), bits))
    made = exact_weights(problem, vectors, Fraction(problem.L, 2), ln_eps)
    return made, post_margin(made)

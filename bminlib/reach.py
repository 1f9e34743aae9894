"""What vectors of norm at most B reach in a placement, as balls, with the normaliser's eps.

At eps = 0 this is `supply`; with eps > 0, LN(x) = sqrt(d) x / sqrt(|x|^2 + d eps) for centred x.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from bminlib.problem import CountingProblem
from bminlib.weights import to_ball

if TYPE_CHECKING:
    from flint import arb


@dataclass(frozen=True, slots=True)
class Reach:
    """Balls for one norm B at the current precision.

    image: the largest component of a value along the read-out, before gamma; B without normaliser.
    gap: the greatest <w, v_t - v_s>. score_range: the greatest |a_s - a_t|.
    """

    image: arb
    gap: arb
    score_range: arb


def image(problem: CountingProblem, B: arb, ln_eps: Fraction) -> arb:
    """The largest component of LN(x) over |x| <= B along the direction that is read."""
    d, eps = problem.d, to_ball(ln_eps)
    full = B / (B * B / d + eps).sqrt() if ln_eps else (B * 0 + d).sqrt()
    if problem.affine == "learned" and problem.normalizer == "layer":
        return full * (1 - (B * 0 + 1) / d).sqrt()
    return full


def reach(problem: CountingProblem, B: arb, ln_eps: Fraction) -> Reach:
    """What softmax attention without post-normalisation reaches. Source: theorems none, pre.*."""
    from flint import ctx

    tau = problem.score_scale.ball(ctx.prec)
    if problem.norm == "none":
        return Reach(B, 2 * B * B, 2 * tau * B * B)
    n = image(problem, B, ln_eps)
    if problem.affine == "bare":
        return Reach(n, 2 * n * B, 2 * tau * n * n)
    return Reach(n, 2 * n * B * B, 2 * tau * B * B * n * (n + 1))


def slope_reach(problem: CountingProblem, B: arb, ln_eps: Fraction) -> arb:
    """The greatest slope tau <q, k_t> <w, v_t> of linear attention whose fillers can be silenced.

    Source: theorem linear.rounded.
    """
    from flint import ctx

    tau = problem.score_scale.ball(ctx.prec)
    if problem.norm == "none":
        return tau * B**4
    n = image(problem, B, ln_eps)
    if problem.affine == "bare":
        return tau * n**3 * B
    return tau * (B * (n + offset_share(n))) ** 3 * B


def offset_share(image: arb) -> arb:
    """beta/gamma for a filler's image gamma LN(v_f) + beta that can still be 0: at most 1."""
    return image.min(image * 0 + 1)

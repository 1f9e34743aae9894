"""Least norms where the normaliser has an eps > 0, by bisection, for all but softmax post-norm.

Before attention eps makes images shorter, so that the gap, the scores and the slope reach what
counting demands at a larger B; what is demanded stays the same. After linear attention it bounds
how steep the pattern can be.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from bminlib import extremal
from bminlib.errors import DomainError, InfeasibleError
from bminlib.problem import CountingProblem
from bminlib.reach import Reach, reach, slope_reach
from bminlib.weights import to_ball
from bminlib.witness_post import flatness_bounds

if TYPE_CHECKING:
    from flint import arb

_BITS = 128
_DOUBLINGS = 256
_HALVINGS = 60


def least_norm(problem: CountingProblem, ln_eps: Fraction, start: Fraction) -> Fraction:
    """A B just large enough, above the `start` that suffices at eps = 0, for L >= 2.

    Raises DomainError for a bare normaliser of two values, and InfeasibleError where no B below
    2^256 start is enough.
    """
    from flint import ctx

    if problem.two_points and (problem.affine == "bare" or problem.norm == "post"):
        raise DomainError(
            f"ln_eps={ln_eps}: a normaliser that has two values at eps = 0 (d = {problem.d}) is "
            "supported at eps = 0 only; raise d or leave ln_eps out"
        )
    with ctx.workprec(_BITS):
        high = start
        for _ in range(_DOUBLINGS):
            if _suffices(problem, to_ball(high), ln_eps):
                break
            start, high = high, 2 * high
        else:
            raise InfeasibleError(f"no norm below 2^{_DOUBLINGS} B_min counts at eps = {ln_eps}")
        for _ in range(_HALVINGS):
            middle = (start + high) / 2
            if _suffices(problem, to_ball(middle), ln_eps):
                high = middle
            else:
                start = middle
    return high


def _suffices(problem: CountingProblem, B: arb, ln_eps: Fraction) -> bool:
    """Whether norms B certainly reach what counting to L demands."""
    if problem.norm == "post":
        return _reaches_flatness(problem, B, ln_eps)
    if problem.attention == "linear":
        return bool(slope_reach(problem, B, ln_eps) > to_ball(1 - Fraction(1, problem.L)))
    return _reaches_gap(problem.L, reach(problem, B, ln_eps))


def _reaches_gap(L: int, has: Reach) -> bool:
    from flint import arb

    if L == 2:
        return bool(has.gap > 1 + (-has.score_range).exp() / 2)
    if L == 3:
        ratio = has.score_range.min(arb(3).log() / 2).exp()
        return bool(has.gap > extremal.gap_by_row(3, ratio, 2))
    ratio = arb(extremal.least_score_ratio(L))
    return bool(has.score_range > ratio.log()) and bool(has.gap > extremal.least_gap(L))


def _reaches_flatness(problem: CountingProblem, B: arb, ln_eps: Fraction) -> bool:
    """Linear attention, norm post: eps alone must not make the pattern flatter than it may be."""
    from flint import arb

    radius = B * arb(problem.d).sqrt()
    if problem.affine == "learned":
        radius = B * B * arb(problem.spread_squared).sqrt()
    low, high = flatness_bounds(problem.L, radius)
    by_eps = problem.d * to_ball(ln_eps) / (longest_step(problem, B) * radius) ** 2
    return bool(low < high) and bool(by_eps < high)


def longest_step(problem: CountingProblem, B: arb) -> arb:
    """The longest a v_t, a = tau B^2, whose multiple -L/2 is still an r of norm B."""
    from flint import ctx

    return (problem.score_scale.ball(ctx.prec) * B**3).min(2 * B / problem.L)

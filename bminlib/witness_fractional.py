"""Explicit weights for softmax attention without post-normalisation.

With k_f = k_t and v_f = v_s the output is yhat = A + D c/(a + c + m), a = exp(a_s - a_t),
D = <w, v_t - v_s>. Source: theorem fractional.demand; the vectors: theorems none, pre.*.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from bminlib import extremal
from bminlib.frames import Frame, Vector, dyadic, dyadic_near, first_axis, floor_of_middle, frame_of
from bminlib.layer import Layer
from bminlib.problem import CountingProblem
from bminlib.reach import Reach, reach
from bminlib.weights import Weights, exact_weights, to_ball

if TYPE_CHECKING:
    from flint import arb

_HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class _Target:
    """What the vectors shall produce: ln(a), its share of the score range, and the gap D."""

    log_ratio: arb
    share: arb
    gap: arb


def fractional_witness(
    problem: CountingProblem, B: arb, slack: Fraction, ln_eps: Fraction, bits: int
) -> tuple[Weights, arb]:
    """(weights with entries of about `bits` bits, a ball for their margin), given B >= B_min.

    All norms are below (1 + slack) B. They count if the margin is positive: it is the least
    distance of yhat from the half-integers around c, over all pairs.
    """
    below, above = (B * (1 + to_ball(slack * share)) for share in (Fraction(1, 4), _HALF))
    target = _target(problem, reach(problem, below, ln_eps), reach(problem, above, ln_eps))
    vectors = _vectors(problem, above, target, reach(problem, above, ln_eps), bits)
    return _with_bias(problem, vectors, ln_eps)


def alpha_interval(L: int, a: arb, D: arb) -> tuple[arb, arb]:
    """The least and greatest A + 1/2 at which every pair counts, for D > 0.

    The lower bounds bind at m = L - c and are linear in c, the upper ones at m = 0 and convex.
    """
    from flint import arb

    low = arb(0).max(L * (1 - D / (a + L)))
    turn = floor_of_middle((D * a).sqrt() - a)
    rows = sorted({min(max(c, 0), L) for c in range(turn - 1, turn + 3)})
    high = rows[0] + 1 - D * rows[0] / (a + rows[0])
    for c in rows[1:]:
        high = high.min(c + 1 - D * c / (a + c))
    return low, high


def _target(problem: CountingProblem, below: Reach, above: Reach) -> _Target:
    """The score ratio and gap of the optimum, moved inside: scores by `below`, gap by `above`."""
    from flint import arb

    L, room = problem.L, below.score_range
    if L == 1:
        return _Target(arb(0), arb(0), above.gap.min(arb(1)))
    keys_turn = not (problem.two_points and problem.affine == "bare")
    if L == 2:
        # With a = gap - 1 the count 1 has as much room as the ends; a = e^-room can be tiny.
        if keys_turn and above.gap - 1 > (-room).exp():
            log_ratio = (above.gap - 1).log().min(arb(0))
            return _Target(log_ratio, -log_ratio / room, above.gap.min(log_ratio.exp() + L))
        return _Target(-room, arb(1), above.gap.min((-room).exp() + L))
    log_ratio = room
    if keys_turn:
        log_ratio = arb(3).log() / 2 if L == 3 else _inner_log_ratio(L, above.gap, room)
        if not log_ratio < room:
            log_ratio = room
    share = arb(1) if log_ratio is room else log_ratio / room
    return _Target(log_ratio, share, above.gap.min(log_ratio.exp() + L))


def _inner_log_ratio(L: int, gap: arb, room: arb) -> arb:
    """ln(a* + t) with a t > 0 halfway to where the gap a + L or the score range ends."""
    from flint import arb

    least = arb(extremal.least_score_ratio(L))
    by_scores = least * ((room - least.log()).min(arb(1)).exp() - 1)
    log_ratio: arb = (least + (gap - extremal.least_gap(L)).min(by_scores) / 2).log()
    return log_ratio


def _vectors(
    problem: CountingProblem, B: arb, target: _Target, has: Reach, bits: int
) -> dict[str, Vector]:
    frame = frame_of(problem)
    build = {None: _free, "bare": _bare, "learned": _learned}[problem.affine]
    vectors = build(problem, frame, B, target, has, bits)
    if target.log_ratio < 0:
        vectors["k_s"], vectors["k_t"] = vectors["k_t"], vectors["k_s"]
    silent = {"k_f": vectors["k_t"], "v_f": vectors["v_s"], "r": frame.vector()}
    return vectors | silent


def _free(
    problem: CountingProblem, frame: Frame, _B: arb, target: _Target, _has: Reach, bits: int
) -> dict[str, Vector]:
    from flint import ctx

    tau = problem.score_scale.ball(ctx.prec)
    key = dyadic((abs(target.log_ratio) / (2 * tau)).sqrt(), bits)
    value = dyadic((target.gap / 2).sqrt(), bits)
    vectors = {"q": key, "k_s": key, "k_t": -key, "v_s": -value, "v_t": value, "w": value}
    return {name: frame.vector(size) for name, size in vectors.items()}


def _bare(
    _problem: CountingProblem, frame: Frame, B: arb, target: _Target, has: Reach, bits: int
) -> dict[str, Vector]:
    from flint import arb

    ahead = frame.polar(B, arb(1), bits)
    return {
        "q": ahead,
        "k_s": ahead,
        "k_t": frame.polar(B, 1 - 2 * _share_at(target, has), bits),
        "v_s": [-x for x in ahead],
        "v_t": ahead,
        "w": frame.polar(target.gap / (2 * has.image), arb(1), bits),
    }


def _share_at(target: _Target, has: Reach) -> arb:
    """|ln a| as a share of the score range; exactly 1 where all of it is meant."""
    return target.share if target.share == 1 else abs(target.log_ratio) / has.score_range


def _learned(
    problem: CountingProblem, frame: Frame, B: arb, target: _Target, has: Reach, bits: int
) -> dict[str, Vector]:
    from flint import arb, ctx

    d, tau = problem.d, problem.score_scale.ball(ctx.prec)
    ahead = frame.polar(B, arb(1), bits)
    behind = [-x for x in ahead]
    # The query's image must be X = gamma x + beta, x the first entry of LN(q).
    X = abs(target.log_ratio) / (2 * tau * B * has.image)
    x = has.image if problem.two_points else arb(0).max(X / B - 1)
    return {
        "q": frame.polar(B, (x / has.image).min(arb(1)), bits),
        "k_s": ahead,
        "k_t": behind,
        "v_s": behind,
        "v_t": ahead,
        "gamma": first_axis(d, dyadic(B, bits)),
        "beta": first_axis(d, dyadic(X - B * x, bits)),
        "w": first_axis(d, dyadic(target.gap / (2 * has.image * B), bits)),
    }


def _with_bias(
    problem: CountingProblem, vectors: dict[str, Vector], ln_eps: Fraction
) -> tuple[Weights, arb]:
    """The weights with b in the middle of its interval, and half of what is left of that."""
    from flint import arb

    unbiased = exact_weights(problem, vectors, Fraction(0), ln_eps)
    layer = Layer.in_balls(unbiased)
    scores, w = layer.scores(), layer.vectors["w"]
    base = w @ (layer.vectors["r"] + layer.attending("v_s"))
    D = w @ (layer.attending("v_t") - layer.attending("v_s"))
    low, high = alpha_interval(problem.L, (scores[0] - scores[1]).exp(), D)
    if not low < high:
        return unbiased, arb(-1)
    b = dyadic_near((low + high - 1) / 2 - base, (high - low) / 64)
    alpha = base + to_ball(b) + to_ball(_HALF)
    made = exact_weights(problem, vectors, b, ln_eps)
    return made, (alpha - low).min(high - alpha)

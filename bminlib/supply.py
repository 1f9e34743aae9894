"""What vectors of norm at most B supply: the gap or radius of the read-out, and the score range."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bminlib.powers import RationalPower, as_power, rational_power
from bminlib.problem import CountingProblem

if TYPE_CHECKING:
    from bminlib.expressions import Value


class Supply(NamedTuple):
    """The greatest read-out amount is capacity B^power (a gap D, a radius W or a slope).

    Softmax scores differ by at most score_rate times that amount, or by score_range whatever the
    norms; both are None where scores don't matter.
    """

    capacity: Value
    power: int
    score_rate: Value | None = None
    score_range: RationalPower | None = None

    def norm_for(self, amount: Value) -> Value:
        """The B at which `amount` is just supplied."""
        if isinstance(amount, RationalPower):
            return (amount / self.capacity).root(self.power)
        return amount.over(_as_power(self.capacity)).root(self.power)


def supply(problem: CountingProblem) -> Supply:
    """The supply of a placement. Source: theorems none, pre.*, post.*, linear.*."""
    if problem.norm == "post":
        return _post(problem)
    if problem.attention == "linear":
        return _linear(problem)
    return _softmax(problem)


def _post(problem: CountingProblem) -> Supply:
    """W = sqrt(d) |w|, with a gain sqrt(d-1) |w| |gamma| (rms: sqrt d)."""
    if problem.affine == "bare":
        return Supply(rational_power(problem.d, 2), 1)
    return Supply(_spread(problem), 2)


def _linear(problem: CountingProblem) -> Supply:
    """Slope tau <q, k_t> <w, v_t>."""
    tau, d = problem.score_scale, problem.d
    if problem.norm == "none":
        return Supply(tau, 4)
    if problem.affine == "bare":
        return Supply(tau * rational_power(d**3, 2), 1)
    reach = _one_more(_spread(problem))
    return Supply(reach * reach * reach * tau, 4)


def _softmax(problem: CountingProblem) -> Supply:
    """Gap <w, v_t - v_s>, scores tau <q, k_s - k_t>."""
    tau, d = problem.score_scale, problem.d
    if problem.norm == "none":
        return Supply(rational_power(2), 2, score_rate=tau)
    if problem.affine == "bare":
        return Supply(rational_power(4 * d, 2), 1, score_range=tau * (2 * d))
    spread = _spread(problem)
    return Supply(spread * 2, 2, score_rate=_one_more(spread) * tau)


def _spread(problem: CountingProblem) -> RationalPower:
    """Greatest |P(w * gamma)| sqrt(d) over unit w and gamma; the largest normalised entry."""
    return rational_power(problem.spread_squared, 2)


def _one_more(spread: RationalPower) -> Value:
    """1 + spread: exact where that is rational, an expression elsewhere."""
    if spread.is_rational:
        return as_power(1 + spread.radicand)
    from bminlib.expressions import Expression

    return Expression("+", (1, spread))


def _as_power(capacity: Value) -> RationalPower:
    if isinstance(capacity, RationalPower):
        return capacity
    raise TypeError("only rational amounts meet an irrational capacity")

"""The largest length that a placement counts to with any parameters at all."""

import dataclasses
import math
from fractions import Fraction

from bminlib import balls
from bminlib.bounds import b_min
from bminlib.errors import DomainError
from bminlib.expressions import function
from bminlib.powers import RationalPower, rational_power
from bminlib.problem import CountingProblem
from bminlib.supply import supply

MAX_LENGTH_DIGITS = 1_000_000


def max_length(problem: CountingProblem) -> int | None:
    """The largest feasible L, exact; None where every L is feasible. `problem.L` plays no part.

    0 where not even L = 1 is feasible. Raises DomainError where the answer has over 10^6 digits.
    Source: theorems pre.bare.horizon, softmax.inexact, post.*.
    """
    if _ends_at_horizon(problem):
        score_range = supply(problem).score_range
        return None if score_range is None else _horizon(score_range)
    # Without a horizon in the scores a placement ends at L = 0, 1 or 2, or never.
    feasible = (b_min(dataclasses.replace(problem, L=L)).feasible for L in range(1, 4))
    return next((L for L, answer in enumerate(feasible) if not answer), None)


def _ends_at_horizon(problem: CountingProblem) -> bool:
    return (
        problem.readout == "regression"
        and problem.exactness == "rounded"
        and (problem.attention, problem.norm, problem.affine) == ("softmax", "pre", "bare")
    )


def _horizon(score_range: RationalPower) -> int:
    """The largest L with floor((L-1)^2/4) <= N = floor(e^score_range): L - 1 = isqrt(4N + 3)."""
    _check_size(score_range)
    return 1 + math.isqrt(4 * balls.floor(function("exp", score_range)) + 3)


def _check_size(score_range: RationalPower) -> None:
    digits = score_range / rational_power(Fraction(46051701859, 10**10))  # 2 ln 10
    if balls.compare(digits, rational_power(MAX_LENGTH_DIGITS)) > 0:
        raise DomainError(
            f"the largest length has about {digits.decimal(3)} digits, over {MAX_LENGTH_DIGITS}: "
            f"it is about 2 e^(tau d) with tau d = {(score_range / 2).decimal(6)}; lower d or tau"
        )

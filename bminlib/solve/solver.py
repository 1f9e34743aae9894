"""The solver's answer, and the precision at which it is proved."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bminlib.balls import nearest_text
from bminlib.decimals import check_digits
from bminlib.demand import Touch
from bminlib.errors import DomainError, InfeasibleError, UndecidedError
from bminlib.problem import CountingProblem

if TYPE_CHECKING:
    from flint import arb

_ATTEMPTS, _LEAST_LIMIT = 5, 1 << 17
_BITS_PER_DIGIT = math.log2(10)


@dataclass(frozen=True, slots=True)
class Solution:
    """The least norm as the root of an optimality system, or why there is none.

    value: a ball; None where infeasible, and then `reason` says why. active: the counts that
    touch. equations: what was solved. bits: the precision at which its root was proved.
    """

    problem: CountingProblem
    value: arb | None
    reason: str | None = None
    active: tuple[Touch, ...] = ()
    equations: str = ""
    bits: int = 0

    def decimal(self, digits: int = 15) -> str:
        """The value to `digits` significant digits, rounded to nearest.

        Raises InfeasibleError where there is none, UndecidedError where the ball is too wide.
        """
        check_digits(digits)
        if self.value is None:
            raise InfeasibleError(f"no parameters count: {self.reason}; ask for `value` first")
        text = "0" if self.value == 0 else nearest_text(self.value, digits)
        if text is None:
            ball = self.value.str(20)
            raise UndecidedError(f"{digits} digits are more than the ball {ball} decides")
        return text


def solve(problem: CountingProblem, digits: int = 15) -> Solution:
    """B_min by exchange and root-finding, in a ball of relative radius below 10^-digits.

    What is proved is a local minimum, with every (c, m) counted; bminlib.certify proves that
    nothing lies below it. Raises DomainError for a classification read-out, and UndecidedError,
    naming the equations and the precision, where no root is proved.
    """
    from flint import ctx

    from bminlib.solve.attempt import Attempt

    check_digits(digits)
    if problem.readout == "classification":
        raise DomainError(
            "readout='classification': its infimum is 0, which no equation defines; "
            "take readout 'regression'"
        )
    least = 12 * problem.L.bit_length() + 64
    bits = least + math.ceil(digits * _BITS_PER_DIGIT)
    failure, limit = None, max(bits << _ATTEMPTS, _LEAST_LIMIT)
    while bits < limit:
        try:
            with ctx.workprec(bits):
                solution = Attempt(problem, bits, least).solution()
            if _accurate(solution.value, digits):
                return solution
        except UndecidedError as error:
            failure = error
        bits, least = 2 * bits, min(2 * bits, 4 * least)
    raise failure or UndecidedError(f"no {digits} digits at {bits // 2} bits of precision")


def digits_agreed(value: arb, other: arb, digits: int) -> int:
    """How many significant digits two positive balls are proved to share, at most `digits`."""
    from flint import arb

    difference = abs(value - other).upper() / abs(other).lower()
    shared = range(digits, 0, -1)
    return next((n for n in shared if 2 * difference < arb(10) ** (1 - n)), 0)


def _accurate(value: arb | None, digits: int) -> bool:
    if value is None or value.is_exact():
        return True
    return bool(value.rel_accuracy_bits() > digits * _BITS_PER_DIGIT + 2)

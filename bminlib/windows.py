"""Which lengths a fit may use: where a placement's scores stop binding, and where it ends."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from bminlib.bounds import b_min
from bminlib.errors import DomainError
from bminlib.horizon import MAX_LENGTH_DIGITS, max_length
from bminlib.powers import as_power
from bminlib.problem import CountingProblem

_FIRST, _LAST = 4, 60  # powers of two
_EARLY = 20  # an end before 2^20 leaves few powers of two
_EVEN = range(4, 129, 2)
_LEAST_SPAN = 40
_LONG_BITS = 70


@dataclass(frozen=True, slots=True)
class Window:
    """Even lengths, ascending, at which a placement follows its last regime.

    scores: the first and last length at which the scores bind, and B_min follows sqrt(log L); None
    where they never do from L = 4 on. ends: the largest feasible length; None where there is none
    of at most 10^6 digits. ends_at: the same in a few characters; None without a limit.
    """

    lengths: tuple[int, ...]
    scores: tuple[int, int] | None = None
    ends: int | None = None
    ends_at: str | None = None


def window(problem: CountingProblem) -> Window:
    """The window of a placement; `problem.L` plays no part.

    The powers of two 2^4..2^60; where the scores bind beyond 2^4, at least 40 doublings after the
    turn. A placement that ends early has few of them: there the even lengths 4..128.
    """
    ends, ends_at = _end(problem)
    if ends is not None and ends < 1 << _EARLY:
        return Window(tuple(L for L in _EVEN if ends >= L), ends=ends, ends_at=ends_at)
    scores = _score_lengths(problem)
    first = max(_FIRST, scores[1].bit_length()) if scores else _FIRST
    last = max(_LAST, first + _LEAST_SPAN) if scores else _LAST
    powers = (1 << power for power in range(first, last + 1))
    kept = tuple(L for L in powers if ends is None or ends >= L)
    return Window(kept, scores, ends, ends_at)


def _end(problem: CountingProblem) -> tuple[int | None, str | None]:
    """The largest feasible length, and its text."""
    try:
        ends = max_length(problem)
    except DomainError:
        return None, f"an L of over {MAX_LENGTH_DIGITS} digits"
    if ends is None or ends.bit_length() < _LONG_BITS:
        return ends, None if ends is None else f"L = {ends}"
    return ends, f"an L of about {as_power(ends).decimal(6)}"


def _score_lengths(problem: CountingProblem) -> tuple[int, int] | None:
    """The first and last L >= 4 at which the scores bind.

    They bind where D_L/ln(a*) is below a constant. That ratio falls from L = 4 to its least value
    at L = 5 and rises from there, so the lengths are consecutive, and hold 5 if any.
    """
    if not _scores_bind(problem, 5):
        return None
    below, above = 5, 10
    while _scores_bind(problem, above):
        below, above = above, 2 * above
    while above - below > 1:
        middle = (below + above) // 2
        if _scores_bind(problem, middle):
            below = middle
        else:
            above = middle
    return (4 if _scores_bind(problem, 4) else 5), below


def _scores_bind(problem: CountingProblem, L: int) -> bool:
    return b_min(dataclasses.replace(problem, L=L)).regime == "scores"

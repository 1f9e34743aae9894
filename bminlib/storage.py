"""What a counting layer stores: how many numbers in the read-out, and with how few bits each.

The weights are those of `witness`; every claim that rounded weights count is proved by `verify`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from typing import TYPE_CHECKING

from bminlib.bounds import b_min
from bminlib.errors import DomainError, InfeasibleError
from bminlib.problem import CountingProblem
from bminlib.refute import refuted_quickly
from bminlib.rounding import FORMATS, FloatFormat, fixed_point, floating
from bminlib.verify import verify
from bminlib.witness import witness

if TYPE_CHECKING:
    from flint import arb

    from bminlib.weights import Weights

RUN = 3  # so many numbers of bits in a row have to work
MOST_BITS = 600
MOST_LENGTH, MOST_NUMBERS = 10**6, 1 << 22
EVERY = 32


@dataclass(frozen=True, slots=True)
class Storage:
    """What one problem's weights store.

    numbers: in the read-out, d + 1 or (L + 1)(d + 1). fraction_bits: the least b such that the
    weights rounded to multiples of 2^-b, 2^-(b+1) and 2^-(b+2) count. integer_bits: of the largest
    entry of the read-out so rounded. formats: by name, whether the weights rounded to it count.
    reason: why no weights count, or why they were not looked at; then the rest is None or empty.
    """

    problem: CountingProblem
    numbers: int
    fraction_bits: int | None = None
    integer_bits: int | None = None
    largest_norm: arb | None = None
    formats: dict[str, bool] = dataclasses.field(default_factory=dict)
    reason: str | None = None

    @property
    def total_bits(self) -> int | None:
        """Bits of the read-out: sign, integer and fraction bits for each number."""
        if self.fraction_bits is None or self.integer_bits is None:
            return None
        return self.numbers * (1 + self.integer_bits + self.fraction_bits)


def storage(problem: CountingProblem, slack: Fraction = Fraction(1)) -> Storage:
    """Bits and formats at one length; norms up to (1 + slack) B_min, classification up to 1.

    Raises DomainError as `witness` and `verify` do. Source: theorem classification.storage.
    """
    bound = b_min(problem)
    numbers = bound.stored_numbers
    if longest_length(problem) < problem.L:
        reason = f"too long: looked at up to L = {longest_length(problem)}"
        return Storage(problem, numbers, reason=reason)
    try:
        weights = witness(problem, slack)
    except InfeasibleError:
        return Storage(problem, numbers, reason=bound.reason)
    bits = least_bits(cache(lambda b: counts(fixed_point(weights, b))))
    formats = {kind.name: counts_in(weights, kind) for kind in FORMATS}
    whole = None if bits is None else _integer_bits(fixed_point(weights, bits))
    return Storage(problem, numbers, bits, whole, weights.largest_norm(), formats)


def format_reaches(
    problem: CountingProblem, longest: int, slack: Fraction = Fraction(1)
) -> dict[str, int]:
    """For each format the L <= longest up to which weights in it count, from L = 2 on; else 1.

    Every L up to EVERY is looked at, then two a doubling, then the first gap that fails is halved,
    so that L counts and L + 1 does not, unless L = longest. `longest` is cut to `longest_length`.
    `problem.L` plays no part.
    """

    @cache
    def weights(L: int) -> Weights | None:
        try:
            return witness(dataclasses.replace(problem, L=L), slack)
        except InfeasibleError:
            return None

    def works(kind: FloatFormat, L: int) -> bool:
        found = weights(L)
        return found is not None and counts_in(found, kind)

    most = min(longest, longest_length(problem))
    return {kind.name: _reach(partial(works, kind), most) for kind in FORMATS}


def _reach(works: Callable[[int], bool], longest: int) -> int:
    """The last length before the first failure that is met."""
    good, bad = 1, 0
    for L in _looks(longest):
        if not works(L):
            bad = L
            break
        good = L
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if works(middle) else (good, middle)
    return good


def _looks(longest: int) -> Iterator[int]:
    """Ascending lengths from 2 to `longest`."""
    L = 2
    while longest > L:
        yield L
        L = L + 1 if L < EVERY else L * 3 // 2 if L.bit_count() == 1 else L * 4 // 3
    yield longest


def longest_length(problem: CountingProblem) -> int:
    """The greatest L that is looked at: 10^6, and MOST_NUMBERS in a classification head."""
    if problem.readout == "regression":
        return MOST_LENGTH
    return min(MOST_LENGTH, max(MOST_NUMBERS // (problem.d + 1) - 1, 1))


def counts(weights: Weights) -> bool:
    """Whether the weights are proved to count every pair of their problem."""
    try:
        return not refuted_quickly(weights) and verify(weights).verdict == "proved"
    except DomainError:  # a state without spread, after rounding
        return False


def counts_in(weights: Weights, kind: FloatFormat) -> bool:
    """Whether the weights rounded to a format are proved to count."""
    rounded = floating(weights, kind)
    return rounded is not None and counts(rounded)


def least_bits(works: Callable[[int], bool], most: int = MOST_BITS) -> int | None:
    """The least b <= most such that b, b + 1 and b + 2 all work; None where there is none.

    A failure at any of the three rules out every start up to it, so they are tried from the top.
    """
    start = 0
    while start <= most:
        failed = next((b for b in range(start + RUN - 1, start - 1, -1) if not works(b)), None)
        if failed is None:
            return start
        start = failed + 1
    return None


def _integer_bits(weights: Weights) -> int:
    """Bits of the integer part of the read-out's largest entry."""
    name = "W" if weights.problem.readout == "classification" else "w"
    entries = [*weights.vectors[name].ravel().tolist(), *weights.b.ravel().tolist()]
    return int(max(abs(Fraction(x)) for x in entries)).bit_length()

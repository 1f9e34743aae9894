"""B_min against L as points to draw: exact values at integers, and where they end."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from bminlib.bounds import b_min
from bminlib.problem import CountingProblem
from bminlib.rates import Law, law
from bminlib.windows import Window, window

_DENSE = 32  # up to here every integer is drawn
_PER_DOUBLING = 8
_LEAST_REACH = 1 << 14
_GREATEST_REACH = 1 << 40


@dataclass(frozen=True, slots=True)
class Curve:
    """B_min of a placement at integers L, ascending; where B_min is 0 there is no point.

    law: its asymptote, or None. window: its regimes, and where it ends.
    """

    problem: CountingProblem
    lengths: tuple[int, ...]
    values: tuple[float, ...]
    law: Law | None
    window: Window


def reach(problems: list[CountingProblem]) -> int:
    """A length that shows every turn and end of the placements, where they are not too far."""
    needed = [_LEAST_REACH]
    for span in map(window, problems):
        needed += [8 * span.scores[1]] if span.scores else []
        needed += [4 * span.ends] if span.ends is not None else []
    return max(length for length in needed if length <= _GREATEST_REACH)


def curve(problem: CountingProblem, last: int) -> Curve:
    """The curve of a placement for L from 2 up to `last`; `problem.L` plays no part."""
    span = window(problem)
    end = last if span.ends is None else min(last, span.ends)
    bounds = [b_min(dataclasses.replace(problem, L=L)) for L in _lengths(end)]
    points = [(b.problem.L, float(b.enclosure(17))) for b in bounds if b.feasible]
    kept = [(L, value) for L, value in points if value > 0]
    lengths, values = zip(*kept, strict=True) if kept else ((), ())
    return Curve(problem, lengths, values, law(problem), span)


def _lengths(last: int) -> Iterator[int]:
    """Every integer from 2 to _DENSE, then integers of even ratio, and `last`."""
    yield from range(2, min(_DENSE, last) + 1)
    step = 1
    while (L := round(_DENSE * 2 ** (step / _PER_DOUBLING))) < last:
        yield L
        step += 1
    if last > _DENSE:
        yield last

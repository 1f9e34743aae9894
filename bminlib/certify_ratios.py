"""Lower bounds for softmax attention without post-normalisation: intervals of the score ratio.

At a score ratio a = e^(a_s - a_t) two counts j < i rule out a gap D, and three counts j < k < i
rule out any gap: the basic solutions of the dual linear program. Theorem fractional.demand uses
two of them, the search looks through all. docs/certificate.md has the inequality that closes an
interval; the checker proves it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from bminlib import extremal
from bminlib.certify_limits import number_text
from bminlib.errors import UndecidedError
from bminlib.solve.rationals import as_fraction, simplest_between

if TYPE_CHECKING:
    from flint import arb


class Dual(NamedTuple):
    """Ascending counts that rule out the score ratios in [low, high]; limit: `high` exactly."""

    counts: tuple[int, ...]
    low: arb
    high: arb
    limit: Fraction | None = None

    def box(self, low: Fraction | None, high: Fraction | None) -> dict[str, Any]:
        """The interval [low, high], None standing for infinity, with its weights."""
        scale = math.prod(1 if a is None else a.denominator for a in (low, high))
        ends = ["inf" if a is None else number_text(a) for a in (low, high)]
        left, right = (self._weights(a, scale) for a in (low, high))
        return {"a": ends, "left": left, "right": right}

    def _weights(self, a: Fraction | None, scale: int) -> dict[str, str]:
        """Whole numbers, on one scale at both ends."""
        x, y = (scale, 0) if a is None else (int(a * scale), scale)
        if len(self.counts) == 3:
            j, k, i = self.counts
            weights = {j: i - k, k: j - i, i: k - j}
        else:
            j, i = self.counts
            weights = {j: -x - i * y, i: x + j * y} if j else {i: 1}
        return {str(c): number_text(n) for c, n in weights.items() if c}


def exact_boxes() -> list[dict[str, Any]]:
    """Why no read-out is exact at the counts 0, 1 and 2, whatever the ratio and the gap."""
    from flint import arb

    return [Dual((0, 1, 2), arb(0), arb("inf")).box(Fraction(0), None)]


def ratio_boxes(
    L: int, gap: arb | None, scores: arb, *, points: bool, search: bool
) -> list[dict[str, Any]]:
    """Boxes that leave no gap up to `gap` (None: none at all) that counts to L >= 2.

    They cover the ratios from e^-scores to e^scores, or, where `points`, these two and 1. Balls are
    taken at the current precision. Raises UndecidedError where no cover is found.
    """
    most = scores.exp()
    duals = list(_all_duals(L, gap) if search else _theorem_duals(L, gap, most, points))
    if not points:
        return _cover(duals, 1 / most, most)
    boxes = [_cover(duals, a, a)[0] for a in (1 / most, 0 * most + 1, most)]
    return [box for i, box in enumerate(boxes) if box not in boxes[:i]]


def _theorem_duals(L: int, gap: arb | None, most: arb, points: bool) -> Iterator[Dual]:
    """The counts of theorem fractional.demand, or of the row that binds at one ratio alone."""
    k = (L - 1) // 2
    if L > 2:
        yield _bend(0, k, L)
    rows: Iterable[int] = range(L - 1) if L < 4 else (k,)
    if points:
        rows = {0, L - extremal.binding_row(L, L + int(min(float(most), L * L)))}
    for j in rows:
        yield from _pair(j, L, gap)


def _all_duals(L: int, gap: arb | None) -> Iterator[Dual]:
    """The best three counts, and all pairs."""
    if L > 2:
        yield _best_bend(L)
    for i in range(2, L + 1):
        for j in range(i - 1):
            yield from _pair(j, i, gap)


def _best_bend(L: int) -> Dual:
    """The three counts that rule out the most score ratios."""
    import numpy as np

    best, counts = -math.inf, (0, 1, 2)
    for k in range(1, L):
        j, i = np.arange(k)[:, None], np.arange(k + 1, L + 1)[None, :]
        limits = _bend_limit(j, k, i) / (2.0 * (i - j))
        at = np.unravel_index(limits.argmax(), limits.shape)
        if limits[at] > best:
            best, counts = limits[at], (int(at[0]), k, k + 1 + int(at[1]))
    return _bend(*counts)


def _bend(j: int, k: int, i: int) -> Dual:
    """Three counts: sum n_c c (a + c) >= sum |n_c| (a + c)/2 up to a ratio."""
    from flint import arb, fmpq

    limit = Fraction(_bend_limit(j, k, i), 2 * (i - j))
    return Dual((j, k, i), arb(0), arb(fmpq(*limit.as_integer_ratio())), limit)


def _bend_limit(j: Any, k: Any, i: Any) -> Any:
    """2 (i - j) times the ratio up to which three counts rule out everything."""
    return 2 * (i - j) * (i - k) * (k - j) - (i - k) * j - (i - j) * k - (k - j) * i


def _pair(j: int, i: int, gap: arb | None) -> Iterator[Dual]:
    """Two counts: (i - j - 1)(a + i)(a + j) - gap a (i - j) >= 0, on intervals with one sign."""
    from flint import arb

    if gap is None or i - j < 2:
        return
    lead, last = i - j - 1, (i - j - 1) * i * j
    middle = (i + j) * lead - gap * (i - j)
    if middle >= 0:
        yield Dual((j, i), arb(0), arb("inf"))
        return
    root = (middle * middle - 4 * lead * last).max(arb(0)).sqrt()
    yield Dual((j, i), (root - middle) / (2 * lead), arb("inf"))
    if last:
        yield Dual((j, i), arb(0), 2 * last / (root - middle))


def _cover(duals: list[Dual], first: arb, last: arb) -> list[dict[str, Any]]:
    """Boxes one after the other that hold [first, last], each as long as it gets."""
    chosen: list[Dual] = []
    at = first
    while not chosen or not at >= last:
        holding = (dual for dual in duals if dual.low < at and dual.high >= at)
        furthest = max(holding, key=lambda dual: dual.high.mid(), default=None)
        if furthest is None or (chosen and not furthest.high > at):
            raise UndecidedError(
                f"no weights were found that rule out the score ratio {at.str(10)}"
            )
        chosen.append(furthest)
        at = furthest.high
    start, end = chosen[0], chosen[-1]
    low = Fraction(0) if start.low == 0 else _between(start.low, first)
    high = None if end.high == math.inf else end.limit or _between(last, end.high)
    inner = [a.limit or _between(b.low, a.high) for a, b in pairwise(chosen)]
    ends = pairwise([low, *inner, high])
    return [dual.box(*pair) for dual, pair in zip(chosen, ends, strict=True)]


def _between(low: arb, high: arb) -> Fraction:
    """A short rational between two balls."""
    return simplest_between(as_fraction(low.upper()), as_fraction(high.lower()))

"""The least of very many gaps, enclosed: bounds in float64 for all, a ball for the last few."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from bminlib.exact_gaps import ExactReadout

if TYPE_CHECKING:
    import numpy as np
    from flint import arb

    from bminlib.filter64 import Duels

Array: TypeAlias = "np.ndarray"

_KEPT = 32


@dataclass(frozen=True, slots=True)
class Margin:
    """The least gap over all pairs. `value` is a ball; (c, m) is a pair whose gap it holds."""

    value: arb
    c: int
    m: int


@dataclass(slots=True)
class LeastGap:
    """What is known of the least gap: its candidates, and a lower bound for the rest."""

    candidates: list[tuple[float, int, int, int]] = field(default_factory=list)
    upper: float = float("inf")
    rest: float = float("inf")

    def note(self, duels: Duels, m: Array, gap: Array, error: Array, sure: Array) -> None:
        """Take in the positive gaps of shape (points, n) that are `sure`."""
        import numpy as np

        if not sure.any():
            return
        lower = np.where(sure, gap - error, np.inf)
        self.upper = min(self.upper, float(np.where(sure, gap + error, np.inf).min()))
        points, columns = np.nonzero(lower <= self.upper)
        order = np.argsort(lower[points, columns], kind="stable")
        for i, j in zip(points[order[:_KEPT]], columns[order[:_KEPT]], strict=True):
            pair = int(duels.c[j]), int(duels.rival[j]), int(m[i, j])
            self.candidates.append((float(lower[i, j]), *pair))
        if len(order) > _KEPT:
            self.rest = min(self.rest, float(lower[points, columns][order[_KEPT]]))
        self._prune()

    def note_ball(self, c: int, rival: int, m: int, gap: arb) -> None:
        """Take in one positive gap."""
        self.upper = min(self.upper, _above(gap))
        self.candidates.append((_below(gap), c, rival, m))
        self._prune()

    def margin(self, readout: ExactReadout) -> Margin:
        """The enclosure, and the first pair, by c then m, that no other is known to undercut."""
        from flint import arb

        best: Margin | None = None
        for _, c, rival, m in sorted(self.candidates, key=lambda x: (x[1], x[3])):
            gap = readout.gap(c, rival).ball(m)
            if best is None or gap < best.value:
                best = Margin(gap, c, m)
        if best is None:
            raise ValueError("no gap was noted")
        if self.rest < _below(best.value):
            return Margin(best.value.union(arb(self.rest)), best.c, best.m)
        return best

    def _prune(self) -> None:
        self.candidates = sorted(x for x in self.candidates if x[0] <= self.upper)
        if len(self.candidates) > _KEPT:
            self.rest = min(self.rest, self.candidates[_KEPT][0])
            del self.candidates[_KEPT:]


def _below(ball: arb) -> float:
    """A float below a positive number in a ball."""
    return max(float(ball.lower()) * (1 - 2.0**-50), 0.0)


def _above(ball: arb) -> float:
    return float(ball.upper()) * (1 + 2.0**-50)

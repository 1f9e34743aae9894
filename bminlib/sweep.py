"""One pass over all counts: float64 decides what it can, exact arithmetic the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

from bminlib.errors import UndecidedError
from bminlib.exact_gaps import ExactReadout, Gap, has_spread
from bminlib.exact_layer import ExactLayer, no_spread_at
from bminlib.filter64 import Duels, FloatLayer
from bminlib.least_gap import LeastGap
from bminlib.monotone import decisive_fillers
from bminlib.problem import CountingProblem

if TYPE_CHECKING:
    import numpy as np

Array: TypeAlias = "np.ndarray"
Progress: TypeAlias = Callable[[int, int], None]

CHUNK = 1 << 13


class DuelSource(Protocol):
    """A read-out as duels."""

    @property
    def rivals(self) -> int:
        """How many duels a count has, at most."""

    def duels(self, start: int, stop: int) -> Duels:
        """The duels of the counts from `start` to `stop` - 1, in that order."""


@dataclass(frozen=True, slots=True)
class Lost:
    """The first pair with a gap <= 0, and the rivals there with their gaps' signs (0 or -1)."""

    c: int
    m: int
    rivals: dict[int, int]


@dataclass(slots=True)
class Sweep:
    """The gaps of `source` at all pairs with c + m <= problem.L.

    `lost` after a run is the first pair, by c then m, that does not count. rows_in_full: how many
    counts needed every m. pairs_exact: how many gaps needed exact arithmetic.
    """

    problem: CountingProblem
    exact_layer: ExactLayer
    layer: FloatLayer
    readout: ExactReadout
    source: DuelSource
    least: LeastGap = field(default_factory=LeastGap)
    lost: Lost | None = None
    rows_in_full: int = 0
    pairs_exact: int = 0

    def run(
        self, progress: Progress | None = None, accept: Callable[[Duels], bool] | None = None
    ) -> bool:
        """Sweep; False, early, where `accept` refuses the duels of a chunk.

        Raises UndecidedError, and DomainError at a pair without spread before any lost pair.
        """
        import numpy as np

        L = self.problem.L
        step = max(1, CHUNK // self.source.rivals)
        for start in range(0, L + 1, step):
            stop = min(start + step, L + 1)
            with np.errstate(all="ignore"):
                duels = self.source.duels(start, stop)
                if accept and not accept(duels):
                    return False
                self._chunk(duels)
            if self.lost:
                return True
            if progress:
                progress(pairs_below(L, stop), pairs_below(L, L + 1))
        return True

    def _chunk(self, duels: Duels) -> None:
        import numpy as np

        m, covered = decisive_fillers(self.layer, duels, self.problem.L)
        gap, error = self.layer.gaps(duels, m)
        sure = gap > error
        self.least.note(duels, m, gap, error, sure & covered)
        unproved = np.flatnonzero(~(covered & sure.all(axis=0)))
        for c in np.unique(duels.c[unproved]).tolist():
            row = unproved[duels.c[unproved] == c]
            points = (m[:, row], gap[:, row] < -error[:, row], sure[:, row])
            if not (covered[row].all() and self._points_hold(duels[row], *points)):
                self._scan(duels[duels.c == c])
            if self.lost:
                return

    def _points_hold(self, duels: Duels, m: Array, lost: Array, sure: Array) -> bool:
        """Whether the gaps at some m of one count are positive; False says nothing yet."""
        if lost.any():
            return False
        for point, column in zip(*(~sure).nonzero(), strict=True):
            fillers = int(m[point, column])
            gap = self.readout.gap(int(duels.c[column]), int(duels.rival[column]))
            if not has_spread(self.exact_layer, gap.c, fillers) or self._sign(gap, fillers) <= 0:
                return False
            self.least.note_ball(gap.c, int(duels.rival[column]), fillers, gap.ball(fillers))
        return True

    def _scan(self, duels: Duels) -> None:
        """Look at every m of one count, whose duels these are."""
        import numpy as np

        self.rows_in_full += 1
        c, block = int(duels.c[0]), max(1, CHUNK // len(duels.c))
        for start in range(0, self.problem.L - c + 1, block):
            fillers = np.arange(start, min(start + block, self.problem.L - c + 1))
            m = np.repeat(fillers[:, None], len(duels.c), axis=1)
            gap, error = self.layer.gaps(duels, m)
            sure = gap > error
            self.least.note(duels, m, gap, error, sure)
            for point in np.flatnonzero(~sure.all(axis=1)).tolist():
                certain = gap[point] < -error[point]
                rivals = duels.rival[~sure[point]].tolist()
                self._decide(
                    c,
                    int(fillers[point]),
                    dict(zip(rivals, certain[~sure[point]].tolist(), strict=True)),
                )
                if self.lost:
                    return

    def _decide(self, c: int, m: int, rivals: dict[int, bool]) -> None:
        """Settle one pair against rivals, some of which certainly win."""
        if not has_spread(self.exact_layer, c, m):
            raise no_spread_at(self.problem, c, m)
        signs = {}
        for rival, certain in rivals.items():
            gap = self.readout.gap(c, rival)
            signs[rival] = -1 if certain else self._sign(gap, m)
            if signs[rival] > 0:
                self.least.note_ball(c, rival, m, gap.ball(m))
        lost = {rival: sign for rival, sign in signs.items() if sign <= 0}
        if lost:
            self.lost = Lost(c, m, lost)

    def _sign(self, gap: Gap, m: int) -> int:
        self.pairs_exact += 1
        try:
            return gap.sign(m)
        except UndecidedError as error:
            raise UndecidedError(f"at (c, m) = ({gap.c}, {m}): {error}") from error


def pairs_below(L: int, c: int) -> int:
    """How many pairs have fewer than `c` targets."""
    return c * (L + 1) - c * (c - 1) // 2

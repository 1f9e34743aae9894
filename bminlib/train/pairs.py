"""The data: pairs (c, m) of targets and fillers, which is all that the layer sees of a sequence."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bminlib.errors import DomainError

if TYPE_CHECKING:
    import numpy as np


class Pairs(NamedTuple):
    """Counts of targets and of fillers as float64, and each pair's weight in the loss. (n,) each

    Weights add to 1 over all pairs, and to the same over the pairs of each count: the greatest
    counts, which have the fewest pairs, are the hardest.
    """

    c: np.ndarray
    m: np.ndarray
    weight: np.ndarray


def every_pair(L: int) -> Pairs:
    """All pairs with c + m <= L."""
    import numpy as np

    c, m = np.divmod(np.arange((L + 1) ** 2), L + 1)
    kept = c + m <= L
    return _weighed(c[kept], m[kept])


def few_fillers(L: int) -> Pairs:
    """Every count c with no filler, half of its L - c, and all of them."""
    import numpy as np

    c = np.arange(L + 1)
    return _weighed(np.tile(c, 3), np.concatenate([0 * c, (L - c) // 2, L - c]))


def of_lengths(pairs: Pairs, lengths: tuple[int, ...] | None) -> Pairs:
    """The pairs whose sequence length c + m is among `lengths`; all where that is None.

    Raises DomainError if none is left.
    """
    import numpy as np

    if lengths is None:
        return pairs
    kept = np.isin(pairs.c + pairs.m, lengths)
    if not kept.any():
        longest = int((pairs.c + pairs.m).max())
        raise DomainError(
            f"lengths {lengths[0]}..{lengths[-1]}: no sequence of the data is so long; "
            f"its lengths go from 0 to {longest}, name some of them"
        )
    return _weighed(pairs.c[kept].astype(int), pairs.m[kept].astype(int))


def _weighed(c: np.ndarray, m: np.ndarray) -> Pairs:
    import numpy as np

    _, which, fillers = np.unique(c, return_inverse=True, return_counts=True)
    weight = 1 / (fillers[which] * len(fillers))
    return Pairs(c.astype(np.float64), m.astype(np.float64), weight)

"""What counting to L demands of a read-out: the record, and the radius of a circular one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from bminlib import extremal
from bminlib.powers import as_power, rational_power

if TYPE_CHECKING:
    from bminlib.expressions import Value

Regime = Literal["readout", "scores", "both"]


class Touch(NamedTuple):
    """A count c at which the optimal read-out is c + 1/2 (side "+") or c - 1/2 (side "-")."""

    c: int
    side: Literal["+", "-"]


class Demand(NamedTuple):
    """The least amount that counts, and how it is reached."""

    amount: Value
    active: tuple[Touch, ...] = ()
    attained: bool = True
    regime: Regime | None = None


def touches(*pairs: tuple[int, Literal["+", "-"]]) -> tuple[Touch, ...]:
    """Active counts from (c, side) pairs."""
    return tuple(Touch(c, side) for c, side in pairs)


def circular(L: int) -> Demand:
    """Least radius W_L, for L >= 2. Source: theorem circular.lattice."""
    k = extremal.circular_active(L)
    active = touches((0, "+"), (k, "-"), (L - k, "+"), (L, "-"))
    if L == 2:  # the count in the middle is free between its bounds
        active = touches((0, "+"), (2, "-"))
    # At L = 2 and 3 two antipodal points reach the bound; at L = 4 the middle count needs a third.
    return Demand(rational_power(extremal.least_radius_squared(L), 2), active, attained=L != 4)


def linear(L: int) -> Demand:
    """Least slope 1 - 1/L, a line from 1/2 that touches at both ends. Source: linear.rounded."""
    return Demand(as_power(extremal.linear_slope(L)), touches((0, "+"), (L, "-")))

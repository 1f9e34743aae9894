"""The extreme whole counts of an error curve, found without a scan and proved to be extreme.

A curve turns at most as often as its `turns` say, in that order (curves.py has the reasons). So
where a turn is pinned between the neighbours of one count, the curve is monotone elsewhere, and
only the ends and these counts can be extreme.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bminlib.errors import UndecidedError
from bminlib.solve.curves import Curve

if TYPE_CHECKING:
    from flint import arb

_STEPS = 200


def error_at(curve: Curve, v: Sequence[Any], c: int, L: int) -> Any:
    """e(c), in the arithmetic of v (balls or rationals)."""
    from flint import fmpq

    return curve.error(v, fmpq(c, L), fmpq(1, L)).value


def lattice_turn(curve: Curve, v: Sequence[arb], L: int, start: int, side: int) -> int:
    """The count near `start` where side times e is greatest among its neighbours."""
    c = _near_turn(curve, v, L, start, side)
    here = side * error_at(curve, v, c, L)
    for _ in range(_STEPS):
        beside = [(side * error_at(curve, v, k, L), k) for k in (c - 1, c + 1) if 0 <= k <= L]
        best, k = max(beside, key=lambda pair: pair[0].mid())
        if not best.mid() > here.mid():
            return c
        here, c = best, k
    raise UndecidedError(f"L={L}: the error curve has no turn near c = {start}")


def _near_turn(curve: Curve, v: Sequence[arb], L: int, start: int, side: int) -> int:
    """Newton's method for e' = 0 on whole counts."""
    from flint import fmpq

    c, last = start, L
    for _ in range(_STEPS):
        first, second = curve.slope(v, fmpq(c, L), fmpq(1, L))
        if side * second < 0:
            step = -int((L * first / second).mid().floor().unique_fmpz() or 0)
        else:
            step = max(last // 2, 1) * (1 if side * first > 0 else -1)
        step = max(-c, min(L - c, step))
        c += step
        if abs(step) <= 1 or abs(step) >= 2 * last:
            return c
        last = abs(step)
    return c


def turn_is_proved(curve: Curve, v: Sequence[arb], L: int, c: int, side: int) -> bool:
    """Whether side times e is strictly greater at c than at both neighbours within 0..L."""
    here = side * error_at(curve, v, c, L)
    beside = (side * error_at(curve, v, k, L) for k in (c - 1, c + 1) if 0 <= k <= L)
    return all(here > there for there in beside)

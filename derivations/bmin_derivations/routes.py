"""Independent numbers: rows tried by brute force and one-dimensional searches, no closed form.

Every route knows the model's inequalities only. Its enclosures are found, not proved: they test
the formulas, they don't stand for proofs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bmin_derivations.records import Enclosure

_DPS = 32
_RELATIVE = "1e-24"


def reals() -> Any:
    """A private mpmath context of 32 digits."""
    from mpmath import MPContext

    context = MPContext()
    context.dps = _DPS
    return context


def number(context: Any, exact: Any) -> Any:
    """An exact sympy number as a real of the context; nan where it is no finite real."""
    import sympy

    value = sympy.N(exact, _DPS + 8)
    return context.mpf(str(value)) if value.is_real and value.is_finite else context.nan


def around(context: Any, value: Any, relative: str = _RELATIVE) -> Enclosure:
    """An enclosure of a found value with the relative error of a search."""
    width = (abs(value) if value else 1) * context.mpf(relative)
    return Enclosure(value - width, value + width)


def infinite(context: Any) -> Enclosure:
    """What a route answers where nothing is feasible."""
    return Enclosure(context.inf, context.inf)


def gap_rows(L: int, a: Any, context: Any, margin: Any = 0) -> Any:
    """Least D for which some alpha fits every row c <= alpha + D c/(a + c) <= c + 1; inf if none.

    Pairs of a lower and an upper row eliminate alpha. margin: how far within its bounds each row
    must stay.
    """
    share = [c / (a + c) for c in range(L + 1)]
    least, most = context.mpf(0), context.inf
    for low in range(L + 1):
        for high in range(L + 1):
            rise, needed = share[low] - share[high], low - high - 1 + 2 * context.mpf(margin)
            if rise > 0:
                least = max(least, needed / rise)
            elif rise < 0:
                most = min(most, needed / rise)
    return least if least <= most * (1 + context.mpf("1e-28")) else context.inf


def fits_fillers(L: int, a: Any, D: Any, context: Any) -> bool:
    """Whether D counts all (c, m) at E = 0, g = 1 with the alpha that the rows m = 0 leave."""
    alpha = max(context.mpf(0), L - D * L / (a + L))
    slack = context.mpf("1e-20") * (1 + D)
    return all(
        c - slack <= alpha + D * c / (a + c + m) <= c + 1 + slack
        for c in range(L + 1)
        for m in range(L + 1 - c)
    )


def least_ratio(L: int, context: Any, margin: Any = 0, rounds: int = 110) -> Any:
    """Least a at which any gap is feasible, by bisection."""
    low, high = context.mpf("1e-9"), context.mpf(L * L + 4)
    for _ in range(rounds):
        middle = (low + high) / 2
        if gap_rows(L, middle, context, margin) == context.inf:
            low = middle
        else:
            high = middle
    return high


def golden(
    function: Callable[[Any], Any], low: Any, high: Any, context: Any, rounds: int = 150
) -> tuple[Any, Any]:
    """(argument, value) of a quasiconvex function's minimum on [low, high]."""
    ratio = (context.sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(rounds):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = function(right)
    ends = [(function(point), point) for point in (low, left, right, high)]
    value, argument = min(ends, key=lambda pair: pair[0])
    return argument, value


def least_amount(
    L: int, cost: Callable[[Any, Any], Any], context: Any, margin: Any = 0
) -> Enclosure:
    """The least cost(gap, ratio) over all score ratios at which some gap counts to L.

    `cost` is what norms must be for that gap and that ratio; increasing in the gap. A margin of
    1/2 asks for yhat = c.
    """
    start = least_ratio(L, context, margin)

    def at(log_ratio: Any) -> Any:
        ratio = context.exp(log_ratio)
        return cost(gap_rows(L, ratio, context, margin), ratio)

    low, high = context.log(start), context.log(start + 4 * L * L)
    argument, value = golden(at, low, high, context)
    ratio = context.exp(argument)
    if not margin and not fits_fillers(L, ratio, gap_rows(L, ratio, context), context):
        raise ArithmeticError(f"L={L}: fillers break the optimum of the rows without fillers")
    return around(context, value)


def bisect_root(function: Callable[[Any], Any], low: Any, high: Any, rounds: int = 120) -> Any:
    """The zero of an increasing function between low and high."""
    for _ in range(rounds):
        middle = (low + high) / 2
        if function(middle) < 0:
            low = middle
        else:
            high = middle
    return high

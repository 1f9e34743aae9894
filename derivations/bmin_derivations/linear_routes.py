"""The independent route of linear attention: rows for the slope, ascent for what norms reach."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from bmin_derivations import routes, supply_search
from bmin_derivations.instances import centred, whole
from bmin_derivations.records import Enclosure, Instance
from bmin_derivations.symbols import L, d, tau


def least_slope(length: int, tolerance: Fraction) -> Fraction:
    """Least S for which some A has |A + S c - c| <= tolerance at every count, by pairs of rows."""
    return max(
        Fraction(i - j - 2 * tolerance) / (i - j) for i in range(length + 1) for j in range(i)
    )


def least_norm(tolerance: Fraction) -> Callable[[Instance], Enclosure]:
    """The route: B = (least slope/largest slope at B = 1)^(1/power)."""

    def route(instance: Instance) -> Enclosure:
        context = routes.reals()
        slope = least_slope(whole(instance, L), tolerance)
        capacity, power = _capacity(instance, context)
        if not capacity:
            return routes.infinite(context)
        needed = context.mpf(slope.numerator) / slope.denominator
        return routes.around(context, (needed / capacity) ** (context.mpf(1) / power), "1e-13")

    return route


def _capacity(instance: Instance, context: Any) -> tuple[Any, int]:
    """(largest slope at B = 1, power of B); 0 where fillers can't be silenced."""
    problem = instance.problem
    if problem is None:
        raise ValueError("an instance of linear attention needs its problem")
    factor, size = routes.number(context, instance.at[tau]), whole(instance, d)
    if problem.norm == "none":
        return factor, 4
    if problem.affine == "learned":
        return factor * context.mpf(supply_search.largest_slope(size, centred(instance))), 4
    return (0 if _fillers_stay(size, centred(instance)) else factor * context.mpf(size) ** 1.5), 1


def _fillers_stay(size: int, centre: bool) -> bool:
    """Whether every two normalised vectors are parallel, so that no filler is orthogonal."""
    return size - centre < 2

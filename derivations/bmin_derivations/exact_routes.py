"""Independent routes for exact counting, yhat = c."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bmin_derivations import circular_search, norm_limited, routes, supply_search
from bmin_derivations.instances import centred, whole
from bmin_derivations.records import Enclosure, Instance
from bmin_derivations.symbols import d, spread, tau

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

_EXACTLY = "0.5"  # a row that stays 1/2 within its bounds is an equation


def norms_route(instance: Instance) -> Enclosure:
    """Placements none and learned pre."""
    context, problem = routes.reals(), instance.problem
    factor = routes.number(context, instance.at[tau])
    if problem is not None and problem.norm == "none":
        return norm_limited.least_norm(instance, context.mpf(2), 2 * factor, "1e-20", _EXACTLY)
    size, centre = whole(instance, d), centred(instance)
    capacity = context.mpf(supply_search.largest_gap(size, centre))
    scores = factor * context.mpf(supply_search.largest_score(size, centre))
    return norm_limited.least_norm(instance, capacity, scores, "1e-13", _EXACTLY)


def bare_route(instance: Instance) -> Enclosure:
    """Bare pre: the smallest gap over the ratios in range."""
    context, size = routes.reals(), whole(instance, d)
    limit = 2 * size * routes.number(context, instance.at[tau])
    gaps = [
        routes.gap_rows(whole(instance), context.exp(limit * place / 20), context, _EXACTLY)
        for place in range(-20, 21)
    ]
    return routes.around(context, min(gaps) / (2 * context.sqrt(size)), "1e-20")


def antipodal_route(instance: Instance) -> Enclosure:
    """Post: the least radius over lines whose read-out equals the counts."""
    context, problem = routes.reals(), instance.problem
    radius, _ = circular_search.best_line(whole(instance), _exact_radius)
    size = whole(instance, d)
    if problem is not None and problem.affine == "bare":
        return routes.around(context, context.mpf(radius) / context.sqrt(size), "1e-6")
    reach = context.mpf(supply_search.largest_gap(size, centred(instance))) / 2
    return routes.around(context, context.sqrt(context.mpf(radius) / reach), "1e-6")


def _exact_radius(L: int, c0: float, rate: float) -> tuple[float, Array]:
    """(|p|, p) with p.(u_(c+1) - u_c) = 1 for all c, infinite where there is none."""
    import numpy as np

    u = circular_search.directions(L, c0, rate)
    rows = np.diff(u, axis=1).T
    p, _, rank, _ = np.linalg.lstsq(rows, np.ones(L), rcond=1e-12)
    misses = rank < min(L, 2) or not np.allclose(rows @ p, 1, atol=1e-9)
    return (float("inf") if misses else float(np.hypot(*p))), p


def curved_route(instance: Instance) -> Enclosure:
    """None and pre: no gap solves all rows at any of many score ratios."""
    context, length = routes.reals(), whole(instance)
    feasible = any(
        routes.gap_rows(length, context.exp(context.mpf(place) / 4), context, _EXACTLY)
        < context.inf
        for place in range(-60, 61)
    )
    return Enclosure(context.mpf(0), context.mpf(0)) if feasible else routes.infinite(context)


def crossing_route(instance: Instance) -> Enclosure:
    """Post: increasing lines meet the curve at fewer points than there are counts."""
    context = routes.reals()
    points = 2 if instance.at[spread] == 1 else _most_crossings()
    enough = points >= whole(instance) + 1
    return Enclosure(context.mpf(0), context.mpf(0)) if enough else routes.infinite(context)


def _most_crossings() -> int:
    """The largest number of sign changes of F(x) - u x - v over many phi, u > 0, v."""
    import numpy as np

    source, x = np.random.default_rng(0), np.tan(np.linspace(-1.55, 1.55, 4001))
    most = 0
    for _ in range(4000):
        phi, slope = source.uniform(-np.pi, np.pi), np.exp(source.uniform(-6, 1))
        curve = np.cos(phi) * x / np.sqrt(1 + x * x) + np.sin(phi) / np.sqrt(1 + x * x)
        at = source.uniform(-4, 4)
        level = np.interp(at, x, curve) - slope * at
        signs = np.sign(curve - slope * x - level)
        most = max(most, int(np.count_nonzero(np.diff(signs))))
    return most

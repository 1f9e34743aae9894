"""Ordinary least squares on a log-log plot."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from bminlib.errors import DomainError


class Line(NamedTuple):
    """log y = intercept + slope log x, with the standard error of the slope (None at 2 points)."""

    slope: float
    intercept: float
    slope_error: float | None


def line_through(x: Sequence[float], y: Sequence[float]) -> Line:
    """The least-squares line through (log x, log y); raises DomainError below 2 different x."""
    u, v = [math.log(a) for a in x], [math.log(b) for b in y]
    n = len(u)
    mean_u, mean_v = (math.fsum(t) / n if n else 0.0 for t in (u, v))
    spread = math.fsum((a - mean_u) ** 2 for a in u)
    if len(set(x)) < 2:
        raise DomainError(f"{len(set(x))} different lengths: a slope needs at least 2; give more")
    slope = math.fsum((a - mean_u) * (b - mean_v) for a, b in zip(u, v, strict=True)) / spread
    intercept = mean_v - slope * mean_u
    rest = math.fsum((b - intercept - slope * a) ** 2 for a, b in zip(u, v, strict=True))
    error = math.sqrt(rest / (n - 2) / spread) if n > 2 else None
    return Line(slope, intercept, error)

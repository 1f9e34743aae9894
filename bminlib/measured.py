"""A user's own measured norms against B_min: exponents with intervals, ratios, warnings."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median
from typing import TYPE_CHECKING

from bminlib import balls
from bminlib.bootstrap import Interval, slope_interval
from bminlib.bounds import Bound, b_min
from bminlib.lines import Line, line_through
from bminlib.powers import RationalPower, as_power
from bminlib.problem import CountingProblem
from bminlib.rates import Law, law

if TYPE_CHECKING:
    from bminlib.expressions import Value
    from bminlib.runs_csv import Run


@dataclass(frozen=True, slots=True)
class Point:
    """All runs of a series at one length.

    least, middle, greatest: of the norms, the median in the middle. ratio: least/B_min; None where
    B_min is 0 or there is none. below: lines whose norm lies under B_min, or which are beyond the
    length that any weights count to: those weights can't count.
    """

    L: int
    runs: int
    least: float
    middle: float
    greatest: float
    bound: Bound
    ratio: float | None
    below: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Series:
    """The runs of one model.

    problem: the model, at its least length. line: the least-squares line through all runs on a
    log-log plot, interval: of its slope; b_min_line: the same fit of B_min at the same lengths,
    which shows how far a line at these lengths is from the law. Each is None where there is none.
    """

    problem: CountingProblem
    mode: str
    points: tuple[Point, ...]
    line: Line | None
    interval: Interval | None
    b_min_line: Line | None
    law: Law | None


def measure(runs: Iterable[Run], seed: int = 0) -> list[Series]:
    """One series a model and mode, in the order of the file; the same seed gives the same."""
    series: dict[tuple[object, ...], list[Run]] = {}
    for run in runs:
        model = dataclasses.replace(run.problem, L=1, tau="scaled")
        series.setdefault((model, run.problem.score_scale, run.mode), []).append(run)
    return [_series(group, seed) for group in series.values()]


def _series(runs: Sequence[Run], seed: int) -> Series:
    by_length: dict[int, list[Run]] = {}
    for run in runs:
        by_length.setdefault(run.problem.L, []).append(run)
    points = [_point(by_length[L]) for L in sorted(by_length)]
    x, y = [run.problem.L for run in runs], [float(run.norm) for run in runs]
    several = len(points) > 1
    problem = points[0].bound.problem
    return Series(
        problem,
        runs[0].mode,
        tuple(points),
        line_through(x, y) if several else None,
        slope_interval(x, y, [run.unit for run in runs], seed) if several else None,
        _b_min_line(points, x),
        law(problem),
    )


def _point(runs: Sequence[Run]) -> Point:
    bound = b_min(runs[0].problem)
    norms = [run.norm for run in runs]
    return Point(
        L=runs[0].problem.L,
        runs=len(runs),
        least=float(min(norms)),
        middle=float(median(norms)),
        greatest=float(max(norms)),
        bound=bound,
        ratio=_ratio(min(norms), bound),
        below=tuple(run.line for run in runs if _too_small(run, bound)),
    )


def _ratio(norm: Fraction, bound: Bound) -> float | None:
    if not bound.feasible or bound.decimal(1) == "0":
        return None
    return float(as_power(norm).ball(64) / bound.enclosure(17))


def _too_small(run: Run, bound: Bound) -> bool:
    """Whether no number that is written like the run's norm reaches B_min."""
    return bound.value is None or _less(run.norm + run.rounding, bound.value)


def _less(number: Fraction, value: Value) -> bool:
    """number < value; an Expression is irrational, so the two differ."""
    if isinstance(value, RationalPower):
        return bool(number**value.degree < value.radicand)
    return balls.compare(as_power(number), value) < 0


def _b_min_line(points: Sequence[Point], lengths: Sequence[int]) -> Line | None:
    """The line through B_min, each length as often as it was measured."""
    known = {at.L: float(at.bound.enclosure(17)) for at in points if at.ratio is not None}
    kept = [L for L in lengths if L in known]
    return line_through(kept, [known[L] for L in kept]) if len(known) > 1 else None

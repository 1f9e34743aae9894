"""The figure of `bmin rates --data`: measured norms over B_min of the stated models."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from bminlib.curves import Curve, curve
from bminlib.figure_rates import log_frame, look_of, placement_name, plain
from bminlib.figures import EndLabel, label_ends
from bminlib.measured import Series
from bminlib.problem import CountingProblem

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LABEL_GAP = 23  # points


def measured_drawing(series: Sequence[Series], note: str) -> Callable[[Figure], None]:
    """A drawing of measured norms over B_min of the stated models; `note` names the source."""

    def draw(figure: Figure) -> None:
        axes = figure.add_axes((0.085, 0.115, 0.60, 0.80))
        last = max(one.points[-1].L for one in series)
        models = {_model(one): curve(one.problem, last) for one in series}
        curves = [model for model in models.values() if model.lengths]
        _frame(axes, series, curves)
        axes.set_title(f"{plain(note)}; marks: runs, lines: $B_{{\\min}}$, dashed: least squares")
        for bound in curves:
            axes.plot(bound.lengths, bound.values, color=look_of(bound.problem)[0], zorder=2)
        for i, one in enumerate(series):
            _draw_series(axes, one, hollow=any(_model(one) == _model(s) for s in series[:i]))
        label_ends(axes, [_series_label(one) for one in series], _LABEL_GAP)

    return draw


def _model(series: Series) -> CountingProblem:
    return dataclasses.replace(series.problem, L=1)


def _frame(axes: Axes, series: Sequence[Series], curves: Sequence[Curve]) -> None:
    lengths = [at.L for one in series for at in one.points]
    first, last = min(lengths), max(lengths)
    values = [norm for one in series for at in one.points for norm in (at.least, at.greatest)]
    for bound in curves:
        known = zip(bound.lengths, bound.values, strict=True)
        values += [value for L, value in known if first / 2 <= L]
    log_frame(axes, (max(1.8, first / 2), last * 1.15), values)
    axes.set_ylabel("largest norm")


def _draw_series(axes: Axes, series: Series, hollow: bool) -> None:
    colour, marker = look_of(series.problem)
    fill = "white" if hollow else colour
    for at in series.points:
        axes.plot([at.L, at.L], [at.least, at.greatest], color=colour, lw=0.8, zorder=3)
    middles = [at.middle for at in series.points]
    lengths = [at.L for at in series.points]
    axes.plot(lengths, middles, marker, color=colour, mfc=fill, ms=4.5, mew=0.9, zorder=4)
    if series.line is not None:
        fitted = [math.exp(series.line.intercept) * L**series.line.slope for L in lengths]
        axes.plot(lengths, fitted, color=colour, lw=0.8, ls=(0, (4, 3)), zorder=3)


def series_name(series: Series) -> str:
    """For example `post bare, least, regression`."""
    mode = f", {series.mode}" if series.mode else ""
    return f"{placement_name(series.problem)}{mode}, {series.problem.readout}"


def _series_label(series: Series) -> EndLabel:
    at = series.points[-1]
    slope = "" if series.line is None else f"slope {_short(series.line.slope)}"
    if series.interval is not None:
        slope += f" [{_short(series.interval.low)}, {_short(series.interval.high)}]"
    return EndLabel(
        at.L, at.middle, f"{plain(series_name(series))}\n{slope}", look_of(series.problem)[0]
    )


def _short(slope: float) -> str:
    """Three decimals, and no minus before a zero."""
    return f"{round(slope, 3) + 0.0:.3f}"

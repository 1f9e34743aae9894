"""The figure of a directory of runs: trained norms against L, a panel a read-out, over B_min."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from bminlib.curves import curve
from bminlib.figure_rates import log_frame, look_of, placement_name
from bminlib.figures import GREY, EndLabel, label_ends
from bminlib.measured import Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (8.4, 4.3)
_LABEL_GAP = 21.0  # points
_WIDTH, _LEFT, _BOTTOM, _HEIGHT = 0.255, 0.06, 0.115, 0.80
_MODES = {"least": (None, "-"), "plain": ("white", (0, (4, 3))), "plain T=1": ("white", ":")}


def training_drawing(series: Sequence[Series]) -> Callable[[Figure], None]:
    """A drawing of the fitted series of `compare.growth`, at least one."""
    readouts = [
        readout
        for readout in ("regression", "classification")
        if any(one.problem.readout == readout for one in series)
    ]

    def draw(figure: Figure) -> None:
        for i, readout in enumerate(readouts):
            axes = figure.add_axes((_LEFT + i / len(readouts), _BOTTOM, _room(readouts), _HEIGHT))
            shown = [one for one in series if one.problem.readout == readout]
            _frame(axes, series)
            axes.set_title(f"{readout}: {_note(readout)}")
            _draw_bounds(axes, shown)
            for one in shown:
                _draw_series(axes, one)
            label_ends(axes, [_label(one) for one in shown], _LABEL_GAP, 7.5)
            if i:
                axes.set_ylabel("")

    return draw


def _room(readouts: Sequence[str]) -> float:
    return _WIDTH if len(readouts) > 1 else 2 * _WIDTH


def _note(readout: str) -> str:
    return r"lines are $B_{\min}(L)$" if readout == "regression" else r"$B_{\min}$ is 0"


def _frame(axes: Axes, series: Sequence[Series]) -> None:
    """The same axes in every panel, around all norms and bounds."""
    lengths = [at.L for one in series for at in one.points]
    values = [norm for one in series for at in one.points for norm in (at.least, at.greatest)]
    bounds = [at.bound for one in series for at in one.points]
    values += [value for b in bounds if b.feasible and (value := float(b.enclosure(17))) > 0]
    log_frame(axes, (min(lengths) / 1.2, max(lengths) * 1.15), values)
    axes.set_xticks(sorted(set(lengths)), [str(L) for L in sorted(set(lengths))])
    axes.set_ylabel("largest norm of a trained vector")


def _draw_bounds(axes: Axes, shown: Sequence[Series]) -> None:
    last = max(at.L for one in shown for at in one.points)
    first = min(at.L for one in shown for at in one.points)
    for model in {dataclasses.replace(one.problem, L=1): one for one in shown}.values():
        bound = curve(model.problem, last)
        points = [(L, value) for L, value in zip(bound.lengths, bound.values, strict=True)]
        kept = [point for point in points if point[0] >= first]
        if kept:
            axes.plot(*zip(*kept, strict=True), color=look_of(model.problem)[0], zorder=2)


def _draw_series(axes: Axes, one: Series) -> None:
    colour, marker = look_of(one.problem)
    fill, dashes = _MODES[one.mode]
    for at in one.points:
        axes.plot([at.L, at.L], [at.least, at.greatest], color=colour, lw=0.8, zorder=3)
    lengths, middles = [at.L for at in one.points], [at.middle for at in one.points]
    axes.plot(lengths, middles, marker, color=colour, mfc=fill or colour, ms=4.5, mew=0.9, zorder=4)
    if one.line is not None and dashes != "-":
        fitted = [math.exp(one.line.intercept) * L**one.line.slope for L in lengths]
        axes.plot(lengths, fitted, color=colour, lw=0.8, ls=dashes, zorder=3)


def _label(one: Series) -> EndLabel:
    """The series and its slope, beside the theorem's exponent."""
    at = one.points[-1]
    slope = "one length" if one.line is None else f"slope {round(one.line.slope, 2) + 0.0:.2f}"
    if one.line is not None and one.law is not None and one.problem.readout == "regression":
        near = "" if one.b_min_line is None else f"$B_{{\\min}}$ {one.b_min_line.slope:.2f} "
        slope += f" ({near}$\\to$ {one.law.exponent})"
    elif one.line is not None and one.mode == "least":
        slope += " (the ball's radius)"
    elif one.line is not None:
        slope += r" ($B_{\min}$ is 0)"
    name = f"{placement_name(one.problem)}, {one.mode}"
    return EndLabel(at.L, at.middle, f"{name}\n{slope}", look_of(one.problem)[0] or GREY)

"""The figure of `bmin geometry`, in a file or on the terminal."""

from collections.abc import Sequence

from bmin.output import Format
from bmin.plots import draw_plot
from bmin.rate_plots import check_terminal
from bmin.terminal_plots import Trace, linear_plot
from bminlib.errors import DomainError
from bminlib.figure_geometry import SIZE, geometry_drawing, title_of
from bminlib.geometry import Geometry

_LONGEST = 10**12


def plot_geometry(found: Sequence[Geometry], target: str, style: Format) -> None:
    """Draw one placement; raises DomainError for several, or for one that is too long to draw."""
    check_terminal(target, style)
    if len(found) != 1:
        raise DomainError("--plot draws one placement; name --norm, and --affine for pre and post")
    (one,) = found
    if one.problem.L > _LONGEST or len(one.points) < 2:
        raise DomainError(f"--plot draws two counts or more, up to L = {_LONGEST}; name others")
    title = title_of(one)
    draw_plot(
        target,
        geometry_drawing(one, title),
        SIZE,
        lambda: _on_terminal(one, title.replace("$", "")),
    )


def _on_terminal(one: Geometry, title: str) -> str:
    counts = [at.c for at in one.points]
    if one.least_margin is not None:
        margins = [float(at.margin or 0) for at in one.points]
        return linear_plot(title, "c", [Trace(counts, margins, "margin of class c")])
    errors = [float(at.error or 0) for at in one.points]
    filled = [float(at.error_filled or 0) for at in one.points]
    traces = [
        Trace(counts, filled, "yhat - c at m = L - c"),
        Trace(counts, errors, "yhat - c at m = 0"),
    ]
    return linear_plot(title, "c", traces)

"""The figure of `bmin rates --data`, in a file or on the terminal."""

from collections.abc import Sequence
from pathlib import Path

from bmin.output import Format
from bmin.plots import draw_plot
from bmin.rate_plots import check_terminal
from bmin.terminal_plots import Trace, log_log_plot
from bminlib.figure_measured import measured_drawing, series_name
from bminlib.figure_rates import SIZE
from bminlib.measured import Series


def plot_measured(series: Sequence[Series], path: str, target: str, style: Format) -> None:
    """Draw measured norms over B_min."""
    check_terminal(target, style)
    name = Path(path).name
    draw_plot(
        target,
        measured_drawing(series, name),
        SIZE,
        lambda: log_log_plot(f"largest norm against L, {name}", "L", [_trace(s) for s in series]),
    )


def _trace(one: Series) -> Trace:
    return Trace([at.L for at in one.points], [at.middle for at in one.points], series_name(one))

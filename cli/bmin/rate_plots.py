"""The figure of `bmin rates`, in a file or on the terminal."""

from collections.abc import Sequence

from bmin.output import Format
from bmin.plots import TERMINAL, draw_plot
from bmin.terminal_plots import Trace, log_log_plot
from bminlib import CountingProblem
from bminlib.curves import Curve, curve, reach
from bminlib.errors import DomainError
from bminlib.figure_rates import SIZE, law_text, placement_name, rates_drawing


def plot_rates(problems: Sequence[CountingProblem], target: str, style: Format) -> None:
    """Draw B_min against L for each regression problem; raises DomainError for several d."""
    shown = [problem for problem in problems if problem.readout == "regression"]
    check_terminal(target, style)
    if len({problem.d for problem in shown}) != 1:
        raise DomainError(
            "--plot draws the regression read-out at one d (classification is 0 at every L); "
            "name one --d, and not --readout classification"
        )
    last = reach(shown)
    curves = [drawn for drawn in (curve(problem, last) for problem in shown) if drawn.lengths]
    if not curves:
        raise DomainError("--plot: no placement asked for counts beyond L = 1; raise d")
    title = f"d = {shown[0].d}, tau = {shown[0].score_scale.text}"
    draw_plot(
        target,
        rates_drawing(curves, f"regression read-out, {title}"),
        SIZE,
        lambda: log_log_plot(f"B_min against L, {title}", "L", [_trace(one) for one in curves]),
    )


def check_terminal(target: str, style: Format) -> None:
    """Raises DomainError where a plot on the terminal would break another format."""
    if target == TERMINAL and style != "table":
        raise DomainError(f"--plot - goes with --format table, not {style}; draw into a file")


def _trace(drawn: Curve) -> Trace:
    law = f"  ~ {law_text(drawn)}" if drawn.law else ""
    end = f", ends at {drawn.window.ends_at}" if drawn.window.ends_at else ""
    return Trace(drawn.lengths, drawn.values, f"{placement_name(drawn.problem)}{law}{end}")

"""The option `--plot [FILE]`: where a figure goes, and that it gets there."""

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from bminlib.errors import DomainError
from bminlib.figures import Drawing, Size, check_target, save

TERMINAL = "-"

PlotOption = Annotated[
    bool, typer.Option("--plot", help="Draw a figure too, into FILE, or on the terminal for -.")
]
PlotFileArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="FILE", help="Of --plot: a .svg, .pdf or .png file.", show_default=False
    ),
]


def plot_target(plot: bool, file: str | None, default: str) -> str | None:
    """The file to draw into, `-`, or None for no figure; raises DomainError for another name."""
    if not plot:
        if file is not None:
            raise DomainError(f"{file}: a file is named without --plot; add --plot before it")
        return None
    if file == TERMINAL:
        return file
    return str(check_target(file or default))


def draw_plot(
    target: str | None, drawing: Drawing, size: Size, on_terminal: Callable[[], str]
) -> None:
    """Write the figure to `target`, or its terminal version to standard output."""
    if target is None:
        return
    if target == TERMINAL:
        from bmin.output import write

        write(on_terminal())
        return
    save(drawing, size, target)
    sys.stderr.write(f"bmin: wrote {target}\n")

"""`bmin compare`: what a directory of trained runs says about the bound."""

from typing import Annotated

import typer

from bmin.grammar import one_number
from bmin.options import FormatOption


def command(
    directory: Annotated[
        str, typer.Argument(metavar="DIRECTORY", help="Runs of bmin train.")
    ] = "runs",
    seed: Annotated[str, typer.Option(metavar="N", help="Of the bootstrap.")] = "0",
    style: FormatOption = "table",
) -> int:
    """Compare trained runs with B_min: slopes over seeds, ratios, which vectors carry the norm.

    And where the trained counts lie beside the optimum. Exit code 1: no run counts.
    """
    from bmin.compare_rows import show_comparison

    return show_comparison(directory, one_number(seed, "--seed", "0"), style)

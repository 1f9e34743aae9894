"""`bmin rates`: how fast B_min grows, and how fast measured norms do."""

from typing import Annotated

import typer

from bmin.grammar import one_number, whole_numbers
from bmin.options import (
    AffineOption,
    AttentionOption,
    FormatOption,
    NormalizerOption,
    NormOption,
    TauOption,
    WeightsOption,
)
from bmin.placements import placements
from bmin.plots import PlotFileArgument, PlotOption, plot_target
from bmin.progress import tracked
from bmin.readouts import both_readouts
from bminlib.problem import Readout

_DEFAULT_D = "64"


def command(
    file: PlotFileArgument = None,
    plot: PlotOption = False,
    norm: NormOption = None,
    affine: AffineOption = None,
    normalizer: NormalizerOption = None,
    attention: AttentionOption = None,
    readout: Annotated[Readout | None, typer.Option(help="How the count is read (both).")] = None,
    weights: WeightsOption = "free",
    d: Annotated[
        str | None,
        typer.Option("--d", metavar="DIMENSIONS", help="Model dimension, or a list (64)."),
    ] = None,
    tau: TauOption = "scaled",
    slopes: Annotated[
        bool, typer.Option("--slopes", help="The local slopes too, in table and markdown.")
    ] = False,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="CSV", help="Measured norms: columns L, largest_norm; seed; the model."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Of the bootstrap.")] = 0,
    style: FormatOption = "table",
) -> int:
    """Print B_min ~ C L^p for every placement, fitted to exact values and beside its theorem.

    With --data, fit measured norms instead, and compare them with B_min at each L. What the file
    leaves open about the model, the options say.
    """
    target = plot_target(plot, file, "rates.svg")
    fields = {"normalizer": normalizer, "weights": weights, "tau": tau}
    if data is not None:
        from bmin.measured_rows import show_measured

        chosen = {"attention": attention, "norm": norm, "affine": affine, "readout": readout}
        dimension = None if d is None else one_number(d, "--d", "64")
        return show_measured(data, {**fields, **chosen, "d": dimension}, seed, style, target)
    where = placements(attention, norm, affine)
    dimensions = whole_numbers(d or _DEFAULT_D, "--d")
    found = list(both_readouts(where, dimensions, readout, fields))
    from bmin.rate_plots import plot_rates
    from bmin.rate_rows import show_rates
    from bminlib.rates import rate

    if target is not None:
        plot_rates(found, target, style)
    return show_rates([rate(problem) for problem in tracked(found)], style, slopes)

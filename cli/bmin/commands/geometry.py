"""`bmin geometry`: where the counts lie, and how the read-out sees them."""

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from bmin.grammar import one_number, whole_numbers
from bmin.options import (
    AffineOption,
    AttentionOption,
    DimensionOption,
    FormatOption,
    LengthOption,
    NormalizerOption,
    NormOption,
    ReadoutOption,
    TauOption,
)
from bmin.placements import Placement, placements, problems
from bmin.plots import PlotFileArgument, PlotOption, plot_target
from bminlib.errors import DomainError

if TYPE_CHECKING:
    from bminlib.geometry import Geometry


def command(
    file: PlotFileArgument = None,
    plot: PlotOption = False,
    length: LengthOption = None,
    norm: NormOption = None,
    affine: AffineOption = None,
    normalizer: NormalizerOption = None,
    attention: AttentionOption = None,
    readout: ReadoutOption = "regression",
    d: DimensionOption = "64",
    tau: TauOption = "scaled",
    counts: Annotated[
        str | None, typer.Option(metavar="COUNTS", help="Which counts to list: 0:8 or 0,16,48,64.")
    ] = None,
    weights: Annotated[
        str | None, typer.Option(metavar="FILE", help="Weights to look at, instead of the optimum.")
    ] = None,
    style: FormatOption = "table",
) -> int:
    """Print where the counts lie in the representation, and the error of the read-out at each.

    At the optimum of one placement, or of all side by side; with --weights for a file.
    """
    from bmin.geometry_rows import show_geometries

    target = plot_target(plot, file, "geometry.svg")
    listed = None if counts is None else whole_numbers(counts, "--counts")
    if weights is not None:
        _refuse_both(length, norm, affine, attention, normalizer)
        found = [_of_file(weights, listed)]
    else:
        where, L = placements(attention, norm, affine), one_number(length, "--L", "64")
        fields = {"normalizer": normalizer, "readout": readout, "tau": tau}
        found = _at_optimum(where, one_number(d, "--d", "64"), L, fields, listed)
    if target is not None:
        from bmin.geometry_plots import plot_geometry

        plot_geometry(found, target, style)
    return show_geometries(found, style)


def _at_optimum(
    where: list[Placement],
    d: int,
    length: int,
    fields: Mapping[str, object],
    counts: list[int] | None,
) -> "list[Geometry]":
    """A geometry a placement; one that has none is left out with a word where others have."""
    from bminlib.geometry import geometry

    found, errors = [], []
    for problem in problems(where, [d], [length], **fields):
        try:
            found.append(geometry(problem, counts))
        except DomainError as error:
            errors.append(error)
    if not found:
        raise errors[0]
    sys.stderr.write("".join(f"bmin: a row is left out: {error}\n" for error in errors))
    return found


def _of_file(path: str, counts: list[int] | None) -> "Geometry":
    from bminlib.files import load_weights
    from bminlib.geometry import geometry_of

    return geometry_of(load_weights(path), counts)


def _refuse_both(*options: object) -> None:
    if any(option is not None for option in options):
        raise DomainError(
            "--weights: the file says which placement it is for; leave --L, --norm, "
            "--affine, --attention and --normalizer out"
        )

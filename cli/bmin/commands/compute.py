"""`bmin compute`: B_min of one problem or many."""

from typing import Annotated, Literal

import typer

from bmin.bound_rows import show_bounds
from bmin.grammar import digit_count, whole_numbers
from bmin.options import (
    AffineOption,
    AttentionOption,
    DigitsOption,
    DimensionsOption,
    ExactOption,
    FormatOption,
    LengthsOption,
    NormalizerOption,
    NormOption,
    ReadoutOption,
    TauOption,
    WeightsOption,
)
from bmin.placements import placements, problems
from bmin.progress import tracked
from bminlib.errors import DomainError


def command(
    lengths: LengthsOption = None,
    norm: NormOption = None,
    affine: AffineOption = None,
    normalizer: NormalizerOption = None,
    attention: AttentionOption = None,
    readout: ReadoutOption = "regression",
    weights: WeightsOption = "free",
    d: DimensionsOption = "64",
    tau: TauOption = "scaled",
    exact: ExactOption = False,
    digits: DigitsOption = "15",
    style: FormatOption = "table",
    method: Annotated[
        Literal["closed", "solve"],
        typer.Option(help="The closed forms, or beside them a root-finding solver's own values."),
    ] = "closed",
) -> int:
    """Print B_min(L), the least norm bound at which some weights count to L.

    What is left out is compared: without --affine bare and learned, without --norm and
    --attention every placement. With --method solve each value is found a second time, from the
    forward pass alone. Exit code 0: answered; 1: no row is feasible, or the two methods disagree;
    2: bad usage.
    """
    if lengths is None:
        raise DomainError("--L is missing: say how far to count, for example --L 1024")
    found = problems(
        placements(attention, norm, affine),
        whole_numbers(d, "--d"),
        whole_numbers(lengths, "--L"),
        normalizer=normalizer,
        readout=readout,
        weights=weights,
        tau=tau,
        exactness="exact" if exact else "rounded",
    )
    return show_bounds(tracked(found), digit_count(digits), style, solving=method == "solve")

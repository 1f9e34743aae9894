"""The options that commands share."""

from typing import Annotated, Literal

import typer

from bmin.output import Format
from bminlib.problem import Affine, Attention, Norm, Normalizer, Readout, Weights

LengthsOption = Annotated[
    str | None,
    typer.Option("--L", metavar="LENGTHS", help="1024 or 8,16,32 or 2:64 or 16:4096:x2 or 10^9."),
]
NormOption = Annotated[Norm | None, typer.Option(help="Placement of the normaliser (all).")]
AffineOption = Annotated[Affine | None, typer.Option(help="Without or with a gain (both).")]
NormalizerOption = Annotated[Normalizer | None, typer.Option(help="LayerNorm or RMSNorm (layer).")]
AttentionOption = Annotated[
    Attention | None, typer.Option(help="Softmax, or linear (both where --norm is left out).")
]
ReadoutOption = Annotated[Readout, typer.Option(help="How the count is read.")]
WeightsOption = Annotated[Weights, typer.Option(help="Separate vectors; tied is not there yet.")]
DimensionsOption = Annotated[
    str, typer.Option("--d", metavar="DIMENSIONS", help="Model dimension, or a list as for --L.")
]
TauOption = Annotated[
    str,
    typer.Option(metavar="TAU", help="Score factor: scaled (1/sqrt(d)), unscaled (1), 0.1, 1/3."),
]
ExactOption = Annotated[bool, typer.Option("--exact", help="Count without rounding: yhat = c.")]
DigitsOption = Annotated[
    str, typer.Option(metavar="N", help="Significant digits, each of them right.")
]
FormatOption = Annotated[Format, typer.Option("--format", help="How the rows are written.")]
LengthOption = Annotated[
    str | None, typer.Option("--L", metavar="LENGTH", help="How far to count: 64, or 10^6.")
]
DimensionOption = Annotated[str, typer.Option("--d", metavar="N", help="Model dimension.")]
FileArgument = Annotated[str, typer.Argument(metavar="FILE", help=".json, .npz or .safetensors.")]
ReportOption = Annotated[
    Literal["table", "json"], typer.Option("--format", help="How the report is written.")
]

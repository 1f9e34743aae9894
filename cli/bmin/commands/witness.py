"""`bmin witness`: explicit weights that count, proved before they are written."""

from typing import Annotated

import typer

from bmin.grammar import one_number, rational
from bmin.options import (
    AffineOption,
    AttentionOption,
    DimensionOption,
    ExactOption,
    LengthOption,
    NormalizerOption,
    NormOption,
    ReadoutOption,
    ReportOption,
    TauOption,
    WeightsOption,
)
from bmin.verdicts import write_witness
from bminlib import CountingProblem
from bminlib.errors import DomainError


def command(
    length: LengthOption = None,
    norm: NormOption = None,
    affine: AffineOption = None,
    normalizer: NormalizerOption = None,
    attention: AttentionOption = None,
    readout: ReadoutOption = "regression",
    weights: WeightsOption = "free",
    d: DimensionOption = "64",
    tau: TauOption = "scaled",
    exact: ExactOption = False,
    slack: Annotated[str, typer.Option(help="Norms stay within (1 + slack) B_min.")] = "1e-6",
    bound: Annotated[str, typer.Option(help="Largest norm, for classification.")] = "1",
    ln_eps: Annotated[str, typer.Option(help="eps of the normaliser, as PyTorch's 1e-5.")] = "0",
    out: Annotated[
        str | None, typer.Option(help="Write the weights here (.json, .npz, .safetensors).")
    ] = None,
    style: ReportOption = "table",
) -> int:
    """Make weights that count to L with norms next to B_min, prove them, and write them to --out.

    Without --out the weights go to standard output as JSON. Exit code 1: not proved, nothing
    written.
    """
    if norm is None:
        raise DomainError(
            "--norm is missing: weights are for one placement; take none, pre or post"
        )
    if style == "json" and out is None:
        raise DomainError(
            "--format json: the report goes beside a file of weights, and --out is missing; name a "
            "file with --out, or leave --format out to get the weights"
        )
    problem = CountingProblem(
        L=one_number(length, "--L", "64"),
        attention=attention or "softmax",
        norm=norm,
        affine=affine,
        normalizer=normalizer,
        readout=readout,
        weights=weights,
        d=one_number(d, "--d", "64"),
        tau=tau,
        exactness="exact" if exact else "rounded",
    )
    options = {
        "slack": rational(slack, "--slack"),
        "norm": rational(bound, "--bound"),
        "ln_eps": rational(ln_eps, "--ln-eps"),
    }
    return write_witness(problem, options, out, style)

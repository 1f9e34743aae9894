"""`bmin certify`: a file that proves lower <= B_min <= upper to anyone."""

from typing import Annotated

import typer

from bmin.certificate_rows import write_certificate
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
from bminlib import CountingProblem
from bminlib.certify import Argument
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
    gap: Annotated[str, typer.Option(help="upper/lower - 1 stays within it.")] = "1e-9",
    by: Annotated[
        Argument, typer.Option(help="Lower bound: the theorem's inequalities, or a search's own.")
    ] = "theorem",
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the certificate here.")
    ] = None,
    style: ReportOption = "table",
) -> int:
    """Write a certificate of B_min, checked first by the checker that `bmin verify FILE` runs.

    upper comes with explicit weights that count; lower with multipliers that rule out all smaller
    norms. Where nothing counts the certificate proves that. Without --out it goes to standard
    output. Exit code 1: no proof found, nothing written.
    """
    if norm is None:
        raise DomainError(
            "--norm is missing: a certificate is for one placement; take none, pre or post"
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
    return write_certificate(problem, rational(gap, "--gap"), by, out, style)

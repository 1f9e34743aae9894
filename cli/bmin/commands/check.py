"""`bmin check`: every theorem step by step, or a formula of the user's own."""

from typing import Annotated

import typer

from bmin.grammar import one_number, whole_numbers
from bmin.options import (
    AffineOption,
    AttentionOption,
    DimensionsOption,
    ExactOption,
    FormatOption,
    LengthsOption,
    NormalizerOption,
    NormOption,
    TauOption,
)
from bmin.placements import placements, problems
from bminlib.errors import DomainError


def command(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]...", help="Theorems; all if left out.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Steps, and one instance a part: under 10 s.")
    ] = False,
    certificates: Annotated[
        bool, typer.Option("--certificates", help="Certify B_min by search as well.")
    ] = False,
    jobs: Annotated[str, typer.Option(metavar="N", help="Processes that share the work.")] = "2",
    formula: Annotated[
        str | None, typer.Option(help="A claim about B_min in L, d and tau, put to the test.")
    ] = None,
    kind: Annotated[
        str, typer.Option("--as", help="What it claims: lower, upper, equal or asymptotic.")
    ] = "equal",
    lengths: LengthsOption = None,
    norm: NormOption = None,
    affine: AffineOption = None,
    normalizer: NormalizerOption = None,
    attention: AttentionOption = None,
    d: DimensionsOption = "64",
    tau: TauOption = "scaled",
    exact: ExactOption = False,
    style: FormatOption = "table",
) -> int:
    """Check theorems: symbolic steps, instances by other routes, mutants, proved weights.

    A named theorem brings along those that it uses. --certificates proves B_min at its instances
    once more, without any theorem. With --formula a claim of your own is decided exactly at every
    length of --L, and proved for all L where that can be done. Exit code 0: all is proved; 1: not.
    """
    if formula is None:
        from bmin.check_rows import show_checks

        return show_checks(ids or [], quick, certificates, one_number(jobs, "--jobs", "2"), style)
    from bmin.claim_rows import show_claims

    if ids or certificates:
        beside = repr(ids[0]) if ids else "--certificates"
        raise DomainError(f"{beside} beside --formula: check theorems or a formula; leave one out")
    if kind not in ("lower", "upper", "equal", "asymptotic"):
        raise DomainError(
            f"--as {kind!r}: must be one of lower, upper, equal, asymptotic; pick one of these"
        )
    if lengths is None:
        raise DomainError("--L is missing: say at which lengths, for example --L 4:4096")
    found = problems(
        placements(attention, norm, affine),
        whole_numbers(d, "--d"),
        [1],
        normalizer=normalizer,
        tau=tau,
        exactness="exact" if exact else "rounded",
    )
    return show_claims(formula, kind, list(found), whole_numbers(lengths, "--L"), style)  # type: ignore[arg-type]

"""`bmin count`: runs weights on a real sequence of tokens."""

from typing import Annotated

import typer

from bmin.options import ReportOption
from bmin.sequences import count_sequences
from bminlib.errors import DomainError


def command(
    tokens: Annotated[
        list[str] | None, typer.Argument(metavar="[TOKEN]...", help="Standard input if left out.")
    ] = None,
    weights: Annotated[
        str | None, typer.Option(metavar="FILE", help=".json, .npz or .safetensors.")
    ] = None,
    target: Annotated[str, typer.Option(help="What a target is written as.")] = "1",
    filler: Annotated[str, typer.Option(help="What a filler is written as.")] = "0",
    style: ReportOption = "table",
) -> int:
    """Run the weights on a sequence of tokens, and print the count they give.

    Tokens are separated by spaces, or run together where each is one character. Standard input
    holds one sequence a line.
    """
    if weights is None:
        raise DomainError("--weights is missing: name a file, for example --weights w.json")
    if target == filler or not target or not filler:
        raise DomainError(
            f"--target {target!r} --filler {filler!r}: must be two different words; rename one"
        )
    return count_sequences(weights, tokens, {target: 1, filler: 0}, style)

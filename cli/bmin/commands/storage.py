"""`bmin storage`: how many numbers, and how many bits, counting takes."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

import typer

from bmin.grammar import rational, whole_numbers
from bmin.options import (
    AffineOption,
    AttentionOption,
    DimensionsOption,
    FormatOption,
    LengthsOption,
    NormalizerOption,
    NormOption,
    TauOption,
)
from bmin.placements import placements
from bmin.progress import bar
from bmin.readouts import both_readouts
from bminlib import CountingProblem
from bminlib.errors import DomainError
from bminlib.problem import Readout

if TYPE_CHECKING:
    from bmin.storage_rows import Row


def command(
    lengths: LengthsOption = None,
    norm: NormOption = None,
    affine: AffineOption = None,
    normalizer: NormalizerOption = None,
    attention: AttentionOption = None,
    readout: Annotated[Readout | None, typer.Option(help="How the count is read (both).")] = None,
    d: DimensionsOption = "64",
    tau: TauOption = "scaled",
    slack: Annotated[str, typer.Option(help="Norms stay within (1 + slack) B_min.")] = "1",
    style: FormatOption = "table",
) -> int:
    """Print what each read-out stores: numbers, and the least bits at which weights still count.

    Fraction bits b: the weights rounded to multiples of 2^-b (and 2^-(b+1), 2^-(b+2)) are proved
    to count. float32, float16 and bfloat16: up to which L, of those asked for, they do.
    """
    from bmin.storage_rows import show_storage

    if lengths is None:
        raise DomainError("--L is missing: say how far to count, for example --L 16,256")
    listed, room = whole_numbers(lengths, "--L"), rational(slack, "--slack")
    where, dimensions = placements(attention, norm, affine), whole_numbers(d, "--d")
    fields = {"normalizer": normalizer, "tau": tau}
    problems = list(both_readouts(where, dimensions, readout, fields))
    with bar("storage") as progress:
        rows = [row for rows in _grouped(problems, listed, room, progress) for row in rows]
    return show_storage(rows, room, style)


def _grouped(
    problems: list[CountingProblem],
    lengths: list[int],
    slack: Fraction,
    progress: Callable[[int, int], None] | None,
) -> "Iterator[list[Row]]":
    """The rows of each placement and read-out."""
    for done, problem in enumerate(problems):
        if progress:
            progress(done, len(problems))
        yield _rows(problem, lengths, slack)


def _rows(problem: CountingProblem, lengths: list[int], slack: Fraction) -> "list[Row]":
    from dataclasses import replace

    from bmin.storage_rows import Row
    from bminlib.storage import format_reaches, longest_length, storage

    longest = min(lengths[-1], longest_length(problem))
    reach = format_reaches(problem, longest, slack)
    return [Row(storage(replace(problem, L=L), slack), reach, longest) for L in lengths]

"""`bmin verify`: proves or refutes that the weights in a file count."""

from typing import Annotated

import typer

from bmin.grammar import one_number
from bmin.options import FileArgument, ReportOption
from bmin.verdicts import verify_file


def command(
    file: FileArgument,
    length: Annotated[
        str | None, typer.Option("--L", metavar="LENGTH", help="How far to count (the file's L).")
    ] = None,
    style: ReportOption = "table",
) -> int:
    """Prove or refute that the weights in FILE count every (c, m) with c + m <= L after rounding.

    Exit code 0: proved; 1: refuted or undecided; 2: not a file of weights.
    """
    return verify_file(file, None if length is None else one_number(length, "--L", "64"), style)

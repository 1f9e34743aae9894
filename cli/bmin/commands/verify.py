"""`bmin verify`: proves or refutes that weights in a file count, or proves a certificate again."""

from typing import Annotated

import typer

from bmin.certificate_rows import read_certificate, verify_certificate
from bmin.grammar import one_number
from bmin.options import FileArgument, ReportOption
from bmin.verdicts import verify_file
from bminlib.errors import DomainError


def command(
    file: FileArgument,
    length: Annotated[
        str | None, typer.Option("--L", metavar="LENGTH", help="How far to count (the file's L).")
    ] = None,
    style: ReportOption = "table",
) -> int:
    """Prove or refute that the weights in FILE count every (c, m) with c + m <= L after rounding.

    A certificate of `bmin certify`, told by its kind, is proved again from the file alone. Exit
    code 0: proved; 1: refuted, undecided or not proved; 2: neither weights nor a certificate.
    """
    certificate = read_certificate(file)
    if certificate is None:
        return verify_file(file, None if length is None else one_number(length, "--L", "64"), style)
    if length is not None:
        raise DomainError(
            f"--L {length!r}: {file} is a certificate, which holds for its own L; leave --L out"
        )
    return verify_certificate(certificate, style)

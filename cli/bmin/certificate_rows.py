"""What `bmin certify` and `bmin verify` print of a certificate."""

from __future__ import annotations

import time
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bmin import output
from bmin.bound_rows import placement_text
from bminlib import CountingProblem
from bminlib.certify import Argument, certificate_text, certify, is_certificate, save_certificate
from bminlib.errors import DomainError
from bminlib.whole_files import read_regular

if TYPE_CHECKING:
    from bminlib.checker import Statement


def write_certificate(
    problem: CountingProblem, gap: Fraction, by: Argument, out: str | None, style: str
) -> int:
    """Make, check and write a certificate; UndecidedError, and nothing written, without a proof."""
    from bminlib.checker import Statement

    start = time.perf_counter()
    record = certify(problem, gap, by)
    text = certificate_text(record)
    if out is None:
        output.write(text)
        return 0
    save_certificate(record, out)
    found = Statement(record["problem"], record["lower"], record["upper"], by)
    _report(_record(found, len(text), start) | {"file": out}, style)
    return 0


def read_certificate(path: str) -> bytes | None:
    """The content of a file that names itself a certificate, cut off beyond what one may have.

    None for any other file. Raises DomainError for what can't be read or is no regular file.
    """
    from bminlib.checker import MAX_BYTES

    try:
        data = read_regular(Path(path), MAX_BYTES + 1, "name a file of weights or a certificate")
    except OSError as error:
        cause = (error.strerror or str(error)).lower()
        raise DomainError(f"{path}: can't be read, {cause}; name another") from error
    return data if is_certificate(data) else None


def verify_certificate(data: bytes, style: str) -> int:
    """Check the content of a certificate: 0 if it proves its statement, 1 if not."""
    from bminlib.checker import NotProvedError, check

    start = time.perf_counter()
    try:
        record = _record(check(data), len(data), start)
    except NotProvedError as error:
        record = {"verdict": "not proved", "reason": str(error).removeprefix("not proved: ")}
    _report(record, style)
    return 0 if record["verdict"] == "proved" else 1


def _record(found: Statement, size: int, start: float) -> dict[str, Any]:
    return found.problem | {
        "verdict": "proved",
        "by": found.by,
        "lower": found.lower,
        "upper": found.upper,
        "bytes": size,
        "seconds": round(time.perf_counter() - start, 3),
        "reason": None,
    }


def _report(record: dict[str, Any], style: str) -> None:
    if style == "json":
        output.write(output.json_text([record]))
    else:
        output.write("\n".join(_lines(record)))


def _lines(record: dict[str, Any]) -> list[str]:
    if record["verdict"] != "proved":
        return [f"not proved: {record['reason']}"]
    fields = {
        name: record[name]
        for name in ("attention", "norm", "affine", "normalizer", "readout", "exactness", "d")
    }
    problem = CountingProblem(L=int(record["L"]), tau=record["tau"], **fields)
    shape = f"L = {record['L']}, d = {record['d']}, tau = {record['tau']}"
    counts = "exactly" if record["exactness"] == "exact" else "after rounding"
    lines = [
        f"{placement_text(problem)}, {record['readout']}, {counts}, {shape}",
        f"proved: {_finding(record)}",
        f"lower by   {record['by']}",
    ]
    if record["upper"] is not None:
        lines.append("upper by   explicit weights in the certificate")
    lines += [f"bytes      {record['bytes']}", f"seconds    {record['seconds']}"]
    return [*lines, f"written to {record['file']}"] if "file" in record else lines


def _finding(record: dict[str, Any]) -> str:
    if record["lower"] is None:
        return "no parameters count, whatever their norms"
    return f"{record['lower']} <= B_min <= {record['upper']}"

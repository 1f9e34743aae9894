"""Measured norms from a CSV file: every line becomes a run, or is reported with its reason."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from bminlib.errors import DomainError, shown
from bminlib.problem import CountingProblem

MAX_BYTES = 1 << 26
_NEEDED = ("L", "largest_norm")
_UNITS = ("seed", "group")
_TEXT_FIELDS = (
    "attention", "norm", "affine", "normalizer", "weights", "readout", "exactness", "tau",
)  # fmt: skip
_FIELDS = (*_TEXT_FIELDS, "d")
_USED = (*_NEEDED, *_UNITS, *_FIELDS, "mode", "counts")
_DECIMAL = re.compile(r"\+?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
_LEAST_NORM, _GREATEST_NORM = Decimal("1e-300"), Decimal("1e300")
_TRUE, _FALSE = ("true", "1", "yes"), ("false", "0", "no")


@dataclass(frozen=True, slots=True)
class Run:
    """One measured line: the problem that it was trained on, and its largest norm as written.

    unit: the seed or group, which a bootstrap draws whole; None without such a column. mode: how
    it was trained, empty without such a column. rounding: half a unit in the norm's last place.
    """

    line: int
    problem: CountingProblem
    norm: Fraction
    rounding: Fraction
    unit: str | None
    mode: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A line that no fit uses, and why."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Runs:
    """The contents of a file: runs, the lines left out, and the columns that play no part."""

    runs: tuple[Run, ...]
    left_out: tuple[LeftOut, ...]
    unused_columns: tuple[str, ...]


def read_runs(path: str | os.PathLike[str], given: Mapping[str, Any]) -> Runs:
    """The runs in a CSV file with the columns L and largest_norm.

    Optional columns: seed or group; mode; counts (a run that does not count is left out); and the
    fields of CountingProblem, for which `given` stands in where a column or a cell is missing.
    Raises DomainError for a file that can't be read, lacks a needed column, has no usable line, or
    leaves open which model was measured.
    """
    source = Path(path)
    rows = _rows(source)
    head = [name.strip() for name in next(rows, (1, []))[1]]
    _check_head(source, head, given)
    runs: list[Run] = []
    left_out: list[LeftOut] = []
    for line, cells in rows:
        try:
            runs.append(_run(line, head, cells, given))
        except DomainError as error:
            left_out.append(LeftOut(line, str(error)))
    if not runs:
        raise DomainError(_nothing_usable(source, left_out))
    unused = tuple(name for name in head if name not in _USED)
    return Runs(tuple(runs), tuple(left_out), unused)


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """(number of its first line, cells) of each row."""
    reader = csv.reader(io.StringIO(_text(path), newline=""), strict=True)
    line = 1
    try:
        for cells in reader:
            yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise DomainError(f"{path}: line {line} is no CSV ({error}); correct it") from error


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        cause = (error.strerror or str(error)).lower()
        raise DomainError(f"{path}: can't be read, {cause}; name another file") from error
    if len(data) > MAX_BYTES:
        raise DomainError(f"{path}: is over {MAX_BYTES >> 20} MiB, the most allowed; split it")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DomainError(f"{path}: is no UTF-8 text; save it as CSV in UTF-8") from error


def _check_head(path: Path, head: list[str], given: Mapping[str, Any]) -> None:
    missing = [name for name in _NEEDED if name not in head]
    if missing:
        raise DomainError(
            f"{path}: has no column {' and no column '.join(missing)} among {shown(head)}; "
            "name them so in the first line"
        )
    twice = sorted({name for name in head if head.count(name) > 1})
    if twice:
        raise DomainError(f"{path}: the column {shown(twice[0])} occurs twice; keep one of them")
    if all(unit in head for unit in _UNITS):
        raise DomainError(f"{path}: has both seed and group; keep the one to resample by")
    for name in ("norm", "d"):
        if name not in head and given.get(name) is None:
            raise DomainError(
                f"{path}: has no column {name} and no --{name} is given; "
                "say which model was measured"
            )


def _run(line: int, head: list[str], cells: list[str], given: Mapping[str, Any]) -> Run:
    if not cells:
        raise DomainError("is empty")
    if len(cells) != len(head):
        raise DomainError(f"has {len(cells)} cells where the first line has {len(head)}")
    row = {name: cell.strip() for name, cell in zip(head, cells, strict=True)}
    if _counted(row) is False:
        raise DomainError("counts is false: the weights do not count, so their norm bounds nothing")
    norm, rounding = _norm(row["largest_norm"])
    unit = next((row[name] for name in _UNITS if name in row), None)
    return Run(line, _problem(row, given), norm, rounding, unit, row.get("mode", ""))


def _counted(row: Mapping[str, str]) -> bool | None:
    cell = row.get("counts", "").lower()
    if cell and cell not in _TRUE + _FALSE:
        raise DomainError(f"counts={shown(cell)}: must be true or false")
    return cell in _TRUE if cell else None


def _norm(text: str) -> tuple[Fraction, Fraction]:
    """The norm, and half a unit in its last place."""
    if not text:
        raise DomainError("largest_norm is missing")
    number = Decimal(text) if _DECIMAL.fullmatch(text) else Decimal(0)
    if not _LEAST_NORM < number < _GREATEST_NORM:
        raise DomainError(f"largest_norm={shown(text)}: must be a number > 0, and below 10^300")
    last_place = Fraction(10) ** int(number.as_tuple().exponent)
    return Fraction(number), last_place / 2


def _problem(row: Mapping[str, str], given: Mapping[str, Any]) -> CountingProblem:
    stated = {name: row.get(name) or given.get(name) for name in _FIELDS}
    fields: dict[str, Any] = {name: value for name, value in stated.items() if value}
    if fields.get("norm") == "none":
        kept = {name: row.get(name) or None for name in ("affine", "normalizer")}
        fields |= kept  # an option about normalisers is for the other lines
    elif "affine" not in fields:
        raise DomainError(
            "affine is missing: it must be bare or learned; fill it in or give --affine"
        )
    if isinstance(fields.get("d"), str):
        fields["d"] = _whole("d", fields["d"])
    return CountingProblem(L=_whole("L", row["L"]), **fields)


def _whole(name: str, text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,15}", text):
        raise DomainError(f"{name}={shown(text)}: must be an integer from 1 to 10^15 - 1")
    return int(text)


def _nothing_usable(path: Path, left_out: list[LeftOut]) -> str:
    if not left_out:
        return f"{path}: has no line below its head; add measured runs"
    first = left_out[0]
    return (
        f"{path}: none of its {len(left_out)} lines can be used, "
        f"line {first.line}: {first.reason}; correct them"
    )

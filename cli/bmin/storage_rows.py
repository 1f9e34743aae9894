"""The rows of `bmin storage`: numbers and bits that each read-out stores."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bmin import output
from bmin.bound_rows import placement_text, size_text
from bmin.output import Format, Sheet
from bmin.records import problem_record
from bminlib.decimals import integer_text
from bminlib.extrapolation import Estimate
from bminlib.rounding import FORMATS
from bminlib.storage import Storage

_NAMES = tuple(kind.name for kind in FORMATS)
_HEADS = (
    "placement", "read-out", "d", "L", "numbers", "fraction bits", "integer bits", "total bits",
    "largest norm", *(f"{name} to L" for name in _NAMES), "note",
)  # fmt: skip
_RIGHT = frozenset(_HEADS[2:-1])
_LATEX_HEADS = (
    "placement", "read-out", "$L$", "numbers", "fraction bits", "integer bits", "total bits",
    "largest norm", *_NAMES,
)  # fmt: skip
_DIGITS = 6
_RELATIONS = {">=": r"\ge", "<": "<"}


@dataclass(frozen=True, slots=True)
class Row:
    """One length, with the lengths up to which formats count, of at most `longest`."""

    storage: Storage
    reach: dict[str, int]
    longest: int


def show_storage(rows: Sequence[Row], slack: Fraction, style: Format) -> int:
    """Print a row a length and read-out; 1 where no weights count in any of them."""
    if style in ("json", "csv"):
        records = [storage_record(row, slack) for row in rows]
        text = output.json_text(records) if style == "json" else output.csv_text(records)
        output.write(text)
    elif style == "latex":
        cells = [_latex_cells(row) for row in rows]
        output.write(output.latex_text(_LATEX_HEADS, cells, "llrrrrrl" + "r" * len(_NAMES)))
    else:
        title = f"Numbers and bits stored, norms up to {1 + slack} B_min, classification up to 1"
        cells = [_cells(row) for row in rows]
        output.write_sheet(Sheet(title, _HEADS, cells, _RIGHT, "note"), style)
    return 0 if any(row.storage.fraction_bits is not None for row in rows) else 1


def storage_record(row: Row, slack: Fraction) -> dict[str, Any]:
    """A row under the names of docs/output.md."""
    found = row.storage
    norm = found.largest_norm
    return {
        **problem_record(found.problem),
        "slack": str(slack),
        "stored_numbers": integer_text(found.numbers),
        "fraction_bits": found.fraction_bits,
        "integer_bits": found.integer_bits,
        "total_bits": None if found.total_bits is None else integer_text(found.total_bits),
        "largest_norm": None if norm is None else Estimate(norm).texts(15)[0],
        **{name: found.formats.get(name) for name in _NAMES},
        **{f"{name}_up_to": str(row.reach[name]) for name in _NAMES},
        "looked_up_to": str(row.longest),
        "reason": found.reason,
    }


def _cells(row: Row) -> list[str]:
    found = row.storage
    norm = found.largest_norm
    return [
        placement_text(found.problem),
        found.problem.readout,
        size_text(found.problem.d),
        size_text(found.problem.L),
        integer_text(found.numbers),
        _whole(found.fraction_bits),
        _whole(found.integer_bits),
        _whole(found.total_bits),
        "-" if norm is None else Estimate(norm).texts(_DIGITS)[0],
        *(_reach(row, name) for name in _NAMES),
        found.reason or "",
    ]


def _latex_cells(row: Row) -> list[str]:
    place, readout, _, *numbers, _ = _cells(row)
    return [place, readout, *map(_latex_number, numbers)]


def _latex_number(text: str) -> str:
    if text == "-":
        return "--"
    relation, _, number = text.rpartition(" ")
    written = output.latex_number(number)
    return written.replace("$", rf"${_RELATIONS[relation]} ", 1) if relation else written


def _whole(number: int | None) -> str:
    return "-" if number is None else integer_text(number)


def _reach(row: Row, name: str) -> str:
    """The length up to which a format counts; `>=` where the search ended without a failure."""
    reach = row.reach[name]
    if reach < 2:
        return "< 2"
    return f">= {reach}" if reach == row.longest else str(reach)

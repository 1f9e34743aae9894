"""Tables, JSON, CSV, markdown and LaTeX from the same rows.

A pipe gets plain ASCII without colour or wrapping; only a terminal gets a rich table.
"""

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple

from bminlib.decimals import integer_text

_LONG = 10**4000  # json, as str, refuses integers of over 4300 digits
Format = Literal["table", "json", "csv", "markdown", "latex"]


class Sheet(NamedTuple):
    """What a person reads: a title, column heads and text cells.

    right: heads of right-aligned columns. folds: the head of the one column that a narrow terminal
    may wrap. spare: the head of the column that it leaves out first.
    """

    title: str
    heads: Sequence[str]
    cells: Sequence[Sequence[str]]
    right: frozenset[str] = frozenset()
    folds: str | None = None
    spare: str | None = None

    def widths(self) -> list[int]:
        """The width of each column's widest cell."""
        return [max(map(len, column)) for column in zip(self.heads, *self.cells, strict=True)]

    def without(self, head: str) -> "Sheet":
        """The sheet with one column left out."""
        i = self.heads.index(head)
        heads, *cells = ([*row[:i], *row[i + 1 :]] for row in (self.heads, *self.cells))
        return self._replace(heads=heads, cells=cells)


def write(text: str) -> None:
    """Send finished ASCII text to standard output; a reader who has seen enough is no error.

    Raises OSError where standard output is closed or takes no more.
    """
    if sys.stdout is None:
        raise OSError("standard output is closed; give it a file or a pipe")
    try:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing more at exit
        if not isinstance(error, BrokenPipeError):
            raise


def json_text(records: Sequence[dict[str, Any]]) -> str:
    """A JSON array, one object a line; integers of any length."""
    import json

    return "[\n" + ",\n".join(_json_object(json.dumps, record) for record in records) + "\n]"


def csv_text(records: Sequence[dict[str, Any]]) -> str:
    """The same columns as JSON; null is empty, active counts read `0+ 3- 5+ 8-`."""
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(records[0])
    writer.writerows([_csv_cell(value) for value in record.values()] for record in records)
    return text.getvalue()


def markdown_text(sheet: Sheet) -> str:
    """A pipe table."""
    rule = ["---:" if head in sheet.right else "---" for head in sheet.heads]
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in sheet.cells]
    lines = [f"| {' | '.join(row)} |" for row in (sheet.heads, rule, *escaped)]
    return "\n".join(lines)


def latex_text(heads: Sequence[str], cells: Iterable[Sequence[str]], columns: str) -> str:
    """One booktabs tabular; heads and cells are LaTeX already."""
    body = [" & ".join(row) + r" \\" for row in cells]
    head = " & ".join(heads) + r" \\"
    top = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule"]
    return "\n".join([*top, *body, r"\bottomrule", r"\end{tabular}"])


def latex_number(text: str) -> str:
    """`1.5e+20`, `10^30` or `about 1.5e+20` in math mode."""
    approximate, text = ("\\approx ", text[6:]) if text.startswith("about ") else ("", text)
    mantissa, e, exponent = text.partition("e")
    if e:
        sign, power = exponent[0].strip("+"), exponent[1:].lstrip("0")
        return rf"${approximate}{mantissa}\times 10^{{{sign}{power}}}$"
    base, caret, power = text.partition("^")
    return f"${base}^{{{power}}}$" if caret else f"${approximate}{text}$"


def table_text(sheet: Sheet) -> str:
    """Aligned columns of plain text, each row on one line."""
    columns = list(zip(sheet.heads, sheet.widths(), strict=True))
    lines = [
        "  ".join(
            cell.rjust(width) if head in sheet.right else cell.ljust(width)
            for cell, (head, width) in zip(row, columns, strict=True)
        ).rstrip()
        for row in (sheet.heads, *sheet.cells)
    ]
    return "\n".join([sheet.title, "", lines[0], "-" * len(lines[0]), *lines[1:]])


def write_sheet(sheet: Sheet, style: Format) -> None:
    """Markdown if asked for; else a rich table on a terminal, plain text elsewhere."""
    if style == "markdown":
        write(markdown_text(sheet))
    elif sys.stdout is not None and sys.stdout.isatty():
        _write_rich(sheet)
    else:
        write(table_text(sheet))


def _write_rich(sheet: Sheet) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    if sheet.spare and sum(sheet.widths()) + 2 * len(sheet.heads) > console.width:
        sheet = sheet.without(sheet.spare)
    table = Table(
        box=SIMPLE_HEAD, title=Text(sheet.title), title_justify="left", padding=(0, 1, 0, 0)
    )
    fixed = sum(
        w for w, head in zip(sheet.widths(), sheet.heads, strict=True) if head != sheet.folds
    )
    cramped = fixed + 2 * len(sheet.heads) > console.width
    for head in sheet.heads:
        justify: Literal["left", "right"] = "right" if head in sheet.right else "left"
        whole = head != sheet.folds and not cramped
        table.add_column(Text(head), justify=justify, no_wrap=whole, overflow="fold")
    for row in sheet.cells:
        table.add_row(*map(Text, row))
    console.print(table)


def _json_object(dumps: Callable[[Any], str], record: dict[str, Any]) -> str:
    long = record.get("d", 0)
    if long < _LONG:
        return dumps(record)
    return dumps(record | {"d": 0}).replace('"d": 0', f'"d": {integer_text(long)}', 1)


def _csv_cell(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return integer_text(value)
    if isinstance(value, list):
        return " ".join(f"{at['c']}{at['side']}" for at in value)
    return value

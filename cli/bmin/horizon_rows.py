"""The rows of `bmin horizon`."""

from collections.abc import Iterable
from typing import Any

from bmin import output
from bmin.bound_rows import placement_text, size_text
from bmin.output import Format, Sheet
from bmin.records import problem_record
from bminlib import CountingProblem, max_length
from bminlib.decimals import integer_text

_HEADS = ("placement", "d", "tau", "largest L")


def show_horizons(problems: Iterable[CountingProblem], style: Format) -> int:
    """Print a row a problem; 0 if any counts at all, 1 if none does."""
    rows = [(problem, max_length(problem)) for problem in problems]
    if style == "json":
        output.write(output.json_text([_record(*row) for row in rows]))
    elif style == "csv":
        output.write(output.csv_text([_record(*row) for row in rows]))
    elif style == "latex":
        cells = [_latex_cells(*row) for row in rows]
        output.write(
            output.latex_text(("placement", "$d$", r"$\tau$", "largest $L$"), cells, "lrlr")
        )
    else:
        title = "Largest length that any weights count to"
        cells = [_cells(*row) for row in rows]
        output.write_sheet(Sheet(title, _HEADS, cells, frozenset({"d", "largest L"})), style)
    return 1 if all(length == 0 for _, length in rows) else 0


def _record(problem: CountingProblem, length: int | None) -> dict[str, Any]:
    record = problem_record(problem)
    del record["L"]
    return record | {"max_length": None if length is None else integer_text(length)}


def _cells(problem: CountingProblem, length: int | None) -> list[str]:
    largest = "no limit" if length is None else size_text(length)
    return [placement_text(problem), size_text(problem.d), problem.score_scale.text, largest]


def _latex_cells(problem: CountingProblem, length: int | None) -> list[str]:
    from sympy import latex, sympify

    tau = latex(sympify(problem.score_scale.text))
    largest = r"$\infty$" if length is None else output.latex_number(size_text(length))
    dimension = output.latex_number(size_text(problem.d))
    return [placement_text(problem), dimension, f"${tau}$", largest]

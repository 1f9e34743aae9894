"""The rows of `bmin compute`: a record or a line of cells from each bound."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from bmin import output
from bmin.output import Format, Sheet
from bmin.records import bound_record, exact_text
from bminlib import Bound, CountingProblem, b_min
from bminlib.powers import short_integer

_LONG = 21
_EXACT_IN_TABLE = 48
_HEADS = ("placement", "d", "L", "B_min", "exact, or why not", "theorem")
_LATEX_HEADS = ("placement", "$d$", "$L$", r"$B_{\min}$", "exact")
_SOLVED_HEADS, _BESIDE = ("solved", "digits agreed"), _HEADS.index("B_min") + 1
_NORMALIZERS = {"layer": "LayerNorm", "rms": "RMSNorm"}


def show_bounds(
    problems: Iterable[CountingProblem], digits: int, style: Format, solving: bool = False
) -> int:
    """Print a row a problem; 0 if any is feasible, 1 if none is.

    solving: beside each bound what root-finding says; 1 as well where they disagree.
    """
    make: Callable[[Bound, int], Any] = {
        "json": bound_record,
        "csv": bound_record,
        "latex": _latex_cells,
    }.get(style, _cells)
    bounds: list[Bound] = []
    rows: list[Any] = []
    agree = True
    for problem in problems:
        bound = b_min(problem)
        row, agrees = make(bound, digits), True
        if solving:
            row, agrees = _with_solved(row, bound, digits, style)
        bounds.append(bound)
        rows.append(row)
        agree = agree and agrees
    _write(bounds, rows, style, solving)
    return 0 if agree and any(bound.feasible for bound in bounds) else 1


def _with_solved(row: Any, bound: Bound, digits: int, style: Format) -> tuple[Any, bool]:
    """(the row with the solver's columns, whether both agree)."""
    from bmin.solve_records import solved

    found = solved(bound, digits)
    if isinstance(row, dict):
        return row | found.record(), found.agrees
    cells = found.latex_cells() if style == "latex" else found.cells()
    return [*row[:_BESIDE], *cells, *row[_BESIDE:]], found.agrees


def _write(bounds: Sequence[Bound], rows: list[Any], style: Format, solving: bool) -> None:
    if style == "json":
        output.write(output.json_text(rows))
    elif style == "csv":
        output.write(output.csv_text(rows))
    elif style == "latex":
        heads = _heads(_LATEX_HEADS, solving)
        output.write(output.latex_text(heads, rows, "lrrllrl" if solving else "lrrll"))
    else:
        output.write_sheet(_sheet(bounds, rows, style, solving), style)


def _heads(heads: Sequence[str], solving: bool) -> list[str]:
    return [*heads[:_BESIDE], *(_SOLVED_HEADS if solving else ()), *heads[_BESIDE:]]


def size_text(number: int) -> str:
    """A length or dimension as a table shows it."""
    return short_integer(number, _LONG)


def placement_text(problem: CountingProblem) -> str:
    """For example `softmax, post learned`."""
    affine = f" {problem.affine}" if problem.affine else ""
    return f"{problem.attention}, {problem.norm}{affine}"


def _cells(bound: Bound, digits: int) -> list[str]:
    return [
        placement_text(bound.problem),
        size_text(bound.problem.d),
        size_text(bound.problem.L),
        bound.decimal(digits) if bound.feasible else "infeasible",
        bound.reason or _exact_cell(bound),
        bound.theorem,
    ]


def _exact_cell(bound: Bound) -> str:
    if bound.problem.readout == "classification":
        stored, fewer = (
            short_integer(n, _LONG) for n in (bound.stored_numbers, bound.problem.d + 1)
        )
        return f"not attained; stores {stored} numbers, regression {fewer}"
    text = bound.text
    if text is None:
        return "root of one equation"
    if len(text) > _EXACT_IN_TABLE:
        text = "closed form (see --format json)" if exact_text(text) else "closed form"
    return text if bound.attained else f"{text}, not attained"


def _sheet(
    bounds: Sequence[Bound], rows: Sequence[Sequence[str]], style: Format, solving: bool
) -> Sheet:
    """The rows under their title; a table's title holds d where it is the same in all of them."""
    right, heads = frozenset({"d", "L", "digits agreed"}), _heads(_HEADS, solving)
    sheet = Sheet(_title(bounds), heads, rows, right, folds="exact, or why not", spare="theorem")
    keep = style == "markdown" or _several_dimensions(bounds)
    return sheet if keep else sheet.without("d")


def _several_dimensions(bounds: Sequence[Bound]) -> bool:
    return len({bound.problem.d for bound in bounds}) > 1


def _title(bounds: Sequence[Bound]) -> str:
    problem = bounds[0].problem
    counts = "exactly" if problem.exactness == "exact" else "after rounding"
    parts = [f"B_min: {problem.readout}, counts {counts}"]
    parts += sorted({_NORMALIZERS[b.problem.normalizer] for b in bounds if b.problem.normalizer})
    if not _several_dimensions(bounds):
        parts += [f"d = {size_text(problem.d)}", f"tau = {problem.score_scale.text}"]
    elif problem.tau == "scaled":
        parts.append("tau = 1/sqrt(d)")
    else:
        parts.append(f"tau = {problem.score_scale.text}")
    return ", ".join(parts)


def _latex_cells(bound: Bound, digits: int) -> list[str]:
    from sympy import latex

    number = output.latex_number
    problem = bound.problem
    cells = [placement_text(problem), number(size_text(problem.d)), number(size_text(problem.L))]
    if not bound.feasible:
        return [*cells, "infeasible", "--"]
    short = bound.text is not None and len(bound.text) <= 2 * _EXACT_IN_TABLE
    exact = f"${latex(bound.exact)}$" if short else "--"
    return [*cells, number(bound.decimal(digits)), exact]

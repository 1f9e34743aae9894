"""What `bmin check --formula` prints: one claim about B_min in each placement asked for."""

import dataclasses
from typing import Any

from bmin import output
from bmin.bound_rows import placement_text
from bmin.output import Format, Sheet
from bmin.progress import bar
from bmin.records import problem_record
from bmin_derivations.claim import ClaimReport, Kind, examine_claim
from bminlib import CountingProblem

_HEADS = ("placement", "d", "verdict", "first counterexample", "formula/B_min", "for every L")


def show_claims(
    formula: str,
    kind: Kind,
    problems: list[CountingProblem],
    lengths: list[int],
    style: Format,
) -> int:
    """Test a claim in every problem and print a row each; 0 if all are proved, 1 if not."""
    with bar("testing") as update:
        reports = [examine_claim(formula, kind, one, lengths, update) for one in problems]
    if style == "json":
        output.write(output.json_text([_record(report, lengths) for report in reports]))
    elif style == "csv":
        output.write(output.csv_text([_flat(_record(report, lengths)) for report in reports]))
    elif style == "latex":
        cells = [_latex_cells(report) for report in reports]
        output.write(output.latex_text(_HEADS, cells, "lrllll"))
    else:
        shown = f"{lengths[0]}..{lengths[-1]}" if len(lengths) > 1 else str(lengths[0])
        title = f"{formula} as {kind} for B_min: {len(lengths)} lengths, L = {shown}"
        rows = [_cells(report) for report in reports]
        output.write_sheet(Sheet(title, _HEADS, rows, frozenset({"d"}), folds="for every L"), style)
    return 0 if all(report.proved for report in reports) else 1


def _record(report: ClaimReport, lengths: list[int]) -> dict[str, Any]:
    record = problem_record(report.problem)
    del record["L"]
    failure = report.counterexample
    return record | {
        "formula": report.formula,
        "kind": report.kind,
        "lengths_tested": report.tested,
        "first_length": str(report.first_length),
        "last_length": str(lengths[-1]),
        "verdict": str(report.verdict),
        "counterexample": None if failure is None else _texts(dataclasses.asdict(failure)),
        "open_at": None if report.open_at is None else str(report.open_at),
        "open_reason": report.open_reason,
        "least_ratio": None if report.least is None else _texts(dataclasses.asdict(report.least)),
        "greatest_ratio": (
            None if report.greatest is None else _texts(dataclasses.asdict(report.greatest))
        ),
        "ratio_limit": report.ratio_limit,
        "all_lengths": str(report.all_lengths),
        "all_lengths_reason": report.all_lengths_reason,
    }


def _texts(record: dict[str, Any]) -> dict[str, Any]:
    return {name: None if value is None else str(value) for name, value in record.items()}


def _flat(record: dict[str, Any]) -> dict[str, Any]:
    """Nested objects as columns of their own."""
    flat: dict[str, Any] = {}
    inner = {
        "counterexample": ("L", "formula", "b_min"),
        "least_ratio": ("ratio", "L"),
        "greatest_ratio": ("ratio", "L"),
    }
    for name, value in record.items():
        if name in inner:
            flat |= {f"{name}_{key}": (value or {}).get(key) for key in inner[name]}
        else:
            flat[name] = value
    return flat


def _cells(report: ClaimReport) -> list[str]:
    failure = report.counterexample
    example = "-"
    if failure is not None:
        example = f"L = {failure.L}: {failure.formula}, B_min {failure.b_min or 'infeasible'}"
    elif report.open_at is not None:
        example = f"open at L = {report.open_at}: {report.open_reason}"
    ratios = "-"
    if report.least is not None and report.greatest is not None:
        low, high = report.least, report.greatest
        ratios = f"{low.ratio} (L = {low.L}) .. {high.ratio} (L = {high.L})"
        if report.ratio_limit is not None:
            ratios += f", limit {report.ratio_limit}"
    return [
        placement_text(report.problem),
        str(report.problem.d),
        str(report.verdict),
        example,
        ratios,
        f"{report.all_lengths}: {report.all_lengths_reason}",
    ]


def _latex_cells(report: ClaimReport) -> list[str]:
    return [cell.replace("_", r"\_").replace("^", r"\^{}") for cell in _cells(report)]

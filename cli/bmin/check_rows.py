"""The rows of `bmin check`: one theorem each."""

from typing import Any

from bmin import output
from bmin.output import Format, Sheet
from bmin.progress import bar
from bmin_derivations.check import Outcome, check

_HEADS = ("theorem", "verdict", "steps", "instances", "mutants", "weights", "digits", "seconds")


def show_checks(ids: list[str], quick: bool, jobs: int, style: Format) -> int:
    """Check theorems and print a row each; 0 if all are proved, 1 if not."""
    with bar("checking") as update:
        outcomes = check(ids, quick=quick, jobs=jobs, progress=update)
    if style == "json":
        output.write(output.json_text([_record(outcome) for outcome in outcomes]))
    elif style == "csv":
        output.write(output.csv_text([_record(outcome) for outcome in outcomes]))
    elif style == "latex":
        cells = [_cells(outcome) for outcome in outcomes]
        output.write(output.latex_text(_HEADS, cells, "llrrrrrr"))
    else:
        output.write_sheet(_sheet(outcomes, quick), style)
    return 0 if all(outcome.proved for outcome in outcomes) else 1


def _sheet(outcomes: list[Outcome], quick: bool) -> Sheet:
    proved = sum(outcome.proved for outcome in outcomes)
    left_out = " (quick: mutants, weights and further instances left out)" if quick else ""
    title = f"{proved} of {len(outcomes)} theorems proved; n/m: n of m passed{left_out}"
    heads, cells = list(_HEADS), [_cells(outcome) for outcome in outcomes]
    if any(outcome.reason for outcome in outcomes):
        heads.append("why not")
        cells = [[*row, outcome.reason] for row, outcome in zip(cells, outcomes, strict=True)]
    return Sheet(title, heads, cells, frozenset(_HEADS[2:]), folds="why not")


def _cells(outcome: Outcome) -> list[str]:
    tallies = (outcome.steps, outcome.instances, outcome.mutants, outcome.weights)
    counts = ["-" if total == 0 else f"{passed}/{total}" for passed, total in tallies]
    digits = "-" if outcome.digits is None else str(outcome.digits)
    return [outcome.id, str(outcome.verdict), *counts, digits, f"{outcome.seconds:.1f}"]


def _record(outcome: Outcome) -> dict[str, Any]:
    record: dict[str, Any] = {
        "theorem": outcome.id,
        "verdict": str(outcome.verdict),
        "reason": outcome.reason or None,
    }
    for name in ("steps", "instances", "mutants", "weights"):
        record[f"{name}_passed"], record[name] = getattr(outcome, name)
    return record | {"digits": outcome.digits, "seconds": round(outcome.seconds, 3)}

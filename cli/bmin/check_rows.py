"""The rows of `bmin check`: one theorem each."""

from typing import Any

from bmin import output
from bmin.output import Format, Sheet
from bmin.progress import bar
from bmin_derivations.check import TALLIES, Outcome, check


def show_checks(ids: list[str], quick: bool, certificates: bool, jobs: int, style: Format) -> int:
    """Check theorems and print a row each; 0 if all are proved, 1 if not."""
    with bar("checking") as update:
        outcomes = check(ids, quick=quick, certificates=certificates, jobs=jobs, progress=update)
    if style == "json":
        output.write(output.json_text([_record(outcome) for outcome in outcomes]))
    elif style == "csv":
        output.write(output.csv_text([_record(outcome) for outcome in outcomes]))
    elif style == "latex":
        heads, cells = _heads_and_cells(outcomes, certificates)
        output.write(output.latex_text(heads, cells, "ll" + "r" * (len(heads) - 2)))
    else:
        output.write_sheet(_sheet(outcomes, quick, certificates), style)
    return 0 if all(outcome.proved for outcome in outcomes) else 1


def _sheet(outcomes: list[Outcome], quick: bool, certificates: bool) -> Sheet:
    proved = sum(outcome.proved for outcome in outcomes)
    left_out = " (quick: mutants, weights and further instances left out)" if quick else ""
    title = f"{proved} of {len(outcomes)} theorems proved; n/m: n of m passed{left_out}"
    heads, cells = _heads_and_cells(outcomes, certificates)
    right = frozenset(heads[2:])
    if any(outcome.reason for outcome in outcomes):
        heads.append("why not")
        cells = [[*row, outcome.reason] for row, outcome in zip(cells, outcomes, strict=True)]
    return Sheet(title, heads, cells, right, folds="why not")


def _heads_and_cells(
    outcomes: list[Outcome], certificates: bool
) -> tuple[list[str], list[list[str]]]:
    """A column a tally; certificates only where they were asked for."""
    names = [name for name in TALLIES if certificates or name != "certificates"]
    cells = [
        [
            outcome.id,
            str(outcome.verdict),
            *(_count(*getattr(outcome, name)) for name in names),
            "-" if outcome.digits is None else str(outcome.digits),
            f"{outcome.seconds:.1f}",
        ]
        for outcome in outcomes
    ]
    return ["theorem", "verdict", *names, "digits", "seconds"], cells


def _count(passed: int, total: int) -> str:
    return f"{passed}/{total}" if total else "-"


def _record(outcome: Outcome) -> dict[str, Any]:
    record: dict[str, Any] = {
        "theorem": outcome.id,
        "verdict": str(outcome.verdict),
        "reason": outcome.reason or None,
    }
    for name in TALLIES:
        record[f"{name}_passed"], record[name] = getattr(outcome, name)
    return record | {"digits": outcome.digits, "seconds": round(outcome.seconds, 3)}

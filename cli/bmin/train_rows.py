"""What `bmin train` prints at its end: growth, and the norms at each length."""

from collections.abc import Iterable, Sequence
from typing import Any

from bmin import output
from bmin.bound_rows import placement_text
from bmin.output import Format, Sheet
from bmin.records import problem_record
from bminlib import b_min
from bminlib.bootstrap import CONFIDENCE, RESAMPLES
from bminlib.measured import Series
from bminlib.problem import CountingProblem
from bminlib.train.compare import Group, groups, growth
from bminlib.train.outcomes import Outcome
from bminlib.train.store import Store

_GROWTH = ("model", "mode", "runs", "slope", "95% interval", "slope of B_min", "theorem")
_NORMS = ("model", "mode", "L", "counted", "least norm", "greatest", "B_min", "ratio", "steps")
_RIGHT = frozenset({"L", "runs", "counted", "slope", "least norm", "greatest", "B_min"})


def show_training(store: Store, outcomes: Sequence[Outcome], style: Format) -> int:
    """Print the runs of a directory; 0 if any of `outcomes` counts, 1 if none does."""
    found, series = groups(store, weights=False), growth(store.outcomes)
    if style in ("json", "csv"):
        records = [norm_record(group) for group in found]
        output.write(output.json_text(records) if style == "json" else output.csv_text(records))
    else:
        write_sheets([growth_sheet(series), norms_sheet(found)], style)
    return 0 if any(one.counts for one in outcomes) else 1


def write_sheets(sheets: Iterable[Sheet], style: Format) -> None:
    """The sheets that have rows, with empty lines between them."""
    for i, sheet in enumerate(sheet for sheet in sheets if sheet.cells):
        if i:
            output.write("")
        output.write_sheet(sheet, style)


def growth_sheet(series: Sequence[Series]) -> Sheet:
    """Slopes on a log-log plot, those of B_min at the same lengths, and the theorems'."""
    title = f"Growth of the largest norm with L: least squares, {RESAMPLES} resamples of seeds"
    return Sheet(title, _GROWTH, [_growth_cells(one) for one in series], _RIGHT)


def norms_sheet(found: Sequence[Group]) -> Sheet:
    """Norms of proved runs at each length."""
    title = "Largest norms of the runs whose weights are proved to count"
    return Sheet(title, _NORMS, [_norm_cells(group) for group in found], _RIGHT)


def growth_record(one: Series) -> dict[str, Any]:
    """A fit under its JSON names."""
    problem = problem_record(one.problem)
    del problem["L"]
    line, known = one.line, one.interval
    return problem | {
        "mode": one.mode,
        "runs": sum(at.runs for at in one.points),
        "slope": None if line is None else round(line.slope, 6),
        "slope_low": None if known is None else round(known.low, 6),
        "slope_high": None if known is None else round(known.high, 6),
        "confidence": CONFIDENCE,
        "b_min_slope": None if one.b_min_line is None else round(one.b_min_line.slope, 6),
        "theorem_exponent": None if one.law is None else str(one.law.exponent),
    }


def norm_record(group: Group) -> dict[str, Any]:
    """The norms of one problem and mode under their JSON names."""
    errors = [error for error in group.errors if error is not None]
    return problem_record(group.problem) | {
        "mode": group.mode,
        "runs": group.runs,
        "counted": len(group.norms),
        "least_norm": group.norms[0] if group.norms else None,
        "greatest_norm": group.norms[-1] if group.norms else None,
        "b_min": _least(group.problem, 15),
        "least_ratio": group.ratios[0] if group.ratios else None,
        "greatest_ratio": group.ratios[-1] if group.ratios else None,
        "least_shortfall": min(errors, default=None),
    }


def model_text(problem: CountingProblem) -> str:
    """For example `post learned, regression`."""
    parts = [placement_text(problem).removeprefix("softmax, "), problem.readout]
    parts += ["rms"] if problem.normalizer == "rms" else []
    parts += [f"d {problem.d}"] if problem.d != 8 else []
    parts += [f"tau {problem.score_scale.text}"] if problem.tau != "scaled" else []
    return ", ".join(parts)


def _growth_cells(one: Series) -> list[str]:
    line, known, bound = one.line, one.interval, one.b_min_line
    return [
        model_text(one.problem),
        one.mode,
        str(sum(at.runs for at in one.points)),
        "-" if line is None else _places(line.slope, 3),
        "-" if known is None else f"{_places(known.low, 3)} .. {_places(known.high, 3)}",
        "-" if bound is None else _places(bound.slope, 3),
        "-" if one.law is None else str(one.law.exponent),
    ]


def _norm_cells(group: Group) -> list[str]:
    norms, ratios = group.norms, group.ratios
    return [
        model_text(group.problem),
        group.mode,
        str(group.problem.L),
        f"{len(norms)}/{group.runs}",
        f"{norms[0]:.5g}" if norms else _shortfall(group),
        f"{norms[-1]:.5g}" if norms else "-",
        _least(group.problem, 5) or "infeasible",
        f"{ratios[0]:.4f} .. {ratios[-1]:.4f}" if ratios else "-",
        f"{min(group.steps)} .. {max(group.steps)}" if group.steps else "-",
    ]


def _shortfall(group: Group) -> str:
    known = [error for error in group.errors if error is not None]
    return f"short by {min(known):.2g}" if known else "-"


def _least(problem: CountingProblem, digits: int) -> str | None:
    bound = b_min(problem)
    return bound.decimal(digits) if bound.feasible else None


def _places(number: float, places: int) -> str:
    return f"{round(number, places) + 0.0:.{places}f}"

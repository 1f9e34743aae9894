"""The rows of `bmin rates --data`: exponents with intervals, and ratios to B_min."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bmin import output
from bmin.bound_rows import placement_text
from bmin.output import Format, Sheet
from bmin.records import problem_record
from bminlib.bootstrap import CONFIDENCE, RESAMPLES
from bminlib.measured import Point, Series, measure
from bminlib.runs_csv import Runs, read_runs

_SERIES = ("model", "d", "runs", "exponent", "95% interval", "line of B_min", "theorem")
_POINTS = (
    "model",
    "d",
    "L",
    "runs",
    "least norm",
    "median",
    "greatest",
    "B_min",
    "least/B_min",
    "note",
)
_NORM_DIGITS = 6


def show_measured(
    path: str, given: Mapping[str, Any], seed: int, style: Format, target: str | None
) -> int:
    """Fit the runs in a file and print them; what is left out is reported on standard error."""
    runs = read_runs(path, given)
    series = measure(runs.runs, seed)
    if target is not None:
        from bmin.measured_plots import plot_measured

        plot_measured(series, path, target, style)
    if style == "json":
        output.write(output.json_text([_record(one, runs, seed) for one in series]))
    elif style == "csv":
        output.write(output.csv_text([row for one in series for row in _flat(one, runs, seed)]))
    elif style == "latex":
        output.write(output.latex_text(*_latex(series)))
    else:
        for sheet in _sheets(path, runs, series):
            output.write_sheet(sheet, style)
            output.write("")
    _report(path, runs, series)
    return 0


def _record(one: Series, runs: Runs, seed: int) -> dict[str, Any]:
    return {
        **_summary(one, runs, seed),
        "points": [_point_record(at) for at in one.points],
        "left_out": [{"line": row.line, "reason": row.reason} for row in runs.left_out],
    }


def _flat(one: Series, runs: Runs, seed: int) -> Iterator[dict[str, Any]]:
    """One row a length, for CSV."""
    summary = _summary(one, runs, seed)
    for at in one.points:
        record = _point_record(at)
        below = " ".join(map(str, record["below"]))
        yield summary | record | {"below": below, "left_out": len(runs.left_out)}


def _summary(one: Series, runs: Runs, seed: int) -> dict[str, Any]:
    problem = problem_record(one.problem)
    del problem["L"]
    known = one.interval
    return {
        **problem,
        "mode": one.mode or None,
        "exponent": one.line and _six(one.line.slope),
        "exponent_low": known and _six(known.low),
        "exponent_high": known and _six(known.high),
        "confidence": CONFIDENCE,
        "resamples": RESAMPLES,
        "units": known and known.units,
        "seed": seed,
        "b_min_exponent": one.b_min_line and _six(one.b_min_line.slope),
        "theorem_exponent": str(one.law.exponent) if one.law else None,
        "unused_columns": " ".join(runs.unused_columns),
    }


def _point_record(at: Point) -> dict[str, Any]:
    return {
        "L": str(at.L),
        "runs": at.runs,
        "least_norm": repr(at.least),
        "median_norm": repr(at.middle),
        "greatest_norm": repr(at.greatest),
        "b_min": at.bound.decimal(15) if at.bound.feasible else None,
        "ratio": None if at.ratio is None else _six(at.ratio),
        "below": list(at.below),
    }


def _sheets(path: str, runs: Runs, series: Sequence[Series]) -> list[Sheet]:
    used = f"{path}: {len(runs.runs)} runs, {len(runs.left_out)} lines left out"
    fits = [_series_cells(one) for one in series]
    points = [_point_cells(one, at) for one in series for at in one.points]
    first = f"{used}; least-squares exponents, {RESAMPLES} bootstrap resamples"
    right = frozenset({"d", "L", "runs"})
    return [
        Sheet(first, _SERIES, fits, right),
        Sheet("Norms against B_min of the stated model", _POINTS, points, right, "note"),
    ]


def _series_cells(one: Series) -> list[str]:
    interval = one.interval
    return [
        _model(one),
        str(one.problem.d),
        str(sum(at.runs for at in one.points)),
        _decimals(one.line.slope, 4) if one.line else "-",
        f"{_decimals(interval.low, 4)} .. {_decimals(interval.high, 4)}" if interval else "-",
        _decimals(one.b_min_line.slope, 4) if one.b_min_line else "-",
        str(one.law.exponent) if one.law else "-",
    ]


def _point_cells(one: Series, at: Point) -> list[str]:
    norms = (at.least, at.middle, at.greatest)
    return [
        _model(one),
        str(one.problem.d),
        str(at.L),
        str(at.runs),
        *(f"{norm:.{_NORM_DIGITS}g}" for norm in norms),
        at.bound.decimal(_NORM_DIGITS) if at.bound.feasible else "infeasible",
        "-" if at.ratio is None else f"{at.ratio:.{_NORM_DIGITS}g}",
        "under B_min" if at.below and at.bound.feasible else at.bound.reason or "",
    ]


def _model(one: Series) -> str:
    parts = [placement_text(one.problem), one.problem.readout]
    parts += ["rms"] if one.problem.normalizer == "rms" else []
    parts += [f"tau {one.problem.score_scale.text}"] if one.problem.tau != "scaled" else []
    return ", ".join([*parts, *([one.mode] if one.mode else [])])


def _latex(series: Sequence[Series]) -> tuple[list[str], list[list[str]], str]:
    heads = ["model", "$d$", "runs", "exponent", r"95\% interval", r"line of $B_{\min}$", "theorem"]
    rows = [_series_cells(one) for one in series]
    cells = [
        [row[0], *(f"${x}$".replace("..", ",\\ ").replace("$-$", "--") for x in row[1:])]
        for row in rows
    ]
    return heads, cells, "lrrlllr"


def _report(path: str, runs: Runs, series: Sequence[Series]) -> None:
    """What the fits don't use, and the norms that can't be."""
    lines = [f"{path}: line {row.line} is left out: {row.reason}" for row in runs.left_out]
    if runs.unused_columns:
        lines.append(f"{path}: columns that play no part: {', '.join(runs.unused_columns)}")
    for one in series:
        for at in one.points:
            lines += [f"{path}: line {line}: {_impossible(one, at)}" for line in at.below]
    sys.stderr.write("".join(f"bmin: {line}\n" for line in lines))


def _impossible(one: Series, at: Point) -> str:
    model = f"{placement_text(one.problem)}, d = {one.problem.d}, at L = {at.L}"
    if not at.bound.feasible:
        return f"no weights of {model} count: {at.bound.reason}"
    bound = at.bound.decimal(_NORM_DIGITS)
    return f"its norm lies under B_min = {bound} of {model}: such weights can't count"


def _six(number: float) -> str:
    return _decimals(number, 6)


def _decimals(number: float, places: int) -> str:
    """`number` with so many decimal places, and no minus before a zero."""
    return f"{round(number, places) + 0.0:.{places}f}"

"""runs.csv: one row a run, read back strictly and written whole."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

from bminlib.errors import DomainError, shown
from bminlib.problem import CountingProblem
from bminlib.train.experiments import Experiment, Mode
from bminlib.train.outcomes import Outcome
from bminlib.whole_files import write_whole

COLUMNS = (
    "norm", "affine", "normalizer", "readout", "attention", "d", "tau", "L", "seed", "mode",
    "steps", "largest_norm", "b_min", "ratio", "counts", "margin", "seconds",
)  # fmt: skip
MAX_BYTES = 1 << 26
_ORDER = {"plain": 0, "plain T=1": 1, "least": 2}
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]{1,3})?", re.ASCII)
_OPTIONAL = ("b_min", "ratio", "margin")


def read_table(path: Path) -> list[Outcome]:
    """The rows of a file that `write_table` wrote; none where there is no file.

    Raises DomainError for any other file.
    """
    rows = _rows(path)
    if not rows:
        return []
    if tuple(rows[0]) != COLUMNS:
        raise DomainError(
            f"{path}: its first line is {shown(','.join(rows[0]))}, not the columns of bmin train; "
            "choose another directory"
        )
    found: dict[tuple[object, ...], Outcome] = {}
    for line, cells in enumerate(rows[1:], 2):
        outcome = _outcome(f"{path}: line {line}", cells)
        if outcome.experiment.key in found:
            raise DomainError(f"{path}: line {line}: its run has a row already; delete one of them")
        found[outcome.experiment.key] = outcome
    return list(found.values())


def write_table(path: Path, outcomes: Iterable[Outcome]) -> None:
    """Write the rows, sorted by run, whole or not at all; raises DomainError where it can't."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(_cells(outcome) for outcome in in_order(outcomes))
    write_whole(path, text.getvalue().encode())


def in_order(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Outcomes by placement, then read-out, mode, L and seed."""

    def place(outcome: Outcome) -> tuple[Any, ...]:
        one, at = outcome.experiment, outcome.experiment.problem
        placement = (at.norm, at.affine or "", at.normalizer or "", at.attention, at.d)
        tau = float(at.score_scale.ball(64))
        kind = (at.readout != "regression", _ORDER[one.mode])
        return (*placement, tau, *kind, at.L, one.seed)

    return sorted(outcomes, key=place)


def tau_text(problem: CountingProblem) -> str:
    """tau as CountingProblem reads it, without a name that depends on d."""
    if isinstance(problem.tau, str) and problem.tau not in ("scaled", "unscaled"):
        return problem.tau
    return problem.score_scale.text


def _rows(path: Path) -> list[list[str]]:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return []
    except OSError as error:
        cause = (error.strerror or str(error)).lower()
        raise DomainError(f"{path}: can't be read, {cause}; choose another directory") from error
    if len(data) > MAX_BYTES:
        raise DomainError(f"{path}: is over {MAX_BYTES >> 20} MiB; choose another directory")
    try:
        rows = list(csv.reader(io.StringIO(data.decode(), newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise DomainError(f"{path}: is no CSV text ({error}); choose another directory") from error
    if not rows:
        raise DomainError(f"{path}: is empty; delete it, or choose another directory")
    return rows


def _cells(outcome: Outcome) -> list[object]:
    at = outcome.experiment.problem
    return [
        at.norm, at.affine, at.normalizer, at.readout, at.attention, at.d, tau_text(at), at.L,
        outcome.experiment.seed, outcome.experiment.mode,
        outcome.steps, outcome.largest_norm, outcome.b_min, outcome.ratio,
        str(outcome.counts).lower(), outcome.margin, outcome.seconds,
    ]  # fmt: skip


def _outcome(where: str, cells: list[str]) -> Outcome:
    if len(cells) != len(COLUMNS):
        raise DomainError(
            f"{where}: has {len(cells)} cells instead of {len(COLUMNS)}; correct or delete it"
        )
    row = dict(zip(COLUMNS, cells, strict=True))
    try:
        return Outcome(
            _experiment(row),
            _whole("steps", row["steps"]),
            cast("str", _number("largest_norm", row)),
            _number("b_min", row),
            _number("ratio", row),
            _truth(row["counts"]),
            _number("margin", row),
            float(cast("str", _number("seconds", row))),
        )
    except DomainError as error:
        raise DomainError(f"{where}: {error}") from error


def _experiment(row: dict[str, str]) -> Experiment:
    fields: dict[str, Any] = {
        name: row[name] or None for name in ("norm", "affine", "normalizer", "readout", "attention")
    }
    fields |= {name: _whole(name, row[name]) for name in ("d", "L")}
    problem = CountingProblem(**fields, tau=row["tau"])
    return Experiment(problem, cast("Mode", row["mode"]), _whole("seed", row["seed"]))


def _whole(name: str, text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text, re.ASCII):
        raise DomainError(f"{name}={shown(text)}: must be a whole number; correct it")
    return int(text)


def _number(name: str, row: dict[str, str]) -> str | None:
    text = row[name]
    if name in _OPTIONAL and not text:
        return None
    if not _NUMBER.fullmatch(text) or math.isinf(float(text)):
        raise DomainError(f"{name}={shown(text)}: must be a number; correct it")
    if name == "largest_norm" and not float(text) > 0:
        raise DomainError(f"{name}={shown(text)}: must be > 0; correct it")
    return text


def _truth(text: str) -> bool:
    if text not in ("true", "false"):
        raise DomainError(f"counts={shown(text)}: must be true or false; correct it")
    return text == "true"

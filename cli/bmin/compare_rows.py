"""The rows of `bmin compare`: growth, ratios, which vectors carry the norm, where counts lie."""

from collections.abc import Sequence
from typing import Any

from bmin import output
from bmin.output import Format, Sheet
from bmin.train_rows import (
    growth_record,
    growth_sheet,
    model_text,
    norm_record,
    norms_sheet,
    write_sheets,
)
from bminlib.errors import DomainError
from bminlib.train.compare import Coordinate, Group, groups, growth
from bminlib.train.store import TABLE, Store

_CARRIED = 0.99
_SHARES = ("model", "mode", "L", "at the largest norm", "next")
_SHAPES = ("model", "mode", "L", "coordinate", "median", "range", "optimum")
_RIGHT = frozenset({"L", "median", "optimum"})


def show_comparison(path: str, seed: int, style: Format) -> int:
    """Print what a directory of runs says; 0 if any run counts, 1 if none does."""
    store = Store(path)
    if not store.outcomes:
        raise DomainError(f"{path}: has no {TABLE} with runs; train some with bmin train --out")
    series, found = growth(store.outcomes, seed), groups(store)
    if style == "json":
        records: list[dict[str, Any]] = [{"growth": growth_record(one)} for one in series]
        output.write(output.json_text([*records, *map(_record, found)]))
    elif style == "csv":
        output.write(output.csv_text([_flat(group) for group in found]))
    else:
        sheets = [growth_sheet(series), norms_sheet(found), _share_sheet(found)]
        write_sheets([*sheets, _shape_sheet(found)], style)
    return 0 if any(group.norms for group in found) else 1


def _record(group: Group) -> dict[str, Any]:
    shares = {name: float(f"{share:.4g}") for name, share in group.shares}
    shape = {at.name: _coordinate(at) for at in group.shape}
    return norm_record(group) | {"shares": shares, "shape": shape}


def _coordinate(at: Coordinate) -> dict[str, float | None]:
    numbers = {
        "median": at.middle, "least": at.least, "greatest": at.greatest, "optimum": at.optimum
    }  # fmt: skip
    return {name: None if x is None else float(f"{x:.6g}") for name, x in numbers.items()}


def _flat(group: Group) -> dict[str, Any]:
    """One row of CSV."""
    shares = " ".join(f"{name}={share:.4g}" for name, share in group.shares)
    shape = " ".join(f"{at.name}={at.middle:.6g}" for at in group.shape)
    best = " ".join(f"{at.name}={at.optimum:.6g}" for at in group.shape if at.optimum is not None)
    return norm_record(group) | {"shares": shares, "shape": shape, "optimal_shape": best}


def _share_sheet(found: Sequence[Group]) -> Sheet:
    title = "Which vectors carry the norm: the median of each norm over the run's largest"
    cells = [
        [*_names(group), ", ".join(_carriers(group)), _next(group)]
        for group in found
        if group.shares
    ]
    return Sheet(title, _SHARES, cells, _RIGHT)


def _shape_sheet(found: Sequence[Group]) -> Sheet:
    title = "Where the counts lie: theta = atan(kappa (c - c0)), read at the angle phi"
    if any(at.name in ("gap", "slope") for group in found for at in group.shape):
        title = "Where the counts lie"
    cells = [
        [
            *_names(group),
            at.name,
            _five(at.middle),
            f"{_five(at.least)} .. {_five(at.greatest)}",
            "-" if at.optimum is None else _five(at.optimum),
        ]
        for group in found
        for at in group.shape
    ]
    return Sheet(title, _SHAPES, cells, _RIGHT)


def _names(group: Group) -> list[str]:
    return [model_text(group.problem), group.mode, str(group.problem.L)]


def _carriers(group: Group) -> list[str]:
    """The vectors at the largest norm in most runs; the first and its share where seeds differ."""
    carriers = [name for name, share in group.shares if share >= _CARRIED]
    return carriers or [_share(*group.shares[0])]


def _next(group: Group) -> str:
    behind = group.shares[len(_carriers(group)) :]
    return ", ".join(_share(*one) for one in behind[:2]) or "-"


def _share(name: str, share: float) -> str:
    return f"{name} {share:.2f}"


def _five(number: float) -> str:
    return f"{number:.5g}"

"""The rows of `bmin geometry`: a summary a placement, and a row a count."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from bmin import output
from bmin.bound_rows import placement_text, size_text
from bmin.geometry_records import (
    ball_text,
    extent_record,
    geometry_record,
    point_record,
    summary_record,
)
from bmin.output import Format, Sheet
from bminlib.decimals import integer_text
from bminlib.geometry import Geometry, Point

if TYPE_CHECKING:
    from flint import arb

_SHORT = 8
_HEADS = (
    "placement",
    "d",
    "L",
    "shape",
    "in use",
    "first spacing",
    "last spacing",
    "largest error",
    "touches",
)
_LATEX_HEADS = {
    "c": "$c$",
    "share of v_s to v_t": "share of $v_s$ to $v_t$",
    "yhat - c": r"$\hat y - c$",
    "yhat - c, m = L-c": r"$\hat y - c$, $m = L - c$",
    "|w_c|": "$|w_c|$",
}
_RIGHT = frozenset({"d", "L", "c"})
_MEANINGS = {
    "score_ratio": "a = e^(a_s - a_t), 1/eps",
    "gap": "D = <w, v_t - v_s>",
    "filler_ratio": "g = e^(a_f - a_t)",
    "filler_gap": "E = <w, v_f - v_s>",
    "length": "length of a target's step, or of v_t - v_s",
    "radius": "W, radius of the read-out",
    "kappa": "kappa, theta = atan(kappa (c - c0)) (null: a step)",
    "c0": "c0, the count in the middle of the arc",
    "phi": "phi, read-out direction against the arc's tangent",
    "filler_size": "how far a filler moves the state beside a target",
    "slope": "slope of yhat in c",
    "filler_slope": "slope of yhat in m",
    "offset": "offset of yhat",
    "fraction_in_use": "fraction of the segment in use",
    "fraction_estimate": "4/L",
    "half_angle": "half-angle of the arc, radians",
    "half_angle_estimate": "sqrt(8/L)",
    "least_eps": "least eps that bare scores attain",
    "least_eps_error": "least largest |yhat - c| there, m = 0",
    "largest_error": "largest |yhat - c| of the counts listed",
    "least_margin": "least margin of the counts listed",
}


def show_geometries(found: Sequence[Geometry], style: Format) -> int:
    """Print one placement count by count, or several side by side; 1 if nothing counts."""
    if style == "json":
        output.write(output.json_text([geometry_record(one) for one in found]))
    elif style == "csv":
        output.write(output.csv_text([row for one in found for row in _flat(one)]))
    elif style == "latex":
        output.write(_latex(found))
    else:
        for i, sheet in enumerate(_sheets(found)):
            if i:
                output.write("")
            output.write_sheet(sheet, style)
    return 1 if all(one.reason for one in found) else 0


def _flat(one: Geometry) -> Iterator[dict[str, Any]]:
    """One row a count, for CSV."""
    summary = summary_record(one)
    for at in one.points:
        yield summary | point_record(at)


def _sheets(found: Sequence[Geometry]) -> list[Sheet]:
    if len(found) == 1:
        return [_facts(found[0]), _count_sheet(found[0])]
    title = "Where the counts lie, and the error of the read-out"
    return [Sheet(title, _HEADS, [_cells(one) for one in found], _RIGHT)]


def _facts(one: Geometry) -> Sheet:
    """What there is to say of the whole, one line a quantity."""
    record = summary_record(one)
    cells = [[text, record[name]] for name, text in _MEANINGS.items() if record[name] is not None]
    if one.reason:
        cells.insert(0, ["no weights count", one.reason])
    return Sheet(_title(one), ("quantity", "value"), cells)


def _title(one: Geometry) -> str:
    problem = one.problem
    parts = [placement_text(problem), problem.readout, f"L = {size_text(problem.L)}"]
    return ", ".join([*parts, f"d = {size_text(problem.d)}", f"tau = {problem.score_scale.text}"])


def _count_sheet(one: Geometry) -> Sheet:
    listed = f"{len(one.points)} of {size_text(one.problem.L + 1)} counts"
    places = {"segment": "share of v_s to v_t", "arc": "angle in radians", "line": "steps"}
    where = places[one.shape.kind]
    if one.least_margin is None:
        heads = ["c", where, "spacing", "yhat - c", "yhat - c, m = L-c", "touches"]
        return Sheet(listed, heads, [_error_cells(at) for at in one.points], _RIGHT)
    heads = ["c", where, "spacing", "main", "side", "bias", "|w_c|", "margin"]
    return Sheet(listed, heads, [_class_cells(at) for at in one.points], _RIGHT)


def _error_cells(at: Point) -> list[str]:
    numbers = (at.position, at.spacing, at.error, at.error_filled)
    return [integer_text(at.c), *map(_short, numbers), _touch(at)]


def _class_cells(at: Point) -> list[str]:
    parts = at.vector or (None,) * 4
    numbers = (at.position, at.spacing, *parts, at.margin)
    return [integer_text(at.c), *map(_short, numbers)]


def _touch(at: Point) -> str:
    return {"+": "+1/2", "-": "-1/2", None: ""}[at.touch]


def _short(ball: "arb | None") -> str:
    """A number as a table shows it."""
    if ball is None:
        return ""
    text = ball_text(ball, _SHORT) or ""
    return text if text.strip("-0.") else "0"


def _cells(one: Geometry) -> list[str]:
    spacings: list[arb | None] = [at.spacing for at in one.points if at.c < one.problem.L]
    worst = one.largest_error if one.least_margin is None else one.least_margin
    touches = " ".join(f"{size_text(at.c)}{at.touch}" for at in one.points if at.touch)
    named = "" if one.least_margin is None else "margin "
    return [
        placement_text(one.problem),
        size_text(one.problem.d),
        size_text(one.problem.L),
        one.shape.kind,
        _in_use(one),
        _short(spacings[0] if spacings else None),
        _short(spacings[-1] if spacings else None),
        f"{named}{_short(worst)}",
        one.reason or touches,
    ]


def _in_use(one: Geometry) -> str:
    from math import degrees

    extent = extent_record(one)
    if one.shape.kind == "segment":
        used, about = extent["fraction_in_use"], extent["fraction_estimate"]
        near = f" (4/L: {100 * float(about):.4g}%)" if about else ""
        return f"{100 * float(used or 0):.4g}%{near}"
    if one.shape.kind == "arc":
        half, about = extent["half_angle"], extent["half_angle_estimate"]
        near = f" (sqrt(8/L): {degrees(float(about)):.4g})" if about else ""
        return f"+-{degrees(float(half or 0)):.4g} deg{near}"
    return "all of it"


def _latex(found: Sequence[Geometry]) -> str:
    """The summary of several placements, or the counts of one."""
    if len(found) > 1:
        heads = ["placement", "$d$", "$L$", *_HEADS[3:-1]]
        rows = [_cells(one)[:-1] for one in found]
        cells = [[cell.replace("%", r"\%").replace("+-", r"$\pm$") for cell in row] for row in rows]
        return output.latex_text(heads, cells, "lrrlllll")
    sheet = _count_sheet(found[0])
    heads = [_LATEX_HEADS.get(head, head) for head in sheet.heads]
    cells = [[output.latex_number(cell) if cell else "" for cell in row] for row in sheet.cells]
    return output.latex_text(heads, cells, "r" + "l" * (len(heads) - 1))

"""One row of `bmin geometry`: the stable names of JSON and CSV, documented in docs/output.md."""

from typing import TYPE_CHECKING, Any

from bmin.records import problem_record
from bminlib.decimals import integer_text
from bminlib.extrapolation import Estimate
from bminlib.geometry import Geometry, Point

if TYPE_CHECKING:
    from flint import arb

_DIGITS = 15
_SHAPE_FIELDS = (
    "score_ratio", "gap", "filler_ratio", "filler_gap", "length", "radius", "kappa", "c0", "phi",
    "filler_size", "slope", "filler_slope", "offset",
)  # fmt: skip
_READ_FIELDS = ("gap", "filler_gap", "radius", "phi", "slope", "filler_slope", "offset")


def geometry_record(one: Geometry) -> dict[str, Any]:
    """A placement under the names of docs/output.md, with its points."""
    return summary_record(one) | {"points": [point_record(at) for at in one.points]}


def summary_record(one: Geometry) -> dict[str, Any]:
    """What there is to say of the whole."""
    record = problem_record(one.problem) | {"reason": one.reason, "shape": one.shape.kind}
    read = one.least_margin is None
    shape = {name: ball_text(getattr(one.shape, name, None)) for name in _SHAPE_FIELDS}
    if not read:  # a vector a class has no gap or radius of its own
        shape |= dict.fromkeys(_READ_FIELDS)
    worst = {
        "least_eps": ball_text(one.bend and one.bend.least_eps),
        "least_eps_error": ball_text(one.bend and one.bend.error),
        "largest_error": ball_text(one.largest_error),
        "least_margin": ball_text(one.least_margin),
    }
    return {**record, **shape, **extent_record(one), **worst}


def extent_record(one: Geometry) -> dict[str, str | None]:
    """How much of the segment or the circle the counts use."""
    from flint import arb

    record = dict.fromkeys(
        ("fraction_in_use", "fraction_estimate", "half_angle", "half_angle_estimate")
    )
    L, optimal = arb(one.problem.L), one.largest_error is not None
    ends = [one.shape.position(c) for c in (arb(0), L)]
    if one.shape.kind == "segment":
        estimate = 4 / L if optimal else None
        record |= {"fraction_in_use": ball_text(ends[1]), "fraction_estimate": ball_text(estimate)}
    if one.shape.kind == "arc":
        half, estimate = (ends[1] - ends[0]) / 2, (8 / L).sqrt() if optimal else None
        record |= {"half_angle": ball_text(half), "half_angle_estimate": ball_text(estimate)}
    return record


def point_record(at: Point) -> dict[str, Any]:
    """One count."""
    vector = at.vector
    return {
        "c": integer_text(at.c),
        "position": ball_text(at.position),
        "spacing": ball_text(at.spacing),
        "error": ball_text(at.error),
        "error_filled": ball_text(at.error_filled),
        "touch": at.touch,
        "class_main": ball_text(vector and vector.main),
        "class_side": ball_text(vector and vector.side),
        "class_bias": ball_text(vector and vector.bias),
        "class_norm": ball_text(vector and vector.norm),
        "margin": ball_text(at.margin),
    }


def ball_text(ball: "arb | None", digits: int = _DIGITS) -> str | None:
    """The number in a ball to `digits` significant digits, fewer where the ball is wide."""
    return None if ball is None else Estimate(ball).texts(digits)[0]

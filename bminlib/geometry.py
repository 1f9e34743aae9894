"""Where counts lie in the representation, and how the read-out sees them, count by count.

For a problem that is the optimum that B_min is reached with; for weights it is what they do. The
numbers are balls at a fixed working precision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from bminlib.bounds import b_min
from bminlib.errors import DomainError, shown
from bminlib.layer import Layer, ball_output
from bminlib.problem import CountingProblem
from bminlib.shapes import Shape, least_eps_ratio, least_error, optimal_shape
from bminlib.weight_shapes import weight_shape

if TYPE_CHECKING:
    from flint import arb

    from bminlib.weights import Weights

BITS = 256
EVERY_COUNT = 256  # up to this length every count is listed
_LISTED = 64
_MAX_CLASSES = 4096

Output = Callable[[int, int], "arb"]


class ClassVector(NamedTuple):
    """One class: its score is main x + side y + bias at a state (x, y); norm is |w_j|."""

    main: arb
    side: arb
    bias: arb
    norm: arb


@dataclass(frozen=True, slots=True)
class Point:
    """One count. spacing: the distance from its position to that of c + 1; None at c = L.

    error: yhat - c at m = 0, error_filled: at m = L - c; both None for a classification, which has
    a class vector and a margin instead (score of c less the greatest other, the least of both m).
    touch: "+" or "-" where the optimal error is +-1/2 at m = 0.
    """

    c: int
    position: arb
    spacing: arb | None
    error: arb | None = None
    error_filled: arb | None = None
    touch: str | None = None
    vector: ClassVector | None = None
    margin: arb | None = None


class Bend(NamedTuple):
    """What bounded scores allow: the least eps, and the least largest error at m = 0 there."""

    least_eps: arb
    error: arb


@dataclass(frozen=True, slots=True)
class Geometry:
    """The counts of one placement, ascending.

    A state at m = 0 is, for an arc, (x, y) = (sin theta, cos theta); for a segment (share, 1); for
    a line (c, 1). shape: for a classification as its last listed class reads the states.
    bend: for bare pre. reason: the broken inequality where nothing counts.
    """

    problem: CountingProblem
    shape: Shape
    points: tuple[Point, ...]
    bend: Bend | None = None
    reason: str | None = None

    @property
    def largest_error(self) -> arb | None:
        """The largest |yhat - c| among the points; None for a classification."""
        errors = [e for at in self.points for e in (at.error, at.error_filled) if e is not None]
        return _greatest([abs(error) for error in errors]) if errors else None

    @property
    def least_margin(self) -> arb | None:
        """The least margin among the points; None for a regression."""
        margins = [at.margin for at in self.points if at.margin is not None]
        return -_greatest([-margin for margin in margins]) if margins else None


def geometry(problem: CountingProblem, counts: Iterable[int] | None = None) -> Geometry:
    """The geometry at the optimum; for a classification that of explicit weights of norm 1.

    counts: which ones to list; None for all up to EVERY_COUNT, else an even choice and those that
    touch. Raises DomainError for a count beyond L, and where there is nothing to show.
    """
    from flint import arb, ctx

    if problem.readout == "classification":
        return _classification(problem, counts)
    with ctx.workprec(BITS + 4 * problem.L.bit_length()):
        bound = b_min(problem)
        shape = optimal_shape(bound)
        listed = _listed(problem.L, counts, [touch.c for touch in bound.active])
        touches = {touch.c: touch.side for touch in bound.active}
        points = _points(shape, listed, problem.L, lambda c, m: shape.yhat(arb(c), arb(m)))
        marked = [_touched(at, touches.get(at.c)) for at in points]
        return Geometry(problem, shape, tuple(marked), _bend(problem), bound.reason)


def geometry_of(weights: Weights, counts: Iterable[int] | None = None) -> Geometry:
    """The geometry of given weights.

    Raises DomainError for a count beyond L, and where targets don't move the state.
    """
    from flint import ctx

    problem = weights.problem
    if problem.readout == "classification":
        return _class_geometry(weights, counts)
    with ctx.workprec(BITS):
        layer = Layer.in_balls(weights)
        shape = weight_shape(layer, layer.vectors["w"], layer.b.item())
        listed = _listed(problem.L, counts, [])
        points = _points(shape, listed, problem.L, lambda c, m: ball_output(layer, c, m))
        return Geometry(problem, shape, tuple(points), _bend(problem))


def _listed(L: int, counts: Iterable[int] | None, besides: Sequence[int]) -> list[int]:
    """The counts to list, ascending."""
    if counts is not None:
        given = sorted(set(counts))
        if not given or given[0] < 0 or given[-1] > L:
            wrong = given[-1] if given and given[-1] > L else given[0] if given else None
            raise DomainError(f"count {shown(wrong)}: counts go from 0 to L = {L}; list others")
        return given
    if L <= EVERY_COUNT:
        return list(range(L + 1))
    return sorted({L * i // _LISTED for i in range(_LISTED + 1)} | set(besides))


def _points(shape: Shape, counts: Sequence[int], L: int, yhat: Output) -> list[Point]:
    return [
        Point(c, *_place(shape, c, L), error=yhat(c, 0) - c, error_filled=yhat(c, L - c) - c)
        for c in counts
    ]


def _place(shape: Shape, c: int, L: int) -> tuple[arb, arb | None]:
    """(position, spacing) of a count."""
    from flint import arb

    here = shape.position(arb(c))
    return here, None if c == L else shape.position(arb(c + 1)) - here


def _touched(at: Point, side: str | None) -> Point:
    return Point(at.c, at.position, at.spacing, at.error, at.error_filled, side)


def _bend(problem: CountingProblem) -> Bend | None:
    if problem.norm != "pre" or problem.attention != "softmax":
        return None
    ratio = least_eps_ratio(problem)
    return None if ratio is None else Bend(1 / ratio, least_error(problem.L, ratio))


def _classification(problem: CountingProblem, counts: Iterable[int] | None) -> Geometry:
    from bminlib.witness import witness

    if problem.L > _MAX_CLASSES:
        raise DomainError(
            f"L={shown(problem.L)}: a classification head has L + 1 vectors, shown up to "
            f"L = {_MAX_CLASSES}; lower L"
        )
    return _class_geometry(witness(problem, Fraction(1)), counts)


def _class_geometry(weights: Weights, counts: Iterable[int] | None) -> Geometry:
    """States as for any read-out; each listed count with its class vector and its margin."""
    from flint import ctx

    from bminlib.class_margins import class_margins

    problem = weights.problem
    listed = _listed(problem.L, counts, [])
    margins = class_margins(weights, listed)
    with ctx.workprec(BITS):
        layer = Layer.in_balls(weights)
        points, shape = [], None
        for c, margin in zip(listed, margins, strict=True):
            shape = weight_shape(layer, layer.vectors["W"][c], layer.b[c])
            vector = _class_vector(shape, layer, c)
            points.append(Point(c, *_place(shape, c, problem.L), vector=vector, margin=margin))
    if shape is None:
        raise TypeError("at least one count is listed")
    return Geometry(problem, shape, tuple(points))


def _class_vector(shape: Shape, layer: Layer, c: int) -> ClassVector:
    from flint import arb

    row = layer.vectors["W"][c]
    norm = sum((x * x for x in row), arb(0)).sqrt()
    if shape.kind == "arc":
        main, side = shape.radius * shape.phi.cos(), shape.radius * shape.phi.sin()
        return ClassVector(main, side, shape.offset, norm)
    main = shape.gap if shape.kind == "segment" else shape.slope
    return ClassVector(main, arb(0), shape.offset, norm)


def _greatest(balls: Sequence[arb]) -> arb:
    greatest = balls[0]
    for ball in balls[1:]:
        greatest = greatest.max(ball)
    return greatest

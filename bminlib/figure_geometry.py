"""The figure of `bmin geometry`: where the counts lie, and what the read-out makes of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from bminlib.figure_errors import draw_errors, draw_margins
from bminlib.figure_rates import look_of, placement_name
from bminlib.figures import GREY
from bminlib.geometry import Geometry
from bminlib.shapes import Shape

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (7.2, 3.3)
_WIDE = math.radians(35)  # an arc this wide is drawn whole, a narrower one enlarged
_MANY = 24


def geometry_drawing(geometry: Geometry, note: str) -> Callable[[Figure], None]:
    """A drawing of one placement's counts and errors; `note` is its title."""

    def draw(figure: Figure) -> None:
        left = figure.add_axes((0.015, 0.04, 0.43, 0.84))
        right = figure.add_axes((0.53, 0.15, 0.455, 0.73))
        left.set_axis_off()
        left.set_xlim(-1.08, 1.08)
        left.set_ylim(-1.0, 1.0)
        left.set_aspect("equal")
        figure.text(0.02, 0.93, note, fontsize=9.5)
        if geometry.shape.kind == "arc":
            _draw_arc(left, geometry)
        else:
            _draw_segment(left, geometry)
        if geometry.least_margin is None:
            draw_errors(right, geometry)
            return
        draw_margins(right, geometry)
        if geometry.shape.kind != "arc":
            _draw_classes(figure.add_axes((0.075, 0.12, 0.25, 0.26)), geometry)

    return draw


def title_of(geometry: Geometry) -> str:
    """For example `softmax, post learned, regression, L = 64, d = 64`."""
    problem = geometry.problem
    name = placement_name(problem)
    return f"{name}, {problem.readout}, $L$ = {problem.L}, $d$ = {problem.d}"


def _draw_arc(axes: Axes, geometry: Geometry) -> None:
    """The circle with the arc in use; a narrow arc is enlarged above it."""
    angles = [float(at.position) for at in geometry.points]
    span = max(map(abs, angles))
    outward = [(math.sin(a), math.cos(a)) for a in angles]
    if span >= _WIDE:
        centre, radius = (0.0, -0.1), 0.72
        _circle(axes, centre, radius, angles, geometry)
        _marks(axes, _on_circle(centre, radius, angles), outward, geometry)
        return
    scale = 0.95 / math.sin(span)
    spots = [(scale * math.sin(a), 0.42 + scale * (math.cos(a) - 1)) for a in angles]
    axes.plot(*zip(*spots, strict=True), color=GREY, lw=0.8, zorder=1)
    _marks(axes, spots, outward, geometry)
    centre, radius = (0.0, -0.56), 0.4
    _circle(axes, centre, radius, angles, geometry)
    ends = _on_circle(centre, radius, [angles[0], angles[-1]])
    for (x, y), (u, v) in zip(ends, (spots[0], spots[-1]), strict=True):
        axes.plot([x, u], [y, v], color=GREY, lw=0.5, ls=":", zorder=0)
    _readout_arrow(axes, geometry, 0.74)


def _circle(
    axes: Axes,
    centre: tuple[float, float],
    radius: float,
    angles: Sequence[float],
    geometry: Geometry,
) -> None:
    """A circle, the arc in use, and its half-angle."""
    turn = [math.tau * i / 180 for i in range(181)]
    axes.plot(*zip(*_on_circle(centre, radius, turn), strict=True), color="#bbbbbb", lw=0.8)
    used = [angles[0] + (angles[-1] - angles[0]) * i / 60 for i in range(61)]
    colour = look_of(geometry.problem)[0]
    axes.plot(*zip(*_on_circle(centre, radius, used), strict=True), color=colour, lw=2.2)
    for angle in (angles[0], angles[-1], 0.0):
        ((x, y),) = _on_circle(centre, radius, [angle])
        axes.plot([centre[0], x], [centre[1], y], color=GREY, lw=0.6, ls="-" if angle else ":")
    _fan(axes, centre, 0.9 * radius, geometry)
    half = math.degrees(abs(angles[-1] - angles[0]) / 2)
    text = rf"half-angle {half:.3g}$\degree$"
    drop = 0.06 if geometry.least_margin is None else radius + 0.03
    axes.text(centre[0], centre[1] - drop, text, ha="center", va="top", fontsize=8.5)


def _on_circle(
    centre: tuple[float, float], radius: float, angles: Sequence[float]
) -> list[tuple[float, float]]:
    """Points at these angles from the top, clockwise."""
    x, y = centre
    return [(x + radius * math.sin(a), y + radius * math.cos(a)) for a in angles]


def _draw_segment(axes: Axes, geometry: Geometry) -> None:
    """The counts on their segment or line, and below it what the whole is."""
    places = [float(at.position) for at in geometry.points]
    height = 0.32 if geometry.least_margin is None else 0.6
    spots = [(1.9 * place / places[-1] - 0.95, height) for place in places]
    axes.plot([-0.95, 0.95], [height, height], color=GREY, lw=0.8, zorder=1)
    _marks(axes, spots, [(0.0, 1.0)] * len(spots), geometry)
    _readout_arrow(axes, geometry, 0.74)
    if geometry.shape.kind == "line":
        text = "equally spaced, a step a target"
        axes.text(0, height - 0.2, text, ha="center", va="top", fontsize=8.5)
    else:
        _whole_segment(axes, geometry, places[-1], height)


def _whole_segment(axes: Axes, geometry: Geometry, most: float, above: float) -> None:
    """The segment from v_s to v_t, the part in use thick, with lines to its enlargement."""
    height = above - (0.67 if geometry.least_margin is None else 0.4)
    end = 1.9 * most - 0.95
    colour = look_of(geometry.problem)[0]
    axes.plot([-0.95, 0.95], [height, height], color="#bbbbbb", lw=1.2)
    axes.plot([-0.95, end], [height, height], color=colour, lw=3, solid_capstyle="butt")
    for x, u in ((-0.95, -0.95), (end, 0.95)):
        axes.plot([x, u], [height + 0.02, above - 0.04], color=GREY, lw=0.5, ls=":", zorder=0)
    axes.text(-0.95, height - 0.08, "$v_s$", ha="center", va="top")
    axes.text(0.95, height - 0.08, "$v_t$", ha="center", va="top")
    share = f"{100 * most:.3g}% of the segment in use"
    axes.text(0, height - 0.1, share, ha="center", va="top", fontsize=8.5)


def _fan(axes: Axes, origin: tuple[float, float], reach: float, geometry: Geometry) -> None:
    """The class vectors in the plane of the circle, the longest of length `reach`."""
    vectors = [(at.c, at.vector) for at in geometry.points if at.vector is not None]
    ends = [(c, float(vector.main), float(vector.side)) for c, vector in vectors]
    longest = max((math.hypot(x, y) for _, x, y in ends), default=1.0)
    for c, x, y in ends:
        tip = (origin[0] + reach * x / longest, origin[1] + reach * y / longest)
        axes.plot(*zip(origin, tip, strict=True), color="#999999", lw=0.5, zorder=0)
        if c == geometry.problem.L:
            axes.annotate(
                f"$w_{{{c}}}$", tip, (3, -1), textcoords="offset points",
                fontsize=8, color="#555555", va="top",
            )  # fmt: skip


def _draw_classes(axes: Axes, geometry: Geometry) -> None:
    """Class vectors over one-dimensional states: what a step along them adds to each score."""
    vectors = [(at.c, at.vector) for at in geometry.points if at.vector is not None]
    counts = [c for c, _ in vectors]
    for name, values, dash in (
        ("along the states", [float(vector.main) for _, vector in vectors], "-"),
        ("constant", [float(vector.bias) for _, vector in vectors], (0, (4, 3))),
    ):
        axes.plot(counts, values, color="black", lw=0.9, ls=dash)
        axes.annotate(
            name, (counts[-1], values[-1]), (3, 0), textcoords="offset points",
            fontsize=7.5, va="center",
        )  # fmt: skip
    axes.tick_params(labelsize=7)
    axes.set_title("score of class $j$", fontsize=8.5)


def _marks(
    axes: Axes,
    spots: Sequence[tuple[float, float]],
    outward: Sequence[tuple[float, float]],
    geometry: Geometry,
) -> None:
    """A dot a count, the touching ones open, with their numbers where there is room."""
    colour = look_of(geometry.problem)[0]
    size = 4.0 if len(spots) <= _MANY else 2.2
    axes.plot(*zip(*spots, strict=True), "o", color=colour, ms=size, mew=0, zorder=3)
    numbers = _numbers(geometry)
    for at, (x, y), (u, v) in zip(geometry.points, spots, outward, strict=True):
        if at.touch is not None:
            axes.plot([x], [y], "o", mfc="white", color=colour, ms=4.6, mew=1.1, zorder=4)
        if at.c in numbers:
            axes.annotate(
                numbers[at.c], (x, y), (10 * u, 10 * v), textcoords="offset points",
                ha="center", va="center", fontsize=8,
            )  # fmt: skip


def _numbers(geometry: Geometry) -> dict[int, str]:
    """What is written at a count: its number at the ends, where it touches, and where few are.

    Counts too close to each other share one text.
    """
    points = geometry.points
    few = len(points) <= 10
    ends = (points[0].c, points[-1].c)
    shown = [at for at in points if few or at.c in ends or at.touch is not None]
    room = abs(float(points[-1].position) - float(points[0].position)) / 40
    texts: dict[int, str] = {}
    first, last = shown[0], shown[0]
    for at in shown:
        if float(at.position) - float(last.position) > room:
            first = at
        texts[first.c] = f"{texts[first.c]}, {at.c}" if first.c in texts else str(at.c)
        last = at
    return texts


def _readout_arrow(axes: Axes, geometry: Geometry, height: float) -> None:
    """The direction that raises yhat, as far as it is known to lie along the counts."""
    if geometry.least_margin is not None:
        return
    x, y = _direction(geometry.shape)
    axes.annotate(
        "",
        (0.32 * x, height + 0.32 * y),
        (-0.32 * x, height - 0.32 * y),
        arrowprops={"arrowstyle": "-|>", "color": "black", "lw": 0.9, "shrinkA": 0, "shrinkB": 0},
    )
    axes.text(0, height + 0.06, "read-out direction", ha="center", va="bottom", fontsize=8.5)


def _direction(shape: Shape) -> tuple[float, float]:
    """Where yhat rises: along the arc's tangent turned by phi, or along the segment."""
    if shape.kind == "arc":
        return math.cos(float(shape.phi)), math.sin(float(shape.phi))
    rise = shape.gap if shape.kind == "segment" else shape.slope
    return (1.0 if float(rise.mid()) >= 0 else -1.0), 0.0

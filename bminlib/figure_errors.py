"""The right panel of `bmin geometry`: the error of each count, or the margin of each class."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bminlib.figure_rates import look_of
from bminlib.figures import GREY, VERMILION
from bminlib.geometry import BITS, Geometry
from bminlib.shapes import Segment, least_eps_ratio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

_SAMPLES = 600
_MANY = 65
_WIDE_RANGE = 5


def draw_errors(axes: Axes, geometry: Geometry) -> None:
    """yhat - c over c, between the lines +-1/2; the touching counts with their number."""
    problem = geometry.problem
    colour = look_of(problem)[0]
    counts = [at.c for at in geometry.points]
    errors = [float(at.error) for at in geometry.points if at.error is not None]
    filled = [float(at.error_filled) for at in geometry.points if at.error_filled is not None]
    for edge in (-0.5, 0.5):
        axes.axhline(edge, color="black", lw=0.8, ls=(0, (4, 3)), zorder=1)
    _draw_curve(axes, geometry, colour)
    _draw_filled(axes, counts, errors, filled)
    axes.plot(counts, errors, "o", color=colour, ms=2.6 if len(counts) <= _MANY else 1.6, mew=0)
    _name_touches(axes, geometry, colour)
    reach = max(0.62, 1.15 * max(map(abs, [*errors, *filled])))
    _bend_curve(axes, geometry)
    axes.set_ylim(-reach, reach)
    if geometry.problem.L <= 10:
        axes.set_xticks(range(geometry.problem.L + 1))
    axes.set_xlabel("count $c$")
    axes.set_ylabel(r"error $\hat y - c$")
    title = "error of the read-out, $m = 0$ fillers"
    axes.set_title(f"no weights count: {geometry.reason}" if geometry.reason else title)


def draw_margins(axes: Axes, geometry: Geometry) -> None:
    """The margin of each count; a misread one is a cross at the size of what it lacks."""
    colour = look_of(geometry.problem)[0]
    margins = [(at.c, float(at.margin)) for at in geometry.points if at.margin is not None]
    right = [(c, margin) for c, margin in margins if margin > 0]
    wrong = [(c, -margin) for c, margin in margins if margin <= 0]
    if right:
        axes.plot(*zip(*right, strict=True), "o-", color=colour, ms=2.4, mew=0, lw=0.8)
    if wrong:
        axes.plot(*zip(*wrong, strict=True), "x", color=VERMILION, ms=4)
    sizes = [abs(margin) for _, margin in margins if margin]
    if sizes and max(sizes) > _WIDE_RANGE * min(sizes):
        axes.set_yscale("log")
    else:
        axes.set_ylim(0, 1.15 * max(sizes, default=1.0))
    axes.set_xlabel("count $c$")
    axes.set_ylabel("score of $c$ less the next")
    axes.set_title("margin of each class, the worst $m$" + "; crosses: misread by" * bool(wrong))


def _draw_filled(
    axes: Axes, counts: Sequence[int], errors: Sequence[float], filled: Sequence[float]
) -> None:
    """The error at m = L - c, where that is another curve."""
    if max(abs(a - b) for a, b in zip(errors, filled, strict=True)) <= 1e-6:
        return
    axes.plot(counts, filled, color=GREY, lw=0.8, zorder=2)
    i = len(counts) // 3
    axes.annotate(
        "with $m = L - c$ fillers", (counts[i], filled[i]), (4, 3),
        textcoords="offset points", va="bottom", color=GREY, fontsize=8,
    )  # fmt: skip


def _draw_curve(axes: Axes, geometry: Geometry, colour: str) -> None:
    """The error at real c, m = 0."""
    from flint import arb, ctx

    shape, L = geometry.shape, geometry.problem.L
    if shape.kind == "arc" and shape.kappa is None:
        return  # in the limit of a step there is nothing between the counts
    with ctx.workprec(BITS + 4 * L.bit_length()):
        places = [arb(L) * i / _SAMPLES for i in range(_SAMPLES + 1)]
        errors = [float((shape.yhat(c, arb(0)) - c).mid()) for c in places]
    axes.plot([float(c) for c in places], errors, color=colour, lw=0.9, zorder=2)


def _name_touches(axes: Axes, geometry: Geometry, colour: str) -> None:
    touching = [at for at in geometry.points if at.touch is not None]
    spots = [(at.c, float(at.error)) for at in touching if at.error is not None]
    for i, (at, (c, error)) in enumerate(zip(touching, spots, strict=True)):
        axes.plot([c], [error], "o", mfc="white", color=colour, ms=5, mew=1.1, zorder=5)
        crowded = i + 1 < len(spots) and spots[i + 1][0] - c < 0.05 * geometry.problem.L
        above = at.touch == "+"
        axes.annotate(
            str(c), (c, error), (-3 if crowded else 0, 6 if above else -6),
            textcoords="offset points", fontsize=8,
            ha="right" if crowded else "center" if not _follows(spots, i, geometry) else "left",
            va="bottom" if above else "top",
        )  # fmt: skip


def _follows(spots: Sequence[tuple[int, float]], i: int, geometry: Geometry) -> bool:
    return i > 0 and spots[i][0] - spots[i - 1][0] < 0.05 * geometry.problem.L


def _bend_curve(axes: Axes, geometry: Geometry) -> None:
    """For bare pre: the best read-out at the least eps that bounded scores attain."""
    from flint import arb, ctx

    problem, shape = geometry.problem, geometry.shape
    if geometry.bend is None or not isinstance(shape, Segment) or geometry.reason is not None:
        return
    with ctx.workprec(BITS):
        a = least_eps_ratio(problem)
        if a is None:
            return
        L, t = problem.L, geometry.bend.error
        places = [arb(L) * i / _SAMPLES for i in range(_SAMPLES + 1)]
        errors = [float(((a + L) * c / (a + c) - c - t).mid()) for c in places]
    axes.plot([float(c) for c in places], errors, color=GREY, lw=0.8, zorder=2)
    axes.annotate(
        rf"at the least $\epsilon$: within ${_power(float(t))}$", (L / 2, 0), (0, 4),
        textcoords="offset points", color=GREY, fontsize=8, ha="center",
    )  # fmt: skip


def _power(number: float) -> str:
    """Two digits in mathtext."""
    mantissa, _, exponent = f"{number:.1e}".partition("e")
    return rf"{mantissa}\times10^{{{int(exponent)}}}"

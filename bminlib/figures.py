"""Figures as bytes: one style, no state kept in matplotlib, the same bytes on every run.

A drawing is a function that fills a matplotlib Figure; `render` gives it a figure in the style of
figures.mplstyle and turns the result into PNG, PDF or SVG. Matplotlib is loaded here and when
something is drawn only.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bminlib.errors import DomainError
from bminlib.whole_files import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = (".svg", ".pdf", ".png")
# After Okabe and Ito, and Tol: apart for the colour-blind, dark enough for text on white.
BLACK, BLUE, VERMILION, GREEN = "#000000", "#0072B2", "#D55E00", "#00805D"
PURPLE, GOLD, GREY = "#AA4499", "#A67C00", "#666666"
_STYLE = Path(__file__).with_name("figures.mplstyle")
_UNDATED: dict[str, dict[str, Any]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
    "png": {},
}

Drawing = Callable[["Figure"], None]
Size = tuple[float, float]


def render(drawing: Drawing, size: Size, kind: str, dpi: float | None = None) -> bytes:
    """The drawing as the bytes of a file; `size` in inches, `kind` svg, pdf or png."""
    from matplotlib import style
    from matplotlib.figure import Figure

    with style.context(_STYLE, after_reset=True):
        figure = Figure(figsize=size)
        drawing(figure)
        file = io.BytesIO()
        options: dict[str, Any] = {} if dpi is None else {"dpi": dpi}
        figure.savefig(file, format=kind, metadata=_UNDATED[kind], **options)
    return file.getvalue()


def save(drawing: Drawing, size: Size, path: str | os.PathLike[str]) -> None:
    """Write the drawing to `path`, whole or not at all, in the format that its suffix names.

    Raises DomainError for another suffix, or a place that can't be written to.
    """
    target = check_target(path)
    write_whole(target, render(drawing, size, target.suffix.lower()[1:]))


def check_target(path: str | os.PathLike[str]) -> Path:
    """`path` if its suffix names a format of figures; raises DomainError for any other."""
    target = Path(path)
    if target.suffix.lower() not in FORMATS:
        raise DomainError(
            f"{path}: a figure's name must end in {', '.join(FORMATS)}; pick one of these"
        )
    return target


class EndLabel(NamedTuple):
    """Text for the right end of a line, which is at (x, y) in data."""

    x: float
    y: float
    text: str
    colour: str


def label_ends(axes: Axes, labels: Sequence[EndLabel], gap: float, size: float = 8.5) -> None:
    """Write each label beside the right edge at the height of its line's end.

    Labels closer than `gap` points are moved apart as little as possible, in order; a thin line
    joins a label to its end where the two are apart.
    """
    ordered = sorted(labels, key=lambda label: label.y)
    heights = [_points(axes, label.x, label.y) for label in ordered]
    right = _points(axes, axes.get_xlim()[1], ordered[0].y)[0]
    for label, (x, y), height in zip(
        ordered, heights, spread([y for _, y in heights], gap), strict=True
    ):
        join = {"arrowstyle": "-", "color": label.colour, "lw": 0.6, "shrinkA": 0, "shrinkB": 1}
        axes.annotate(
            label.text,
            (label.x, label.y),
            (right - x + 9, height - y),
            textcoords="offset points",
            color=label.colour,
            fontsize=size,
            va="center",
            annotation_clip=False,
            arrowprops=join | {"relpos": (0, 0.5)},
        )


def spread(heights: Sequence[float], gap: float) -> list[float]:
    """Ascending heights at least `gap` apart, the closest to the given ones in least squares."""
    blocks: list[tuple[float, int]] = []  # (mean, size) of heights less their share of gaps
    for i, height in enumerate(heights):
        blocks.append((height - i * gap, 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (low, n), (high, k) = blocks[-2:]
            blocks[-2:] = [((low * n + high * k) / (n + k), n + k)]
    flat = [mean for mean, size in blocks for _ in range(size)]
    return [height + i * gap for i, height in enumerate(flat)]


def _points(axes: Axes, x: float, y: float) -> tuple[float, float]:
    """Data coordinates as points on the page."""
    inches = axes.figure.dpi_scale_trans.inverted().transform(axes.transData.transform((x, y)))
    return float(inches[0]) * 72, float(inches[1]) * 72

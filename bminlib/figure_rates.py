"""The figure of `bmin rates`: B_min against L for every placement, beside its law."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from bminlib.curves import Curve
from bminlib.figures import (
    BLACK,
    BLUE,
    GOLD,
    GREEN,
    GREY,
    PURPLE,
    VERMILION,
    EndLabel,
    label_ends,
)
from bminlib.problem import CountingProblem

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (6.6, 4.4)
_DENSE = 16  # up to here every integer has its mark
_LABEL_GAP = 11.5  # points
_ROOM_ON_THE_LEFT = 256  # from here on
_LOOKS = {
    ("softmax", "none", None): (BLACK, "o"),
    ("softmax", "pre", "bare"): (PURPLE, "D"),
    ("softmax", "pre", "learned"): (BLUE, "s"),
    ("softmax", "post", "bare"): (VERMILION, "^"),
    ("softmax", "post", "learned"): (GOLD, "v"),
    ("linear", "none", None): (GREEN, "o"),
}
_EXPONENTS = {"0": "", "1": "L", "2": "L^2"}


def look_of(problem: CountingProblem) -> tuple[str, str]:
    """The colour and the marker of a placement in every figure."""
    return _LOOKS.get((problem.attention, problem.norm, problem.affine), (GREY, "o"))


def rates_drawing(curves: Sequence[Curve], note: str) -> Callable[[Figure], None]:
    """A drawing of the curves that have a value > 0; `note` names what they share."""

    def draw(figure: Figure) -> None:
        axes = figure.add_axes((0.085, 0.115, 0.65, 0.80))
        last = max(one.lengths[-1] for one in curves)
        log_frame(axes, (1.8, last), [value for one in curves for value in one.values])
        axes.set_title(f"{note}; dashed: the asymptote")
        for one in curves:
            _draw_curve(axes, one)
        label_ends(axes, [_label(one) for one in curves if not _ends(one)], _LABEL_GAP)
        axes.text(
            0.985, 0.03, "classification: 0 at every $L$, under every placement",
            transform=axes.transAxes, ha="right", color=GREY, fontsize=8,
        )  # fmt: skip

    return draw


def placement_name(problem: CountingProblem) -> str:
    """For example `post learned` or `linear, none`."""
    affine = f" {problem.affine}" if problem.affine else ""
    attention = "" if problem.attention == "softmax" else f"{problem.attention}, "
    return f"{attention}{problem.norm}{affine}"


def law_text(curve: Curve) -> str:
    """The asymptote in plain text, for example `0.0221 L^(3/2)`."""
    if curve.law is None:
        return ""
    exponent = str(curve.law.exponent)
    power = {"0": "", "1": " L", "2": " L^2"}.get(exponent, f" L^({exponent})")
    return f"{curve.law.constant.decimal(3)}{power}"


def plain(text: str) -> str:
    """Text from elsewhere, safe from being taken for mathtext."""
    return text.replace("$", r"\$")


def log_frame(axes: Axes, lengths: tuple[float, float], values: Sequence[float]) -> None:
    """Logarithmic axes over these lengths and around these values, with room above."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlim(lengths)
    axes.set_ylim(min(values) / 1.6, max(values) * 2.5)
    first, last = (math.floor(math.log2(length)) for length in lengths)
    axes.set_xticks([1 << k for k in range(first + 1, last + 1, 1 + (last - first) // 8)])
    axes.xaxis.set_major_formatter(lambda x, _: _power_text(x) if last > 16 else f"{x:.0f}")
    axes.yaxis.set_minor_locator(LogLocator(subs="auto"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("greatest length $L$")
    axes.set_ylabel(r"least norm bound $B_{\min}(L)$")


def _power_text(x: float) -> str:
    return f"$2^{{{round(math.log2(x))}}}$"


def _draw_curve(axes: Axes, curve: Curve) -> None:
    colour, marker = look_of(curve.problem)
    axes.plot(curve.lengths, curve.values, color=colour, zorder=3)
    dense = sum(L <= _DENSE for L in curve.lengths)
    exact = curve.lengths[:dense], curve.values[:dense]
    axes.plot(*exact, marker, color=colour, ms=2.8, mew=0, zorder=4)
    if curve.law is not None:
        constant = float(curve.law.constant.ball(64))
        law = [constant * L ** float(curve.law.exponent) for L in curve.lengths]
        axes.plot(curve.lengths, law, color=colour, lw=0.8, ls=(0, (4, 3)), zorder=2)
    if _ends(curve):
        _mark_end(axes, curve, colour)


def _ends(curve: Curve) -> bool:
    return curve.window.ends == curve.lengths[-1]


def _mark_end(axes: Axes, curve: Curve, colour: str) -> None:
    """A cross at the last length that any weights count to, with the label of the curve."""
    end, value = curve.lengths[-1], curve.values[-1]
    axes.plot([end], [value], "x", color=colour, ms=6.5, mew=1.5, zorder=5, clip_on=False)
    beside = end >= _ROOM_ON_THE_LEFT
    between = " " if beside else "\n"
    axes.annotate(
        f"{_label(curve).text}\nno weights count{between}beyond $L$ = {end}",
        (end, value),
        (-9, 0) if beside else (0, 7),
        textcoords="offset points",
        color=colour,
        fontsize=8.5,
        ha="right" if beside else "center",
        va="center" if beside else "bottom",
        linespacing=1.25,
    )


def _label(curve: Curve) -> EndLabel:
    law = "" if curve.law is None else f"   ${_law(curve)}$"
    text = f"{placement_name(curve.problem)}{law}"
    return EndLabel(curve.lengths[-1], curve.values[-1], text, look_of(curve.problem)[0])


def _law(curve: Curve) -> str:
    """The asymptote in mathtext, its constant to three digits."""
    if curve.law is None:
        return ""
    mantissa, _, power_of_ten = curve.law.constant.decimal(3).partition("e")
    constant = rf"{mantissa}\times10^{{{int(power_of_ten)}}}" if power_of_ten else mantissa
    exponent = str(curve.law.exponent)
    power = _EXPONENTS.get(exponent, f"L^{{{exponent}}}")
    return rf"{constant}\,{power}"

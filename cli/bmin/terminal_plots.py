"""Plots made of characters, by plotext: each curve in its own letter, with a key below."""

import math
import sys
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_WIDTH, _HEIGHT = 100, 30
_ASCII = str.maketrans("┌┐└┘├┤┬┴┼─│", "+++++++++-|")


class Trace(NamedTuple):
    """Points of one curve, and its line in the key."""

    x: Sequence[float]
    y: Sequence[float]
    key: str


def log_log_plot(title: str, x_label: str, traces: Sequence[Trace]) -> str:
    """The traces over powers of two and of ten; ASCII where the terminal knows no more."""
    drawn = [
        Trace([math.log2(x) for x in trace.x], [math.log10(y) for y in trace.y], trace.key)
        for trace in traces
    ]
    left, right = _whole(x for trace in drawn for x in trace.x)
    low, high = _whole(y for trace in drawn for y in trace.y)
    x_ticks = {k: str(2**k) if right < 20 else f"2^{k}" for k in _steps(left, right, 8)}
    y_ticks = {k: f"1e{k}" for k in _steps(low, high, 10)}
    return _plot(title, x_label, drawn, x_ticks, y_ticks)


def linear_plot(title: str, x_label: str, traces: Sequence[Trace]) -> str:
    """The traces over plain axes."""
    return _plot(title, x_label, traces, None, None)


def _whole(numbers: Iterable[float]) -> tuple[int, int]:
    """The least and the greatest integer among the span of `numbers`."""
    listed = list(numbers)
    return math.ceil(min(listed)), math.floor(max(listed))


def _steps(first: int, last: int, most: int) -> range:
    return range(first, last + 1, 1 + (last - first) // most)


def _plot(
    title: str,
    x_label: str,
    traces: Sequence[Trace],
    x_ticks: dict[int, str] | None,
    y_ticks: dict[int, str] | None,
) -> str:
    import plotext

    figure = plotext.figure
    figure.clear()
    figure.theme("colorless")
    figure.plot_size(_WIDTH, _HEIGHT)
    for letter, trace in zip(_LETTERS, traces, strict=False):
        figure.draw(figure.signal(list(trace.x), list(trace.y), marker=letter))
    for axis, ticks in (("x", x_ticks), ("y", y_ticks)):
        if ticks is not None:
            figure.ruler(axis).ticks(list(ticks), list(ticks.values()))
    figure.title(title)
    figure.label(x_label)
    text = figure.build().string(colorless=True)
    keys = [f"  {letter}  {trace.key}" for letter, trace in zip(_LETTERS, traces, strict=False)]
    lines = [line.rstrip() for line in text.splitlines()]
    return _encodable("\n".join([*lines, *keys]))


def _encodable(text: str) -> str:
    """`text`, with ASCII frames where the encoding of standard output has no others."""
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return text.translate(_ASCII).encode("ascii", "replace").decode()
    return text

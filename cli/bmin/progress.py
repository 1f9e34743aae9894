"""Progress bars on standard error, where that is a terminal and the work is long."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")

_LONG_LIST = 200


def tracked(items: Iterable[T]) -> Iterable[T]:
    """The same items, with a bar while they are worked through if there are many."""
    listed = list(items)
    return _with_bar(listed) if len(listed) >= _LONG_LIST and sys.stderr.isatty() else listed


@contextmanager
def bar(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """A callback (done, total) that draws a bar; None where standard error is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def _with_bar(items: list[T]) -> Iterator[T]:
    from rich.console import Console
    from rich.progress import track

    yield from track(items, "counting", console=Console(stderr=True), transient=True)

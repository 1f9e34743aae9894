"""The live display of `bmin train` on standard error, where that is a terminal."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bmin.train_rows import model_text
from bminlib import b_min
from bminlib.train.batch import Look
from bminlib.train.conduct import Silent, Watcher
from bminlib.train.experiments import Experiment
from bminlib.train.outcomes import Outcome
from bminlib.train.plan import Plan

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


@contextmanager
def display(plan: Plan) -> Iterator[Watcher]:
    """A watcher that draws a line a batch in training and one for the sweep."""
    if not sys.stderr.isatty():
        yield Silent()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(20), TextColumn("{task.fields[state]}"))
    console = Console(stderr=True, highlight=False)
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as progress:
        yield Lines(plan, progress)


class Lines:
    """Level, step, loss, errors left and norm over B_min of each batch that is in training."""

    def __init__(self, plan: Plan, progress: "Progress") -> None:
        """Draw into `progress`."""
        self._plan = plan
        self._progress = progress
        self._tasks: dict[int, TaskID] = {}
        self._shares = dict.fromkeys(range(len(plan.batches)), 0.0)
        self._done = 0
        self._sweep = progress.add_task("all", total=sum(plan.cost), state=self._sweep_state())

    def look(self, number: int, look: Look) -> None:
        """A batch is so far."""
        if self._shares[number] == 1:
            return
        batch = self._plan.batches[number]
        if number not in self._tasks:
            self._tasks[number] = self._progress.add_task(_name(batch), total=look.steps, state="")
        state = _state(batch, look)
        self._progress.update(self._tasks[number], completed=look.step, state=state)
        self._advance(number, look.step / look.steps)

    def finished(self, number: int, outcomes: Sequence[Outcome]) -> None:
        """A batch is trained and written."""
        counted = sum(one.counts for one in outcomes)
        self._done += 1
        self._advance(number, 1.0)
        if number in self._tasks:
            self._progress.remove_task(self._tasks.pop(number))
        self._progress.console.print(
            f"{_name(self._plan.batches[number])}: {counted} of {len(outcomes)} seeds count, "
            f"{outcomes[0].seconds:.1f} s"
        )

    def _advance(self, number: int, share: float) -> None:
        self._shares[number] = max(share, self._shares[number])
        costs = zip(self._plan.cost, self._shares.values(), strict=True)
        done = sum(cost * part for cost, part in costs)
        self._progress.update(self._sweep, completed=done, state=self._sweep_state())

    def _sweep_state(self) -> str:
        return f"{self._done} of {len(self._plan.batches)} batches"


def _name(batch: Experiment) -> str:
    return f"{model_text(batch.problem)}, {batch.mode}, L = {batch.problem.L}"


def _state(batch: Experiment, look: Look) -> str:
    bound = b_min(batch.problem)
    least = float(bound.enclosure(17)) if bound.feasible else 0.0
    norm = f"B/B_min {look.norm / least:.4f}" if least else f"norm {look.norm:.3g}"
    return f"step {look.step}  loss {look.loss:.3g}  errors left {look.wrong}  {norm}"

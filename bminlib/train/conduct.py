"""A sweep: batches go out to a pool, finished ones come in and are written at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from bminlib.errors import DomainError
from bminlib.train.batch import Batch, Look, Trained
from bminlib.train.experiments import Experiment
from bminlib.train.outcomes import Outcome
from bminlib.train.plan import Plan, plan
from bminlib.train.pools import Pool
from bminlib.train.settings import Settings
from bminlib.train.store import Store

_SECONDS_A_LOOK = 0.2
_DEATHS = 3  # in a row, with nothing finished in between

Result: TypeAlias = "Future[tuple[Trained, ...]]"


class Watcher(Protocol):
    """Who is told how a sweep goes; batches have the numbers of their places in the plan."""

    def look(self, number: int, look: Look) -> None:
        """A batch is so far."""

    def finished(self, number: int, outcomes: Sequence[Outcome]) -> None:
        """A batch is trained and written."""


class Silent:
    """A watcher that says nothing."""

    def look(self, number: int, look: Look) -> None:
        """Nothing."""

    def finished(self, number: int, outcomes: Sequence[Outcome]) -> None:
        """Nothing."""


@dataclass(slots=True)
class Sweep:
    """The batches of a plan on their way through a pool into a store that is open."""

    plan: Plan
    settings: Settings
    store: Store
    pool: Pool
    watcher: Watcher = field(default_factory=Silent)
    _waiting: dict[int, Experiment] = field(default_factory=dict)
    _running: dict[Result, int] = field(default_factory=dict)
    _deaths: int = 0

    def run(self) -> None:
        """Train every batch. Interrupted, it loses what is not finished and nothing else.

        Raises ChildProcessError where workers keep dying, DomainError where a batch can't be
        trained.
        """
        self._waiting = dict(enumerate(self.plan.batches))
        while self._waiting or self._running:
            for number in self._ready():
                self._submit(number)
            done, _ = wait(self._running, _SECONDS_A_LOOK, FIRST_COMPLETED)
            for number, look in self.pool.reports():
                self.watcher.look(number, look)
            if any(self._lost(future) for future in done):
                self._revive()
                done = {future for future in self._running if future.done()}
            for future in done:
                self._take(future)

    def _ready(self) -> list[int]:
        """The numbers of the batches whose start is there."""
        unfinished = [
            *self._waiting.values(),
            *(self.plan.batches[n] for n in self._running.values()),
        ]
        keys = {one.key for one in unfinished}
        return [
            n for n, one in self._waiting.items() if one.warm is None or one.warm.key not in keys
        ]

    def _submit(self, number: int) -> None:
        experiment = self._waiting.pop(number)
        warm = None
        if experiment.warm is not None:
            warm = tuple(self.store.arrays(one) for one in experiment.warm.together)
        batch = Batch(experiment, self.settings, warm)
        self._running[self.pool.submit(number, batch)] = number

    def _take(self, future: Result) -> None:
        """Write what a batch gave, or line it up again if its worker died."""
        number = self._running.pop(future)
        if self._lost(future):
            self._waiting[number] = self.plan.batches[number]
            return
        try:
            trained = future.result()
        except ImportError as error:
            raise DomainError(
                f"a worker can't train, {error}; install bminlib[train] where the workers are"
            ) from error
        self.store.add(trained, {one.key for one in self.plan.wanted})
        self._deaths = 0
        self.watcher.finished(number, [one.outcome for one in trained])

    def _lost(self, future: Result) -> bool:
        if future.cancelled():
            return True
        error = future.exception()
        return error is not None and self.pool.lost(error)

    def _revive(self) -> None:
        self._deaths += 1
        if self._deaths > _DEATHS:
            raise ChildProcessError(
                f"workers died {self._deaths} times with nothing finished in between; "
                "what was finished is kept, call again to go on"
            )
        self.pool.revive()


def conduct(
    wanted: Sequence[Experiment],
    store: Store,
    settings: Settings,
    make_pool: Callable[[int], Pool],
    watch: Callable[[Plan], AbstractContextManager[Watcher]],
) -> None:
    """Train what is missing of `wanted` into a store, and write each batch as it is finished.

    make_pool: a pool for so many batches. watch: a watcher of the plan.
    Raises DomainError, ChildProcessError as `Sweep.run`, and InterruptedError after Ctrl-C.
    """
    with store.opened(settings):
        todo = plan(wanted, store, settings)
        if not todo.batches:
            return
        pool = make_pool(len(todo.batches))
        sweep = Sweep(todo, settings, store, pool)
        try:
            with watch(todo) as sweep.watcher:
                sweep.run()
        except KeyboardInterrupt as interrupt:
            kept = sum(store.finished(one) for one in wanted)
            raise InterruptedError(
                f"interrupted; {kept} of {len(wanted)} runs are finished and kept in {store.path}, "
                "the same call goes on from there"
            ) from interrupt
        finally:
            pool.close()

"""What `bmin train` does: plan, train, draw, print."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bmin.output import Format
from bmin.train_display import display
from bmin.train_rows import show_training
from bminlib.errors import DomainError
from bminlib.figures import save
from bminlib.problem import CountingProblem
from bminlib.train.compare import growth
from bminlib.train.conduct import conduct
from bminlib.train.experiments import Experiment, Mode, require_jax
from bminlib.train.figure import SIZE, training_drawing
from bminlib.train.plan import experiments
from bminlib.train.pools import ClusterPool, LocalPool, Pool, default_jobs
from bminlib.train.settings import Settings
from bminlib.train.store import FIGURE, Store

MAX_JOBS = 1024


class Where(NamedTuple):
    """Where runs are trained: in so many processes (None: one a processor), or on a cluster."""

    jobs: int | None
    scheduler: str | None

    def pool(self, batches: int) -> Pool:
        """A pool for so many batches."""
        if self.scheduler is not None:
            return ClusterPool(self.scheduler)
        return LocalPool(min(self.jobs or default_jobs(), batches))

    def check(self) -> None:
        """Raises DomainError for what can't be."""
        if self.scheduler is not None and self.jobs is not None:
            raise DomainError(
                "--jobs and --scheduler: a cluster has its own workers; leave one of the two out"
            )
        if self.jobs is not None and not 1 <= self.jobs <= MAX_JOBS:
            raise DomainError(f"--jobs {self.jobs}: from 1 to {MAX_JOBS} processes can run; give 2")
        if self.scheduler is None:
            require_jax()


def wanted_runs(
    problems: Sequence[CountingProblem], mode: str, temperature: str, seeds: int
) -> list[Experiment]:
    """Every run that the options ask for."""
    modes: list[Mode] = []
    if mode in ("plain", "both"):
        warm: list[Mode] = [] if temperature == "annealed" else ["plain T=1"]
        modes += warm if temperature == "1" else ["plain", *warm]
    if mode in ("least", "both"):
        modes.append("least")
    return experiments(problems, modes, seeds)


def train(
    wanted: Sequence[Experiment], out: str, settings: Settings, where: Where, style: Format
) -> int:
    """Train what is missing, draw the figure and print the tables."""
    where.check()
    store = Store(out)
    conduct(wanted, store, settings, where.pool, display)
    keys = {one.key for one in wanted}
    series = growth(store.outcomes)
    if series:
        figure = Path(out) / FIGURE
        save(training_drawing(series), SIZE, figure)
        sys.stderr.write(f"bmin: wrote {figure}\n")
    return show_training(
        store, [one for one in store.outcomes if one.experiment.key in keys], style
    )

"""One batch of seeds: trained, then verified, each seed an outcome of its own."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from bminlib.errors import DomainError
from bminlib.train.experiments import Experiment, require_jax
from bminlib.train.outcomes import Outcome, judge
from bminlib.train.settings import Settings

if TYPE_CHECKING:
    import numpy as np

    from bminlib.train.descent import Descent, State

Arrays = Mapping[str, "np.ndarray"]
_ONE_THREAD = "--xla_cpu_multi_thread_eigen=false"
_SECONDS_A_REPORT = 0.3


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """What one worker does at a time: the seeds of `experiment.together`.

    warm: the arrays of each seed's `warm` experiment, where it has one.
    """

    experiment: Experiment
    settings: Settings
    warm: tuple[Arrays, ...] | None = None


class Look(NamedTuple):
    """How far a batch is: of the seed that is furthest behind the loss and the pairs it gets wrong.

    norm: the least largest norm among the seeds.
    """

    step: int
    steps: int
    loss: float
    wrong: int
    norm: float


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """A seed's weights, by name, b among them, and what became of it."""

    arrays: dict[str, np.ndarray]
    outcome: Outcome


def train(batch: Batch, report: Callable[[Look], None]) -> tuple[Trained, ...]:
    """Train a batch; the same batch gives the same weights bit for bit on one machine.

    Raises DomainError where jax is missing, or the settings leave no data.
    """
    require_jax()
    one_thread()
    import jax

    began = time.perf_counter()
    with jax.enable_x64(True):
        state, steps = _descend(batch, report)
        kept = {name: _array(x) for name, x in state.kept.items()}
    counts, last = state.counts.tolist(), state.step.tolist()
    seconds = time.perf_counter() - began
    trained = []
    for i, experiment in enumerate(batch.experiment.together):
        arrays = {name: x[i] for name, x in kept.items()}
        done = last[i] if counts[i] and not experiment.shrinks else steps
        trained.append(Trained(arrays, judge(experiment, arrays, done, seconds)))
    return tuple(trained)


def one_thread() -> None:
    """Ask XLA, unless it has started, for one thread a process: sums then have a fixed order."""
    flags = os.environ.get("XLA_FLAGS", "")
    if _ONE_THREAD not in flags:
        os.environ["XLA_FLAGS"] = f"{flags} {_ONE_THREAD} intra_op_parallelism_threads=1".strip()


def _descend(batch: Batch, report: Callable[[Look], None]) -> tuple[State, int]:
    """The last states, and how many steps were taken."""
    from bminlib.train.descent import Descent

    descent = Descent.of(batch.experiment, batch.settings)
    state, steps = _start(descent, batch), descent.recipe.steps
    done, count = 0, 1
    while done < steps and (descent.experiment.shrinks or not state.counts.all()):
        began = time.perf_counter()
        state, look = descent.advance(state, done, count)
        losses, wrong, norms = look.loss.tolist(), look.wrong.tolist(), look.norm.tolist()
        done += count
        report(Look(done, steps, max(losses), max(wrong), min(norms)))
        pace = count / (time.perf_counter() - began)
        count = min(max(2 * count, 16), max(1, round(pace * _SECONDS_A_REPORT)), steps - done)
    return state, done


def _start(descent: Descent, batch: Batch) -> State:
    import jax.numpy as jnp
    import numpy as np

    earlier = batch.experiment.warm
    if earlier is None:
        return descent.start()
    if batch.warm is None:
        raise DomainError(
            f"L={batch.experiment.problem.L}: the run starts from the one at "
            f"L={earlier.problem.L}; train that one first"
        )
    names = batch.warm[0]
    stacked = {name: jnp.asarray(np.stack([one[name] for one in batch.warm])) for name in names}
    return descent.warm(stacked, earlier.problem.L)


def _array(x: object) -> np.ndarray:
    import numpy as np

    return np.array(x)

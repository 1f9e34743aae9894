"""Which batches are to be trained, and which of them have to wait for another."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bminlib.errors import DomainError
from bminlib.problem import CountingProblem
from bminlib.train.experiments import MAX_SEEDS, Experiment, Mode, in_range
from bminlib.train.settings import Settings
from bminlib.train.store import Store

MAX_RUNS = 100_000


@dataclass(frozen=True, slots=True)
class Plan:
    """batches: one experiment each, which stands for all of `experiment.together`; each comes after
    the one that it starts from. wanted: the runs that get a row. cost: of each batch, in any unit.
    """

    batches: tuple[Experiment, ...]
    wanted: tuple[Experiment, ...]
    cost: tuple[float, ...]


def experiments(
    problems: Iterable[CountingProblem], modes: Sequence[Mode], seeds: int
) -> list[Experiment]:
    """Every problem in every mode that its read-out has, from seeds 0 to `seeds` - 1."""
    in_range("seeds", seeds, 1, MAX_SEEDS)
    found = [
        Experiment(problem, mode, seed)
        for problem, mode in itertools.product(problems, modes)
        if mode != "plain T=1" or problem.readout == "classification"
        for seed in range(seeds)
    ]
    if not found:
        raise DomainError(
            "nothing to train: only a classification has a temperature; "
            "take readout classification or both, or temperature annealed"
        )
    if len(found) > MAX_RUNS:
        raise DomainError(f"{len(found)} runs: at most {MAX_RUNS} go into one call; ask for fewer")
    return found


def plan(wanted: Sequence[Experiment], store: Store, settings: Settings) -> Plan:
    """The batches that are missing for `wanted`."""
    batches: dict[tuple[object, ...], Experiment] = {}
    for experiment in wanted:
        if not store.finished(experiment):
            _require(experiment.together[0], batches, store)
    order = sorted(batches.values(), key=_place)
    return Plan(tuple(order), tuple(wanted), tuple(_cost(one, settings) for one in order))


def _require(
    batch: Experiment, batches: dict[tuple[object, ...], Experiment], store: Store
) -> None:
    """Add a batch, and the one it starts from if that has no weights yet."""
    if batch.key in batches:
        return
    batches[batch.key] = batch
    earlier = batch.warm
    if earlier is not None and not all(store.has_weights(one) for one in earlier.together):
        _require(earlier, batches, store)


def _place(batch: Experiment) -> tuple[bool, int]:
    """Chains of lengths first and upwards, then the longest batches."""
    return (not batch.shrinks, batch.problem.L if batch.shrinks else -batch.problem.L)


def _cost(batch: Experiment, settings: Settings) -> float:
    L, classes = batch.problem.L, batch.problem.readout == "classification"
    pairs = 3 * L if batch.mode == "least" else L * L / 2
    return settings.recipe(batch).steps * (100 + pairs * (L if classes else 1) / 30)

"""What the tests of training share: the command's own runs, and a pool that fakes training.

Compiled programs are kept as long as the tests run, so that each is compiled once.
"""

import csv
import os
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from fractions import Fraction

import pytest

from bminlib.train.batch import Trained, one_thread, train
from bminlib.train.outcomes import judge
from bminlib.witness import witness

one_thread()  # before jax starts here, so that processes find what this one compiled

CACHE = {
    "jax_compilation_cache_dir": None,
    "jax_persistent_cache_min_compile_time_secs": 0,
    "jax_persistent_cache_min_entry_size_bytes": -1,
}
SMALL = (
    *("--norm", "post", "--affine", "bare", "--temperature", "annealed"),
    *("--L", "4", "--jobs", "1", "--steps", "3000"),
)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """What this process and those that it starts compile is kept, and found by the others."""
    import jax
    from jax.experimental.compilation_cache import compilation_cache

    kept = tmp_path_factory.getbasetemp() / "compiled"
    kept.mkdir(exist_ok=True)
    wanted = CACHE | {"jax_compilation_cache_dir": str(kept)}
    before = {name: getattr(jax.config, name) for name in wanted}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in wanted.items():
            jax.config.update(name, value)
            patch.setenv(name.upper(), str(value))
        compilation_cache.reset_cache()
        yield kept
    for name, value in before.items():
        jax.config.update(name, value)
    compilation_cache.reset_cache()


def rows_of(directory):
    """runs.csv as dicts."""
    with (directory / "runs.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def but_seconds(directory):
    """runs.csv without the one column that may differ."""
    rows = rows_of(directory)
    return [{name: cell for name, cell in row.items() if name != "seconds"} for row in rows]


def contents(directory):
    """Every file below a directory with its bytes, but for the lock."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and path.name != ".lock"
    }


def fake(experiment, steps=7):
    """A run as training gives it, but made of explicit weights, 5 % looser from seed to seed."""
    slack = Fraction(experiment.seed + 1, 20)
    weights = witness(experiment.problem, slack, norm=1 + slack).to_float64()
    arrays = dict(weights.arrays())
    return Trained(arrays, judge(experiment, arrays, steps, 0.25))


class FakePool:
    """A pool that answers at once; `submitted` has the batches."""

    def __init__(self, make=fake):
        self.make, self.submitted, self.looks = make, [], []
        self.revived = self.closed = 0

    def submit(self, _number, batch):
        self.submitted.append(batch)
        future = Future()
        future.set_result(tuple(self.make(one) for one in batch.experiment.together))
        return future

    def reports(self):
        looks, self.looks = self.looks, []
        return iter(looks)

    def lost(self, error):
        return isinstance(error, BrokenProcessPool)

    def revive(self):
        self.revived += 1

    def close(self):
        self.closed += 1


class HerePool(FakePool):
    """A pool that trains in this process."""

    def __init__(self, jobs=1):
        super().__init__()
        self.jobs = jobs

    def submit(self, number, batch):
        self.submitted.append(batch)
        future = Future()
        future.set_result(train(batch, lambda look: self.looks.append((number, look))))
        return future


def die(_reports, _lifeline):
    """A worker's preparation, when it is ill-fated."""
    os._exit(1)

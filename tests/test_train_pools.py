"""Workers die, clusters come and go: every run is trained once and has one row.

Oracle: the table and the weights of the same runs trained in this process, where nothing dies.
"""

import multiprocessing
import os
import signal
import sys
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from importlib import util

import pytest
from train_runs import (
    SMALL,
    FakePool,
    HerePool,
    but_seconds,
    compiled,
    contents,
    die,
    fake,
    rows_of,
)

pytest.importorskip("jax")
pytest.importorskip("optax")

from bminlib import CountingProblem, DomainError
from bminlib.train import pools, workers
from bminlib.train.batch import Look
from bminlib.train.conduct import Silent, conduct
from bminlib.train.plan import experiments
from bminlib.train.pools import ClusterPool, LocalPool
from bminlib.train.settings import Settings
from bminlib.train.store import Store

__all__ = ["compiled"]
pytestmark = pytest.mark.usefixtures("compiled")

PROBLEM = CountingProblem(L=4, d=8, norm="post")
LONG = Settings(steps=3000)
WANTED = experiments([PROBLEM], ["least"], 2)


class Killer(Silent):
    """A watcher that kills with `kill` at the first look, and notes what is finished."""

    def __init__(self, kill):
        self.kill, self.killed, self.seen, self.batches = kill, [], [], []

    def look(self, number, look):
        assert isinstance(look, Look)
        assert 0 < look.step <= look.steps == 3000
        self.seen.append((number, look.step))
        if not self.killed:
            self.killed = self.kill()

    def finished(self, number, outcomes):
        self.batches.append((number, len(outcomes)))


class Revived(LocalPool):
    """A pool that notes which batches it was given."""

    def __init__(self, jobs):
        super().__init__(jobs)
        self.submitted = []

    def submit(self, number, batch):
        self.submitted.append(number)
        return super().submit(number, batch)


def go(path, wanted, pool, watcher=None, settings=LONG):
    @contextmanager
    def watch(_plan):
        yield watcher or Silent()

    conduct(wanted, Store(path), settings, lambda _: pool, watch)


@pytest.fixture(scope="module")
def undisturbed(compiled, tmp_path_factory):
    assert compiled.is_dir()
    path = tmp_path_factory.mktemp("undisturbed")
    go(path, WANTED, HerePool())
    return path


def same(path, other):
    assert but_seconds(path) == but_seconds(other)
    assert contents(path / "weights") == contents(other / "weights")


def kill_children():
    children = multiprocessing.active_children()
    for child in children:
        os.kill(child.pid, signal.SIGKILL)
    return [child.pid for child in children]


@pytest.fixture
def watchful(monkeypatch):
    """Looks so often that a kill at the first one comes in the middle of a run."""
    monkeypatch.setattr("bminlib.train.conduct._SECONDS_A_LOOK", 0.01)


@pytest.mark.usefixtures("watchful")
def test_a_worker_that_is_killed_mid_run_costs_nothing_but_time(undisturbed, tmp_path):
    killer, pool = Killer(kill_children), Revived(1)
    go(tmp_path, WANTED, pool, killer)
    assert len(killer.killed) == 1
    assert killer.batches == [(0, 4)]
    assert pool.submitted == [0, 0]  # the batch began anew
    assert [row["seed"] for row in rows_of(tmp_path)] == ["0", "1"]
    same(tmp_path, undisturbed)
    assert not multiprocessing.active_children()


def test_workers_that_always_die_end_the_sweep_and_keep_what_is_finished(tmp_path, monkeypatch):
    out = tmp_path / "runs"
    go(out, experiments([PROBLEM], ["plain"], 1), FakePool())
    before = contents(out)
    monkeypatch.setattr(workers, "prepare", die)
    with pytest.raises(ChildProcessError, match="died 4 times with nothing finished") as caught:
        go(out, experiments([PROBLEM], ["plain", "least"], 1), LocalPool(2))
    assert "\n" not in str(caught.value)
    assert contents(out) == before
    assert not multiprocessing.active_children()


def test_the_command_says_so_in_one_sentence(tmp_path, monkeypatch, run_bmin):
    monkeypatch.setattr("bmin.train_runs.LocalPool", lambda _: Ill(99))
    answer = run_bmin("train", *SMALL, "--out", str(tmp_path))
    assert (answer.code, answer.out, answer.err.count("\n")) == (1, "", 1)
    assert "workers died 4 times" in answer.err


class Ill(FakePool):
    """A pool whose first `deaths` batches are lost, cancelled or with their processes."""

    def __init__(self, deaths):
        super().__init__()
        self.deaths = deaths

    def submit(self, number, batch):
        if not self.deaths:
            return super().submit(number, batch)
        self.deaths -= 1
        self.submitted.append(batch)
        future = Future()
        if self.deaths % 2:
            future.cancel()
        else:
            future.set_exception(BrokenProcessPool())
        return future


@pytest.mark.parametrize("deaths", [1, 2, 3])
def test_lost_batches_are_lined_up_again_each_once(deaths, tmp_path):
    wanted = experiments([PROBLEM], ["plain"], 8)
    pool = Ill(deaths)
    go(tmp_path, wanted, pool)
    seeds = [batch.experiment.seed for batch in pool.submitted]
    assert len(seeds) == 2 + deaths
    assert set(seeds) == {0, 4}
    assert [row["seed"] for row in rows_of(tmp_path)] == [str(seed) for seed in range(8)]
    assert pool.closed == 1
    assert 1 <= pool.revived <= deaths


def test_deaths_count_only_in_a_row(tmp_path):
    """Two losses before each of four batches are eight deaths, and none of them is the fourth."""

    class Rough(Ill):
        def submit(self, number, batch):
            tries = sum(one.experiment.key == batch.experiment.key for one in self.submitted)
            self.deaths = 1 if tries < 2 else 0
            return super().submit(number, batch)

    problems = [CountingProblem(L=L, d=8, norm="post") for L in (8, 16, 32, 64)]
    go(tmp_path, experiments(problems, ["least"], 1), Rough(0))
    assert [row["L"] for row in rows_of(tmp_path)] == ["8", "16", "32", "64"]


def test_an_error_in_a_worker_is_no_death(tmp_path):
    class Broken(FakePool):
        def submit(self, _number, _batch):
            future = Future()
            future.set_exception(self.error)
            return future

    pool = Broken()
    pool.error = ZeroDivisionError("a fault of ours")
    with pytest.raises(ZeroDivisionError, match="a fault of ours"):
        go(tmp_path, WANTED, pool)
    pool.error = ModuleNotFoundError("No module named 'jax'")
    with pytest.raises(DomainError, match="install bminlib\\[train\\] where the workers are"):
        go(tmp_path, WANTED, pool)
    assert pool.closed == 2
    assert not (tmp_path / "runs.csv").exists()


def test_what_is_finished_before_an_error_is_kept(tmp_path):
    class Once(FakePool):
        def submit(self, number, batch):
            if not self.submitted:
                return super().submit(number, batch)
            future = Future()
            future.set_exception(ZeroDivisionError())
            return future

    wanted = experiments([CountingProblem(L=L, d=8, norm="post") for L in (8, 16)], ["least"], 2)
    with pytest.raises(ZeroDivisionError):
        go(tmp_path, wanted, Once())
    assert [(row["L"], row["seed"]) for row in rows_of(tmp_path)] == [("8", "0"), ("8", "1")]
    assert rows_of(tmp_path)[1]["largest_norm"] == fake(wanted[1]).outcome.largest_norm


def test_without_jax_one_sentence_says_what_to_install(tmp_path, monkeypatch, run_bmin):
    found = util.find_spec
    monkeypatch.setattr(
        "bminlib.train.experiments.find_spec", lambda name: None if name == "jax" else found(name)
    )
    answer = run_bmin("train", *SMALL, "--out", str(tmp_path / "runs"))
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == (
        "bmin: jax missing: training needs jax and optax; run pip install 'bminlib[train]'\n"
    )
    assert not (tmp_path / "runs").exists()


def test_without_distributed_one_sentence_says_what_to_install(tmp_path, monkeypatch, run_bmin):
    monkeypatch.setitem(sys.modules, "distributed", None)
    scheduler = ("--scheduler", "tcp://127.0.0.1:1")
    answer = run_bmin("train", *without_jobs(SMALL), *scheduler, "--out", str(tmp_path))
    assert (answer.code, answer.err.count("\n")) == (2, 1)
    assert "pip install 'bminlib[cluster]'" in answer.err


def without_jobs(arguments):
    at = arguments.index("--jobs")
    return (*arguments[:at], *arguments[at + 2 :])


def test_a_cluster_has_its_own_workers(run_bmin, tmp_path):
    answer = run_bmin("train", *SMALL, "--scheduler", "tcp://x:1", "--out", str(tmp_path))
    assert (answer.code, answer.err.count("\n")) == (2, 1)
    assert "--jobs and --scheduler" in answer.err


@pytest.mark.parametrize("jobs", ["0", "-1", "1025", "1,2", "x"])
def test_jobs_that_can_not_be_are_refused(jobs, run_bmin, tmp_path):
    arguments = (*without_jobs(SMALL), f"--jobs={jobs}", "--out", str(tmp_path / "runs"))
    answer = run_bmin("train", *arguments)
    assert (answer.code, answer.err.count("\n")) == (2, 1)
    assert not (tmp_path / "runs").exists()


@pytest.fixture(scope="module")
def cluster(compiled):
    distributed = pytest.importorskip("distributed")
    assert compiled.is_dir()
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        host="127.0.0.1",
        silence_logs=50,
    ) as one:
        yield one


def test_a_cluster_gives_the_same_table(cluster, undisturbed, tmp_path, run_bmin):
    kind = ("--readout", "regression", "--mode", "least", "--seeds", "2")
    at = ("--scheduler", cluster.scheduler_address, "--out", str(tmp_path))
    answer = run_bmin("train", *without_jobs(SMALL), *kind, *at)
    assert (answer.code, answer.err) == (0, f"bmin: wrote {tmp_path / 'figure.svg'}\n")
    same(tmp_path, undisturbed)
    assert len(cluster.scheduler.workers) == 1  # left as it was


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense", "ftp://127.0.0.1:1", ""])
def test_where_no_scheduler_answers_one_sentence_says_so(address, tmp_path, run_bmin, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(pools, "_CONNECT_SECONDS", 0.3)
    arguments = (*without_jobs(SMALL), "--scheduler", address, "--out", str(tmp_path))
    answer = run_bmin("train", *arguments)
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert "no dask scheduler answers there" in answer.err
    assert not (tmp_path / "runs.csv").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("watchful")
def test_a_cluster_worker_that_is_killed_mid_run_costs_nothing_but_time(
    cluster, undisturbed, tmp_path
):
    def kill():
        pids = [nanny.pid for nanny in cluster.workers.values()]
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        return pids

    killer = Killer(kill)
    go(tmp_path, WANTED, ClusterPool(cluster.scheduler_address), killer)
    assert len(killer.killed) == 1
    assert killer.batches == [(0, 4)]
    assert [row["seed"] for row in rows_of(tmp_path)] == ["0", "1"]
    same(tmp_path, undisturbed)

"""A directory of runs goes on where it stopped, and one that is not ours is never touched.

Most of it is about what is missing and what is written, so a pool of explicit weights stands in for
training; what has to be trained again to the same bytes is really trained.
"""

import json
import os
import signal
import subprocess
import time
from contextlib import contextmanager
from fractions import Fraction

import pytest
from conftest import command_line, environment
from train_runs import SMALL, FakePool, HerePool, but_seconds, compiled, contents, fake, rows_of

pytest.importorskip("jax")
pytest.importorskip("optax")

from bmin.app import run
from bminlib import CountingProblem, DomainError
from bminlib.files import load_weights, save_weights
from bminlib.train.conduct import Silent, conduct
from bminlib.train.experiments import Experiment
from bminlib.train.plan import experiments
from bminlib.train.settings import Settings
from bminlib.train.store import Store
from bminlib.witness import witness

__all__ = ["compiled"]

HEAD = (
    "norm,affine,normalizer,readout,attention,d,tau,L,seed,mode,steps,largest_norm,b_min,ratio,"
    "counts,margin,seconds"
)
ROW = "post,bare,layer,regression,softmax,8,1/sqrt(8),4,0,plain,7,2.5,0.53,4.7,true,0.01,0.25"


@contextmanager
def silent(_plan):
    yield Silent()


def problem(L=4, readout="regression", norm="post", tau="scaled"):
    return CountingProblem(L=L, d=8, norm=norm, readout=readout, tau=tau)


def go(path, wanted, settings=None, pool=None):
    """Train what is missing in a directory; what the pool was given."""
    pool = pool or FakePool()
    conduct(wanted, Store(path), settings or Settings(), lambda _: pool, silent)
    return [
        (one.experiment.problem.L, one.experiment.mode, one.experiment.seed)
        for one in pool.submitted
    ]


@pytest.fixture
def filled(tmp_path):
    """Seeds 0 and 1 of L = 4 in mode plain."""
    out = tmp_path / "runs"
    assert go(out, experiments([problem()], ["plain"], 2)) == [(4, "plain", 0)]
    return out


def of(path, seed, **changes):
    return Store(path).file(Experiment(problem(**changes), "plain", seed))


def test_a_second_call_trains_nothing(filled):
    before = contents(filled)
    assert go(filled, experiments([problem()], ["plain"], 2)) == []
    assert contents(filled) == before
    assert [row["seed"] for row in rows_of(filled)] == ["0", "1"]


def test_more_seeds_and_lengths_add_only_what_is_missing(filled):
    rows = rows_of(filled)
    assert go(filled, experiments([problem(), problem(5)], ["plain"], 1)) == [(5, "plain", 0)]
    assert go(filled, experiments([problem()], ["plain"], 6)) == [(4, "plain", 0), (4, "plain", 4)]
    found = [(row["L"], row["seed"]) for row in rows_of(filled)]
    assert found == [("4", str(seed)) for seed in range(6)] + [("5", "0")]
    assert rows_of(filled)[:2] == rows


def test_a_tau_written_in_another_way_is_the_same_run(filled):
    same = experiments([problem(tau="1/sqrt(8)")], ["plain"], 2)
    assert go(filled, same) == []
    other = experiments([problem(tau="unscaled")], ["plain"], 2)
    assert go(filled, other) == [(4, "plain", 0)]
    assert go(filled, experiments([problem(tau="1")], ["plain"], 2)) == []
    assert [row["tau"] for row in rows_of(filled)] == ["1/sqrt(8)"] * 2 + ["1"] * 2


def test_a_lost_row_and_a_lost_file_are_trained_again_to_the_same_bytes(filled):
    before = contents(filled)
    of(filled, 1).unlink()
    assert go(filled, experiments([problem()], ["plain"], 2)) == [(4, "plain", 0)]
    assert contents(filled) == before
    lines = (filled / "runs.csv").read_bytes().splitlines(keepends=True)
    (filled / "runs.csv").write_bytes(b"".join(lines[:-1]))
    assert go(filled, experiments([problem()], ["plain"], 2)) == [(4, "plain", 0)]
    assert contents(filled) == before


def test_longer_least_runs_start_from_shorter_ones_which_get_no_row_of_their_own(tmp_path):
    wanted = experiments([problem(32)], ["least"], 1)
    chain = [(8, "least", 0), (16, "least", 0), (32, "least", 0)]
    pool = FakePool()
    assert go(tmp_path, wanted, pool=pool) == chain
    assert [row["L"] for row in rows_of(tmp_path)] == ["32"]
    shorter = [Experiment(problem(16), "least", seed) for seed in range(4)]
    assert pool.submitted[0].warm is None
    for warm, one in zip(pool.submitted[2].warm, shorter, strict=True):
        assert {name: x.tolist() for name, x in warm.items()} == {
            name: x.tolist() for name, x in fake(one).arrays.items()
        }
    of_shorter = [Store(tmp_path).file(one) for one in shorter]
    assert go(tmp_path, experiments([problem(64)], ["least"], 1)) == [(64, "least", 0)]
    of_shorter[3].unlink()  # no row needs it, but a batch starts from all of its seeds
    assert go(tmp_path, experiments([problem(32)], ["least"], 5)) == [
        *((8, "least", 4), (16, "least", 0), (16, "least", 4)),
        *((32, "least", 0), (32, "least", 4)),
    ]
    assert go(tmp_path, experiments([problem(16)], ["least"], 1)) == [(16, "least", 0)]
    assert [row["L"] for row in rows_of(tmp_path)] == ["16", *["32"] * 5, "64"]


@pytest.mark.usefixtures("compiled")
def test_what_is_really_trained_again_has_the_same_bytes(tmp_path, monkeypatch):
    """The command, by itself: a lost file, a lost row, and a further call that trains nothing."""
    pools = []
    monkeypatch.setattr(
        "bmin.train_runs.LocalPool", lambda jobs: pools.append(HerePool(jobs)) or pools[-1]
    )
    call = ["train", *SMALL, "--readout", "regression", "--mode", "plain", "--out", str(tmp_path)]
    assert run([*call, "--seeds", "1"]) == 0
    rows, weights = but_seconds(tmp_path), contents(tmp_path / "weights")
    assert run([*call, "--seeds", "1"]) == 0
    assert len(pools) == 1
    of(tmp_path, 0).unlink()
    (tmp_path / "runs.csv").unlink()
    assert run([*call, "--seeds", "1"]) == 0
    assert len(pools) == 2
    assert (but_seconds(tmp_path), contents(tmp_path / "weights")) == (rows, weights)
    assert all(pool.closed == 1 for pool in pools)


def refused(call, path, match):
    """A refusal in one sentence that leaves every byte in its place."""
    before = contents(path)
    with pytest.raises(DomainError, match=match) as caught:
        call()
    assert contents(path) == before
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [{"steps": 8}, {"radius": Fraction(1, 2)}, {"lengths": (1, 2)}, {"batch": 3}],
    ids=lambda changes: next(iter(changes)),
)
def test_other_settings_are_refused(filled, changes):
    wanted = experiments([problem()], ["plain"], 3)
    refused(
        lambda: go(filled, wanted, Settings(**changes)), filled, "other settings; give the same"
    )


def test_other_settings_are_refused_by_the_command(filled, run_bmin):
    before = contents(filled)
    answer = run_bmin("train", *SMALL, "--out", str(filled))
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert "trained with other settings" in answer.err
    assert contents(filled) == before


@pytest.mark.parametrize(
    "data",
    [b"", b"{}", b"[1", b"\xff\x00", b'{"kind": "bminlib/runs", "version": 2}', b"9" * (5 << 20)],
)
def test_hostile_settings_are_refused(filled, data):
    (filled / "settings.json").write_bytes(data)
    refused(lambda: go(filled, experiments([problem()], ["plain"], 3)), filled, "settings.json")


def test_runs_without_settings_are_refused(filled):
    (filled / "settings.json").unlink()
    refused(lambda: go(filled, experiments([problem()], ["plain"], 3)), filled, "is missing")
    (filled / "runs.csv").unlink()
    refused(lambda: go(filled, experiments([problem()], ["plain"], 3)), filled, "is missing")


def test_settings_are_written_beside_the_runs(filled):
    assert json.loads((filled / "settings.json").read_text()) == {
        "kind": "bminlib/runs",
        "version": 1,
        "steps": None,
        "radius": "1",
        "lengths": None,
        "batch": None,
    }


def changed(**cells):
    """The good row with some cells replaced."""
    names = HEAD.split(",")
    row = dict(zip(names, ROW.split(","), strict=True))
    assert cells.keys() <= row.keys()
    return ",".join((row | cells).values())


HOSTILE = {
    "no row header": ("a,b\n1,2\n", "not the columns of bmin train"),
    "one column too many": ("HEAD,norm\n", "not the columns"),
    "empty": ("", "is empty"),
    "blank line": (f"HEAD\n{ROW}\n\n", "line 3: has 0 cells"),
    "too few cells": (f"HEAD\n{ROW[:-5]}\n", "line 2: has 16 cells instead of 17"),
    "too many cells": (f"HEAD\n{ROW},\n", "line 2: has 18 cells"),
    "the same run twice": (f"HEAD\n{ROW}\n{ROW}\n", "line 3: its run has a row already"),
    "the same run, tau otherwise": (
        f"HEAD\n{ROW}\n{changed(tau='scaled')}\n",
        "line 3: its run has a row already",
    ),
    "quote left open": (f'HEAD\n"{ROW}\n', "is no CSV text"),
    "binary": (b"\x00\xff\xfe" * 9, "is no CSV text"),
    "NUL": (f"HEAD\n{changed(seconds=chr(0))}\n", "line 2|is no CSV text"),
    "no number": (f"HEAD\n{changed(largest_norm='two')}\n", "largest_norm='two': must be a number"),
    "no norm": (f"HEAD\n{changed(largest_norm='')}\n", "largest_norm='': must be a number"),
    "NaN": (f"HEAD\n{changed(largest_norm='nan')}\n", "largest_norm='nan': must be a number"),
    "infinite": (f"HEAD\n{changed(margin='inf')}\n", "margin='inf': must be a number"),
    "huge exponent": (f"HEAD\n{changed(largest_norm='1e99999')}\n", "largest_norm='1e99999'"),
    "other digits": (f"HEAD\n{changed(largest_norm='٢')}\n", "largest_norm='٢'"),
    "a ball for seconds": (f"HEAD\n{changed(seconds='[1 +/- 1]')}\n", "seconds"),
    "a ball for a norm": (f"HEAD\n{changed(largest_norm='[- + /]')}\n", "largest_norm"),
    "negative norm": (f"HEAD\n{changed(largest_norm='-2.5')}\n", "largest_norm"),
    "norm below the least float": (f"HEAD\n{changed(largest_norm='1e-999')}\n", "must be > 0"),
    "endless seconds": (f"HEAD\n{changed(seconds='1e999')}\n", "seconds='1e999'"),
    "norm 0": (f"HEAD\n{changed(largest_norm='0')}\n", "largest_norm"),
    "counts": (f"HEAD\n{changed(counts='True')}\n", "counts='True': must be true or false"),
    "mode": (
        f"HEAD\n{changed(mode='best')}\n",
        "mode='best': must be one of plain, plain T=1, least",
    ),
    "temperature": (f"HEAD\n{changed(mode='plain T=1')}\n", "has no temperature"),
    "L": (f"HEAD\n{changed(L='4097')}\n", "L=4097: training looks at every pair"),
    "L = 0": (f"HEAD\n{changed(L='0')}\n", "L=0"),
    "very long L": (f"HEAD\n{changed(L='9' * 5000)}\n", "must be a whole number"),
    "seed": (f"HEAD\n{changed(seed='10000')}\n", "seed=10000: must be an integer from 0 to 9999"),
    "negative seed": (f"HEAD\n{changed(seed='-1')}\n", "seed='-1': must be a whole number"),
    "norm": (f"HEAD\n{changed(norm='../..')}\n", "norm="),
    "tau": (f"HEAD\n{changed(tau='1/0')}\n", "tau="),
    "attention": (f"HEAD\n{changed(attention='')}\n", "attention="),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_table_is_refused_and_left_alone(name, filled, run_bmin):
    text, match = HOSTILE[name]
    data = text if isinstance(text, bytes) else text.replace("HEAD", HEAD).encode()
    (filled / "runs.csv").write_bytes(data)
    refused(lambda: go(filled, experiments([problem()], ["plain"], 3)), filled, match)
    before = contents(filled)
    for command in (["train", *SMALL, "--out", str(filled)], ["compare", str(filled)]):
        answer = run_bmin(*command)
        assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
        assert "runs.csv" in answer.err
    assert contents(filled) == before


def test_a_table_of_over_64_mib_is_refused(tmp_path):
    with (tmp_path / "runs.csv").open("wb") as file:
        file.truncate((64 << 20) + 1)
    with pytest.raises(DomainError, match="is over 64 MiB"):
        Store(tmp_path)


def test_a_table_that_is_a_directory_is_refused(tmp_path):
    (tmp_path / "runs.csv").mkdir()
    with pytest.raises(DomainError, match="can't be read"):
        Store(tmp_path)


def test_a_place_that_is_no_directory_is_refused(tmp_path, run_bmin):
    (tmp_path / "file").write_bytes(b"mine")
    for out in ("file", "file/below"):
        answer = run_bmin("train", *SMALL, "--out", str(tmp_path / out))
        assert (answer.code, answer.err.count("\n")) == (2, 1)
    assert contents(tmp_path) == {"file": b"mine"}


def test_weights_of_another_run_under_a_runs_name_are_refused(tmp_path, run_bmin):
    go(tmp_path, experiments([problem(8)], ["least"], 1))
    own, other = (Store(tmp_path).file(Experiment(problem(L), "least", 0)) for L in (8, 4))
    save_weights(witness(problem(4), Fraction(1, 20)), own)
    assert not other.exists()
    longer = experiments([problem(16)], ["least"], 1)
    refused(lambda: go(tmp_path, longer), tmp_path, "holds the weights of another run; delete it")
    answer = run_bmin("compare", str(tmp_path))
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert "holds the weights of another run" in answer.err


@pytest.mark.parametrize("data", [b"", b"{}", b"\xff\x00", b"[" * 10_000, b'{"norm": NaN}'])
def test_hostile_weights_are_refused(tmp_path, data, run_bmin):
    go(tmp_path, experiments([problem(8)], ["least"], 1))
    Store(tmp_path).file(Experiment(problem(8), "least", 0)).write_bytes(data)
    refused(lambda: go(tmp_path, experiments([problem(16)], ["least"], 1)), tmp_path, "seed0.json")
    assert run_bmin("compare", str(tmp_path)).code == 2


def test_a_directory_that_another_process_holds_is_refused(filled):
    fcntl = pytest.importorskip("fcntl")
    wanted = experiments([problem()], ["plain"], 3)
    with (filled / ".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        refused(lambda: go(filled, wanted), filled, "another process trains into it")
    assert go(filled, wanted) == [(4, "plain", 0)]


def test_a_directory_that_can_not_be_written_is_refused(tmp_path, run_bmin):
    """Permissions do not stop root, so a file stands where the directory would be."""
    (tmp_path / "weights").write_bytes(b"")
    answer = run_bmin("train", *SMALL, "--out", str(tmp_path))
    assert (answer.code, answer.err.count("\n")) == (2, 1)
    assert "can't be written" in answer.err


@pytest.mark.usefixtures("compiled")
def test_ctrl_c_keeps_finished_runs_and_the_next_call_goes_on(tmp_path):
    """Interrupted after its first batch of 25, a process ends with one sentence and 130."""
    out = tmp_path / "runs"
    call = ("train", *SMALL, "--readout", "regression", "--mode", "plain", "--seeds", "100")
    process = subprocess.Popen(
        command_line(*call, "--out", str(out)),
        env=environment(),
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    end = time.monotonic() + 60
    while not (out / "runs.csv").exists() and time.monotonic() < end:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers too
    printed, complaint = process.communicate(timeout=30)
    kept = rows_of(out)
    assert (process.returncode, printed) == (130, b"")
    assert complaint.decode() == (
        f"bmin: interrupted; {len(kept)} of 100 runs are finished and kept in {out}, "
        "the same call goes on from there\n"
    )
    assert 4 <= len(kept) < 100
    for seed in range(len(kept)):
        load_weights(of(out, seed))
    assert not [path for path in out.rglob("*") if path.name.endswith(".part")]
    trained = go_on(out, call)
    assert [row["seed"] for row in rows_of(out)] == [str(seed) for seed in range(100)]
    assert rows_of(out)[: len(kept)] == kept
    assert trained == list(range(len(kept), 100, 4))


def go_on(out, call):
    """Run the call with a pool of explicit weights; the seeds of the batches that it trains."""
    pool = FakePool()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bmin.train_runs.LocalPool", lambda _: pool)
        assert run([*call, "--out", str(out)]) == 0
    return [batch.experiment.seed for batch in pool.submitted]

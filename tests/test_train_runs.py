"""Trained runs, end to end: nothing is claimed that is not proved, and a call repeats bit for bit.

Oracles: sums of squares in Fractions from the weights files, `verify`, attention at 40 digits over
the tokens of real sequences, and W_4 = 3/2 for B_min.
"""

import json
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from token_oracle import by_tokens, sequence
from train_runs import SMALL, HerePool, but_seconds, compiled, contents, rows_of

jax = pytest.importorskip("jax")
pytest.importorskip("optax")

from bmin.app import run  # noqa: E402
from bminlib import CountingProblem  # noqa: E402
from bminlib.files import load_weights  # noqa: E402
from bminlib.train import losses  # noqa: E402
from bminlib.train.descent import Descent  # noqa: E402
from bminlib.train.experiments import Experiment  # noqa: E402
from bminlib.train.outcomes import weights_of  # noqa: E402
from bminlib.train.settings import Settings  # noqa: E402
from bminlib.verify import verify  # noqa: E402

COLUMNS = (
    "norm,affine,normalizer,readout,attention,d,tau,L,seed,mode,steps,largest_norm,b_min,ratio,"
    "counts,margin,seconds"
)
KINDS = (
    ("regression", "plain"),
    ("regression", "least"),
    ("classification", "plain"),
    ("classification", "least"),
)
PROBLEM = CountingProblem(L=4, d=8, norm="post", affine="bare")

__all__ = ["compiled"]
pytestmark = pytest.mark.usefixtures("compiled")


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Four seeds of every kind of run at L = 4."""
    out = tmp_path_factory.mktemp("runs") / "made" / "here"
    assert run(["train", *SMALL, "--seeds", "4", "--out", str(out), "--format", "json"]) == 0
    return out


@pytest.fixture(scope="module")
def failures(tmp_path_factory):
    """Three steps are too few: (exit code, directory)."""
    out = tmp_path_factory.mktemp("failures")
    short = (*SMALL[:-2], "--steps", "3", "--readout", "regression", "--mode", "plain")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bmin.train_runs.LocalPool", HerePool)
        code = run(["train", *short, "--seeds", "2", "--out", str(out)])
    return code, out


def file_of(directory, row):
    mode = row["mode"].replace(" ", "-")
    name = f"post_bare_layer_softmax_d8_{row['readout']}_{mode}_L{row['L']}_seed{row['seed']}.json"
    return load_weights(directory / "weights" / name)


def square_of_the_largest_norm(weights):
    rows = [row for x in weights.vectors.values() for row in x.reshape(-1, x.shape[-1])]
    return max(sum(Fraction(entry) ** 2 for entry in row.tolist()) for row in rows)


def is_root(text, square):
    """Whether decimal text is the root of a Fraction to within half a unit of its last place."""
    half = Fraction(10) ** Decimal(text).as_tuple().exponent / 2
    return (Fraction(text) - half) ** 2 <= square <= (Fraction(text) + half) ** 2


def test_every_run_has_a_row_under_exactly_the_promised_columns(directory):
    head, *lines = (directory / "runs.csv").read_text().splitlines()
    assert head == COLUMNS
    assert len(lines) == 16
    rows = rows_of(directory)
    assert [(row["readout"], row["mode"], row["seed"]) for row in rows] == [
        (*kind, str(seed)) for kind in KINDS for seed in range(4)
    ]
    for row in rows:
        assert (row["norm"], row["affine"], row["normalizer"]) == ("post", "bare", "layer")
        assert (row["attention"], row["d"], row["L"]) == ("softmax", "8", "4")
        assert row["tau"] == "1/sqrt(8)"
        assert float(row["seconds"]) > 0
    assert len(list((directory / "weights").iterdir())) == 16
    assert b"<svg" in (directory / "figure.svg").read_bytes()


def test_every_claim_is_proved_again_from_the_weights_file(directory):
    rows = rows_of(directory)
    assert {row["counts"] for row in rows} == {"true"}
    for row in rows:
        found = verify(file_of(directory, row))
        assert (found.verdict, found.pairs) == ("proved", 15)
        margin = Fraction(row["margin"])
        assert margin > 0
        assert float(margin) == pytest.approx(float(found.margin.value), rel=1e-5)


def test_norms_and_ratios_are_those_of_the_file_in_every_digit(directory):
    for row in rows_of(directory):
        square = square_of_the_largest_norm(file_of(directory, row))
        assert is_root(row["largest_norm"], square)
        if row["readout"] == "classification":
            assert (row["b_min"], row["ratio"]) == ("0", "")
        else:
            assert is_root(row["b_min"], Fraction(9, 32))
            assert is_root(row["ratio"], square * 32 / 9)


def test_no_run_is_below_b_min_and_least_runs_come_near_it(directory):
    """B_min^2 = W_4^2 / d = 9/32: an exact comparison, so that rounding hides nothing."""
    of_kind = {kind: [] for kind in KINDS}
    for row in rows_of(directory):
        square = square_of_the_largest_norm(file_of(directory, row))
        of_kind[row["readout"], row["mode"]].append(square)
    for kind in KINDS[:2]:
        assert all(square >= Fraction(9, 32) for square in of_kind[kind])
    assert all(square < Fraction(9, 32) * Fraction(6, 5) ** 2 for square in of_kind[KINDS[1]])
    assert all(square <= 1 for square in of_kind["classification", "least"])


def test_steps_are_those_of_the_first_success_or_all(directory):
    for row in rows_of(directory):
        if row["mode"] == "least" and row["readout"] == "regression":
            assert row["steps"] == "3000"
        else:
            assert 1 <= int(row["steps"]) < 1000


@pytest.fixture(scope="module")
def descent():
    return Descent.of(Experiment(PROBLEM, "plain", 0), Settings(steps=3000))


def test_a_success_is_the_first_step_at_which_every_pair_counts(directory, descent):
    """Step by step, each seed's weights proved or refuted by `verify`."""
    written = {row["seed"]: row for row in rows_of(directory) if row["mode"] == "plain"}
    row = min(
        (row for row in rows_of(directory) if (row["readout"], row["mode"]) == KINDS[0]),
        key=lambda row: int(row["steps"]),
    )
    seed, first = int(row["seed"]), int(row["steps"])
    assert written
    with jax.enable_x64(True):
        state, verdicts = descent.start(), []
        for step in range(first + 1):
            arrays = {name: np.array(x)[seed] for name, x in state.params.items()}
            verdicts.append(verify(weights_of(descent.experiment, arrays)).verdict)
            state, _ = descent.advance(state, step, 1)
    assert verdicts == ["refuted"] * first + ["proved"]
    assert state.counts.tolist()[seed] is True
    assert int(state.step[seed]) == first


def test_nan_is_never_a_success(descent):
    with jax.enable_x64(True):
        state = descent.start()
        spoilt = state.params | {"w": np.full((4, 8), np.nan)}
        after, look = descent.advance(state._replace(params=spoilt), 0, 1)
        assert look.wrong.tolist() == [15] * 4 or look.wrong.tolist() == [len(descent.few.c)] * 4
        assert not after.counts.any()
        for name, x in after.kept.items():
            np.testing.assert_array_equal(x, state.kept[name])
        kept, _ = descent.advance(state._replace(counts=np.ones(4, bool), params=spoilt), 0, 1)
        assert kept.counts.all()
        assert np.isfinite(kept.kept["w"]).all()
    nothing = losses.margins(FakeReading(), np.arange(3.0))[0]
    assert not (np.array(nothing) > 0).any()


class FakeReading:
    """Outputs without a number."""

    def outputs(self):
        return jax.numpy.full(3, np.nan)


def test_a_run_that_fails_is_a_row_with_its_least_error(failures):
    code, out = failures
    assert code == 1
    rows = rows_of(out)
    assert [(row["seed"], row["counts"], row["steps"]) for row in rows] == [
        ("0", "false", "3"),
        ("1", "false", "3"),
    ]
    for row in rows:
        weights = file_of(out, row)
        assert verify(weights).verdict == "refuted"
        pairs = [(c, m) for c in range(5) for m in range(5 - c)]
        worst = max(abs(by_tokens(weights, sequence(*at))[0] - at[0]) for at in pairs)
        assert float(row["margin"]) == pytest.approx(float(0.5 - worst), rel=1e-5)
        assert float(row["margin"]) < 0
    assert not (out / "figure.svg").exists()


def test_a_failed_run_is_no_measurement(failures, run_bmin):
    answer = run_bmin("rates", "--data", str(failures[1] / "runs.csv"))
    assert (answer.code, answer.err.count("\n")) == (2, 1)
    assert "counts=" in answer.err or "count" in answer.err


def test_the_table_goes_straight_into_rates(directory, run_bmin):
    answer = run_bmin("rates", "--data", str(directory / "runs.csv"), "--format", "json")
    assert answer.code == 0
    assert [(one["readout"], one["mode"]) for one in answer.records] == list(KINDS)
    for one in answer.records:
        (point,) = one["points"]
        norms = [
            float(row["largest_norm"])
            for row in rows_of(directory)
            if (row["readout"], row["mode"]) == (one["readout"], one["mode"])
        ]
        assert (point["runs"], point["below"]) == (4, [])
        assert float(point["least_norm"]) == min(norms)


def test_one_seed_in_another_directory_gives_the_same_bytes(directory, tmp_path):
    """The same runs again, and the seeds beside them change nothing."""
    kind = ("--readout", "regression", "--seeds", "1")
    assert run(["train", *SMALL, *kind, "--out", str(tmp_path), "--format", "csv"]) == 0
    first = [row for row in but_seconds(directory)[:8] if row["seed"] == "0"]
    assert but_seconds(tmp_path) == first
    assert len(first) == 2
    here, there = contents(directory / "weights"), contents(tmp_path / "weights")
    assert there == {name: data for name, data in here.items() if "regression" in name}


def test_what_the_command_prints_is_what_it_wrote(directory, capsys):
    """A call that finds everything done prints the whole directory."""
    capsys.readouterr()
    assert run(["train", *SMALL, "--seeds", "4", "--out", str(directory), "--format", "json"]) == 0
    records = json.loads(capsys.readouterr().out)
    assert [(one["readout"], one["mode"]) for one in records] == list(KINDS)
    for one in records:
        rows = [
            row
            for row in rows_of(directory)
            if (row["readout"], row["mode"]) == (one["readout"], one["mode"])
        ]
        norms = sorted(float(row["largest_norm"]) for row in rows)
        assert (one["runs"], one["counted"]) == (4, 4)
        assert (one["least_norm"], one["greatest_norm"]) == (norms[0], norms[-1])


@pytest.mark.slow
def test_the_same_call_compiled_anew_gives_the_same_table_and_weights(directory, tmp_path):
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
        assert run(["train", *SMALL, "--seeds", "4", "--out", str(tmp_path)]) == 0
    assert but_seconds(tmp_path) == but_seconds(directory)
    assert contents(tmp_path / "weights") == contents(directory / "weights")


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        "--norm none",
        "--norm pre --affine bare",
        "--norm pre --affine learned",
        "--norm post --affine learned --normalizer rms",
        "--norm none --attention linear",
    ],
)
def test_every_placement_trains_and_no_run_is_below_b_min(model, tmp_path):
    arguments = ["train", *model.split(), "--L", "4,8", "--seeds", "2", "--steps", "4000"]
    assert run([*arguments, "--out", str(tmp_path)]) == 0
    counted = [row for row in rows_of(tmp_path) if row["counts"] == "true"]
    assert {row["readout"] for row in counted} == {"regression", "classification"}
    for row in counted:
        assert row["ratio"] == "" or float(row["ratio"]) >= 1
    for file in sorted((tmp_path / "weights").iterdir()):
        assert verify(load_weights(file)).verdict in ("proved", "refuted")

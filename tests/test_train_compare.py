"""What `bmin compare` says of a directory of runs, here of explicit weights under trained names.

Oracles: numpy's polynomial fit, sums of squares in Fractions, the plane that counts lie in by
numpy from the vectors alone, and closed forms of the optimal arc.
"""

import csv
import io
import json
import math
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from statistics import median

import numpy as np
import pytest
from train_runs import FakePool, contents, fake, rows_of

from bminlib import CountingProblem
from bminlib.train.batch import Trained
from bminlib.train.compare import groups, growth
from bminlib.train.conduct import Silent, conduct
from bminlib.train.outcomes import judge
from bminlib.train.plan import experiments
from bminlib.train.settings import Settings
from bminlib.train.store import Store
from bminlib.witness import witness

LENGTHS, SEEDS = (4, 6, 12), 3


def problems(lengths=LENGTHS, **more):
    return [CountingProblem(**{"L": L, "d": 8, "norm": "post"} | more) for L in lengths]


@contextmanager
def silent(_plan):
    yield Silent()


def filled(path, wanted, make=fake):
    conduct(wanted, Store(path), Settings(), lambda _: FakePool(make), silent)
    return path


def failing(experiment):
    """As `fake`, but odd seeds read nothing and count nothing."""
    made = fake(experiment)
    if not experiment.seed % 2:
        return made
    arrays = made.arrays | {"w": made.arrays["w"] / 2}
    return Trained(arrays, judge(experiment, arrays, 9, 0.25))


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """Post bare and learned regressions, and a classification, at three lengths."""
    path = tmp_path_factory.mktemp("runs")
    filled(path, experiments(problems(), ["plain"], SEEDS))
    filled(path, experiments(problems(affine="learned"), ["plain"], SEEDS))
    filled(path, experiments(problems(readout="classification"), ["least"], SEEDS))
    return path


@pytest.fixture(scope="module")
def partly(tmp_path_factory):
    path = tmp_path_factory.mktemp("partly")
    return filled(path, experiments(problems(), ["plain"], SEEDS), failing)


def norms_of(weights):
    """Each vector's norm, from exact squares."""
    return {
        name: math.sqrt(
            max(sum(Fraction(e) ** 2 for e in row) for row in np.atleast_2d(x).tolist())
        )
        for name, x in weights.vectors.items()
    }


def runs_of(store, problem, mode):
    """Outcomes of a problem and mode, and their weights."""
    found = [
        one
        for one in store.outcomes
        if one.experiment.problem == problem and one.experiment.mode == mode
    ]
    return found, [store.weights(one.experiment) for one in found]


def test_slopes_are_numpys_and_the_bound_is_fitted_at_the_same_lengths(bare):
    store = Store(bare)
    first, classes, learned = growth(store.outcomes)
    for series, square in ((first, 2.25 / 8), (learned, 1.5 / 7**0.5)):
        points = [
            (problem.L, max(norms_of(weights).values()))
            for problem in problems(affine=series.problem.affine)
            for weights in runs_of(store, problem, "plain")[1]
        ]
        x, y = np.log(np.array(points)).T
        slope, _ = np.polyfit(x, y, 1)
        assert series.line.slope == pytest.approx(slope, rel=1e-9)
        assert series.interval.low <= series.line.slope <= series.interval.high
        assert float(series.points[0].bound.enclosure(30)) == pytest.approx(square**0.5)
        assert series.b_min_line.slope == pytest.approx(slope, abs=1e-3)  # slack is a factor
    assert [str(one.law.exponent) for one in (first, learned, classes)] == ["3/2", "3/4", "0"]
    assert abs(classes.line.slope) < 0.005


def test_groups_have_the_norms_and_ratios_of_the_weights(bare):
    store = Store(bare)
    found = groups(store)
    assert len(found) == 3 * len(LENGTHS)
    for group in found:
        outcomes, weights = runs_of(store, group.problem, group.mode)
        norms = sorted(max(norms_of(one).values()) for one in weights)
        assert group.runs == len(outcomes) == SEEDS
        assert group.norms == pytest.approx(norms, rel=1e-14)
        assert group.steps == (7,) * SEEDS
        assert group.errors == ()
        if group.problem.readout == "classification":
            assert group.ratios == ()
    of_four = next(group for group in found if group.problem == problems()[0])
    by_hand = [norm / (1.5 / 8**0.5) for norm in of_four.norms]
    assert of_four.ratios == pytest.approx(by_hand, rel=1e-13)
    for i, ratio in enumerate(of_four.ratios):
        assert 1 < ratio <= 1 + (i + 1) / 20


def test_shares_say_which_vector_carries_the_norm(bare):
    store = Store(bare)
    for group in groups(store):
        weights = runs_of(store, group.problem, group.mode)[1]
        norms = [norms_of(one) for one in weights]
        tops = [max(one.values()) for one in norms]
        shares = dict(group.shares)
        assert shares.keys() == norms[0].keys()
        for name, share in shares.items():
            by_hand = median(one[name] / top for one, top in zip(norms, tops, strict=True))
            assert share == pytest.approx(by_hand, rel=1e-12)
        assert list(shares.values()) == sorted(shares.values(), reverse=True)


def test_the_read_out_carries_a_bare_norm_and_shares_it_with_a_gain(tmp_path):
    """Weights made so: everything but the read-out (and the gain) is shrunk."""
    wanted = experiments([*problems((16,)), *problems((16,), affine="learned")], ["least"], 1)
    store = Store(filled(tmp_path, wanted))
    bare, learned = (dict(group.shares) for group in groups(store))
    assert bare["w"] > 0.9
    assert min(learned["w"], learned["gamma"]) > 0.9


def plane(weights):
    """(phi, kappa, c0) by numpy: the line p + c g, its point nearest to 0, and the read-out."""
    x, d = {name: np.array(v, float) for name, v in weights.vectors.items()}, weights.problem.d
    scores = {j: math.exp(x["q"] @ x[f"k_{j}"] / d**0.5) for j in "st"}
    p, g = (scores[j] * (u - u.mean()) for j, u in ((j, x["r"] + x[f"v_{j}"]) for j in "st"))
    c0 = -(p @ g) / (g @ g)
    nearest = p + c0 * g
    w = x["w"] * x.get("gamma", 1.0)
    along, beside = (w @ v / np.linalg.norm(v) for v in (g, nearest))
    return math.atan2(beside, along), np.linalg.norm(g) / np.linalg.norm(nearest), c0


def test_shapes_are_where_the_counts_lie(bare):
    store = Store(bare)
    for group in groups(store):
        if group.problem.readout == "classification":
            assert [at.name for at in group.shape] == ["kappa", "c0"]
            assert all(at.optimum is None for at in group.shape)
            continue
        by_hand = np.array([plane(one) for one in runs_of(store, group.problem, group.mode)[1]])
        assert [at.name for at in group.shape] == ["phi", "kappa", "c0"]
        for at, values in zip(group.shape, by_hand.T, strict=True):
            expected = [np.median(values), values.min(), values.max()]
            assert [at.middle, at.least, at.greatest] == pytest.approx(expected, rel=1e-8, abs=1e-8)
        phi, kappa, c0 = group.shape
        assert (phi.optimum, c0.optimum) == (0, group.problem.L / 2)
        assert kappa.optimum is None if group.problem.L == 4 else kappa.optimum > 0


def test_the_optimal_arc_bends_as_the_closed_form_says(bare):
    """L = 12: W^2 = 11^2 k (13 - 2k)^2 / (4 (144 - 23 k)) at its best k, and kappa from it."""
    square = max(121 * k * (13 - 2 * k) ** 2 / (4 * (144 - 23 * k)) for k in range(1, 7))
    kappa = 1 / math.sqrt(square * (144 / 121 - 36 / square))
    (group,) = [one for one in groups(Store(bare)) if one.problem == problems()[2]]
    assert {at.name: at.optimum for at in group.shape}["kappa"] == pytest.approx(kappa)


def test_runs_that_fail_are_told_apart(partly):
    store = Store(partly)
    for group in groups(store):
        outcomes, weights = runs_of(store, group.problem, "plain")
        assert [one.counts for one in outcomes] == [True, False, True]
        assert (group.runs, len(group.norms), len(group.ratios)) == (3, 2, 2)
        assert group.errors == (-float(outcomes[1].margin),)
        assert group.errors[0] > 0
        norms = [norms_of(weights[i]) for i in (0, 2)]
        assert group.norms == pytest.approx(sorted(max(one.values()) for one in norms), rel=1e-14)
        top = median(one["w"] / max(one.values()) for one in norms)
        assert dict(group.shares)["w"] == pytest.approx(top, rel=1e-12)
    (series,) = growth(store.outcomes)
    assert [at.runs for at in series.points] == [2, 2, 2]


@pytest.mark.parametrize("style", ["json", "csv", "markdown", "table"])
def test_the_command_answers_in_every_format(style, bare, run_bmin):
    before = contents(bare)
    answer = run_bmin("compare", str(bare), "--format", style)
    assert (answer.code, answer.err) == (0, "")
    assert contents(bare) == before
    parse[style](answer.out)


def check_json(text):
    records = json.loads(text)
    fits = [one["growth"] for one in records if "growth" in one]
    assert [(one["affine"], one["readout"], one["runs"]) for one in fits] == [
        ("bare", "regression", 9),
        ("bare", "classification", 9),
        ("learned", "regression", 9),
    ]
    assert [one["theorem_exponent"] for one in fits] == ["3/2", "0", "3/4"]
    of_groups = [one for one in records if "shares" in one]
    assert len(of_groups) == 9
    for one in of_groups:
        assert (one["runs"], one["counted"]) == (3, 3)
        assert max(one["shares"].values()) == 1
        assert "c0" in one["shape"]


def check_csv(text):
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == 9
    assert {row["L"] for row in rows} == {"4", "6", "12"}
    for row in rows:
        shares = dict(part.split("=") for part in row["shares"].split())
        assert max(map(float, shares.values())) == 1
        assert float(row["least_norm"]) <= float(row["greatest_norm"])


def check_markdown(text):
    tables = [block for block in text.split("\n\n") if block.startswith("|")]
    assert len(tables) == 4
    for table in tables:
        assert len({line.count("|") for line in table.strip().splitlines()}) == 1


def check_table(text):
    for heading in ("Growth of the largest norm", "Which vectors carry", "Where the counts lie"):
        assert heading in text
    assert text.count("\x1b") == 0


parse = {"json": check_json, "csv": check_csv, "markdown": check_markdown, "table": check_table}


def test_nothing_that_counts_is_exit_code_1(tmp_path, run_bmin):
    def none_counts(experiment):
        made = failing(replace(experiment, seed=experiment.seed | 1))
        return Trained(made.arrays, replace(made.outcome, experiment=experiment))

    filled(tmp_path, experiments(problems((4,)), ["plain"], 2), none_counts)
    assert {row["counts"] for row in rows_of(tmp_path)} == {"false"}
    for style in parse:
        answer = run_bmin("compare", str(tmp_path), "--format", style)
        assert (answer.code, answer.err) == (1, "")
        assert answer.out.strip()


def test_a_directory_without_runs_is_refused(tmp_path, run_bmin):
    for path in (tmp_path, tmp_path / "nowhere"):
        answer = run_bmin("compare", str(path))
        assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
        assert "has no runs.csv with runs; train some" in answer.err
    assert not (tmp_path / "nowhere").exists()


def test_missing_weights_are_refused(bare, tmp_path, run_bmin):
    (tmp_path / "runs.csv").write_bytes((bare / "runs.csv").read_bytes())
    answer = run_bmin("compare", str(tmp_path))
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert "can't be read" in answer.err


def test_the_seed_is_that_of_the_bootstrap(bare, run_bmin):
    def intervals(seed):
        records = run_bmin("compare", str(bare), "--seed", seed, "--format", "json").records
        fits = [one["growth"] for one in records if "growth" in one]
        return [(one["slope_low"], one["slope_high"]) for one in fits]

    assert intervals("3") == intervals("3")


def test_a_run_that_counts_is_never_below_b_min():
    """Shrunk to just under B_min, even weights made to order can't be proved to count."""
    (experiment,) = experiments(problems((4,)), ["least"], 1)
    weights = witness(experiment.problem, Fraction(1, 1000)).to_float64()
    largest, least = max(norms_of(weights).values()), 1.5 / 8**0.5
    arrays = dict(weights.arrays())
    assert judge(experiment, arrays, 1, 0.1).counts
    below = {
        name: x if name == "b" else x * (0.9999 * least / largest) for name, x in arrays.items()
    }
    outcome = judge(experiment, below, 1, 0.1)
    assert (outcome.counts, float(outcome.ratio) < 1) == (False, True)
    assert float(outcome.margin) < 0


def forged(path, norm):
    """A table that claims another norm of its first run."""
    table = path / "runs.csv"
    table.write_text(table.read_text().replace(rows_of(path)[0]["largest_norm"], norm))


def test_a_claim_below_b_min_is_refused(tmp_path, run_bmin):
    filled(tmp_path, experiments(problems((4, 6)), ["plain"], 2))
    forged(tmp_path, "0.25")  # B_min is 0.53
    answer = run_bmin("compare", str(tmp_path))
    assert (answer.code, answer.out) == (2, "")
    assert "L=4" in answer.err
    assert "0.25" in answer.err
    assert "line 2" in run_bmin("rates", "--data", str(tmp_path / "runs.csv")).err


def test_a_row_that_its_weights_belie_is_refused(tmp_path, run_bmin):
    filled(tmp_path, experiments(problems((4, 6)), ["plain"], 2))
    forged(tmp_path, "0.75")
    answer = run_bmin("compare", str(tmp_path))
    assert (answer.code, answer.out) == (2, "")
    assert "its row, 0.75" in answer.err

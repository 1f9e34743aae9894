"""Measured norms: every line is used or reported, fits are right, and B_min is held against them.

Oracles: numpy's polynomial fit, the standard error of a regression, exact B_min from `b_min`.
"""

import csv
import io
import json
import math

import numpy as np
import pytest

from bmin.app import run
from bminlib import CountingProblem, DomainError, b_min
from bminlib.bootstrap import slope_interval
from bminlib.measured import measure
from bminlib.runs_csv import read_runs

HEAD = "norm,affine,d,L,seed,largest_norm"
GIVEN = {"norm": "post", "affine": "bare", "d": 8}


def b_min_text(L, digits, rounding="nearest", **more):
    return b_min(CountingProblem(**{"norm": "post", "d": 8, "L": L} | more)).decimal(
        digits, rounding
    )


@pytest.fixture
def saved(tmp_path):
    def save(text):
        path = tmp_path / "runs.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return save


def runs_of(path, given=GIVEN):
    return read_runs(path, given)


def power_law(lengths, slope, seeds=1):
    rows = [f"post,bare,8,{L},{s},{7 * L**slope!r}" for L in lengths for s in range(seeds)]
    return "\n".join([HEAD, *rows])


def test_an_exact_power_law_is_found(saved):
    (series,) = measure(runs_of(saved(power_law([8, 16, 32, 64], 1.25))).runs)
    assert series.line.slope == pytest.approx(1.25, abs=1e-12)
    assert series.line.intercept == pytest.approx(math.log(7), abs=1e-12)
    assert series.interval.low == pytest.approx(1.25, abs=1e-12)
    assert series.interval.high == pytest.approx(1.25, abs=1e-12)


def test_the_line_through_b_min_repeats_the_lengths(saved):
    text = power_law([8, 16], 1.5, seeds=3) + "\npost,bare,8,256,0,99"
    (series,) = measure(runs_of(saved(text)).runs)
    lengths = [8] * 3 + [16] * 3 + [256]
    norms = [float(b_min_text(L, 17)) for L in lengths]
    slope, _ = np.polyfit(np.log(lengths), np.log(norms), 1)
    assert series.b_min_line.slope == pytest.approx(slope, rel=1e-10)
    assert str(series.law.exponent) == "3/2"


def noisy(units, points, sigma, seed):
    rng = np.random.RandomState(seed)  # a frozen stream
    x = np.tile(2.0 ** np.arange(3, 3 + points), units)
    y = x**0.75 * np.exp(sigma * rng.randn(len(x)))
    return x, y, np.repeat(np.arange(units), points).tolist()


def test_the_interval_has_the_width_of_a_standard_error():
    """With independent noise the bootstrap agrees with the textbook's formula."""
    x, y, units = noisy(units=200, points=5, sigma=0.3, seed=4)
    found = slope_interval(x.tolist(), y.tolist(), units, seed=0)
    _, covariance = np.polyfit(np.log(x), np.log(y), 1, cov=True)
    assert found.units == 200
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * covariance[0, 0] ** 0.5, rel=0.1)


def test_units_are_drawn_whole():
    """Seeds that differ in slope: points drawn one by one would hide most of the spread."""
    slopes = [0.5, 0.6, 0.9, 1.0]
    lengths = [8.0, 16.0, 32.0, 64.0, 128.0]
    x = lengths * len(slopes)
    y = [L**slope for slope in slopes for L in lengths]
    units = [slope for slope in slopes for _ in lengths]
    whole, single = (slope_interval(x, y, u, seed=0) for u in (units, range(len(x))))
    assert (whole.units, single.units) == (4, 20)
    assert whole.low == pytest.approx(0.525, abs=0.03)
    assert whole.high == pytest.approx(0.975, abs=0.03)


def test_the_same_seed_gives_the_same_interval():
    x, y, units = noisy(units=5, points=4, sigma=0.3, seed=1)
    first, again, other = (slope_interval(x, y, units, seed) for seed in (3, 3, 4))
    assert first == again
    assert first != other
    assert first.low == pytest.approx(0.4880146765296958, rel=1e-9)


@pytest.mark.parametrize(("x", "units"), [([8, 8], [1, 2]), ([8, 8], [1, 1])])
def test_one_length_has_no_interval(x, units):
    assert slope_interval(x, [1.0, 2.0], units, 0) is None


def test_models_and_modes_are_fitted_apart(saved):
    text = "\n".join(
        [
            "norm,affine,d,tau,L,mode,largest_norm",
            "post,bare,8,,8,plain,3",
            "post,bare,8,1/sqrt(8),16,plain,9",
            "post,bare,8,,8,least,2",
            "post,learned,8,,8,plain,2",
            "post,bare,9,,8,plain,2",
            "none,,8,1,8,plain,20",
        ]
    )
    found = measure(runs_of(saved(text), {}).runs)
    assert [sum(at.runs for at in one.points) for one in found] == [2, 1, 1, 1, 1]


def test_options_fill_what_the_file_leaves_open(saved):
    path = saved("L,largest_norm,norm\n8,2,\n8,3,none\n")
    first, second = runs_of(path, GIVEN | {"normalizer": "rms"}).runs
    assert (first.problem.norm, first.problem.normalizer) == ("post", "rms")
    assert (second.problem.norm, second.problem.normalizer) == ("none", None)


BAD_ROWS = {
    "post,bare,8,8,0,": "largest_norm is missing",
    "post,bare,8,8,0,nan": "must be a number > 0",
    "post,bare,8,8,0,inf": "must be a number > 0",
    "post,bare,8,8,0,-1": "must be a number > 0",
    "post,bare,8,8,0,0": "must be a number > 0",
    "post,bare,8,8,0,1e999": "must be a number > 0",
    "post,bare,8,8,0,1_0": "must be a number > 0",
    "post,bare,8,8.5,0,1": "L='8.5'",
    "post,bare,8,,0,1": "L=''",
    "post,bare,8,0,0,1": "L=0",
    "post,bare,8,99999999999999999999,0,1": "10^15",
    "post,bare,x,8,0,1": "d='x'",
    "post,,8,8,0,1": "affine is missing",
    "pots,bare,8,8,0,1": "norm='pots'",
    "none,bare,8,8,0,1": "norm none has no affine",
    "post,bare,8,8,0": "has 5 cells where the first line has 6",
    "post,bare,8,8,0,1,1": "has 7 cells",
    "": "is empty",
}


@pytest.mark.parametrize(("row", "reason"), BAD_ROWS.items())
def test_a_bad_line_is_reported_by_its_number(saved, row, reason):
    path = saved(f"{HEAD}\npost,bare,8,8,0,3\n{row}\npost,bare,8,16,0,9\n")
    found = runs_of(path, {})
    assert [run.line for run in found.runs] == [2, 4]
    assert [out.line for out in found.left_out] == [3]
    assert reason in found.left_out[0].reason


def test_lines_are_counted_across_quoted_line_breaks(saved):
    path = saved('norm,affine,d,L,largest_norm,note\npost,bare,8,8,3,"a\nb"\npost,bare,8,8,,\n')
    found = runs_of(path)
    assert [run.line for run in found.runs] == [2]
    assert [out.line for out in found.left_out] == [4]
    assert found.unused_columns == ("note",)


def test_runs_that_do_not_count_are_left_out(saved):
    path = saved("L,largest_norm,counts\n8,3,true\n8,3,false\n8,3,maybe\n")
    found = runs_of(path)
    assert [run.line for run in found.runs] == [2]
    assert [(out.line, out.reason.split(":")[0]) for out in found.left_out] == [
        (3, "counts is false"),
        (4, "counts='maybe'"),
    ]


BAD_FILES = {
    b"": "no column L and no column largest_norm",
    b"L,norm\n": "no column largest_norm",
    b"L,largest_norm\n": "no line below its head",
    b"L,L,largest_norm\n8,8,1\n": "occurs twice",
    b"L,largest_norm,seed,group\n8,1,1,1\n": "both seed and group",
    b"L,largest_norm\n8,-1\n": "none of its 1 lines can be used, line 2",
    b'L,largest_norm\n8,"1\n': "line 2 is no CSV",
    b"L,largest_norm\n8,\xff\n": "no UTF-8",
    b"\x00\x00": "no column L",
}


@pytest.mark.parametrize(("data", "sentence"), BAD_FILES.items())
def test_a_hopeless_file_is_refused(saved, data, sentence):
    with pytest.raises(DomainError, match=sentence):
        runs_of(saved(data))


def test_a_huge_file_is_refused(saved, monkeypatch):
    monkeypatch.setattr("bminlib.runs_csv.MAX_BYTES", 1 << 20)
    with pytest.raises(DomainError, match="over 1 MiB"):
        runs_of(saved(b"x" * (1 << 20) + b"x"))


@pytest.mark.parametrize("given", [{}, {"norm": "post"}, {"d": 8}])
def test_an_open_model_is_refused(saved, given):
    with pytest.raises(DomainError, match="say which model was measured"):
        runs_of(saved("L,largest_norm\n8,1\n"), given)


def test_a_byte_order_mark_is_no_part_of_a_name(saved):
    assert len(runs_of(saved(b"\xef\xbb\xbfL,largest_norm\r\n8,2\r\n")).runs) == 1


@pytest.mark.parametrize("digits", [3, 7, 15])
def test_a_norm_under_b_min_is_told_from_a_rounded_one(saved, digits):
    """B_min rounded down to some digits may stand for B_min; one unit less can't."""
    rounded = b_min_text(64, digits, "down")
    places = len(rounded.partition(".")[2])
    less = f"{float(rounded) - 1.01 * 10**-places:.{places}f}"
    norms = [b_min_text(64, digits, "up"), b_min_text(64, digits), less]
    path = saved("\n".join(["L,largest_norm", *(f"64,{norm}" for norm in norms)]))
    (point,) = measure(runs_of(path).runs)[0].points
    assert point.below == (4,)
    assert point.ratio < 1


def test_lengths_beyond_the_horizon_are_named(saved):
    path = saved("L,largest_norm\n12,99\n13,99\n")
    (series,) = measure(runs_of(path, {"norm": "pre", "affine": "bare", "d": 3}).runs)
    assert [at.below for at in series.points] == [(), (3,)]
    assert series.points[1].ratio is None


def test_classification_has_no_ratio(saved):
    path = saved("L,largest_norm\n8,1\n16,1\n")
    (series,) = measure(runs_of(path, GIVEN | {"readout": "classification"}).runs)
    assert [at.ratio for at in series.points] == [None, None]
    assert series.b_min_line is None
    assert series.points[0].below == ()


ARGUMENTS = ["--norm", "post", "--affine", "bare", "--d", "8"]


def test_the_command_reports_and_warns(saved, capsys):
    path = saved("L,largest_norm,steps\n8,3,1\n16,1,1\n16,,1\n")
    assert run(["rates", "--data", str(path), *ARGUMENTS]) == 0
    out, err = capsys.readouterr()
    assert "under B_min" in out
    assert "line 3: its norm lies under B_min = 4.15434" in err
    assert "line 4 is left out: largest_norm is missing" in err
    assert "columns that play no part: steps" in err


def test_json_and_csv_agree(saved, capsys):
    path = str(saved(power_law([8, 16, 32], 1.5, seeds=3)))
    run(["rates", "--data", path, "--format", "json"])
    (series,) = json.loads(capsys.readouterr().out)
    run(["rates", "--data", path, "--format", "csv"])
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["L"] for row in rows] == [at["L"] for at in series["points"]]
    assert {row["exponent"] for row in rows} == {series["exponent"]} == {"1.500000"}
    assert series["units"] == 3
    assert series["points"][0]["b_min"] == b_min_text(8, 15)


@pytest.mark.parametrize("style", ["table", "markdown", "latex"])
def test_text_formats_hold_the_exponent(saved, capsys, style):
    path = str(saved(power_law([8, 16, 32], 1.5, seeds=3)))
    assert run(["rates", "--data", path, "--format", style]) == 0
    out = capsys.readouterr().out
    assert out.isascii()
    assert "1.5000" in out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--data", "nowhere.csv"], "can't be read, no such file"),
        (["--data", "nowhere.csv", "--d", "8,9"], "one number is wanted here"),
        (["--data", ".", "--d", "8"], "can't be read"),
    ],
)
def test_bad_usage_gets_one_sentence(capsys, arguments, sentence):
    assert run(["rates", *arguments]) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1

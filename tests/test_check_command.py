"""`bmin derive` and `bmin check`: theorems to read, to run, and a user's own claims."""

import shutil
import subprocess
from fractions import Fraction

import pytest

from bmin_derivations.catalogue import THEOREMS

BARE = ("--norm", "post", "--affine", "bare")


def test_derive_lists_every_theorem(run_bmin):
    answer = run_bmin("derive")
    assert answer.code == 0
    listed = [line.split()[0] for line in answer.out.splitlines()[4:]]
    assert listed == [theorem.id for theorem in THEOREMS]


@pytest.mark.parametrize("style", ["text", "markdown", "latex"])
def test_derive_writes_a_derivation(run_bmin, style):
    answer = run_bmin("derive", "softmax.inexact", "--format", style)
    assert (answer.code, answer.err) == (0, "")
    assert "softmax.inexact" in answer.out
    assert answer.out.isascii()


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="needs pdflatex")
def test_the_latex_of_a_derivation_compiles(run_bmin, tmp_path):
    (tmp_path / "theorem.tex").write_text(
        run_bmin("derive", "linear.rounded", "--format", "latex").out
    )
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "theorem.tex"],
        cwd=tmp_path,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]


def test_check_runs_theorems_and_what_they_use(run_bmin):
    answer = run_bmin("check", "trivial", "--format", "json")
    records = {record["theorem"]: record for record in answer.records}
    assert answer.code == 0
    assert "trivial" in records
    for record in records.values():
        assert record["verdict"] == "proved"
        assert record["steps_passed"] == record["steps"] > 0
        assert record["mutants_passed"] == record["mutants"] > 0


def claim(run_bmin, formula, kind, *options):
    answer = run_bmin("check", "--formula", formula, "--as", kind, *options, "--format", "json")
    (record,) = answer.records
    assert answer.code == (0 if record["verdict"] == "proved" else 1)
    return record


def test_a_lower_bound_is_proved_for_every_length(run_bmin):
    record = claim(run_bmin, "L**(3/2)/(4*sqrt(2*d))", "lower", *BARE, "--L", "4:300")
    assert (record["verdict"], record["all_lengths"]) == ("proved", "proved")
    assert record["lengths_tested"] == 297
    assert record["ratio_limit"] == "1"
    assert 0.9165 < Fraction(record["least_ratio"]["ratio"]) < 0.9166


def test_an_upper_bound_is_refuted_with_its_first_counterexample(run_bmin):
    record = claim(run_bmin, "L**(3/2)/(4*sqrt(2*d))", "upper", *BARE, "--L", "4:300")
    assert (record["verdict"], record["all_lengths"]) == ("refuted", "refuted")
    failure = record["counterexample"]
    assert failure["L"] == "4"
    assert Fraction(failure["formula"]) < Fraction(failure["b_min"]) == Fraction(3, 16)


def test_an_exact_value_is_recognised(run_bmin):
    record = claim(
        run_bmin, "floor((L+1)**2/4)/(2*sqrt(d))", "equal", "--norm", "pre", "--affine", "bare",
        "--L", "4:12", "--d", "3",
    )  # fmt: skip
    assert record["verdict"] == "proved"
    assert record["least_ratio"] == {"ratio": record["least_ratio"]["ratio"], "L": "4"}
    assert Fraction(record["least_ratio"]["ratio"]) == 1


def test_nothing_is_an_upper_bound_beyond_the_horizon(run_bmin):
    record = claim(
        run_bmin, "10**9", "upper", "--norm", "pre", "--affine", "bare", "--L", "4:20", "--d", "3"
    )
    assert record["verdict"] == "refuted"
    assert record["counterexample"] == {"L": "13", "formula": "1000000000.00", "b_min": None}


def test_asymptotic_claims_are_decided_by_their_limit(run_bmin):
    right = claim(run_bmin, "L**(3/2)/(4*sqrt(2*d))", "asymptotic", *BARE, "--L", "4:8")
    wrong = claim(run_bmin, "L**(3/2)/(4*sqrt(3*d))", "asymptotic", *BARE, "--L", "4:8")
    assert (right["verdict"], wrong["verdict"]) == ("proved", "refuted")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("nonsense",), "nonsense"),
        (("trivial", "--formula", "L", "--L", "4"), "leave one out"),
        (("--formula", "L"), "--L is missing"),
        (("--formula", "L", "--L", "4", "--as", "sideways"), "sideways"),
        (("--formula", "9**9**9**9", "--L", "4"), "exponent"),
        (("--formula", "(" * 10**6 + ")" * 10**6, "--L", "4"), "formula"),
        (("--formula", "L.real", "--L", "4"), "formula"),
        (("--formula", "__import__('os')", "--L", "4"), "__import__"),
        (("--formula", "n + 1", "--L", "4"), "'n'"),
        (("--formula", "", "--L", "4"), "formula"),
        (("--jobs", "x"), "--jobs"),
    ],
)
def test_bad_calls_get_one_sentence(run_bmin, options, named):
    answer = run_bmin("check", *options)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("bmin: ")
    assert named in answer.err
    assert answer.err.count("\n") == 1

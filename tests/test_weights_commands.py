"""`bmin witness`, `bmin verify` and `bmin count`: what they print, write and refuse."""

import io
import json
from fractions import Fraction

import pytest

from bminlib.files import load_weights


@pytest.fixture
def made(run_bmin, tmp_path):
    """A file of weights for post learned at L = 12, d = 4."""
    path = tmp_path / "w.json"
    call = "witness --norm post --affine learned --L 12 --d 4 --out"
    answer = run_bmin(*call.split(), str(path))
    assert (answer.code, answer.err) == (0, "")
    assert "proved: all 91 pairs" in answer.out
    return path


def changed(path, change):
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


def test_verify_proves_and_reports(run_bmin, made):
    answer = run_bmin("verify", str(made), "--format", "json")
    (record,) = answer.records
    assert answer.code == 0
    assert (record["verdict"], record["pairs"], record["L"]) == ("proved", "91", "12")
    assert 1 <= Fraction(record["ratio"]) <= 1 + Fraction(1, 10**6)
    assert Fraction(record["margin"]) > 0
    assert record["failure"] is None


def test_verify_refutes_with_the_first_failure(run_bmin, made):
    def lengthen(document):
        document["problem"]["L"] = "13"

    changed(made, lengthen)
    answer = run_bmin("verify", str(made), "--format", "json")
    (record,) = answer.records
    assert answer.code == 1
    assert record["verdict"] == "refuted"
    assert Fraction(record["ratio"]) < 1
    at = record["failure"]
    assert abs(Fraction(at["yhat"]) - int(at["c"])) >= Fraction(1, 2)


def test_a_tie_is_refuted(run_bmin, tmp_path):
    """yhat = c/2 + 1/4 at L = 1 by linear attention; with b = 1/2 count 0 ties at 1/2."""
    zero, one = ["0"], ["1"]
    vectors = dict.fromkeys(("q", "k_t", "v_t"), one) | {"w": ["1/2"]}
    vectors |= dict.fromkeys(("k_s", "k_f", "v_s", "v_f", "r"), zero)
    problem = {"attention": "linear", "norm": "none", "affine": None, "normalizer": None}
    problem |= {"weights": "free", "readout": "regression", "exactness": "rounded"}
    problem |= {"d": 1, "tau": "1", "L": "1"}
    document = {"kind": "bminlib/weights", "version": 1, "problem": problem, "ln_eps": "0"}
    path = tmp_path / "tie.json"
    for b, verdict in (("1/4", "proved"), ("1/2", "refuted")):
        path.write_text(json.dumps(document | {"vectors": vectors, "b": b}))
        answer = run_bmin("verify", str(path), "--format", "json")
        (record,) = answer.records
        assert record["verdict"] == verdict
    assert record["failure"] == {"c": "0", "m": "0", "yhat": "0.500000000000000", "tie": True}


@pytest.mark.parametrize("suffix", ["json", "npz", "safetensors"])
def test_every_format_goes_round(run_bmin, tmp_path, suffix):
    path = tmp_path / f"w.{suffix}"
    call = f"witness --norm none --L 7 --d 2 --out {path}"
    assert run_bmin(*call.split()).code == 0
    assert run_bmin("verify", str(path)).code == 0
    assert run_bmin("count", "--weights", str(path), "1", "0", "1").out == "2\n"


def test_witness_without_out_prints_weights(run_bmin, tmp_path):
    answer = run_bmin(*["witness", "--norm", "pre", "--affine", "bare", "--L", "5", "--d", "3"])
    path = tmp_path / "piped.json"
    path.write_text(answer.out)
    assert load_weights(path).problem.L == 5


def test_classification_takes_a_bound(run_bmin, tmp_path):
    call = "witness --norm post --L 6 --d 4 --readout classification --bound 1/10 --format json"
    (record,) = run_bmin(*call.split(), "--out", str(tmp_path / "c.npz")).records
    assert record["verdict"] == "proved"
    assert float(record["largest_norm"]) <= 0.1
    assert float(record["margin"]) > 0


def test_a_place_that_takes_no_file_gets_one_sentence(run_bmin):
    answer = run_bmin(
        *["witness", "--norm", "post", "--L", "6", "--d", "4", "--out", "/dev/null/none.json"]
    )
    assert (answer.code, answer.out) == (2, "")
    assert "can't be written" in answer.err


def test_eps_raises_the_norm_and_is_no_b_min(run_bmin, tmp_path):
    path = tmp_path / "eps.json"
    call = f"witness --norm post --L 4 --d 64 --ln-eps 1e-5 --out {path}"
    text = run_bmin(*call.split()).out
    assert "at ln_eps = 0; at this ln_eps only the largest norm bounds it" in text
    (record,) = run_bmin("verify", str(path), "--format", "json").records
    assert record["ln_eps"] == "1/100000"
    assert record["b_min"] == "0.187500000000000"
    assert 1.06 < float(record["ratio"]) < 1.07  # + 6.6 % by an independent optimisation


def test_infeasible_is_an_answer_with_its_reason(run_bmin):
    answer = run_bmin(*["witness", "--norm", "pre", "--affine", "bare", "--L", "13", "--d", "3"])
    assert answer.code == 1
    assert "a*(13) = 36 > e^(2 sqrt 3)" in answer.err


def test_count_reads_lines_and_alphabets(run_bmin, made, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("1 0 1 1\n\n0110\n"))
    assert run_bmin("count", "--weights", str(made)).out == "3\n0\n2\n"
    call = ["count", "--weights", str(made), "--target", "yes", "--filler", "no", "yes", "no"]
    assert run_bmin(*call).out == "1\n"
    (record,) = run_bmin("count", "--weights", str(made), "11010", "--format", "json").records
    assert record == {"c": 3, "m": 2, "count": 3, "right": True}


@pytest.mark.parametrize(
    ("call", "named"),
    [
        ("witness --L 8", "--norm is missing"),
        ("witness --norm post", "--L is missing"),
        ("witness --norm post --L 8,9", "one number"),
        ("witness --norm post --L 8 --slack -1", "--slack"),
        ("witness --norm post --L 8 --slack 0", "slack"),
        ("witness --norm post --L 8 --ln-eps nan", "--ln-eps"),
        ("witness --norm none --L 8 --ln-eps 1e-5", "no normaliser"),
        ("witness --norm post --L 6 --exact", "symbolic"),
        ("witness --norm post --L 8 --out w.pickle", ".safetensors"),
        ("verify", "FILE"),
        ("verify nowhere.json", "can't be read"),
        ("verify /", "no regular file"),
        ("count 1 0", "--weights is missing"),
        ("count --weights nowhere.npz 1", "can't be read"),
        ("count --weights w.json --target 1 --filler 1 1", "two different"),
    ],
)
def test_bad_calls_get_one_sentence(run_bmin, call, named):
    answer = run_bmin(*call.split())
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("bmin: ")
    assert named in answer.err
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize("content", ["", "{", "[]", '{"kind": 1}', "[" * 100000, "null", "\0"])
def test_hostile_files_get_one_sentence(run_bmin, tmp_path, content):
    path = tmp_path / "bad.json"
    path.write_text(content)
    answer = run_bmin("verify", str(path))
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.count("\n") == 1


def test_an_unknown_token_is_named(run_bmin, made):
    answer = run_bmin("count", "--weights", str(made), "1", "2")
    assert answer.code == 2
    assert "'2'" in answer.err


def test_zero_variance_is_named(run_bmin, made):
    def flatten(document):
        for name in ("r", "v_s", "v_t", "v_f"):
            document["vectors"][name] = [1] * 4

    changed(made, flatten)
    answer = run_bmin("verify", str(made))
    assert answer.code == 2
    assert "(c, m) = (0, 0)" in answer.err

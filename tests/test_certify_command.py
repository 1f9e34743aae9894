"""`bmin certify` and `bmin verify` on a certificate: what they print, write and refuse.

That a certificate holds B_min is the business of test_certify.py, that the checker is no rubber
stamp of test_checker_mutations.py.
"""

import json
import os
import time

import pytest

from bmin.certificate_rows import read_certificate
from bminlib import checker
from bminlib.checker import check

POST = ["--norm", "post", "--affine", "learned", "--L", "6", "--d", "3"]
SHORT = ["--norm", "pre", "--affine", "bare", "--L", "13", "--d", "3"]  # one beyond the horizon
QUICK = 2  # seconds


@pytest.fixture
def made(run_bmin, tmp_path):
    """A certificate of POST."""
    path = tmp_path / "cert.json"
    answer = run_bmin("certify", *POST, "--gap", "1e-6", "--out", str(path))
    assert (answer.code, answer.err) == (0, "")
    return path


def changed(path, **parts):
    path.write_text(json.dumps(json.loads(path.read_text()) | parts))


@pytest.mark.parametrize("by", ["theorem", "search"])
@pytest.mark.parametrize("options", [POST, SHORT], ids=["bounds", "infeasible"])
def test_what_is_written_is_proved_again(run_bmin, tmp_path, options, by):
    path = str(tmp_path / "cert")  # told by its kind, not by its name
    (written,) = run_bmin(
        "certify", *options, "--by", by, "--out", path, "--format", "json"
    ).records
    answer = run_bmin("verify", path, "--format", "json")
    (verified,) = answer.records
    assert answer.code == 0
    assert verified["verdict"] == written["verdict"] == "proved"
    assert written.pop("file") == path
    assert {**written, "seconds": 0} == {**verified, "seconds": 0}
    assert verified["by"] == by
    assert verified["bytes"] == os.path.getsize(path)


def test_the_report_says_what_is_proved(run_bmin, made, tmp_path):
    lines = run_bmin("verify", str(made)).out.splitlines()
    assert lines[0] == (
        "softmax, post learned, regression, after rounding, L = 6, d = 3, tau = 1/sqrt(3)"
    )
    record = json.loads(made.read_text())
    assert lines[1] == f"proved: {record['lower']} <= B_min <= {record['upper']}"
    assert lines[2:4] == ["lower by   theorem", "upper by   explicit weights in the certificate"]
    path = tmp_path / "short.json"
    lines = run_bmin("certify", *SHORT, "--out", str(path)).out.splitlines()
    assert lines[1] == "proved: no parameters count, whatever their norms"
    assert lines[-1] == f"written to {path}"


def test_without_out_the_certificate_itself_is_printed(run_bmin):
    answer = run_bmin("certify", *POST)
    assert answer.code == 0
    assert check(answer.out.encode()).problem["L"] == "6"


@pytest.mark.parametrize(
    "parts", [{"lower": "2"}, {"gap": "0"}, {"version": 2}, {"by": "luck"}, {"weights": None}]
)
def test_a_false_or_unproved_certificate_is_no_usage_error(run_bmin, made, parts):
    changed(made, **parts)
    answer = run_bmin("verify", str(made))
    assert (answer.code, answer.err) == (1, "")
    assert answer.out.startswith("not proved: the certificate ")
    assert answer.out.count("\n") == 1
    (record,) = run_bmin("verify", str(made), "--format", "json").records
    assert record["verdict"] == "not proved"
    assert record["reason"]


def test_a_file_of_weights_is_still_verified_as_such(run_bmin, tmp_path):
    path = str(tmp_path / "w.json")
    run_bmin("witness", *POST, "--out", path)
    assert read_certificate(path) is None
    assert "all 28 pairs (c, m) with c + m <= 6 count" in run_bmin("verify", path).out


def test_length_belongs_to_weights_alone(run_bmin, made):
    answer = run_bmin("verify", str(made), "--L", "7")
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert "leave --L out" in answer.err


START = b'{"kind": "bminlib/certificate", "x": '
HOSTILE = {
    "cut off": lambda data: data[: len(data) // 2],
    "deep": lambda _: START + b"[" * 1_000_000,
    "many keys": lambda _: START + b"{" + b",".join(b'"%d":0' % i for i in range(200_000)) + b"}}",
    "a long number": lambda _: START + b"9" * 3_000_000 + b"}",
    "too long": lambda data: data + b" " * checker.MAX_BYTES,
    "far too long": lambda _: START + b"[" * (4 * checker.MAX_BYTES),
    "bytes": lambda _: START + bytes(range(256)) * 1000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_certificates_get_one_sentence_at_once(run_bmin, made, name):
    made.write_bytes(HOSTILE[name](made.read_bytes()))
    start = time.perf_counter()
    answer = run_bmin("verify", str(made))
    assert time.perf_counter() - start < QUICK
    assert (answer.code, answer.err, answer.out.count("\n")) == (1, "", 1)
    assert answer.out.startswith("not proved: the certificate ")
    assert len(answer.out) < 400


OTHERS = {
    "empty": b"",
    "random": bytes(range(256)) * 20_000,
    "another kind": b'{"kind": "bminlib/certificates"}',
    "a kind twice": b'{"kind": "x", "kind": "y"}',
    "deep": b'{"kind":' * 1_000_000,
    "zeros": b"\0" * 5_000_000,
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_neither_gets_one_sentence_at_once(run_bmin, tmp_path, name):
    path = tmp_path / "x.json"
    path.write_bytes(OTHERS[name])
    start = time.perf_counter()
    answer = run_bmin("verify", str(path))
    assert time.perf_counter() - start < QUICK
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)


def test_a_pipe_is_refused_without_waiting_for_it(run_bmin, tmp_path):
    path = tmp_path / "pipe.json"
    os.mkfifo(path)
    answer = run_bmin("verify", str(path))
    assert answer.code == 2
    assert "no regular file" in answer.err


@pytest.mark.parametrize(
    ("call", "named"),
    [
        ("--L 8", "--norm is missing"),
        ("--norm post", "--L is missing"),
        ("--norm post --L 8,9", "one number"),
        ("--norm post --L 8 --gap 0", "gap=0"),
        ("--norm post --L 8 --gap tight", "--gap"),
        ("--norm post --L 8 --gap 1e-12 --by search", "float64"),
        ("--norm post --L 8 --by luck", "luck"),
        ("--norm post --L 10^9", "lower L"),
        ("--norm none --attention linear --L 8 --exact", "irrational"),
        ("--norm post --L 8 --out /dev/null/c.json", "can't be written"),
    ],
)
def test_bad_calls_get_one_sentence(run_bmin, call, named):
    answer = run_bmin("certify", *call.split())
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("bmin: ")
    assert named in answer.err
    assert answer.err.count("\n") == 1


def test_nothing_is_written_without_a_proof(run_bmin, tmp_path, monkeypatch):
    monkeypatch.setattr("bminlib.certify._longest", lambda *_: "0.1")
    path = tmp_path / "cert.json"
    answer = run_bmin("certify", *POST, "--out", str(path))
    assert (answer.code, answer.out) == (1, "")
    assert "did not accept" in answer.err
    assert not path.exists()

"""`bmin compute --method solve` and `bmin check` set a second value beside each closed form.

Oracle: `bmin compute` without the option. The checks must be able to fail: a solver or a
certificate that says something else is noticed.
"""

import csv
import dataclasses
import io

import pytest
from flint import arb, ctx

from bmin_derivations.catalogue import theorem
from bmin_derivations.check import check_theorem
from bmin_derivations.records import Verdict
from bminlib import CountingProblem
from bminlib.certify import certify
from bminlib.errors import UndecidedError
from bminlib.solve import solve

NEW = ["solved", "digits_agreed", "equations", "solve_reason"]
CALLS = [
    "--L 1:5,40",
    "--L 6 --d 2,3 --normalizer rms --digits 30",
    "--L 3 --exact",
    "--L 10^9 --norm post --digits 50",
    "--L 12,13 --norm pre --affine bare --d 3",
    "--L 7 --tau 0.04 --attention linear --digits 3",
    "--L 5 --readout classification",
]
every_call = pytest.mark.parametrize("call", [call.split() for call in CALLS], ids=CALLS)


@every_call
def test_the_solver_stands_beside_every_closed_form(compute, call):
    plain, rows = compute(*call), compute(*call, "--method", "solve")
    assert [{k: v for k, v in row.items() if k not in NEW} for row in rows] == plain
    digits = int(call[call.index("--digits") + 1]) if "--digits" in call else 15
    for row in rows:
        assert list(row)[-4:] == NEW
        if row["readout"] == "classification":
            assert [row[name] for name in NEW] == [None] * 4
        elif not row["feasible"]:
            assert row["solved"] is row["digits_agreed"] is row["equations"] is None
            assert row["solve_reason"]
        else:
            assert row["solved"] == row["b_min"]
            assert row["digits_agreed"] == (None if row["b_min"] == "0" else digits)
            assert "yhat" in row["equations"]
            assert row["solve_reason"] is None


@every_call
def test_every_format_has_the_two_columns(run_bmin, compute, call):
    rows = compute(*call, "--method", "solve")
    seen = ["-" if row["readout"] == "classification" else row["solved"] or "infeasible"
            for row in rows]  # fmt: skip
    agreed = ["-" if row["digits_agreed"] is None else str(row["digits_agreed"]) for row in rows]

    def lines(style):
        answer = run_bmin("compute", *call, "--method", "solve", "--format", style)
        assert answer.err == ""
        return answer.out.splitlines()

    written = list(csv.DictReader(io.StringIO("\n".join(lines("csv")))))
    assert [row["solved"] for row in written] == [row["solved"] or "" for row in rows]
    table = [[cell.strip() for cell in line.split("|")] for line in lines("markdown")]
    at = table[0].index("solved")
    assert table[0][at - 1 : at + 2] == ["B_min", "solved", "digits agreed"]
    assert [row[at] for row in table[2:]] == seen
    assert [row[at + 1] for row in table[2:]] == agreed
    for line, value in zip(lines("table")[4:], seen, strict=True):
        assert value in line.split()
    latex = [line.split(" & ") for line in lines("latex") if " & " in line]
    assert {len(row) for row in latex} == {7}
    assert latex[0][4:6] == ["solved", "digits agreed"]


def test_without_the_option_nothing_changes(run_bmin, monkeypatch):
    monkeypatch.setattr("bmin.bound_rows._with_solved", None)
    plain = run_bmin("compute", "--L", "5:9")
    assert plain.out == run_bmin("compute", "--L", "5:9", "--method", "closed").out
    assert "solved" not in plain.out


def test_a_tie_gets_one_digit_more(compute):
    """25/16 to 4 digits: a ball can't tell which way to round it."""
    call = "--norm pre --affine bare --L 9 --digits 4 --method solve"
    (row,) = compute(*call.split())
    assert (row["b_min"], row["solved"], row["digits_agreed"]) == ("1.562", "1.5625", 4)


def off_by(relative):
    def wrong(problem, digits=15):
        found = solve(problem, digits)
        with ctx.workprec(200):
            value = None if found.value is None else found.value * (1 + arb(relative))
            return dataclasses.replace(found, value=value)

    return wrong


def undecided(*_):
    raise UndecidedError("yhat(0) = 0 + 1/2: no convergence at 77 bits of precision")


def test_a_disagreement_is_shown_and_fails(run_bmin, monkeypatch):
    monkeypatch.setattr("bmin.solve_records.solve", off_by("1e-8"))
    answer = run_bmin("compute", "--norm", "post", "--L", "9", "--method", "solve")
    assert answer.code == 1
    assert [line.split()[6] for line in answer.out.splitlines()[4:]] == ["8", "8"]


def test_an_undecided_solver_gives_one_sentence_and_no_value(run_bmin, monkeypatch):
    monkeypatch.setattr("bmin.solve_records.solve", undecided)
    answer = run_bmin("compute", "--norm", "post", "--L", "9", "--method", "solve")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err == "bmin: yhat(0) = 0 + 1/2: no convergence at 77 bits of precision\n"


def test_another_method_is_refused(run_bmin):
    answer = run_bmin("compute", "--L", "9", "--method", "guess")
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)


@pytest.mark.parametrize("name", ["trivial", "none", "post.bare", "pre.bare.horizon"])
def test_check_solves_and_certifies_instances(name):
    entry = theorem(name)
    outcome = check_theorem(entry, quick=True, certificates=True)
    assert (outcome.verdict, outcome.reason) == (Verdict.PROVED, "")
    stated = sum(part.library is None for part in entry.parts)
    assert outcome.solved == outcome.certificates == (stated, stated)
    assert check_theorem(entry, quick=True).certificates == (0, 0)


@pytest.mark.parametrize(
    ("solver", "verdict", "reason"),
    [
        (off_by("1e-22"), Verdict.REFUTED, "found by root-finding"),
        (lambda *_: solve(CountingProblem(norm="pre", L=13, d=3)), Verdict.REFUTED, "infeasible"),
        (undecided, Verdict.UNDECIDED, "no convergence at 77 bits"),
    ],
)
def test_a_solver_that_disagrees_fails_the_theorem(monkeypatch, solver, verdict, reason):
    monkeypatch.setattr("bmin_derivations.origins.solve", solver)
    outcome = check_theorem(theorem("linear.rounded"), quick=True)
    assert outcome.verdict is verdict
    assert reason in outcome.reason
    assert outcome.solved[0] < outcome.solved[1]


@pytest.mark.parametrize(
    ("prover", "verdict", "reason"),
    [
        (lambda p, *_: certify(dataclasses.replace(p, L=p.L + 1)), Verdict.REFUTED, "not proved"),
        (undecided, Verdict.UNDECIDED, "no convergence"),
    ],
)
def test_a_certificate_of_something_else_fails_the_theorem(monkeypatch, prover, verdict, reason):
    monkeypatch.setattr("bmin_derivations.origins.certify", prover)
    outcome = check_theorem(theorem("linear.rounded"), quick=True, certificates=True)
    assert outcome.verdict is verdict
    assert reason in outcome.reason


def test_check_shows_certificates_where_asked(run_bmin):
    plain = run_bmin("check", "trivial", "--quick")
    asked = run_bmin("check", "trivial", "--quick", "--certificates")
    assert (plain.code, asked.code) == (0, 0)
    assert "certificates" not in plain.out
    assert "certificates" in asked.out
    (record,) = run_bmin(
        "check", "trivial", "--quick", "--certificates", "--format", "json"
    ).records
    for name in ("solved", "certificates"):
        assert record[f"{name}_passed"] == record[name] == 1
    answer = run_bmin("check", "--certificates", "--formula", "L", "--L", "4")
    assert (answer.code, answer.err.count("\n")) == (2, 1)

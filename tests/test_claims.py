"""Promise: a user's claim about B_min is compared exactly at each length and judged honestly."""

import dataclasses
from fractions import Fraction

import mpmath
import pytest

from bmin_derivations import claim
from bmin_derivations.claim import examine_claim
from bmin_derivations.claim_proof import beyond
from bmin_derivations.formula import parse
from bmin_derivations.limited import beyond_in_time
from bmin_derivations.records import Verdict
from bminlib import CountingProblem, DomainError, b_min

PROVED, REFUTED, UNDECIDED = Verdict.PROVED, Verdict.REFUTED, Verdict.UNDECIDED
NONE = CountingProblem(L=4, norm="none", tau=1)
POST = CountingProblem(L=4, norm="post", affine="bare")
LEARNED = CountingProblem(L=4, norm="post", affine="learned")
PRE = CountingProblem(L=4, norm="pre", affine="bare", d=3)
LINEAR = CountingProblem(L=4, norm="pre", affine="learned", attention="linear", d=3)


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """No process of its own for the symbolic part: the same answer, sooner."""
    monkeypatch.setattr(claim, "beyond_in_time", beyond)


def _rate_ratio(length: int) -> mpmath.mpf:
    """L^(3/2)/(4 sqrt(2d)) over B_min of POST, by mpmath from the library's decimals."""
    norm = b_min(dataclasses.replace(POST, L=length)).decimal(35)
    return mpmath.mpf(length) ** 1.5 / (4 * mpmath.sqrt(2 * POST.d)) / mpmath.mpf(norm)


RATE = "L**(3/2)/(4*sqrt(2*d))"


def test_a_lower_bound_is_proved_at_every_length_and_for_all() -> None:
    report = examine_claim(RATE, "lower", POST, range(4, 200))
    assert (report.verdict, report.all_lengths) == (PROVED, PROVED)
    assert report.all_lengths_reason == "polynomial inequalities for every L >= 4"
    assert (report.counterexample, report.open_at, report.tested) == (None, None, 196)
    assert report.ratio_limit == "1"
    with mpmath.workdps(30):
        ratios = {length: _rate_ratio(length) for length in range(4, 200)}
        lowest, highest = min(ratios, key=ratios.__getitem__), max(ratios, key=ratios.__getitem__)
        expected = [(mpmath.nstr(ratios[n], 12), n) for n in (lowest, highest)]
    found = [(extreme.ratio, extreme.L) for extreme in (report.least, report.greatest) if extreme]
    assert found == expected


@pytest.mark.usefixtures("in_process")
def test_the_first_counterexample_comes_with_both_values() -> None:
    report = examine_claim(RATE, "upper", POST, range(4, 60))
    assert (report.verdict, report.all_lengths) == (REFUTED, REFUTED)
    assert report.counterexample is not None
    assert report.counterexample.L == 4
    assert report.counterexample.formula == mpmath.nstr(1 / (4 * mpmath.sqrt(2)), 12)
    assert Fraction(report.counterexample.b_min or 0) == Fraction(3, 16)


CLAIMS = [
    ("((L**2-1)/(2*L-1))**(3/2)/(2*sqrt(d))", "upper", POST, range(2, 90), PROVED, PROVED, "1"),
    ("((L**2-1)/(2*L-1))**(3/2)/(2*sqrt(d))", "equal", POST, range(2, 90), REFUTED, REFUTED, "1"),
    ("sqrt(floor((L+1)**2/4)/2)", "equal", NONE, range(4, 90), PROVED, PROVED, "1"),
    ("sqrt(floor((L+1)**2/4)/2)", "equal", NONE, range(3, 90), REFUTED, REFUTED, "1"),
    ("(L+1)/(2*sqrt(2))", "upper", NONE, range(1, 90), PROVED, PROVED, "1"),
    ("L/(2*sqrt(2))", "lower", NONE, range(4, 90), PROVED, PROVED, "1"),
    ("L/3", "lower", NONE, range(1, 90), REFUTED, REFUTED, "2*sqrt(2)/3"),
    ("L*log(L)", "upper", NONE, range(4, 90), PROVED, UNDECIDED, "oo"),
    ("sqrt(L)-1", "upper", LEARNED, range(4, 90), PROVED, REFUTED, "0"),
    ("0*L", "lower", NONE, range(1, 30), PROVED, PROVED, "0"),
    ("0*L-1", "lower", NONE, range(1, 30), PROVED, PROVED, "0"),
    ("1/(L-7)", "lower", NONE, range(4, 30), UNDECIDED, UNDECIDED, "0"),
    ("floor((L+1)**2/4)/(2*sqrt(d))", "equal", PRE, range(4, 13), PROVED, REFUTED, None),
    ("floor((L+1)**2/4)/(2*sqrt(d))", "lower", PRE, range(4, 20), PROVED, PROVED, None),
    ("floor((L+1)**2/4)/(2*sqrt(d))", "upper", PRE, range(4, 20), REFUTED, REFUTED, None),
    (
        "((1-1/L)/(tau*(1+sqrt(d-1))**3))**(1/4)",
        "equal", LINEAR, range(1, 90), PROVED, PROVED, "1",
    ),
    (
        "(L-1)*sqrt(ceil(L/4)*(L+1-2*ceil(L/4))**2/(4*d*(L**2-(2*L-1)*ceil(L/4))))",
        "equal", POST, range(2, 90), PROVED, PROVED, "1",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "kind", "problem", "lengths", "verdict", "beyond", "limit"),
    CLAIMS,
    ids=[f"{claim[1]} {claim[0][:30]}" for claim in CLAIMS],
)
@pytest.mark.usefixtures("in_process")
def test_claims(
    text: str,
    kind: str,
    problem: CountingProblem,
    lengths: range,
    verdict: Verdict,
    beyond: Verdict,
    limit: str | None,
) -> None:
    report = examine_claim(text, kind, problem, lengths)
    assert (report.verdict, report.all_lengths, report.ratio_limit) == (verdict, beyond, limit)


ASYMPTOTES = [
    (RATE, POST, PROVED, "1"),
    ("L**0.75/(2**1.25*(d-1)**0.25)", LEARNED, PROVED, "1"),
    ("L/(2*sqrt(2)) + log(L)", NONE, PROVED, "1"),
    ("floor(L/(2*sqrt(2)))", NONE, PROVED, "1"),
    ("L/(2*sqrt(2))", POST, REFUTED, "0"),
    ("L/3", NONE, REFUTED, "2*sqrt(2)/3"),
    ("exp(L)", NONE, REFUTED, "oo"),
    ("L", PRE, UNDECIDED, None),
    ("L + L*floor(log(L))/log(L)", NONE, UNDECIDED, None),
]


@pytest.mark.parametrize(("text", "problem", "verdict", "limit"), ASYMPTOTES)
@pytest.mark.usefixtures("in_process")
def test_asymptotic_claims_are_judged_by_the_limit(
    text: str, problem: CountingProblem, verdict: Verdict, limit: str | None
) -> None:
    report = examine_claim(text, "asymptotic", problem, range(4, 9))
    assert (report.verdict, report.ratio_limit) == (verdict, limit)
    assert report.counterexample is None


@pytest.mark.usefixtures("in_process")
def test_beyond_the_horizon_there_is_no_b_min_to_reach() -> None:
    report = examine_claim("10*L", "upper", PRE, range(4, 20))
    assert report.counterexample is not None
    assert (report.counterexample.L, report.counterexample.b_min) == (13, None)


@pytest.mark.usefixtures("in_process")
def test_a_late_counterexample_is_named_although_the_range_holds() -> None:
    report = examine_claim("sqrt(L)-1", "upper", LEARNED, range(4, 90))
    assert report.all_lengths_reason.startswith("it fails at L = ")
    length = int(report.all_lengths_reason.split()[5].rstrip(","))
    again = examine_claim("sqrt(L)-1", "upper", LEARNED, range(length, length + 1))
    assert again.verdict is REFUTED


def test_work_without_end_is_undecided() -> None:
    found = beyond_in_time(parse("L"), "lower", NONE, 4, seconds=0.01)
    assert found.verdict is UNDECIDED
    assert "within 0 s" in found.reason


@pytest.mark.parametrize(
    ("kind", "lengths", "words"),
    [
        ("below", range(4, 9), "is claimed as one of lower, upper, equal, asymptotic"),
        ("lower", range(0), "no length to test"),
        ("lower", range(2), "L=0: the length must be an integer >= 1"),
    ],
)
def test_what_is_no_claim_gets_one_sentence(kind: str, lengths: range, words: str) -> None:
    with pytest.raises(DomainError, match=words):
        examine_claim("L", kind, NONE, lengths)


@pytest.mark.usefixtures("in_process")
def test_progress_is_told() -> None:
    seen: list[tuple[int, int]] = []
    examine_claim("L", "upper", NONE, [4, 8], progress=lambda *pair: seen.append(pair))
    assert seen == [(1, 2), (2, 2)]

"""`bmin rates` finds the laws that the theorems give, from values alone, and its errors cover them.

Oracles: the constants, exponents and next terms written out below with mpmath; numpy's polynomial
fit; a direct comparison of the two resources for the turn; sequences whose limits are known.
"""

import csv
import dataclasses
import io
import json
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from bmin.app import run
from bminlib import CountingProblem, DomainError, b_min
from bminlib.extrapolation import Estimate, limit
from bminlib.lines import line_through
from bminlib.rates import rate
from bminlib.windows import window

EXAMPLES = settings(max_examples=40, deadline=None, derandomize=True, database=None)
FIELDS = [
    "attention", "norm", "affine", "normalizer", "weights", "readout", "d", "tau",
    "exponent", "exponent_error", "constant", "constant_error",
    "theorem_exponent", "theorem_constant", "digits_agreed", "theorem", "regime",
]  # fmt: skip
PLACEMENTS = [
    ("softmax", "none", None),
    ("softmax", "pre", "bare"),
    ("softmax", "pre", "learned"),
    ("softmax", "post", "bare"),
    ("softmax", "post", "learned"),
    ("linear", "none", None),
    ("linear", "pre", "bare"),
    ("linear", "pre", "learned"),
    ("linear", "post", "bare"),
]


def problem(place=("softmax", "none", None), L=1, **more):
    attention, norm, affine = place
    return CountingProblem(L=L, attention=attention, norm=norm, affine=affine, **more)


def truth(p):
    """(p, C, r) with C to 90 digits, from the table of the model's page."""
    d, s = mpmath.mpf(p.d), mpmath.sqrt(p.d if p.normalizer == "rms" else p.d - 1)
    squared = p.score_scale.power(2).radicand  # tau is the root of a rational
    tau = mpmath.sqrt(mpmath.mpf(squared.numerator) / squared.denominator)
    if p.norm == "post":
        law = {
            "bare": (Fraction(3, 2), 1 / (4 * mpmath.sqrt(2 * d)), Fraction(3, 4)),
            "learned": (Fraction(3, 4), (1 / (32 * s**2)) ** mpmath.mpf("0.25"), Fraction(3, 8)),
        }
        return law[p.affine]
    if p.attention == "linear":
        slope = {None: tau, "bare": tau * d * mpmath.sqrt(d), "learned": tau * (1 + s) ** 3}
        power = 1 if p.affine == "bare" else 4
        return Fraction(0), slope[p.affine] ** (-mpmath.mpf(1) / power), Fraction(-1, power)
    law = {
        None: (Fraction(1), 1 / (2 * mpmath.sqrt(2)), Fraction(1)),
        "bare": (Fraction(2), 1 / (8 * mpmath.sqrt(d)), Fraction(2)),
        "learned": (Fraction(1), 1 / mpmath.sqrt(8 * s), Fraction(1)),
    }
    return law[p.affine]


def covers(estimate, value):
    """Whether the printed value and the printed error hold `value`."""
    shown, error = map(mpmath.mpf, estimate.texts(60))
    return abs(shown - value) <= error


@pytest.mark.parametrize("place", PLACEMENTS, ids=lambda place: "-".join(filter(None, place)))
@pytest.mark.parametrize(
    "more",
    [{}, {"d": 12}, {"d": 40, "tau": "unscaled"}, {"d": 9, "tau": "1/3"}],
    ids=["d64", "d12", "d40-unscaled", "d9-third"],
)
@pytest.mark.parametrize("normalizer", ["layer", "rms"])
def test_the_law_is_found_and_the_errors_cover_it(place, more, normalizer):
    found = rate(problem(place, normalizer=normalizer if place[1] != "none" else None, **more))
    with mpmath.workdps(90):
        exponent, constant, ratio = truth(found.problem)
        assert covers(found.exponent, mpmath.mpf(exponent.numerator) / exponent.denominator)
        assert covers(found.constant, constant)
        assert covers(found.next_ratio, mpmath.mpf(ratio.numerator) / ratio.denominator)
    assert (found.law.exponent, found.law.next_ratio) == (exponent, ratio)
    short = found.window.ends is not None and found.window.ends < 50
    assert found.digits_agreed >= (12 if short else 15)


@pytest.mark.parametrize("place", PLACEMENTS[:5], ids=lambda place: "-".join(filter(None, place)))
def test_the_next_term_holds_for_every_residue_of_the_length(place):
    law, far = rate(problem(place, d=30_000)).law, []
    for L in range(10**12, 10**12 + 4):
        value = b_min(problem(place, L=L, d=30_000)).enclosure(60)
        with ctx.workprec(300):
            power = arb(L) ** (arb(law.exponent.numerator) / law.exponent.denominator)
            ratio = arb(law.next_ratio.numerator) / law.next_ratio.denominator
            rest = value / (law.constant.ball(300) * power) - 1 - ratio / L
            assert abs(rest) * L**2 < 8
            far.append(abs(rest) * L**3 > 8)
    assert any(far) or place[2] == "bare"  # the next term is not exact: the check can fail


def test_classification_is_flat():
    found = rate(problem(readout="classification"))
    assert found.exponent.texts(10) == found.constant.texts(10) == ("0", "0")
    assert found.regime.startswith("flat")


def test_a_short_horizon_is_shown_with_its_large_error():
    found = rate(problem(PLACEMENTS[1], d=3))
    assert found.exponent.texts(60) == ("1.99", "7.4e-2")
    assert found.digits_agreed == 0
    assert found.small is None
    assert found.regime == "ends at L = 12"


def test_two_points_have_no_rate():
    assert rate(problem(PLACEMENTS[1], d=2)).regime == "ends at L = 9"
    assert rate(problem(PLACEMENTS[3], d=2)).regime == "ends at L = 1"


def test_a_horizon_out_of_reach_is_named():
    assert rate(problem(PLACEMENTS[1], d=10_000)).regime == "ends at an L of about 5.37623e+43"
    found = rate(problem(PLACEMENTS[1], d=10**20))
    assert found.regime == "ends at an L of over 1000000 digits"


@pytest.mark.parametrize("more", [{}, {"d": 100}, {"tau": "1/7"}, {"tau": "1/6"}, {"d": 3000}])
def test_the_turn_is_where_the_resources_change(more):
    """Which is larger, D_L/2 or ln(a*)/(2 tau), asked at every L."""
    p = problem(**more)
    tau = mpmath.mpf(1) / mpmath.sqrt(p.d) if p.tau == "scaled" else mpmath.mpf(eval(p.tau))
    binds = [L for L in range(4, 400) if mpmath.log((L - 1) ** 2 // 4) / tau > (L + 1) ** 2 // 4]
    scores = window(p).scores
    assert (list(range(scores[0], scores[1] + 1)) if scores else []) == binds


def test_a_far_turn_is_exact():
    first, last = window(problem(d=10**30)).scores
    tau = mpmath.mpf(10) ** -15
    assert first == 4
    assert mpmath.log((last - 1) ** 2 // 4) / tau > (last + 1) ** 2 // 4
    assert mpmath.log(last**2 // 4) / tau < (last + 2) ** 2 // 4


def test_the_fit_never_leaves_its_regime():
    found = rate(problem(d=10**30))
    assert found.window.lengths[0] > found.window.scores[1]
    assert found.digits_agreed >= 15


@EXAMPLES
@given(
    st.integers(-9, 9), st.lists(st.integers(-9, 9), min_size=1, max_size=4),
    st.integers(4, 30), st.sampled_from([1, 2, 4]),
)  # fmt: skip
def test_the_error_of_an_extrapolation_covers_its_limit(value, rest, count, root):
    """Terms (value + 20 + rest(1/L))^(1/root) at L = 8, 16, ...; the limit is known."""
    lengths = [8 << j for j in range(count)]
    with ctx.workprec(300):
        terms = [
            sum((arb(c) / L ** (k + 1) for k, c in enumerate(rest)), arb(value + 20)).root(root)
            for L in lengths
        ]
        found = limit(lengths, terms)
        assert found.ball.contains(arb(value + 20).root(root))


def test_a_faulty_value_is_not_smoothed_away():
    """One term wrong by 1e-20: the error says so."""
    lengths = [16 << j for j in range(40)]
    with ctx.workprec(300):
        terms = [1 + arb(2) / L for L in lengths]
        assert limit(lengths, terms).agreed_digits(arb(1), 60) == 60
        terms[-1] += arb(10) ** -20
        assert limit(lengths, terms).agreed_digits(arb(1), 60) in (19, 20)


def test_too_few_terms_are_refused():
    with pytest.raises(DomainError, match="3 terms"):
        limit([16, 32, 64], [arb(1)] * 3)


@pytest.mark.parametrize(
    ("mid", "rad", "digits", "texts"),
    [
        ("1.23456789", "1e-6", 20, ("1.234568", "1.2e-6")),
        ("-0.25", "0", 5, ("-0.25000", "0")),
        ("1234.5", "100", 20, ("1.2e+03", "1.4e+2")),
        ("1e-30", "1e-20", 20, ("0.00000000000000000000", "1.1e-20")),
    ],
)
def test_printed_errors_cover_the_rounding(mid, rad, digits, texts):
    with ctx.workprec(200):
        estimate = Estimate(arb(mid) if rad == "0" else arb(arb(mid).mid(), rad))
    assert estimate.texts(digits) == texts


def test_the_straight_line_is_biased_as_expected():
    """The least-squares slopes of B_min at L = 4..32 that warn against fits on small lengths."""
    for place, slope, error in ((PLACEMENTS[2], 0.924, 0.004), (PLACEMENTS[4], 0.735, 0.001)):
        found = rate(problem(place)).small
        assert round(found.slope, 3) == slope
        assert round(found.slope_error, 3) == error
        x = np.log(range(4, 33))
        y = np.log([float(b_min(problem(place, L=L)).decimal(17)) for L in range(4, 33)])
        (expected, _), covariance = np.polyfit(x, y, 1, cov=True)
        assert found.slope == pytest.approx(expected, rel=1e-12)
        assert found.slope_error == pytest.approx(covariance[0, 0] ** 0.5, rel=1e-9)


def test_a_line_needs_two_lengths():
    with pytest.raises(DomainError, match="1 different lengths"):
        line_through([4, 4], [1, 2])


def test_exact_counting_is_refused():
    with pytest.raises(DomainError, match="after rounding"):
        rate(dataclasses.replace(problem(), exactness="exact"))


def output(capsys, *arguments):
    assert run(["rates", *arguments]) == 0
    return capsys.readouterr().out


def test_json_has_the_promised_names(capsys):
    rows = json.loads(output(capsys, "--format", "json"))
    assert [list(row)[: len(FIELDS)] for row in rows] == [FIELDS] * 12
    assert {row["readout"] for row in rows} == {"regression", "classification"}
    post = rows[3]
    assert post["theorem_exponent"] == "3/2"
    assert post["theorem_constant"] == "1/sqrt(2048)"
    assert abs(mpmath.mpf(post["exponent"]) - 1.5) <= mpmath.mpf(post["exponent_error"])
    assert min(row["digits_agreed"] for row in rows) >= 15
    assert rows[1]["regime"] == "ends at L = 5962"
    assert rows[0]["regime"] == "sqrt(log L) at L = 5..7, then L"
    assert post["local_slopes"][-1] | {"slope": None} == {
        "L": str(2**59),
        "to": str(2**60),
        "slope": None,
    }


def test_csv_has_the_columns_of_json(capsys):
    rows = list(csv.DictReader(io.StringIO(output(capsys, "--norm", "post", "--format", "csv"))))
    assert list(rows[0])[: len(FIELDS)] == FIELDS
    assert rows[0]["exponent"].startswith("1.5000")


@pytest.mark.parametrize("style", ["table", "markdown", "latex"])
def test_text_formats_hold_every_row(capsys, style):
    text = output(capsys, "--format", style, "--d", "3,16")
    assert text.isascii()
    assert text.count("post bare") == 4


def test_local_slopes_are_printed_on_request(capsys):
    text = output(capsys, "--norm", "post", "--affine", "bare", "--slopes")
    assert "1.4758567077513831895" in text  # log2 of W_32/W_16, from the exact rationals


def test_classification_unknown_at_a_dimension_is_said(capsys):
    assert run(["rates", "--d", "2", "--norm", "post"]) == 0
    assert "classification is known from d = 3 on" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["x.png"], "x.png: a file is named without --plot"),
        (["--plot", "x.gif"], "must end in .svg, .pdf, .png"),
        (["--plot", "--d", "3,4"], "name one --d"),
        (["--plot", "--readout", "classification"], "name one --d"),
        (["--plot", "-", "--format", "json"], "goes with --format table"),
        (["--norm", "none", "--affine", "learned"], "norm none has no affine"),
        (["--readout", "classification", "--d", "1", "--norm", "none"], "raise d to 2"),
        (["--d", "0"], "d=0"),
    ],
)
def test_bad_usage_gets_one_sentence(capsys, arguments, sentence):
    assert run(["rates", *arguments]) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1

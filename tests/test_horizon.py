"""max_length against mpmath at many digits, against b_min, and where there is no horizon.

Oracle: bare scores differ by at most 2 tau d, so counting to L needs floor((L-1)^2/4), the least
score ratio (test_extremal brute-forces it), to be at most e^(2 tau d).
"""

import dataclasses
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bminlib import CountingProblem, DomainError, b_min, max_length

deterministic = settings(derandomize=True, max_examples=50, deadline=None)


def bare(d, tau="scaled", normalizer="layer", L=1):
    return CountingProblem(norm="pre", d=d, tau=tau, normalizer=normalizer, L=L)


def reaches(L, log_range):
    """Whether floor((L-1)^2/4) <= e^log_range, by 60 digits more than the sides share."""
    ratio = (L - 1) ** 2 // 4
    return ratio <= 1 or mpmath.log(ratio) < log_range


def scaled_range(d):
    return 2 * mpmath.sqrt(d)


def oracle_length(log_range):
    """The largest L that reaches, from an estimate that is right to a few units."""
    L = max(int(2 * mpmath.exp(log_range / 2)) - 5, 1)
    assert reaches(L, log_range)
    while reaches(L + 1, log_range):
        L += 1
    return L


@pytest.mark.parametrize(("d", "length"), [(3, 12), (4, 15), (5, 19), (6, 24), (8, 34), (16, 110)])
@pytest.mark.parametrize("normalizer", ["layer", "rms"])
def test_known_lengths(d, length, normalizer):
    assert max_length(bare(d, normalizer=normalizer)) == length


def test_length_d_plays_no_part():
    assert max_length(bare(3, L=10**30)) == 12


@pytest.mark.parametrize(("d", "L", "distance"), [(23, 243, 1e-4), (360, 347686978, 1e-11)])
def test_near_ties(d, L, distance):
    """The logarithms of a*(L) and of what the scores reach differ by less than `distance`."""
    with mpmath.workdps(60):
        assert abs(mpmath.log((L - 1) ** 2 // 4) - scaled_range(d)) < distance
        feasible = reaches(L, scaled_range(d))
    assert feasible == (d == 23)
    assert b_min(bare(d, L=L)).feasible == feasible
    assert max_length(bare(d)) == (L if feasible else L - 1)


@pytest.mark.parametrize("d", [*range(3, 40), 100, 359, 360, 361, 5000, 126000])
def test_scaled_scores(d):
    with mpmath.workdps(400):
        assert max_length(bare(d)) == oracle_length(scaled_range(d))


@deterministic
@given(st.integers(3, 400), st.fractions(Fraction(1, 1000), 1, max_denominator=1000))
def test_rational_tau(d, tau):
    with mpmath.workdps(500):
        length = oracle_length(mpmath.mpf(2 * d * tau.numerator) / tau.denominator)
    assert max_length(bare(d, tau)) == length


@deterministic
@given(st.integers(2, 10**4), st.fractions(Fraction(1, 997), Fraction(1, 10), max_denominator=997))
def test_feasible_up_to_the_horizon_and_not_beyond(d, tau):
    length = max_length(bare(d, tau))
    assert b_min(bare(d, tau, L=length)).feasible
    beyond = b_min(bare(d, tau, L=length + 1))
    assert not beyond.feasible
    assert not beyond.attained
    assert beyond.active == ()
    assert beyond.reason.startswith("a*(")


@pytest.mark.parametrize("tau", ["1e-300", "1e-20", "0.1"])
def test_three_is_always_within_reach(tau):
    """a*(3) = 1 <= e^x for every x > 0, a*(4) = 2 only from x = ln 2 on."""
    assert max_length(bare(3, tau)) == 3


@pytest.mark.parametrize(("d", "normalizer"), [(2, "layer"), (1, "rms")])
@pytest.mark.parametrize("tau", ["scaled", "0.2", "2", "5/3"])
def test_two_valued_normaliser(d, normalizer, tau):
    problem = bare(d, tau, normalizer)
    with mpmath.workdps(80):
        assert max_length(problem) == oracle_length(
            2 * mpmath.mpf(problem.score_scale.decimal(70)) * d
        )


def test_a_length_of_thousands_of_digits():
    with mpmath.workdps(9000):
        assert max_length(bare(10**8)) == oracle_length(scaled_range(10**8))


@pytest.mark.parametrize("d", [10**13, 10**60])
def test_a_length_of_more_than_a_million_digits_is_refused(d):
    with pytest.raises(DomainError, match="over 1000000") as caught:
        max_length(bare(d))
    assert "\n" not in str(caught.value)
    assert "lower d or tau" in str(caught.value)


ENDS = [
    ({"norm": "none"}, None, 1, None, None),
    ({"norm": "pre", "affine": "learned", "d": 3}, None, 1, None, None),
    ({"norm": "pre", "affine": "learned", "d": 2}, None, 1, None, None),
    ({"norm": "pre", "d": 3}, 12, 1, None, None),
    ({"norm": "pre", "d": 2}, 9, 1, 1, 0),
    ({"norm": "pre", "d": 1, "normalizer": "rms", "tau": "2"}, 15, 1, 1, 0),
    ({"norm": "post", "d": 3}, None, 2, None, 2),
    ({"norm": "post", "affine": "learned", "d": 2, "normalizer": "rms"}, None, 2, None, 2),
    ({"norm": "post", "d": 2}, 1, 1, 1, 1),
    ({"norm": "post", "affine": "learned", "d": 1, "normalizer": "rms"}, 1, 1, 1, 1),
]


@pytest.mark.parametrize(("layer", "softmax", "exact", "linear", "linear_exact"), ENDS)
def test_where_lengths_end(layer, softmax, exact, linear, linear_exact):
    """None where no length is too long; elsewhere b_min changes its answer there."""
    expected = {
        ("softmax", "rounded"): softmax,
        ("softmax", "exact"): exact,
        ("linear", "rounded"): linear,
        ("linear", "exact"): linear_exact,
    }
    for (attention, exactness), length in expected.items():
        problem = CountingProblem(L=7, attention=attention, exactness=exactness, **layer)
        assert max_length(problem) == length
        lengths = (1, 2, 3, 4, 10**12) if length is None else (length, length + 1)
        for L in filter(None, lengths):
            feasible = b_min(dataclasses.replace(problem, L=L)).feasible
            assert feasible == (length is None or length >= L)


@pytest.mark.parametrize("norm", ["none", "pre", "post"])
@pytest.mark.parametrize("attention", ["softmax", "linear"])
def test_classification_has_no_horizon(norm, attention):
    problem = CountingProblem(L=1, norm=norm, attention=attention, readout="classification")
    assert max_length(problem) is None

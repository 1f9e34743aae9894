"""Explicit weights of norm (1 + slack) B_min count every pair, and shrunk ones don't.

Oracles: `layer_oracle` and `token_oracle`, every pair by forward passes of their own; norms are
compared exactly, by sums of squared fractions. Long sequences: balls at the pairs where little is
to spare.
"""

import itertools
from dataclasses import replace
from fractions import Fraction
from math import isqrt

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from layer_oracle import PLACEMENTS, gaps
from token_oracle import by_tokens, sequence

from bminlib import CountingProblem, DomainError, InfeasibleError, b_min
from bminlib.files import load_weights, save_weights
from bminlib.layer import Layer, ball_output
from bminlib.witness import MAX_SEARCH_LENGTH, witness

SLACK = Fraction(1, 10**6)
COMBINATIONS = [(a, *p) for a, p in itertools.product(("softmax", "linear"), PLACEMENTS)]
NAMES = ["-".join(str(part) for part in c if part) for c in COMBINATIONS]


def problem(combination, **options):
    attention, norm, affine, normalizer = combination
    return CountingProblem(
        attention=attention, norm=norm, affine=affine, normalizer=normalizer, **options
    )


def least_dimension(combination):
    return 2 if combination[3] == "layer" else 1


def squared_norms(weights):
    """Exact squared norms, of W row by row."""
    rows = [row for x in weights.vectors.values() for row in x.reshape(-1, x.shape[-1])]
    return [sum(Fraction(entry) ** 2 for entry in row) for row in rows]


def is_within(weights, limit):
    """Whether every norm is certainly at most `limit`, a ball or a Fraction."""
    greatest = max(squared_norms(weights))
    if isinstance(limit, Fraction):
        return greatest <= limit**2
    with ctx.workprec(600):
        return bool(arb(fmpq(greatest.numerator, greatest.denominator)) <= limit**2)


def allowed(problem, slack):
    """(1 + slack) B_min, or slack where B_min is 0."""
    with ctx.workprec(400):
        B = b_min(problem).enclosure(90)
        return slack if B == 0 else B * (1 + arb(fmpq(slack.numerator, slack.denominator)))


def is_dyadic(weights):
    entries = (Fraction(x) for array in weights.arrays().values() for x in array.flat)
    return all(x.denominator & (x.denominator - 1) == 0 for x in entries)


def counts(weights):
    return all(gap > 0 for gap in gaps(weights, weights.problem.L).values())


def counts_by_tokens(weights):
    """`counts` for any tau."""
    L = weights.problem.L
    pairs = [(c, m) for c in range(L + 1) for m in range(L + 1 - c)]
    return all(abs(by_tokens(weights, sequence(*pair))[0] - pair[0]) < 0.5 for pair in pairs)


def shrunk(weights, factor):
    times = np.vectorize(lambda entry: Fraction(entry) * factor, otypes=[object])
    return replace(weights, vectors={name: times(x) for name, x in weights.vectors.items()})


@pytest.mark.parametrize("combination", COMBINATIONS, ids=NAMES)
def test_witnesses_count_wherever_counting_is_feasible(combination):
    for d, L in itertools.product(range(least_dimension(combination), 5), range(1, 9)):
        asked = problem(combination, d=d, L=L)
        if not b_min(asked).feasible:
            with pytest.raises(InfeasibleError, match="no weights count"):
                witness(asked)
            continue
        made = witness(asked)
        assert counts(made)
        assert is_within(made, allowed(asked, SLACK))
        assert is_dyadic(made)
        assert made.problem == asked
        assert not made.is_exact or (L == 1 and asked.attention == "linear")


@pytest.mark.parametrize("combination", COMBINATIONS, ids=NAMES)
def test_witnesses_shrunk_below_b_min_miscount(combination):
    for L in (2, 3, 4, 7):
        made = witness(problem(combination, d=5, L=L), Fraction(1, 10**4))
        assert counts(shrunk(made, 1))
        assert not counts(shrunk(made, Fraction(999, 1000)))
    halved = witness(problem(combination, d=5, L=7))
    w = halved.vectors["w"] * (1 - 2.0**-15)
    assert not counts(replace(halved, vectors={**halved.vectors, "w": w}))


@pytest.mark.parametrize("slack", [Fraction(1, 10**25), Fraction(1, 50), Fraction(3), Fraction(40)])
def test_any_slack(slack):
    for combination, L in itertools.product(COMBINATIONS, (1, 2, 4, 5)):
        asked = problem(combination, d=3, L=L)
        made = witness(asked, slack)
        assert counts(made) or (slack < Fraction(1, 10**20) and L == 1)
        assert is_within(made, allowed(asked, slack))


@pytest.mark.parametrize("tau", [Fraction(1, 10**6), Fraction(3, 100), "0.1155", "unscaled", 10])
def test_any_score_factor(tau):
    for norm, affine, d in (("none", None, 2), ("pre", "learned", 2), ("pre", "learned", 4)):
        for L in (2, 3, 4, 5, 9):
            asked = CountingProblem(norm=norm, affine=affine, d=d, L=L, tau=tau)
            made = witness(asked)
            assert counts_by_tokens(made)
            assert is_within(made, allowed(asked, SLACK))


@pytest.mark.parametrize("tau", ["scaled", Fraction(1, 3), "unscaled", 2])
@pytest.mark.parametrize(("normalizer", "d"), [("layer", 2), ("rms", 1)])
def test_normalisers_with_two_values(tau, normalizer, d):
    for L in (1, 2, 3, 4, 6, 9):
        asked = CountingProblem(norm="pre", normalizer=normalizer, d=d, L=L, tau=tau)
        if b_min(asked).feasible:
            made = witness(asked)
            assert counts_by_tokens(made)
            assert is_within(made, allowed(asked, SLACK))


def margin(weights, pairs, bits=600):
    """The least 1/2 - |yhat - c| over some pairs, as a ball."""
    with ctx.workprec(bits):
        layer = Layer.in_balls(weights)
        gaps = [arb(1) / 2 - abs(ball_output(layer, c, m) - c) for c, m in pairs]
        return min(gaps, key=lambda gap: float(gap.mid()))


def tight_pairs(L):
    """Both ends, the middle and where the circular read-out touches, with few and all fillers."""
    places = (0, L // 2, L, L // 4, isqrt(L), L - isqrt(L))
    counts = {min(max(place + step, 0), L) for place in places for step in range(-3, 4)}
    return [(c, m) for c in sorted(counts) for m in {0, 1, (L - c) // 2, L - c} if c + m <= L]


@pytest.mark.parametrize("combination", COMBINATIONS, ids=NAMES)
@pytest.mark.parametrize("L", [10**3, 10**6, 10**40])
def test_long_sequences(combination, L):
    asked = problem(combination, d=3, L=L)
    if not b_min(asked).feasible:
        asked = replace(asked, d=64, tau=300)  # wide enough scores for norm pre
    made = witness(asked)
    assert margin(made, tight_pairs(L)) > 1e-7
    assert is_within(made, allowed(asked, SLACK))


@pytest.mark.parametrize(("d", "L"), [(23, 243), (360, 347_686_977), (3, 12), (16, 110)])
def test_the_last_lengths_before_the_horizon(d, L):
    asked = CountingProblem(norm="pre", d=d, L=L)
    made = witness(asked)
    assert margin(made, tight_pairs(L)) > 1e-10
    assert is_within(made, allowed(asked, SLACK))
    with pytest.raises(InfeasibleError, match=r"a\*"):
        witness(replace(asked, L=L + 1))


@pytest.mark.parametrize("combination", COMBINATIONS, ids=NAMES)
def test_classification_keeps_to_the_norm_that_is_given(combination):
    plane = 3 if combination[3] == "layer" else 2
    for L, norm in ((1, Fraction(1)), (2, Fraction(1, 3)), (7, Fraction(5)), (12, Fraction(1))):
        asked = problem(combination, d=plane + L % 2, L=L, readout="classification")
        made = witness(asked, norm=norm)
        assert counts(made)
        assert is_within(made, norm)
        assert not is_within(made, norm / 2)
        assert not made.is_exact


@pytest.mark.parametrize("combination", COMBINATIONS[1:], ids=NAMES[1:])
def test_classification_with_an_eps(combination):
    if combination[1] == "none":
        return
    asked = problem(combination, d=4, L=6, readout="classification")
    made = witness(asked, ln_eps=Fraction(1, 100))
    assert made.ln_eps == Fraction(1, 100)
    assert counts(made)
    assert is_within(made, Fraction(1))


@pytest.mark.slow
@pytest.mark.parametrize("combination", COMBINATIONS, ids=NAMES)
def test_normalisers_with_an_eps(combination):
    """Softmax post-norm: B_min is higher at every L >= 2. Oracle: pairs at 50 digits."""
    if combination[1] == "none":
        return
    for d, L in ((3, 1), (3, 2), (4, 3), (8, 4), (5, 6)):
        asked = problem(combination, d=d, L=L)
        made = witness(asked, ln_eps=Fraction("1e-5"))
        assert made.ln_eps == Fraction("1e-5")
        assert counts(made)
        if combination[:2] == ("softmax", "post") and L > 1:
            assert not is_within(made, b_min(asked).enclosure(30))
            assert is_within(made, b_min(asked).enclosure(30) * 1.02)


@pytest.mark.parametrize(
    ("d", "affine", "low", "high"),
    [
        (8, "bare", 1.001540, 1.001541),
        (64, "bare", 1.06553, 1.06554),
        (1024, "bare", 2, 2.4),
        (8, "learned", 1.000341, 1.000342),
        (64, "learned", 1.00843, 1.00844),
        (1024, "learned", 1.15, 1.29),
    ],
)
def test_what_eps_costs_at_four_tokens(d, affine, low, high):
    """The expected ratios to B_min were found by multistart optimisation of another program."""
    asked = CountingProblem(norm="post", affine=affine, d=d, L=4)
    made = witness(asked, ln_eps=Fraction("1e-5"))
    ratio = made.largest_norm() / b_min(asked).enclosure(30)
    assert low < ratio < high
    assert margin(made, [(c, m) for c in range(5) for m in range(5 - c)]) > 0


def test_eps_costs_linear_attention_nothing_once_its_norms_are_large():
    """Each |N|^2 grows by the same d eps there, however many tokens there are."""
    asked = CountingProblem(attention="linear", norm="post", d=8, L=30)
    made = witness(asked, ln_eps=Fraction("1e-5"))
    assert counts(made)
    assert is_within(made, allowed(asked, SLACK))


def test_witnesses_survive_their_files(tmp_path):
    for L, suffix in ((40, ".npz"), (40, ".safetensors"), (10**9, ".json")):
        made = witness(CountingProblem(norm="post", affine="learned", d=8, L=L))
        save_weights(made, tmp_path / f"w{suffix}")
        read = load_weights(tmp_path / f"w{suffix}")
        assert all((read.arrays()[n] == x).all() for n, x in made.arrays().items())


@pytest.mark.parametrize(
    ("options", "arguments", "words"),
    [
        ({"exactness": "exact", "attention": "linear"}, {}, "symbolic weights"),
        ({}, {"slack": 0}, "slack=0"),
        ({}, {"slack": 1e-6}, "slack=1e-06"),
        ({}, {"slack": True}, "slack=True"),
        ({"readout": "classification"}, {"norm": Fraction(-1)}, "norm="),
        ({}, {"ln_eps": Fraction(1, 10)}, "norm none"),
        ({"norm": "post"}, {"ln_eps": 1e-5}, "ln_eps=1e-05"),
        ({"norm": "post", "L": MAX_SEARCH_LENGTH + 1}, {"ln_eps": Fraction(1, 10)}, "up to L"),
        ({"norm": "pre", "d": 2}, {"ln_eps": Fraction(1, 10)}, "two values"),
        ({"readout": "classification", "L": 10**6}, {}, "entries"),
    ],
)
def test_refusals(options, arguments, words):
    asked = CountingProblem(**{"L": 4, "d": 8} | options)
    with pytest.raises(DomainError) as caught:
        witness(asked, **arguments)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)

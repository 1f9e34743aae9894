"""The layer computes what theory says, in float64, in balls and token by token.

Oracle: `token_oracle`, attention over every single token of a shuffled sequence at 40 digits; the
layer itself sees counts only.
"""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from layer_oracle import PLACEMENTS
from token_oracle import MP, by_tokens, sequence

from bminlib import CountingProblem, DomainError, UndecidedError
from bminlib.layer import Layer, ball_output, forward, forward_balls
from bminlib.tokens import check_tokens, count, forward_tokens
from bminlib.weights import Weights, vector_names, vector_shape

PAIRS = ((0, 0), (0, 1), (1, 0), (2, 1), (0, 4), (4, 0), (1, 3))
CASES = tuple(
    itertools.product(("softmax", "linear"), PLACEMENTS, ("regression", "classification"), (0, 1))
)


def random_weights(attention, placement, readout, eps, d=5, L=4, seed=0):
    norm, affine, normalizer = placement
    problem = CountingProblem(
        L=L, d=d, attention=attention, norm=norm, affine=affine, normalizer=normalizer,
        readout=readout, tau="1/sqrt(3)",
    )  # fmt: skip
    rng = np.random.default_rng(seed)
    arrays = {n: rng.normal(size=vector_shape(problem, n)) for n in (*vector_names(problem), "b")}
    ln_eps = Fraction(eps, 7) if norm != "none" else Fraction(0)
    return Weights(problem, arrays, arrays.pop("b"), ln_eps)


def near(ours, oracle, tolerance):
    return all(abs(a - b) < tolerance for a, b in zip(ours, oracle, strict=True))


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_float64_balls_and_tokens_agree_with_the_oracle(case):
    weights = random_weights(*case)
    c, m = np.array(PAIRS).T
    floats = forward(weights, c, m)
    assert floats.shape == ((7,) if case[2] == "regression" else (7, 5))
    for i, pair in enumerate(PAIRS):
        oracle = by_tokens(weights, sequence(*pair))
        assert near(np.atleast_1d(floats[i]), oracle, 1e-11)
        assert near(np.atleast_1d(forward_tokens(weights, sequence(*pair))), oracle, 1e-11)
        with ctx.workprec(120):
            for ball, value in zip(
                np.atleast_1d(forward_balls(weights, *pair)), oracle, strict=True
            ):
                assert ball.rad() < 1e-25
                assert ball.overlaps(arb(MP.nstr(value, 36)) + arb(0, 1e-30))


def test_the_count_is_the_rounded_output_or_the_top_class():
    for case in CASES:
        weights = random_weights(*case, seed=3)
        for pair in PAIRS[2:4]:
            oracle = by_tokens(weights, sequence(*pair))
            expected = int(MP.nint(oracle[0])) if len(oracle) == 1 else oracle.index(max(oracle))
            assert count(weights, sequence(*pair)) == expected


def test_balls_enclose_what_an_interval_of_fillers_gives():
    weights = random_weights("softmax", PLACEMENTS[1], "regression", 0)
    with ctx.workprec(80):
        layer = Layer.in_balls(weights)
        wide = ball_output(layer, 1, arb(2, 1))
        assert all(wide.contains(ball_output(layer, 1, m)) for m in (1, 2, 3))


def plain(norm="none", d=2, tau="unscaled", **changes):
    problem = CountingProblem(L=9, d=d, norm=norm, tau=tau)
    zero = dict.fromkeys(vector_names(problem), np.zeros(d))
    b = changes.pop("b", 0.0)
    return Weights(problem, zero | {n: np.array(x) for n, x in changes.items()}, np.array(b))


def test_great_scores_neither_overflow_nor_mislead():
    weights = plain(q=[1e3, 0.0], k_t=[1e3, 0.0], v_t=[1.0, 0.0], w=[1.0, 0.0])
    assert forward(weights, 3, 2) == 1.0
    assert forward_tokens(weights, [1, 0, 1]) == 1.0
    assert forward_tokens(weights, [0, 0]) == 0.0


@pytest.mark.parametrize(
    "weights",
    [
        plain("post"),
        plain("post", r=[0.1, 0.1], v_s=[0.25, 0.25]),
        plain("pre"),
        plain(q=[1e300, 0.0], k_t=[1e300, 0.0]),
        plain("post", r=[1e200, -1e200], w=[1.0, 0.0]),
    ],
    ids=["zero h", "equal h", "zero q", "score", "norm"],
)
def test_no_finite_output_is_an_error_and_never_a_number(weights):
    with pytest.raises(DomainError, match="no finite output"):
        forward(weights, [0, 1], [1, 1])


def test_balls_show_a_state_without_spread():
    with ctx.workprec(80):
        assert not forward_balls(plain("post"), 1, 1).is_finite()
        assert forward_balls(plain("post", r=[1.0, 0.0]), 1, 1).is_finite()


def test_a_tie_has_no_count():
    with pytest.raises(UndecidedError, match="tie"):
        count(plain(b=0.5), [1])
    with pytest.raises(UndecidedError, match="spread"):
        count(plain("post"), [1])
    assert count(plain(b=0.5 - 2.0**-54), [1]) == 0


@pytest.mark.parametrize(
    "tokens",
    [[0, 2], [True, False], ["1"], [0.5], [[1, 0]], [10**30], [-1], "10", [None], [[1], 1]],
)
def test_other_tokens_are_refused(tokens):
    with pytest.raises(DomainError, match="token"):
        check_tokens(tokens)


def test_long_sequences_are_read_in_blocks():
    weights = plain(v_t=[1.0, 0.0], w=[200_001.0, 0.0])
    tokens = np.tile([1, 0, 0, 1], 50_000)
    assert forward_tokens(weights, tokens) == pytest.approx(100_000, rel=1e-12)
    assert count(weights, tokens) == 100_000
    assert count(weights, []) == 0


def test_exact_weights_are_rounded_to_nearest_in_float64():
    exact = plain(r=[Fraction(1, 3), 0], w=[1, 0])
    assert exact.is_exact
    assert forward(exact, 0, 0) == 1 / 3
    huge = plain(r=[Fraction(10) ** 400, 0], w=[1, 0])
    with pytest.raises(DomainError, match="no finite output"):
        forward(huge, 0, 0)

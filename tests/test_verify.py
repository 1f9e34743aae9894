"""`verify` proves exactly the weights that count, and names the first pair of those that don't.

Oracle: `layer_oracle`, every pair evaluated at 50 digits by a forward pass of its own.
"""

import tracemalloc
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from layer_oracle import MP, counting_arrays, gaps, made, outputs, problems

from bminlib import CountingProblem, DomainError, b_min
from bminlib.verify import MAX_LENGTH, verify
from bminlib.weights import Weights
from bminlib.witness import witness

E = np.eye(4)
ZERO = np.zeros(4)
EXAMPLES = settings(max_examples=60, deadline=None, derandomize=True, database=None)


def layer(problem, b=0.0, ln_eps=Fraction(0), **vectors):
    """Weights whose vectors are 0 where they are not given."""
    names = ["q", "k_s", "k_t", "k_f", "v_s", "v_t", "v_f", "r", "w"]
    zero = dict.fromkeys(names, ZERO[: problem.d])
    return Weights(problem, zero | vectors, np.array(b), ln_eps)


def linear(b=0.0, L=10):
    """Weights for which yhat = c + b exactly."""
    problem = CountingProblem(L=L, d=4, attention="linear", tau="unscaled")
    return layer(problem, b, q=E[0], k_t=E[0], v_t=E[1], w=E[1])


def share(b, L=1, **vectors):
    """Softmax weights with yhat = b + (e^a_t c v_t + e^a_f m v_f)/(1 + e^a_t c + e^a_f m) e_2."""
    problem = CountingProblem(L=L, d=4, tau="unscaled")
    return layer(problem, b, q=E[0], w=E[1], **vectors)


def rms(b, L=1, **vectors):
    """Post-normalised weights with rms: yhat = b + 2 <w, h>/|h|, and h = r + v_s at (0, 0)."""
    problem = CountingProblem(L=L, d=4, norm="post", normalizer="rms")
    return layer(problem, b, **vectors)


def nearest_to_half(bits):
    """The greatest b = n/2^bits for which b + e/(4(1 + e)) <= 1/2."""
    with ctx.workprec(bits + 64):
        below = (arb(1) / 2 - arb(1).exp() / (4 + 4 * arb(1).exp())) * arb(2) ** bits
        return Fraction(int(below.floor().unique_fmpz()), 2**bits)


def mp(ball):
    """The middle of a ball as an mpmath number."""
    return MP.mpf(ball.mid().str(60, radius=False))


def check(weights):
    """Compare everything that `verify` says with the oracle; the verdict."""
    L, found = weights.problem.L, verify(weights)
    truth = gaps(weights, L)
    lost = sorted(pair for pair, gap in truth.items() if gap <= 0)
    assert found.verdict == ("refuted" if lost else "proved")
    if lost:
        failure = found.failure
        assert (failure.c, failure.m) == lost[0]
        assert found.pairs == sorted(truth).index(lost[0]) + 1
        read = outputs(weights, L)[lost[0]]
        if isinstance(read, list):
            assert max(read) == read[int(failure.yhat.mid().unique_fmpz())]
        else:
            assert abs(mp(failure.yhat) - read) < MP.mpf(10) ** -18 * (1 + abs(read))
    else:
        least, margin = min(truth.values()), found.margin
        assert found.pairs == len(truth)
        assert abs(mp(margin.value) - least) < 1e-9 * least
        assert truth[margin.c, margin.m] - least < 1e-9 * least
    return found.verdict


@given(
    problem=st.integers(2, 5).flatmap(lambda L: st.sampled_from(problems(L))),
    seed=st.integers(0, 2**32),
    eps=st.sampled_from((0, 0, 2, 5)),
    moved=st.sampled_from(("all", "read-out", "target only")),
    digits=st.integers(2, 16),
)
@EXAMPLES
def test_verdicts_agree_with_every_pair_at_fifty_digits(problem, seed, eps, moved, digits):
    rng = np.random.default_rng(seed)
    ln_eps = Fraction(1, 10**eps) if eps and problem.norm != "none" else Fraction(0)
    start = counting_arrays(problem, rng)
    step = {name: rng.normal(size=np.shape(x)) * np.abs(x).max() for name, x in start.items()}
    kept = {"all": start, "read-out": ("w", "W", "b"), "target only": ("v_t", "k_t", "w", "W")}

    def at(way):
        moves = {name: x + way * step[name] for name, x in start.items() if name in kept[moved]}
        return made(problem, start | moves, ln_eps)

    def counts(way):
        return min(gaps(at(way), problem.L, mpmath.fp).values()) > 0

    low, high = 0.0, 1.0
    while counts(high):
        high *= 2
    for _ in range(45):
        middle = (low + high) / 2
        low, high = (middle, high) if counts(middle) else (low, middle)
    for near in (1 - 10.0**-digits, 1 + 10.0**-digits):
        check(at(low * near))


@pytest.mark.parametrize("problem", [p for p in problems(3) if p.tau == "scaled"], ids=str)
def test_rationals_are_taken_as_they_are(problem):
    arrays = counting_arrays(problem, np.random.default_rng(5))
    rounded = {
        name: np.array(
            [Fraction(x).limit_denominator(10**6) for x in np.ravel(array)], dtype=object
        ).reshape(np.shape(array))
        for name, array in arrays.items()
    }
    ln_eps = Fraction(1, 70_000) if problem.norm != "none" else Fraction(0)
    assert check(made(problem, rounded, ln_eps)) == "proved"


@pytest.mark.parametrize("sign", [1, -1])
def test_a_tie_fails_and_one_ulp_less_does_not(sign):
    tie = verify(linear(sign * 0.5))
    assert (tie.verdict, tie.failure.c, tie.failure.m, tie.pairs) == ("refuted", 0, 0, 1)
    assert tie.failure.tie
    assert tie.failure.yhat == arb(sign) / 2
    assert verify(linear(sign * np.nextafter(0.5, 0))).verdict == "proved"


TIES = {
    "no scores": share(0.5),
    "different exponentials, same values": share(
        0.0, k_t=E[0], k_f=-3 * E[0], v_s=E[1] / 2, v_t=E[1] / 2, v_f=E[1] / 2
    ),
    "perfect square": rms(Fraction(0), r=3 * E[0] + 4 * E[1], w=np.array(E[1] * 5, object) / 16),
    "equal roots": rms(-0.5, r=E[0] + E[1] + E[2] + E[3], w=E[0]),
}


@pytest.mark.parametrize("name", TIES)
def test_ties_of_irrational_terms_are_ties(name):
    found = verify(TIES[name])
    assert (found.failure.c, found.failure.m, found.failure.tie) == (0, 0, True)


def test_near_ties_are_told_apart_until_precision_ends():
    vectors = {"k_f": E[0], "v_f": E[1] / 4, "k_t": E[0], "v_t": E[1]}
    for bits in (60, 5000):
        below = nearest_to_half(bits)
        assert verify(share(below, **vectors)).verdict == "proved"
        above = verify(share(below + Fraction(1, 2**bits), **vectors))
        assert (above.failure.c, above.failure.m, above.failure.tie) == (0, 1, False)
        assert above.failure.yhat > arb(1) / 2
    found = verify(share(nearest_to_half(200_000), **vectors))
    assert found.verdict == "undecided"
    assert "(0, 1)" in found.reason
    assert found.margin is found.failure is None


@pytest.mark.parametrize("L", [10, 11, 20, 50])
@pytest.mark.parametrize("problem", [p for p in problems(10, d=8) if p.tau == "scaled"], ids=str)
def test_witnesses_are_proved_and_shrunk_ones_refuted(problem, L):
    problem = replace(problem, L=L)
    if not b_min(problem).feasible:
        return
    weights = witness(problem)
    found = verify(weights)
    assert found.verdict == "proved"
    assert found.pairs == (L + 1) * (L + 2) // 2
    if problem.readout == "classification":
        assert found.ratio is None  # B_min is 0
        return
    assert 1 < float(found.ratio.mid()) < 1 + 1e-6
    shrunk = {name: x * (1 - 1e-4) for name, x in weights.vectors.items()}
    small = verify(Weights(problem, shrunk, weights.b))
    assert small.verdict == "refuted"
    assert small.ratio < 1


@pytest.mark.parametrize("problem", [p for p in problems(5) if p.tau == "scaled"], ids=str)
def test_the_margin_is_where_a_shift_breaks_the_count(problem):
    arrays = counting_arrays(problem, np.random.default_rng(11))
    margin = verify(made(problem, arrays)).margin

    def shifted(way):
        """Verdicts with yhat moved up and down, or with the score of the count c lowered."""
        by = way * float(margin.value.mid())
        if problem.readout == "regression":
            bs = [arrays["b"] + by, arrays["b"] - by]
        else:
            bs = [arrays["b"] - by * (np.arange(problem.L + 1) == margin.c)]
        return [verify(made(problem, arrays | {"b": b})) for b in bs]

    assert {found.verdict for found in shifted(1 - 1e-9)} == {"proved"}
    assert margin.c in {found.failure.c for found in shifted(1 + 1e-9) if found.failure}


def test_scores_beyond_exp_are_no_obstacle():
    scores = {"k_s": (1e5 + 4) * E[0], "k_t": 1e5 * E[0], "k_f": -1e300 * E[0]}
    found = verify(share(0.0, L=3, v_t=57 * E[1], **scores))
    assert found.verdict == "proved"
    a = mpmath.exp(4)
    assert (
        abs(
            float(found.margin.value.mid()) - min(0.5 - abs(57 * c / (a + c) - c) for c in range(4))
        )
        < 1e-12
    )


def test_zero_variance_is_refused_by_name():
    with pytest.raises(DomainError, match=r"^at \(c, m\) = \(0, 0\) the state h has zeros only"):
        verify(rms(0.0, r=E[0], v_s=-E[0], w=E[0]))
    inside = rms(0.0, L=5, r=-2 * E[0], v_f=3 * E[0], w=E[1])
    with pytest.raises(DomainError, match=r"^at \(c, m\) = \(0, 2\) the state"):
        verify(inside)
    pre = CountingProblem(L=2, d=4, norm="pre")
    spread = dict.fromkeys(("q", "k_s", "k_t", "v_s", "v_t", "v_f", "r"), E[0])
    with pytest.raises(DomainError, match=r"^k_f has equal entries only: LayerNorm would divide"):
        verify(layer(pre, k_f=np.ones(4) / 3, **spread))
    assert verify(layer(pre, ln_eps=Fraction(1, 9), k_f=ZERO, **spread)).verdict == "refuted"


@pytest.mark.parametrize("L", [0, MAX_LENGTH + 1, 5])
def test_bad_lengths_are_refused(L):
    problem = CountingProblem(L=4, d=6, readout="classification", norm="post")
    with pytest.raises(DomainError, match=f"^L={L}: "):
        verify(made(problem, counting_arrays(problem, np.random.default_rng(0))), L)


def test_another_length_may_be_asked_for():
    assert verify(linear(L=3), L=40).pairs == 861
    problem = CountingProblem(L=6, d=6, readout="classification", norm="post")
    weights = made(problem, counting_arrays(problem, np.random.default_rng(0)))
    found = verify(weights, L=4)
    assert (found.verdict, found.pairs, found.problem.L) == ("proved", 15, 4)


@pytest.mark.parametrize("norm", ["none", "pre", "post"])
def test_two_equal_rows_of_a_classification_are_a_tie(norm):
    problem = CountingProblem(L=6, d=6, readout="classification", norm=norm)
    arrays = counting_arrays(problem, np.random.default_rng(0))
    arrays["W"][4] = arrays["W"][3]
    found = verify(made(problem, arrays))
    assert (found.failure.c, found.failure.m, found.failure.tie) == (3, 0, True)
    assert found.failure.yhat == 4


def test_progress_reaches_the_end_in_order():
    seen = []
    verify(linear(), L=20_000, progress=lambda done, total: seen.append((done, total)))
    assert len(seen) > 1
    assert sorted(seen) == seen
    assert seen[-1] == (200_030_001, 200_030_001)


def test_memory_does_not_grow_with_the_length():
    peaks = []
    for L in (20_000, 80_000):
        tracemalloc.start()
        assert verify(linear(), L).verdict == "proved"
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]

"""The facts that `verify` rests on, each against all pairs: error bounds, decisive pairs, ties.

Oracle: exact gaps in balls at every pair, and for surds sympy's minimal polynomials.
"""

import numpy as np
import pytest
import sympy
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from layer_oracle import counting_arrays, made, problems

from bminlib import CountingProblem
from bminlib.exact_gaps import ExactClassification, ExactRegression
from bminlib.exact_layer import reduce_weights
from bminlib.filter64 import float_layer, floats
from bminlib.monotone import decisive_fillers, neighbours_suffice
from bminlib.readouts import Everyone, Neighbours, Regression
from bminlib.surds import exponentials, rational, root, surd

EXAMPLES = settings(max_examples=40, deadline=None, derandomize=True, database=None)
POST = [p for p in problems(8) if p.norm == "post" and p.tau == "scaled"]
CLASSIFY = [p for p in POST if p.readout == "classification"]


@pytest.fixture(autouse=True)
def _quiet():
    """As in the sweep: what overflows or divides by 0 decides nothing."""
    with np.errstate(all="ignore"):
        yield


def perturbed(problem, seed, size):
    """Weights that need not count: those by hand, plus noise of a relative `size`."""
    rng = np.random.default_rng(seed)
    arrays = counting_arrays(problem, rng)
    noise = {
        n: size * rng.normal(size=np.shape(x)) * (np.abs(x).max() + 0.1) for n, x in arrays.items()
    }
    return made(problem, {name: arrays[name] + noise[name] for name in arrays})


def parts(weights):
    """(float layer, duels of all counts, exact read-out)."""
    exact = reduce_weights(weights)
    layer = float_layer(exact)
    if weights.problem.readout == "regression":
        return layer, Regression(layer, weights), ExactRegression(exact, weights)
    return layer, Everyone(layer, weights), ExactClassification(exact, weights)


def assert_bounds(layer, duels, exact, L):
    """Compare the gaps of all duels at all m with balls; (gap, error, k)."""
    i, m = np.array([(i, m) for i, c in enumerate(duels.c) for m in range(L + 1 - c)]).T
    gap, error = layer.gaps(duels[i], m)
    for duel, fillers, value, bound in zip(i, m, gap, error, strict=True):
        truth = exact.gap(int(duels.c[duel]), int(duels.rival[duel])).ball(int(fillers))
        if np.isfinite(bound):
            assert abs(truth - float(value)) < float(bound)
    assert np.isfinite(error).mean() > 0.8
    return gap, error, duels.k.value[i]


def flat(problem):
    """All vectors and b zero."""
    names = ("q", "k_s", "k_t", "k_f", "v_s", "v_t", "v_f", "r", "w")
    return dict.fromkeys(names, np.zeros(problem.d)) | {"b": 0.0}


@given(
    problem=st.sampled_from(problems(4)),
    seed=st.integers(0, 2**32),
    size=st.sampled_from((0.0, 1e-9, 1e-3, 1.0, 10.0)),
)
@EXAMPLES
def test_the_error_bound_of_the_filter_holds_and_is_small(problem, seed, size):
    layer, source, exact = parts(perturbed(problem, seed, size))
    duels = source.duels(0, problem.L + 1)
    gap, error, k = assert_bounds(layer, duels, exact, problem.L)
    assert np.median(error / (abs(k) + abs(gap))) < 1e-12


@pytest.mark.parametrize("tiny", [1e-4, 1e-6, 1e-7])
def test_the_error_bound_holds_where_the_state_nearly_vanishes(tiny):
    rng = np.random.default_rng(2)
    problem = CountingProblem(L=6, d=6, norm="post", normalizer="rms")
    for _ in range(20):
        once, step, w = rng.normal(size=(3, 6))
        layer, source, exact = parts(
            made(problem, flat(problem) | {"v_s": tiny * once - 3 * step, "v_t": step, "w": w})
        )
        assert_bounds(layer, source.duels(0, 7), exact, 6)


@given(
    problem=st.sampled_from(POST),
    seed=st.integers(0, 2**32),
    size=st.sampled_from((1e-12, 1e-3, 0.1, 1.0)),
)
@EXAMPLES
def test_decisive_fillers_hold_the_least_gap_of_their_row(problem, seed, size):
    layer, source, _ = parts(perturbed(problem, seed, size))
    duels = source.duels(0, problem.L + 1)
    m, covered = decisive_fillers(layer, duels, problem.L)
    least, slack = (x.min(axis=0) for x in layer.gaps(duels, m))
    every = np.minimum(np.arange(problem.L + 1)[:, None], problem.L - duels.c)
    gap, error = layer.gaps(duels, every)
    holds = gap.min(axis=0) > least - 2 * error.max(axis=0) - slack
    assert (holds | ~covered).all()
    assert covered.mean() > 0.9


def test_the_least_gap_of_a_row_is_inside_now_and_then():
    inside = 0
    for seed in range(10):
        layer, source, _ = parts(perturbed(POST[0], seed, 1.0))
        duels = source.duels(0, 9)
        m, covered = decisive_fillers(layer, duels, 8)
        turn = layer.gaps(duels, m)[0].argmin(axis=0) == 2
        inside += int((covered & turn & (m[2] > 0) & (m[2] < m[4])).sum())
    assert inside > 5


@given(
    problem=st.sampled_from(CLASSIFY),
    seed=st.integers(0, 2**32),
    size=st.sampled_from((1e-3, 0.1, 3.0)),
)
@EXAMPLES
def test_neighbours_that_suffice_win_in_their_whole_polygon(problem, seed, size):
    weights, L = perturbed(problem, seed, size), problem.L
    layer = float_layer(reduce_weights(weights))
    duels = Neighbours(layer, weights).duels(0, L + 1)
    for i in range(len(duels.c)):
        one = duels[np.array([i])]
        if not neighbours_suffice(layer, one, L):
            continue
        c, m = np.array([(c, m) for c in range(L + 1) for m in range(L + 1 - c)]).T
        inside = c <= one.c if one.rival > one.c else c >= one.c
        anywhere = one[np.zeros(inside.sum(), dtype=int)]
        anywhere.c[:] = c[inside]
        assert (layer.gaps(anywhere, m[inside])[0] > 0).all()


@pytest.mark.parametrize(("i", "k", "enough"), [(7, 1.0, False), (2, 1.4, True)])
def test_positive_corners_do_not_suffice_for_a_convex_gap(i, k, enough):
    """The gap of i over i + 1 is k - sqrt(6/(1 + (c - 7/2)^2)), which dips at c = 7/2."""
    problem = CountingProblem(L=8, d=6, norm="post", normalizer="rms", readout="classification")
    one, above = np.eye(6), np.arange(9) == i + 1
    line = {
        "v_s": one[0] - 3.5 * one[1],
        "v_t": one[1],
        "W": np.outer(above, one[0]),
        "b": -k * above,
    }
    vectors = {name: x for name, x in flat(problem).items() if name != "w"}
    weights = made(problem, vectors | line)
    layer = float_layer(reduce_weights(weights))
    duel = Neighbours(layer, weights).duels(i, i + 1)[np.array([0])]
    assert (duel.c, duel.rival) == (i, i + 1)
    assert neighbours_suffice(layer, duel, 8) == enough


def test_convex_and_concave_neighbours_both_occur():
    signs = set()
    for seed in range(4):
        weights = perturbed(CLASSIFY[0], seed, 0.01)
        layer = float_layer(reduce_weights(weights))
        duels = Neighbours(layer, weights).duels(0, 9)
        for i in range(len(duels.c)):
            if neighbours_suffice(layer, duels[np.array([i])], 8):
                signs.add(np.sign(duels.k.value[i]))
    assert signs == {-1, 1}


def test_an_underflow_is_no_exact_zero():
    with ctx.workprec(64):
        tiny, zero = floats(np.array([arb(-(10**6)).exp(), arb(0)])).size
    assert zero == 0 < tiny


@pytest.mark.parametrize(
    ("terms", "text"),
    [
        ([(1, 2), (1, 8), (-1, 18)], "sqrt(2) + sqrt(8) - sqrt(18)"),
        ([(1, 2), (1, 3), (-1, 10)], "sqrt(2) + sqrt(3) - sqrt(10)"),
        ([(1, 9), (-3, 1)], "0"),
        ([(7, 5), (-5, 7), (-1, 6)], "7*sqrt(5) - 5*sqrt(7) - sqrt(6)"),
        ([(408, 2), (-577, 1)], "408*sqrt(2) - 577"),
    ],
)
def test_signs_of_surds(terms, text):
    total = surd(0)
    for q, r in terms:
        total += root(rational(r)).times(q)
    truth = sympy.sign(sympy.sympify(text))
    assert total.sign() == truth
    assert (total * total).sign() == truth**2
    assert exponentials([surd(0), surd(1000)]).sign([total, surd(0)]) == truth


def test_signs_of_exponential_sums():
    e = exponentials([surd(0), root(rational(2)), surd(1), root(rational(8)) - root(rational(2))])
    assert e.order == (2, 0, 1, 0)
    assert e.sign([surd(0), surd(3), surd(0), surd(-3)]) == 0
    assert e.sign([surd(-4), surd(1), surd(0), surd(0)]) == 1
    assert e.sign([surd(-5), surd(1), surd(0), surd(0)]) == -1
    assert e.sign([surd(1e300), surd(0), surd(-1e300), surd(1)]) == -1

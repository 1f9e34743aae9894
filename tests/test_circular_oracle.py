"""Post-normalised layers against optimisation over the shapes of a read-out on a circle.

Oracle: up to a rotation and a scale N_c is kappa (c - c0) g1 + g2 (m = 0), so the read-out is
yhat = b + W sin(theta_c), tan(theta_c - phi) = kappa (c - c0). W is minimised over (ln kappa, c0,
phi, b) by multistart SLSQP, and bounded below on 10000 sampled shapes, where the least W is a
maximum over pairs of counts. Shapes found become vectors and go through the forward pass, fillers
included; the whole layer is minimised too. At L = 2, 3, 4 the least W needs kappa -> infinity:
there kappa <= e^8 comes within 1e-6 of it.
"""

import functools
import math

import numpy as np
import pytest
from scipy.optimize import minimize
from test_fractional_oracle import axes
from test_linear_oracle import Search, assert_least, constraint, forward, pairs

from bminlib import CountingProblem, Touch, b_min

STEEPEST = 8.0
LENGTHS = range(2, 13)
LAST = np.eye(5)[-1]
LAYERS = {
    "bare": {"d": 3},
    "bare-rms": {"d": 2, "normalizer": "rms"},
    "learned": {"d": 4, "affine": "learned"},
    "learned-rms": {"d": 2, "affine": "learned", "normalizer": "rms"},
}


def problem_of(layer, L, **more):
    return CountingProblem(L=L, norm="post", **LAYERS[layer], **more)


def value(problem):
    return float(b_min(problem).enclosure(15))


def norm_power(problem):
    """W grows as B to this power."""
    return 1 if problem.affine == "bare" else 2


def radius(problem):
    """W of vectors of norm b_min: |w| sqrt(d), or |P(w * gamma)| sqrt(d)."""
    layer = problem.affine == "learned" and problem.normalizer == "layer"
    return value(problem) ** norm_power(problem) * math.sqrt(problem.d - layer)


def sines(L, log_kappa, c0, phi):
    """sin(theta_c) for c = 0..L along the last axis."""
    x = np.exp(log_kappa) * (np.arange(L + 1) - c0)
    return (np.cos(phi) * x + np.sin(phi)) / np.sqrt(1 + x**2)


def errors(L, x):
    """yhat - c for x = (ln kappa, c0, phi, b, W) along the last axis."""
    log_kappa, c0, phi, b, W = (x[..., i, None] for i in range(5))
    return b + W * sines(L, log_kappa, c0, phi) - np.arange(L + 1)


def room(L, x, slack=0.5):
    return np.concatenate([slack - errors(L, x), slack + errors(L, x)], -1)


def minimised(start, room, steepest=STEEPEST):
    """SLSQP for the least last entry of x; None where it ends outside `room`."""
    x = minimize(
        lambda x: x[-1],
        start,
        jac=lambda x: 0 * x + LAST,
        bounds=[(-8, steepest), (-20, 30), (-2, 2), (0, 20), (-1, 99)],
        constraints=[constraint("ineq", room)],
        options={"maxiter": 300, "ftol": 1e-15},
        method="SLSQP",
    ).x
    return x if room(x).min() > -1e-10 else None


def least(found):
    return min((x for x in found if x is not None), key=lambda x: x[-1])


def starts(L, number):
    rng = np.random.default_rng(L)
    for _ in range(number):
        yield np.array([rng.uniform(-3, 1), rng.uniform(0, L), rng.uniform(-1, 1), L / 2, L])


@functools.cache
def best_shape(L, steepest=STEEPEST):
    """x of least W, with ln kappa <= steepest."""
    return least(minimised(x, lambda x: room(L, x), steepest) for x in starts(L, 8))


@functools.cache
def least_violation(L, W):
    """(least max |yhat - c| - 1/2 at radius W, the shape and b that reach it)."""

    def spare(x):  # the last entry is the violation
        return room(L, np.concatenate([x[..., :-1], 0 * x[..., -1:] + W], -1), 0.5 + x[..., -1:])

    x = least(minimised(x, spare) for x in (best_shape(L), *starts(L, 4)))
    return x[-1], x[:-1]


@pytest.mark.parametrize("L", LENGTHS)
@pytest.mark.parametrize("layer", LAYERS)
def test_value(layer, L):
    W, x = radius(problem_of(layer, L)), best_shape(L)
    assert pytest.approx(x[-1], rel=1e-8 if L > 4 else 1e-6) == W
    assert x[-1] > W * (1 - 1e-12)


@pytest.mark.parametrize("L", LENGTHS)
def test_no_shape_counts_just_below(L):
    """The same decision at a wrong value, on either side of it, comes out the other way."""
    W = radius(problem_of("bare", L))
    assert least_violation(L, W * (1 - 1e-6))[0] > 1e-9
    assert least_violation(L, W * (1 + 1e-6))[0] < -1e-9


@pytest.mark.parametrize("L", LENGTHS)
def test_no_sampled_shape_does_with_less(L):
    rng, number = np.random.default_rng(L), (10000, 1)
    log_kappa, phi = rng.uniform(-3, 3, number), rng.normal(0, 0.2, number)
    s = sines(L, log_kappa, L / 2 + rng.normal(0, L / 8, number), phi)
    count, rise = np.arange(L + 1), s[:, None, :] - s[:, :, None]
    ahead = np.broadcast_to(count - count[:, None] - 1, rise.shape)  # W rise >= ahead
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.where(ahead > 0, np.where(rise > 0, ahead / rise, np.inf), 0).max((1, 2))
        high = np.where((ahead <= 0) & (rise < 0), ahead / rise, np.inf).min((1, 2))
    W = radius(problem_of("bare", L))
    assert W * (1 - 1e-12) <= low[low <= high].min() < 1.2 * W


@pytest.mark.parametrize("L", LENGTHS)
def test_active_counts(L):
    """At kappa = e^8 touches of L <= 4 are 1e-3 near, and the middle count is free (L = 2, 4)."""
    error, active = errors(L, best_shape(L)), set(b_min(problem_of("bare", L)).active)
    near = 1e-6 if L > 4 else 1e-3
    touching = {Touch(c, "+" if e > 0 else "-") for c, e in enumerate(error) if abs(e) > 0.5 - near}
    assert active == {touch for touch in touching if L > 4 or 2 * touch.c != L}


def line(log_kappa, c0, phi):
    """(start, step) of N_c in the basis (axis that the read-out sees, other)."""
    kappa = math.exp(log_kappa)
    along, across = np.array([[math.cos(phi), -math.sin(phi)], [math.sin(phi), math.cos(phi)]])
    return across - kappa * c0 * along, kappa * along


def all_errors(problem, B, start, step, b):
    """yhat - c at all (c, m) of vectors of norm <= B, N_c along start + c step, N_m = 0."""
    lines = np.array([start, step]) @ np.stack(axes(problem))
    lines *= B / np.linalg.norm(lines, axis=1).max()
    first, zero = B * np.eye(problem.d)[0], np.zeros(problem.d)
    w = first if problem.affine == "learned" else B * axes(problem)[0]
    c, m = pairs(problem.L)
    vectors = np.stack([*[first] * 4, *lines, zero, zero, w, first, zero])
    return forward(problem, vectors, c, m) + b - c


@pytest.mark.parametrize("attention", ["softmax", "linear"])
@pytest.mark.parametrize("L", LENGTHS)
@pytest.mark.parametrize("layer", LAYERS)
def test_vectors_count_just_above(layer, L, attention):
    problem = problem_of(layer, L, attention=attention)
    _, (*shape, b) = least_violation(L, radius(problem) * (1 + 1e-6))
    B = value(problem) * (1 + 1e-6) ** (1 / norm_power(problem))
    assert np.abs(all_errors(problem, B, *line(*shape), b)).max() < 0.5


@pytest.mark.parametrize("L", [2, 3, *range(5, 13)])
@pytest.mark.parametrize("layer", LAYERS)
def test_attained(layer, L):
    """At L = 2 and 3 two opposite points do: N_c changes its sign between two counts."""
    problem = problem_of(layer, L)
    assert b_min(problem).attained
    *shape, b, _ = best_shape(L)
    start, step = line(*shape) if L > 3 else np.outer([L // 2 - L, 1], [1, 0])
    if L < 4:
        start, b = start + step / 2, L / 2
    assert np.abs(all_errors(problem, value(problem), start, step, b)).max() < 0.5 + 1e-9


def test_not_attained_at_length_four():
    """W = 3/2 (1 + kappa^-2/8 + ...), and a step can't put c = 2 between its two values."""
    assert not any(b_min(problem_of(layer, 4)).attained for layer in LAYERS)
    for log_kappa in (2.0, 3.0, 4.0):
        excess = best_shape(4, log_kappa)[-1] / 1.5 - 1
        assert excess * math.exp(2 * log_kappa) == pytest.approx(1 / 8, rel=1e-2)
    for c0 in (0.5, 1.5, 2.5, 3.5):
        assert np.ptp(np.arange(5) - 1.5 * np.sign(np.arange(5) - c0)) > 1.5


@pytest.mark.parametrize("layer", LAYERS)
def test_exact_counting_at_length_two_in_the_limit_only(layer):
    """Three counts sit at -t, 0, t: W = 1/sin(t) > 1; below, |yhat - c| <= 1e-3 needs W > 0.999."""
    problem = problem_of(layer, 2, exactness="exact")
    assert not b_min(problem).attained
    assert radius(problem) == pytest.approx(1, rel=1e-12)
    B = value(problem) * (1 + 1e-10) ** (1 / 2 / norm_power(problem))
    assert np.abs(all_errors(problem, B, *line(math.log(1e5), 1, 0), 1)).max() < 1e-9
    loose = Search(problem, np.array([(0, 1, 2), (0, 0, 0)]), 1e-3).best()[-1] / value(problem)
    assert 1 - 1e-3 - 1e-9 < loose ** norm_power(problem) < 1


@pytest.mark.parametrize("L", [3, 4, 5, 6])
@pytest.mark.parametrize("layer", [{"d": 3}, {"d": 3, "affine": "learned"}])
def test_whole_layer(layer, L):
    """Fillers that move the read-out don't help: all vectors vary, all (c, m) are counted."""
    problem = CountingProblem(L=L, norm="post", **layer)
    assert_least(Search(problem, pairs(L), 0.5).best()[-1], b_min(problem).decimal(17))


@pytest.mark.slow
@pytest.mark.parametrize("attention", ["softmax", "linear"])
@pytest.mark.parametrize("L", [3, 4, 5, 6])
@pytest.mark.parametrize("layer", LAYERS)
def test_whole_layer_from_many_starts(layer, L, attention):
    problem = problem_of(layer, L, attention=attention)
    assert_least(Search(problem, pairs(L), 0.5).best(15)[-1], b_min(problem).decimal(17))

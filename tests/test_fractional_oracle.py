"""Softmax attention without post-normalisation against linear programs.

Oracle: at fixed score ratios a = exp(a_s - a_t), g = exp(a_f - a_t) the read-out is
yhat = A + (c D + g m E)/(a + c + g m), so the least gap is a linear program in (A, D, E). Norms up
to B supply gaps and score differences up to `supplied` (Cauchy-Schwarz in the model; the search
over whole layers in test_linear_oracle finds the same). The least B over a scalar search in ln a,
with m = 0 only, bounds B_min from below, to 1e-8; the program over all (c, m) at the a found,
turned into vectors and sent through the forward pass, bounds it from above, to 1e-6.
"""

import functools
import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog, minimize_scalar
from test_linear_oracle import NAMES, forward, normalise, pairs

from bminlib import CountingProblem, Touch, b_min

LAYERS = {
    "none-0.03": {"norm": "none", "d": 1, "tau": "0.03"},
    "none-0.12": {"norm": "none", "d": 2, "tau": "0.12"},
    "none-1": {"norm": "none", "d": 3, "tau": "unscaled"},
    "bare": {"norm": "pre", "d": 3},
    "bare-0.07": {"norm": "pre", "d": 3, "tau": "0.07"},
    "bare-rms": {"norm": "pre", "d": 2, "normalizer": "rms", "tau": "0.5"},
    "learned": {"norm": "pre", "affine": "learned", "d": 3},
    "learned-0.03": {"norm": "pre", "affine": "learned", "d": 3, "tau": "0.03"},
    "learned-rms": {"norm": "pre", "affine": "learned", "d": 2, "normalizer": "rms", "tau": "0.05"},
    "learned-d2": {"norm": "pre", "affine": "learned", "d": 2, "tau": "0.05"},
}
FREE = (None, None)
PRECISE = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def problem_of(layer, L):
    return CountingProblem(L=L, **LAYERS[layer])


def supplied(problem, B):
    """(greatest gap, greatest score difference) of vectors of norm <= B."""
    tau, s = float(problem.score_scale.decimal(17)), math.sqrt(problem.d)
    if problem.norm == "none":
        return 2 * B**2, 2 * tau * B**2
    if problem.affine == "bare":
        return 2 * s * B, 2 * tau * problem.d
    if problem.normalizer == "layer":
        s = math.sqrt(problem.d - 1)  # the largest entry of LN(x)
    return 2 * s * B**2, 2 * tau * s * (1 + s) * B**2


def read_out_program(L, a, fillers):
    """Rows and limits of |yhat - c| <= 1/2 in (A, D, E), at g = 1; m = 0 without fillers."""
    c, m = pairs(L) if fillers else (np.arange(L + 1), np.zeros(L + 1))
    rows = np.stack([np.ones(len(c)), c / (a + c + m), m / (a + c + m)], 1)
    return np.concatenate([rows, -rows]), np.concatenate([c + 0.5, 0.5 - c])


@functools.cache
def least_gap(L, a):
    """The linear program with m = 0: (least D >= 0, (A, D)), or infinity."""
    rows, limits = read_out_program(L, a, fillers=False)
    found = linprog([0, 1], rows[:, :2], limits, bounds=[FREE, (0, None)], options=PRECISE)
    return (found.fun, found.x) if found.status == 0 else (math.inf, None)


@functools.cache
def least_ratio(L):
    """The least a at which any gap counts: linear in (P, Q, a), P = A a, Q = A + D."""
    c, one = np.arange(L + 1.0), np.ones(L + 1)
    rows = np.concatenate([np.stack([one, c, -c - 0.5], 1), np.stack([-one, -c, c - 0.5], 1)])
    limits = np.concatenate([c**2 + c / 2, c / 2 - c**2])
    return linprog([0, 0, 1], rows, limits, bounds=[FREE, FREE, (0, None)], options=PRECISE).fun


@functools.cache
def least_norm(layer, L):
    """(B, ln a) of least norm with m = 0 only; B is infinite where nothing counts."""
    problem = problem_of(layer, L)
    gap, spread = supplied(problem, 1)
    low = math.log(least_ratio(L)) + 1e-9 if L > 2 else -8.0
    high = low + 8 if L > 2 else 8.0
    if problem.affine == "bare":
        low, high = max(low, -spread), min(high, spread)
    if low > high:
        return math.inf, math.nan

    def norm(x):
        by_gap = least_gap(L, math.exp(x))[0] / gap
        return by_gap if problem.affine == "bare" else math.sqrt(max(by_gap, abs(x) / spread))

    grid = np.linspace(low, high, 17)
    best = int(np.argmin([norm(x) for x in grid]))
    bounds = grid[max(best - 1, 0)], grid[min(best + 1, 16)]
    found = minimize_scalar(norm, bounds=bounds, method="bounded", options={"xatol": 1e-9})
    x = min(found.x, grid[best], key=norm)
    return norm(x), x


@pytest.mark.parametrize("L", range(1, 10))
@pytest.mark.parametrize("layer", LAYERS)
def test_value(layer, L):
    bound, (B, _) = b_min(problem_of(layer, L)), least_norm(layer, L)
    assert bound.feasible == math.isfinite(B)
    if bound.feasible:
        value = float(bound.enclosure(15))
        assert value == pytest.approx(B, rel=1e-8, abs=1e-12)
        assert bound.attained == (L > 1 or bound.problem.norm == "none")


@pytest.mark.parametrize("L", range(1, 10))
@pytest.mark.parametrize("layer", LAYERS)
def test_active_counts(layer, L):
    bound, (_, x) = b_min(problem_of(layer, L)), least_norm(layer, L)
    touching = set()
    if bound.feasible:
        rows, limits = read_out_program(L, math.exp(x), fillers=False)
        room = limits - rows[:, :2] @ least_gap(L, math.exp(x))[1]
        assert not np.any((room > 1e-6) & (room < 1e-3))  # no touch is in doubt
        sides = [Touch(c, side) for side in "+-" for c in range(L + 1)]
        touching = set(itertools.compress(sides, room < 1e-6))
    assert set(bound.active) == touching


def best_margin(L, a, gap):
    """The (A, D, E), 0 <= E <= D <= gap, whose errors stay furthest below 1/2, over all (c, m)."""
    rows, limits = read_out_program(L, a, fillers=True)
    rows = np.vstack([np.pad(rows, ((0, 0), (0, 1)), constant_values=1), [0, -1, 1, 0]])
    bounds = [FREE, (0, gap), (0, gap), FREE]
    found = linprog([0, 0, 0, -1], rows, [*limits, 0], bounds=bounds, options=PRECISE)
    return -found.fun, found.x[:3]


def axes(problem):
    """The unit vector that the read-out sees in a normalised layer, and one orthogonal to it."""
    axis, other = np.eye(problem.d)[:2]
    if problem.normalizer == "layer":
        axis, other = normalise(axis, problem), other - np.eye(problem.d)[2]
    return axis / np.linalg.norm(axis), other / np.linalg.norm(other)


def on_axis(problem, B, positions):
    """Vectors at `positions` in [-1, 1] along the axis that the read-out sees."""
    if problem.norm == "none":
        return B * np.outer(positions, np.eye(problem.d)[0])
    axis, other = axes(problem)
    return np.outer(positions, axis) + np.outer(np.sqrt(1 - np.minimum(positions**2, 1)), other)


def layer_vectors(problem, B, gaps, differences):
    """All vectors of norm <= B with these <w, v_j - v_s> and a_j - a_t, for j in s, t, f."""
    gap, spread = supplied(problem, B)
    keys, values = np.array(differences) * 2 / spread, np.array(gaps) * 2 / gap
    keys, values = (x - (x.max() + x.min()) / 2 for x in (keys, values))
    rest = np.zeros((4, problem.d))  # r, w, gamma, beta
    rest[1:, 0] = B
    if problem.affine == "bare":
        rest[1] = B * axes(problem)[0]
    return np.concatenate([on_axis(problem, B, np.array([1, *keys, *values])), rest])


@pytest.mark.parametrize("L", range(2, 10))
@pytest.mark.parametrize("layer", [name for name in LAYERS if name != "learned-d2"])
def test_vectors_count_just_above(layer, L):
    """And at b_min itself the closed problem has a solution, fillers included."""
    problem, x = problem_of(layer, L), least_norm(layer, L)[1]
    if not b_min(problem).feasible:
        return
    value = float(b_min(problem).enclosure(15))
    assert best_margin(L, math.exp(x), supplied(problem, value)[0])[0] > -1e-7
    B = (1 + 1e-6) * value
    gap, spread = supplied(problem, B)
    tried = np.linspace(max(x - 1e-6, -spread), min(x + 1e-6, spread), 5)
    x = max(tried, key=lambda x: best_margin(L, math.exp(x), gap)[0])
    A, D, E = best_margin(L, math.exp(x), gap)[1]
    vectors = layer_vectors(problem, B, (0, D, E), (x, 0, 0))
    c, m = pairs(L)
    yhat = forward(problem, vectors, c, m)
    yhat += A - yhat[0]  # the scalar b: pairs start with (0, 0)
    bounded = slice(None) if problem.norm == "none" else slice(NAMES.index("r"), None)
    assert np.linalg.norm(vectors[bounded], axis=1).max() <= B * (1 + 1e-12)
    assert np.abs(yhat - c).max() < 0.5


def least_violation(L, gap, spread):
    """min over |ln a| <= spread, |D| <= gap of max |yhat - c| - 1/2 with m = 0: half a range."""
    c, low, high = np.arange(L + 1), -spread, spread
    for _ in range(6):
        x = np.linspace(low, high, 101)
        share = c / (np.exp(x)[:, None] + c)
        near, far = np.full((101, 1), -gap), np.full((101, 1), gap)
        for _ in range(60):  # the range of c - D share is convex in D
            third = (far - near) / 3
            left = np.ptp(c - (near + third) * share, 1) < np.ptp(c - (far - third) * share, 1)
            near = np.where(left[:, None], near, near + third)
            far = np.where(left[:, None], far - third, far)
        ranges = np.ptp(c - near * share, 1)
        best = ranges.argmin()
        low, high = x[max(best - 2, 0)], x[min(best + 2, 100)]
    return ranges.min() / 2 - 0.5


@pytest.mark.parametrize("L", [2, 3, 4, 5, 8])
@pytest.mark.parametrize("layer", LAYERS)
def test_nothing_counts_just_below(layer, L):
    """The same decision at a wrong value, on either side of it, comes out the other way."""
    problem = problem_of(layer, L)
    if not b_min(problem).feasible:
        assert least_violation(L, *supplied(problem, 1e4)) > 1e-6
        return
    value = float(b_min(problem).enclosure(15))
    assert least_violation(L, *supplied(problem, value * (1 - 1e-6))) > 1e-9
    assert least_violation(L, *supplied(problem, value * (1 + 1e-6))) < -1e-9


def two_valued_norms(problem):
    """(closed, strict): least B over all signs of the seven vectors, yhat = A + sqrt(d) B x."""
    reach = float(problem.score_scale.decimal(17)) * problem.d
    (c, m), found = pairs(problem.L), [(math.inf, math.inf)]
    for *keys, v_s, v_t, v_f in itertools.product((-1, 1), repeat=6):
        weights = np.exp(reach * np.array(keys))[:, None] * [1 + 0 * c, c, m]
        x = np.array([v_s, v_t, v_f]) @ weights / weights.sum(0)
        rise, least = x - x[:, None], c - c[:, None] - 1  # sqrt(d) B rise >= least
        level = abs(rise) < 1e-12
        low = max((least[rise > 1e-12] / rise[rise > 1e-12]).max(initial=0), 0)
        high = (least[rise < -1e-12] / rise[rise < -1e-12]).min(initial=math.inf)
        if low <= high * (1 + 1e-9) and not (level & (least > 0)).any():
            strict = low < high * (1 - 1e-9) and not (level & (least == 0)).any()
            found.append((low, low if strict else math.inf))
    return np.min(found, axis=0) / math.sqrt(problem.d)


@pytest.mark.parametrize(("d", "tau"), [(2, "scaled"), (2, "0.1"), (2, "2"), (1, "1"), (1, "0.3")])
@pytest.mark.parametrize("L", range(2, 11))
def test_two_valued_normaliser(L, d, tau):
    normalizer = "layer" if d == 2 else "rms"
    bound = b_min(CountingProblem(norm="pre", L=L, d=d, tau=tau, normalizer=normalizer))
    _, strict = two_valued_norms(bound.problem)
    assert bound.feasible == math.isfinite(strict)
    if bound.feasible:
        assert float(bound.enclosure(15)) == pytest.approx(strict, rel=1e-9)


def test_two_valued_normaliser_fools_a_solver_with_a_tolerance():
    closed, strict = two_valued_norms(CountingProblem(norm="pre", L=3, d=2))
    assert closed == pytest.approx(math.sqrt(2), rel=1e-9)
    assert strict == pytest.approx(4.6949129, rel=1e-7)

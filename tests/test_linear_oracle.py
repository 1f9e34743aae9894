"""Linear attention, and exact counting at L <= 2, against the true forward pass.

Oracle: every vector of the layer is a variable; multistart SLSQP (complex-step derivatives)
minimises the largest norm subject to |yhat - c| <= 1/2, or yhat = c, over all (c, m). The best
start bounds B_min from above, to about 1e-13; that none of them gets below it is evidence, not
proof. Vectors that are normalised before use are scale-free: their norms are no constraints.
"""

import functools
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from bminlib import CountingProblem, Touch, b_min

NAMES = ("q", "k_s", "k_t", "k_f", "v_s", "v_t", "v_f", "r", "w", "gamma", "beta")
ATTENDED = NAMES[:7]
STEP = 1e-30  # of complex-step derivatives
BOX = 8


def pairs(L):
    """All (c, m) with c + m <= L, as two arrays."""
    return np.array([(c, m) for c in range(L + 1) for m in range(L + 1 - c)]).T


def dot(x, y):
    return (x * y).sum(-1)


def normalise(x, problem):
    """LN(x) along the last axis, with eps = 0; complex x are complex steps."""
    if problem.normalizer == "layer":
        x = x - x.mean(-1, keepdims=True)
    return np.sqrt(problem.d) * x / np.sqrt(dot(x, x))[..., None]


def forward(problem, vectors, c, m):
    """<w, z>, shape (..., pairs), of vectors of shape (..., len(NAMES), d)."""
    at = {name: vectors[..., i, :] for i, name in enumerate(NAMES)}
    gain, shift = (at["gamma"], at["beta"]) if problem.affine == "learned" else (1, 0 * at["w"])
    if problem.norm == "pre":
        at |= {name: gain * normalise(at[name], problem) + shift for name in ATTENDED}
    tau = float(problem.score_scale.decimal(17))
    scores = np.stack([tau * dot(at["q"], at[k]) for k in ("k_s", "k_t", "k_f")], -1)
    counts = np.stack([0 * c + 1, c, m], -1)  # (pairs, 3)
    if problem.attention == "softmax":
        weights = np.exp(scores)[..., None, :] * counts
        weights = weights / weights.sum(-1, keepdims=True)
    else:
        weights = scores[..., None, :] * counts
    z = at["r"][..., None, :] + weights @ np.stack([at[v] for v in ("v_s", "v_t", "v_f")], -2)
    if problem.norm == "post":
        gain = np.broadcast_to(gain, at["w"].shape)[..., None, :]
        z = gain * normalise(z, problem) + shift[..., None, :]
    return dot(z, at["w"][..., None, :])


def bounded_names(problem):
    """The vectors whose length matters."""
    names = ("r", "w") if problem.norm == "pre" else NAMES[:9]
    return (*names, "gamma", "beta") if problem.affine == "learned" else names


@dataclass(frozen=True)
class Search:
    """The least norm over x = (all vectors, b, B) that leaves |yhat - c| <= slack at `counts`."""

    problem: CountingProblem
    counts: np.ndarray  # (2, pairs)
    slack: float

    def vectors(self, x):
        return x[..., :-2].reshape(*x.shape[:-1], len(NAMES), self.problem.d)

    def errors(self, x):
        """yhat - c at every pair."""
        return forward(self.problem, self.vectors(x), *self.counts) + x[..., -2:-1] - self.counts[0]

    def room(self, x):
        """What the norms, and the errors unless they must vanish, leave to their bounds."""
        bounded = [NAMES.index(name) for name in bounded_names(self.problem)]
        norms = x[..., -1:] ** 2 - dot(self.vectors(x), self.vectors(x))[..., bounded]
        if not self.slack:
            return norms
        error = self.errors(x)
        return np.concatenate([norms, self.slack - error, self.slack + error], -1)

    def from_start(self, seed):
        x = np.random.default_rng(seed).normal(size=len(NAMES) * self.problem.d + 2)
        x[-1] = 3
        kinds = {"ineq": self.room} if self.slack else {"ineq": self.room, "eq": self.errors}
        with np.errstate(all="ignore"):
            return minimize(
                lambda x: x[-1],
                x,
                jac=lambda x: np.eye(len(x))[-1],
                bounds=[(-BOX, BOX)] * (len(x) - 1) + [(0, BOX)],
                constraints=[constraint(kind, function) for kind, function in kinds.items()],
                options={"maxiter": 150, "ftol": 1e-15},
                method="SLSQP",
            ).x

    def feasible(self, x):
        with np.errstate(all="ignore"):
            errors = np.abs(self.errors(x)).max()
            return errors < self.slack + 1e-9 and self.room(x).min() > -1e-9

    def best(self, starts=2):
        """The feasible x of least norm from `starts` starts, up to 5 times more to reach B_min."""
        best, goal = np.array([np.inf]), float(b_min(self.problem).decimal(17)) * (1 + 1e-9)
        for seed in range(5 * starts):
            x = self.from_start(seed)
            if x[-1] < best[-1] and self.feasible(x):
                best = x
            if seed >= starts - 1 and best[-1] < goal:
                break
        return best


def constraint(kind, function):
    """A scipy constraint with complex-step derivatives, all columns in one batch."""

    def jacobian(x):
        return function(x + 1j * STEP * np.eye(len(x))).imag.T / STEP

    return {"type": kind, "fun": function, "jac": jacobian}


def assert_least(found, value):
    """`found`, a feasible norm, is the least: `value` to 1e-8."""
    assert found == pytest.approx(float(value), rel=1e-8)


LAYERS = {
    "none": {"norm": "none", "d": 2},
    "none-tau": {"norm": "none", "d": 1, "tau": "0.3"},
    "bare": {"norm": "pre", "d": 3},
    "bare-rms": {"norm": "pre", "d": 2, "normalizer": "rms", "tau": "0.7"},
    "learned": {"norm": "pre", "affine": "learned", "d": 3, "tau": "unscaled"},
    "learned-rms": {"norm": "pre", "affine": "learned", "d": 2, "normalizer": "rms"},
    "learned-d2": {"norm": "pre", "affine": "learned", "d": 2},
}
ORIGIN_AND_STEPS = np.array([(0, 0), (1, 0), (0, 1)]).T  # yhat of linear attention is affine


@functools.cache
def rounded_solution(layer, L):
    search = Search(CountingProblem(attention="linear", L=L, **LAYERS[layer]), pairs(L), 0.5)
    return search, search.best(3)


@pytest.mark.parametrize("L", [2, 3, 4, 5])
@pytest.mark.parametrize("layer", LAYERS)
def test_linear_attention_after_rounding(layer, L):
    search, x = rounded_solution(layer, L)
    bound = b_min(search.problem)
    assert_least(x[-1], bound.decimal(17))
    assert bound.attained  # x itself, up to the solver's 1e-9, satisfies the closed problem


@pytest.mark.parametrize("L", [2, 5])
@pytest.mark.parametrize("layer", ["none", "bare", "learned"])
def test_active_counts_of_linear_attention(layer, L):
    search, x = rounded_solution(layer, L)
    error = search.errors(x)
    touching = {
        Touch(int(c), "+" if e > 0 else "-")
        for (c, m), e in zip(search.counts.T, error, strict=True)
        if m == 0 and abs(e) > 0.5 - 1e-6
    }
    assert set(b_min(search.problem).active) == touching


@pytest.mark.parametrize("factor", [1 - 1e-4, 1 + 1e-4, 1 - 1e-7, 1 + 1e-7])
def test_the_oracle_rejects_a_wrong_value(factor):
    search, x = rounded_solution("bare", 3)
    with pytest.raises(AssertionError):
        assert_least(x[-1], factor * float(b_min(search.problem).decimal(17)))


@pytest.mark.parametrize("layer", LAYERS)
def test_linear_attention_counts_exactly(layer):
    problem = CountingProblem(attention="linear", L=4, exactness="exact", **LAYERS[layer])
    bound, x = b_min(problem), Search(problem, ORIGIN_AND_STEPS, 0).best()
    assert_least(x[-1], bound.decimal(17))
    assert bound.attained
    assert bound.active == ()
    assert np.abs(Search(problem, pairs(4), 0).errors(x)).max() < 1e-8


@pytest.mark.parametrize("layer", [name for name in LAYERS if name != "learned-d2"])
def test_softmax_counts_exactly_at_length_one(layer):
    problem = CountingProblem(L=1, exactness="exact", **LAYERS[layer])
    assert_least(Search(problem, pairs(1), 0).best()[-1], b_min(problem).decimal(17))
    assert b_min(problem).attained


@pytest.mark.parametrize("layer", [name for name in LAYERS if name != "learned-d2"])
@pytest.mark.parametrize("L", [2, 3, 4])
def test_softmax_after_rounding(layer, L):
    problem = CountingProblem(L=L, **LAYERS[layer])
    assert_least(Search(problem, pairs(L), 0.5).best()[-1], b_min(problem).decimal(17))


POST = {
    "bare": {"d": 3},
    "bare-rms": {"d": 2, "normalizer": "rms"},
    "learned": {"d": 3, "affine": "learned"},
    "learned-rms": {"d": 2, "affine": "learned", "normalizer": "rms"},
}


@pytest.mark.parametrize("attention", ["softmax", "linear"])
@pytest.mark.parametrize("layer", POST)
def test_post_normalised_layer_counts_exactly_at_length_one(layer, attention):
    problem = CountingProblem(
        L=1, norm="post", attention=attention, exactness="exact", **POST[layer]
    )
    assert_least(Search(problem, pairs(1), 0).best()[-1], b_min(problem).decimal(17))
    assert b_min(problem).attained


def test_two_valued_normaliser_counts_exactly_at_length_one():
    """LN(h) = +-(1, -1) at d = 2, so 1 = yhat(1) - yhat(0) <= |w| |(2, -2)|."""
    problem = CountingProblem(L=1, norm="post", d=2, exactness="exact")
    assert_least(1 / np.linalg.norm([2, -2]), b_min(problem).decimal(17))


def two_valued_margin(L, filler):
    """Largest slack left by yhat = A + k (c + filler m), k > 0: all that two values can give."""
    c, m = pairs(L)
    line, one = c + filler * m, np.ones(len(c))
    rows = np.concatenate([np.stack([one, line, one], 1), np.stack([-one, -line, one], 1)])
    limits = np.concatenate([c + 0.5, 0.5 - c])
    free = (None, None)
    return -linprog([0, 0, -1], rows, limits, bounds=[free, (0, None), free]).fun


@pytest.mark.parametrize("layer", [{"d": 2}, {"d": 1, "normalizer": "rms"}])
@pytest.mark.parametrize("L", [1, 2, 3])
def test_two_valued_normaliser_lets_fillers_count(layer, L):
    """At L = 2 the closed problem still has a solution, so a solver with a tolerance is fooled."""
    best = max(two_valued_margin(L, filler) for filler in (-1, 1))
    if L == 2:
        assert abs(best) < 1e-9
    problem = CountingProblem(attention="linear", norm="pre", L=L, **layer)
    assert b_min(problem).feasible == (best > 1e-9)

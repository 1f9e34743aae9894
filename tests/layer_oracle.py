"""An independent forward pass at 50 digits (mpmath), and weights by hand that count.

The pass computes attention, normaliser and read-out token by token group, straight from the model;
it shares no code with bminlib, whose verifier never forms the layer's output in this way.
"""

import itertools
from fractions import Fraction

import mpmath
import numpy as np

from bminlib import CountingProblem
from bminlib.weights import Weights

MP = mpmath.MPContext()
MP.dps = 50
PLACEMENTS = (
    ("none", None, None),
    *itertools.product(("pre", "post"), ("bare", "learned"), ("layer", "rms")),
)


def outputs(weights, L, ctx=MP):
    """(c, m) -> yhat, or the list of scores, for all c + m <= L; ctx is MP or mpmath.fp."""
    problem, d = weights.problem, weights.problem.d
    at = {name: exact(array.tolist(), ctx) for name, array in weights.arrays().items()}
    tau = 1 / ctx.sqrt(d) if problem.tau == "scaled" else ctx.mpf(1)

    def dot(x, y):
        return ctx.fsum(a * b for a, b in zip(x, y, strict=True))

    def normalise(x):
        mean = ctx.fsum(x) / d if problem.normalizer == "layer" else 0
        x = [entry - mean for entry in x]
        root = ctx.sqrt(dot(x, x) / d + exact(weights.ln_eps, ctx))
        x = [entry / root for entry in x]
        if problem.affine == "learned":
            x = [g * entry + b for g, entry, b in zip(at["gamma"], x, at["beta"], strict=True)]
        return x

    def attended(name):
        return normalise(at[name]) if problem.norm == "pre" else at[name]

    def read(c, m):
        shares = [n * s for n, s in zip((1, c, m), strengths, strict=True)]
        total = ctx.fsum(shares) if problem.attention == "softmax" else 1
        h = [
            r + ctx.fsum(s * v for s, v in zip(shares, vs, strict=True)) / total
            for r, *vs in columns
        ]
        z = normalise(h) if problem.norm == "post" else h
        if problem.readout == "regression":
            return dot(at["w"], z) + at["b"]
        return [dot(w, z) + b for w, b in zip(at["W"], at["b"], strict=True)]

    scores = [tau * dot(attended("q"), attended(k)) for k in ("k_s", "k_t", "k_f")]
    strengths = [ctx.exp(a) for a in scores] if problem.attention == "softmax" else scores
    columns = list(zip(at["r"], *map(attended, ("v_s", "v_t", "v_f")), strict=True))
    return {(c, m): read(c, m) for c in range(L + 1) for m in range(L + 1 - c)}


def exact(x, ctx):
    """A number, or nested lists of numbers, in the arithmetic of ctx."""
    if isinstance(x, list):
        return [exact(entry, ctx) for entry in x]
    return ctx.mpf(Fraction(x).numerator) / Fraction(x).denominator


def gaps(weights, L, ctx=MP):
    """(c, m) -> 1/2 - |yhat - c|, or the score of c less the greatest other one."""
    return {pair: gap(pair[0], read, ctx) for pair, read in outputs(weights, L, ctx).items()}


def gap(c, read, ctx=MP):
    if isinstance(read, list):
        return read[c] - max(score for j, score in enumerate(read) if j != c)
    return ctx.mpf(1) / 2 - abs(read - c)


def problems(L, d=6):
    """One problem for every attention, placement, read-out and tau."""
    options = itertools.product(
        ("softmax", "linear"), PLACEMENTS, ("regression", "classification"), ("scaled", "unscaled")
    )
    return [
        CountingProblem(L=L, d=d, attention=a, norm=n, affine=f, normalizer=z, readout=r, tau=tau)
        for a, (n, f, z), r, tau in options
    ]


def counting_arrays(problem, rng):
    """Vectors and b, by name, of weights that count with room to spare (L <= 6, d >= 5).

    They live in a random orthonormal frame e of the space that the normaliser keeps.
    """
    d, L = problem.d, problem.L
    square = rng.normal(size=(d, d))
    square[:, 0] = 1
    e = np.linalg.qr(square)[0].T[1:]
    zero = np.zeros(d)
    x = dict.fromkeys(("q", "k_s", "k_t", "k_f", "v_s", "v_t", "v_f", "r"), zero)
    if problem.affine == "learned":
        x |= {"gamma": np.ones(d), "beta": zero}
    if problem.norm == "post":
        x |= post_pattern(problem, e)
    else:
        linear = problem.attention == "linear"
        x |= linear_pattern(problem, e) if linear else softmax_pattern(problem, e)
    if problem.readout == "regression":
        return x
    j = np.arange(L + 1)
    once, per_target = x.pop("w")
    b = np.zeros(L + 1) if once is not None else -1.0 * j**2
    W = np.outer(2 * j, per_target) - (np.outer(j**2, once) if once is not None else 0)
    return x | {"W": W, "b": b}


def post_pattern(problem, e):
    """h runs along a line off the origin; the filler direction r + v_f is 0."""
    d, L, r = problem.d, problem.L, 0.3 * e[3]
    bend = 0.3 / L
    regression = problem.readout == "regression"
    u_s, u_t = (e[0] - bend * L / 2 * e[1], bend * e[1]) if regression else (e[0], e[1])
    x = {"v_s": u_s - r, "v_t": u_t - r, "v_f": -r, "r": r}
    if problem.attention == "linear":
        x |= {"q": e[3] / tau(problem), "k_s": e[3], "k_t": e[3], "v_t": u_t, "v_f": 0 * r}
    read = {"w": e[1] / bend / np.sqrt(d), "b": L / 2} if regression else {"w": (e[0], e[1])}
    return x | read


def linear_pattern(problem, e):
    """Only targets have a score, and only they move the read-out."""
    size = np.sqrt(problem.d) if problem.norm == "pre" else 1.0
    x = {"k_s": e[2], "k_t": e[3], "k_f": e[2], "v_s": e[0], "v_t": e[1], "v_f": e[2]}
    x["q"] = e[3] / tau(problem) / size**3
    w = 1.01 * e[1] if problem.norm == "none" else 1.01 * e[1] / (tau(problem) * size**3)
    return x | ({"w": w, "b": 0.03} if problem.readout == "regression" else {"w": (None, w)})


def softmax_pattern(problem, e):
    """A share c/(a + c + m) of large ratio a, or equal scores under a classification."""
    pre = problem.norm == "pre"
    size = np.sqrt(problem.d) if pre else 1.0
    if problem.readout == "classification":
        x = {"q": e[3], "k_s": e[0], "k_t": e[0], "k_f": e[0]}
        return x | {"v_s": e[0], "v_t": e[1], "v_f": e[2], "w": (e[0] / size, e[1] / size)}
    a = np.exp(2 * tau(problem) * problem.d) if pre else 40 * problem.L
    x = {"q": e[0], "k_s": np.log(a) / tau(problem) * e[0], "v_s": -e[1], "v_t": e[1], "v_f": -e[1]}
    if pre:
        x |= {"k_s": e[0], "k_t": -e[0], "k_f": -e[0]}
    gap = a + problem.L / 2
    return x | {"w": gap / 2 / size * e[1], "b": gap / 2}


def tau(problem):
    return problem.d**-0.5 if problem.tau == "scaled" else 1.0


def made(problem, arrays, ln_eps=Fraction(0)):
    """Weights from arrays by name, b among them."""
    return Weights(problem, {n: x for n, x in arrays.items() if n != "b"}, arrays["b"], ln_eps)

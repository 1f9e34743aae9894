"""Attention at 40 digits (mpmath) over every token of a sequence, one after the other.

It shares no code with bminlib and never counts tokens.
"""

import random
from fractions import Fraction

import mpmath
import numpy as np

MP = mpmath.MPContext()
MP.dps = 40


def by_tokens(weights, tokens):
    """yhat or the scores, from one query that attends to itself and to each token in turn."""
    problem, d = weights.problem, weights.problem.d
    at = {
        name: MP.matrix(np.vectorize(exact, otypes=[object])(array).tolist())
        for name, array in weights.vectors.items()
    }
    at_b = [exact(entry) for entry in weights.b.flat]
    eps, tau = exact(weights.ln_eps), MP.sqrt(exact(problem.score_scale.power(2).radicand))

    def norm(x):
        if problem.normalizer == "layer":
            x = x - MP.matrix([sum(x) / d] * d)
        x = x / MP.sqrt(sum(e * e for e in x) / d + eps)
        if problem.affine == "learned":
            x = MP.matrix([g * e + b for g, e, b in zip(at["gamma"], x, at["beta"], strict=True)])
        return x

    def seen(name):
        return norm(at[name]) if problem.norm == "pre" else at[name]

    kinds = ["s", *("ft"[token] for token in tokens)]
    scores = [(seen("q").T * seen(f"k_{kind}"))[0] * tau for kind in kinds]
    if problem.attention == "softmax":
        total = sum(MP.exp(score) for score in scores)
        scores = [MP.exp(score) / total for score in scores]
    h = at["r"]
    for share, kind in zip(scores, kinds, strict=True):
        h = h + share * seen(f"v_{kind}")
    z = norm(h) if problem.norm == "post" else h
    if problem.readout == "regression":
        return [(at["w"].T * z)[0] + at_b[0]]
    return [(at["W"][j, :] * z)[0] + b for j, b in enumerate(at_b)]


def exact(number):
    """A Fraction or float at 40 digits."""
    return MP.mpf(Fraction(number).numerator) / Fraction(number).denominator


def sequence(c, m):
    """c targets and m fillers, shuffled."""
    tokens = [1] * c + [0] * m
    random.Random(1).shuffle(tokens)
    return tokens

"""Theorems softmax.exact.small and softmax.inexact: yhat = c, without rounding."""

from __future__ import annotations

from typing import Any

import sympy

from bmin_derivations import norm_limited, supplies
from bmin_derivations.exact_routes import (
    antipodal_route,
    bare_route,
    crossing_route,
    curved_route,
    norms_route,
)
from bmin_derivations.fractional import READ_OUT
from bmin_derivations.instances import over
from bmin_derivations.post import line_steps
from bmin_derivations.records import Instance, Part, Step, Theorem
from bmin_derivations.relations import eq, ge, gt, lt
from bmin_derivations.symbols import B_MIN, A, D, E, L, a, c, d, m, spread, tau
from bminlib import extremal

_half = sympy.Rational(1, 2)
_one = sympy.Integer(1)
_W, _kappa = sympy.symbols("W kappa", positive=True)
_sine, _slope = sympy.symbols("sigma u", positive=True)  # sin(phi) > 0, slope of the line
_cosine, _x = sympy.symbols("C x", real=True)
_ROWS = "rows yhat = c by brute force, least norm over all score ratios by golden section"


def _pull(exact: dict[str, Any], *lengths: int, **named: Any) -> tuple[Instance, ...]:
    return over(lengths, **{"exactness": "exact", **exact, **named})


def _small_steps() -> tuple[Step, ...]:
    line = _W * _kappa / sympy.sqrt(1 + _kappa**2)
    radius = sympy.sqrt(1 + 1 / _kappa**2)
    return (
        Step(
            "yhat(0) = 0 and yhat(1) = 1 without fillers: D/(a+1) = 1, the gap is D = 1 + a.",
            eq((A + D / (a + 1) - 1) - A, (D - extremal.small_gap(_one, 1 / a)) / (a + 1)),
        ),
        Step(
            "E = 0 (v_f = v_s) keeps yhat(0, m) = 0, and c = 1 has no filler at L = 1.",
            eq(READ_OUT.subs({E: 0, c: 0}), A),
        ),
        *norm_limited.self_limited_steps(_one, "x >= D = 1 + a (share 1)"),
        Step(
            "Bare pre: a = e^(-2 tau d) is the least ratio.",
            eq(
                extremal.small_gap(_one, sympy.exp(supplies.range_bare(tau, d))),
                1 + sympy.exp(-supplies.range_bare(tau, d)),
            ),
        ),
        *line_steps(),
        Step(
            "Post, L = 1: 1 = yhat(1) - yhat(0) <= 2W; antipodal N_c = u (c - 1/2) give b -+ W.",
            eq((_half + _W) - (_half - _W) - 1, 2 * (_W - _half)),
        ),
        Step(
            "Post, L = 2: 2 = yhat(2) - yhat(0) <= 2W, with equality only for antipodal points, "
            "whose line has two values; tan theta_c = kappa (c - 1) counts at W^2 = 1 + 1/kappa^2 "
            "...",
            eq(line.subs(_W, radius), 1),
        ),
        Step(
            "... which tends to 1 as kappa grows, and exceeds it.",
            eq(sympy.Limit(radius, _kappa, sympy.oo), 1),
        ),
    )


def _inexact_steps() -> tuple[Step, ...]:
    curve = (_cosine * _x + _sine) / sympy.sqrt(1 + _x**2)
    bend = 2 * _sine * _x**2 - 3 * _cosine * _x - _sine
    second = READ_OUT.subs({E: 0, m: 0})
    return (
        Step(
            "Softmax without post: yhat(2) - 2 yhat(1) + yhat(0) = -2D/((a+1)(a+2)), which is "
            "not 0 as D = 1 + a from the counts 0 and 1.",
            eq(
                second.subs(c, 2) - 2 * second.subs(c, 1) + second.subs(c, 0),
                -2 * D / ((a + 1) * (a + 2)),
            ),
        ),
        Step(
            "So no parameters count exactly from L = 2 on.",
            gt(2 * extremal.small_gap(_one, 1 / a) / ((a + 1) * (a + 2)), 0),
        ),
        *line_steps(),
        Step(
            "Post: yhat is an increasing line u x + v, u > 0, in x = kappa (c - c0) at L + 1 "
            "points of F(x) = (cos(phi) x + sin(phi))/sqrt(1 + x^2) (scaled; sin(phi) >= 0 by "
            "reflection). With sigma = sin(phi), C = cos(phi): F' = (C - sigma x)/(1 + x^2)^(3/2)",
            eq(
                sympy.Derivative(curve, _x),
                (_cosine - _sine * _x) / (1 + _x**2) ** sympy.Rational(3, 2),
            ),
        ),
        Step(
            "F'' has the sign of the quadratic 2 sigma x^2 - 3 C x - sigma ...",
            eq(
                sympy.Derivative(curve, (_x, 2)),
                bend / (1 + _x**2) ** sympy.Rational(5, 2),
            ),
        ),
        Step(
            "... which is negative where F' = 0, at x = C/sigma: up to there F' > 0 rises to one "
            "maximum and falls, beyond it F' < 0. So F' = u has at most two solutions and "
            "F = u x + v at most three.",
            lt(bend.subs(_x, _cosine / _sine), 0),
        ),
        Step(
            "For sigma = 0, F' = C/(1 + x^2)^(3/2) falls on both sides of 0: two solutions too.",
            eq(
                sympy.Derivative(_cosine / (1 + _x**2) ** sympy.Rational(3, 2), _x),
                -3 * _cosine * _x / (1 + _x**2) ** sympy.Rational(5, 2),
            ),
        ),
        Step(
            "From L = 3 on there are more than three counts; a line through the origin has two "
            "values only.",
            gt(L + 1, 3),
            (ge(L, 3),),
        ),
    )


def _small_parts() -> tuple[Part, ...]:
    rate = supplies.scores_learned(tau, spread) / supplies.gap_learned(spread)
    none = sympy.sqrt(
        extremal.self_limited_gap(_one, tau, sympy.exp, sympy.LambertW) / supplies.gap_none()
    )
    bare = extremal.small_gap(_one, sympy.exp(supplies.range_bare(tau, d))) / supplies.gap_bare(d)
    learned = sympy.sqrt(
        extremal.self_limited_gap(_one, rate, sympy.exp, sympy.LambertW)
        / supplies.gap_learned(spread)
    )
    at_one, short = (eq(L, 1),), (ge(2, L), ge(spread, L))
    post = {"norm": "post", "affine": "bare"}
    gained = {"norm": "post", "affine": "learned"}
    radius = L / sympy.Integer(2)

    def dims(first: tuple[Any, ...], *sizes: int, **named: Any) -> tuple[Instance, ...]:
        return over((1,), sizes, exactness="exact", **dict(first), **named)

    pre = (("norm", "pre"), ("affine", "bare"))
    gain = (("norm", "pre"), ("affine", "learned"))
    return (
        Part(eq(B_MIN, none), at_one, dims((("norm", "none"),), 1, 3, 64), norms_route, _ROWS),
        Part(eq(B_MIN, bare), at_one, dims(pre, 2, 3, 8), bare_route, _ROWS),
        Part(eq(B_MIN, learned), at_one, dims(gain, 2, 3, 8), norms_route, _ROWS),
        Part(
            eq(B_MIN, radius / supplies.radius_bare(d)),
            short,
            dims(tuple(post.items()), 2, 3, 64) + _pull(post, 2, dimensions=(5, 8)),
            antipodal_route,
            "least radius with yhat = c by search over lines",
        ),
        Part(
            eq(B_MIN, sympy.sqrt(radius / supplies.radius_learned(spread))),
            short,
            dims(tuple(gained.items()), 2, 5)
            + _pull(gained, 2, dimensions=(5, 8), attention="linear"),
            antipodal_route,
            "least radius with yhat = c by search over lines",
        ),
    )


def _inexact_parts() -> tuple[Part, ...]:
    fractional = (
        _pull({"norm": "none"}, 2, 3, 9)
        + _pull({"norm": "pre", "affine": "bare"}, 2, 4)
        + _pull({"norm": "pre", "affine": "learned"}, 2)
    )
    circular = _pull({"norm": "post", "affine": "bare"}, 3, 4) + _pull(
        {"norm": "post", "affine": "learned", "attention": "linear"}, 3
    )
    narrow = _pull({"norm": "post", "affine": "bare"}, 2, 3, dimensions=(2,))
    return (
        Part(eq(B_MIN, sympy.oo), (ge(L, 2),), fractional, curved_route, "rows yhat = c at many a"),
        Part(
            eq(B_MIN, sympy.oo),
            (ge(L, 3),),
            circular,
            crossing_route,
            "counting where increasing lines cross the curve",
        ),
        Part(
            eq(B_MIN, sympy.oo),
            (ge(L, 2), eq(spread, 1)),
            narrow,
            crossing_route,
            "counting values",
        ),
    )


SMALL = Theorem(
    "softmax.exact.small",
    "The few lengths to which softmax counts exactly",
    _small_parts(),
    _small_steps,
    reader="Every gap and score ratio within the limits is reached (theorems none, pre.bare, "
    "pre.learned); x and kappa as in those.",
    source="abstract, claim 2",
    justifies=("bminlib.extremal.self_limited_gap", "bminlib.extremal.small_gap"),
    uses=("none", "pre.bare", "pre.learned"),
)

INEXACT = Theorem(
    "softmax.inexact",
    "Softmax cannot count exactly: from L = 2 on without post-normalisation, from L = 3 with it",
    _inexact_parts(),
    _inexact_steps,
    reader="Rolle: a function whose slope takes a value at most twice meets a line of that slope "
    "at most three times. Two normalised vectors (layer d = 2, rms d = 1) have two values of yhat, "
    "too few for L = 2.",
    source="abstract, claim 2",
    justifies=("bminlib.bounds.b_min",),
)

"""Theorems post.bare and post.learned: normalisation after the residual sum."""

from __future__ import annotations

from typing import Any

import sympy

from bmin_derivations import circular_search, lemmas, routes, supplies, supply_search
from bmin_derivations.circular import best_row, shape_steps
from bmin_derivations.instances import centred, over, whole
from bmin_derivations.model import CENTRED, F1, F2, LINE, Head, Vector, head, normalised
from bmin_derivations.records import Enclosure, Instance, Part, Step, Theorem
from bmin_derivations.relations import eq, ge, gt
from bmin_derivations.symbols import B_MIN, B, L, c, d, m, s, spread

_half = sympy.Rational(1, 2)
_kappa = sympy.Symbol("kappa", positive=True)
_eps, _delta = sympy.symbols("epsilon delta", positive=True)
_vs, _vt, _vf, _rr = sympy.symbols("v_s v_t v_f r", real=True)
_a_s, _a_t, _a_f = sympy.symbols("a_s a_t a_f", real=True)
_shift = sympy.Symbol("beta_1", real=True)
_other = sympy.Symbol("c_2", integer=True, positive=True)
_root = sympy.Symbol("rho", positive=True)  # sqrt(d)
_radius = sympy.sqrt(best_row(L))
_z = c - L / sympy.Integer(2)
_curve = _kappa * _z / sympy.sqrt(1 + (_kappa * _z) ** 2)
_ORACLE = "least radius by search over lines, the radius of a unit read-out by ascent"


def _head_bare() -> Head:
    """N_c = f_1 + kappa (c - L/2) f_2 up to a factor; filler and residual vanish."""
    start = (F1 + F2 * (-_kappa * L / 2)) * s
    return head(
        CENTRED, norm="post", v_s=start, v_t=F2 * (_kappa * s), w=F2 * B,
        b=L / sympy.Integer(2),
    )  # fmt: skip


def _head_learned() -> Head:
    """The same line along P e_1, read through w = gamma = B e_1; beta is along e_1."""
    counts = (sympy.Integer(1), sympy.Integer(1), sympy.Integer(1), _root**2 - 3)
    one, none = sympy.Integer(1), sympy.Integer(0)
    low = -1 / (_root**2 - 1)
    side = Vector((none, 1 / sympy.sqrt(2), -1 / sympy.sqrt(2), none), counts)
    tip = Vector((one, low, low, low), counts) * (sympy.sqrt(_root**2 - 1) / _root)
    e = Vector((one, none, none, none), counts)
    start = (side + tip * (-_kappa * L / 2)) * s
    return head(
        counts, norm="post", v_s=start, v_t=tip * (_kappa * s), w=e * B, gain=e * B,
        shift=e * _shift, b=L / sympy.Integer(2) - B * _shift,
    )  # fmt: skip


def line_steps() -> tuple[Step, ...]:
    """Normalisation cancels the softmax denominator: a line projected to a sphere."""
    total = 1 + _eps * c + _delta * m
    mixed = _rr + (_vs + c * _eps * _vt + m * _delta * _vf) / total
    example = Vector((_vs, _vt), LINE)
    return (
        Step(
            "Softmax: the denominator times h = r + o is p + c g + m l with p = r + v_s, "
            "g = eps (r + v_t), l = delta (r + v_f), entry by entry.",
            eq(
                mixed * total,
                (_rr + _vs) + c * _eps * (_rr + _vt) + m * _delta * (_rr + _vf),
            ),
        ),
        Step(
            "Linear attention: h is such a line at once.",
            eq(
                _rr + _a_s * _vs + (c * _a_t) * _vt + (m * _a_f) * _vf,
                (_rr + _a_s * _vs) + c * (_a_t * _vt) + m * (_a_f * _vf),
            ),
        ),
        Step(
            "Normalisation is blind to a positive factor, so z is the projection of that line.",
            eq(normalised(example * s).entries[0], normalised(example).entries[0]),
        ),
    )


def _bare_steps() -> tuple[Step, ...]:
    return (
        *line_steps(),
        Step(
            "At v_s = s (f_1 - kappa L/2 f_2), v_t = s kappa f_2, all else zero, w = B f_2, "
            "b = L/2 the forward pass is L/2 + sqrt(d) B kappa z/sqrt(1 + kappa^2 z^2), "
            "z = c - L/2, for any s > 0 and any m (d >= 3; rms d >= 2 with e_1, e_2).",
            eq(
                _head_bare().yhat(),
                L / sympy.Integer(2) + supplies.radius_bare(d) * B * _curve,
            ),
        ),
        lemmas.cauchy_schwarz(),
        Step(
            "Normalised vectors have length sqrt d, so the radius |<w, z>| is at most sqrt(d) B: "
            "at the stated B_min it is exactly W_L.",
            eq(supplies.radius_bare(d) * (_radius / supplies.radius_bare(d)), _radius),
        ),
        *shape_steps(),
        _two_point_step(),
    )


def _learned_steps() -> tuple[Step, ...]:
    reach = supplies.radius_learned(sympy.sqrt(_root**2 - 1))
    return (
        *line_steps(),
        Step(
            "With rho = sqrt d, the same line along P e_1 and across it, w = gamma = B e_1: the "
            "forward pass is L/2 + sqrt(d-1) B^2 kappa z/sqrt(1 + kappa^2 z^2); beta only adds "
            "to b (d >= 3; rms d >= 2).",
            eq(_head_learned().yhat(), L / sympy.Integer(2) + reach * B**2 * _curve),
        ),
        lemmas.cauchy_schwarz(),
        lemmas.concentrated_gain(),
        Step(
            "So sqrt(d) |P(w * gamma)| <= sqrt(d) sqrt(1 - 1/d) B^2 = sqrt(d-1) B^2 bounds the "
            "radius (rms: sqrt(d) B^2).",
            eq(_root * sympy.sqrt(1 - 1 / _root**2) * B**2, reach * B**2),
        ),
        Step(
            "At the stated B_min this radius is exactly W_L.",
            eq(
                supplies.radius_learned(spread)
                * sympy.sqrt(_radius / supplies.radius_learned(spread)) ** 2,
                _radius,
            ),
        ),
        *shape_steps(),
        _two_point_step(),
    )


def _two_point_step() -> Step:
    return Step(
        "Two normalised vectors (layer d = 2, rms d = 1) give two values of yhat: of three counts "
        "two share one, but strict rows of c < c_2 are disjoint, for c_2 - 1/2 >= c + 1/2.",
        ge(_other - _half, c + _half),
        (ge(_other, c + 1),),
    )


def _route(instance: Instance) -> Enclosure:
    context, problem = routes.reals(), instance.problem
    if problem is None:
        raise ValueError("an instance of post-normalisation needs its problem")
    length, size = whole(instance), whole(instance, d)
    if instance.at[spread] == 1:
        return routes.infinite(context)  # two values, at least three disjoint open intervals
    found = circular_search.least_radius(length)
    if problem.affine == "bare":
        reach, power = context.sqrt(size), 1
    else:
        reach, power = context.mpf(supply_search.largest_gap(size, centred(instance))) / 2, 2
    middle = (((found.low + found.high) / 2) / reach) ** (context.mpf(1) / power)
    return routes.around(context, middle, "1e-13" if length > 4 else "1e-7")


def _parts(formula: Any, **named: Any) -> tuple[Part, ...]:
    layer, rms = {**named, "normalizer": "layer"}, {**named, "normalizer": "rms"}
    wide = (
        over((5, 2, 3, 4, 6, 8), (3,), **layer)
        + over((5, 7), (64,), **layer)
        + over((5, 3), (2,), **rms)
        + over((5,), (3, 8), attention="linear", **layer)
    )
    narrow = over((2, 5), (2,), **layer) + over((3,), (1,), **rms)
    return (
        Part(eq(B_MIN, formula), (ge(L, 2), gt(spread, 1)), wide, _route, _ORACLE),
        Part(eq(B_MIN, sympy.oo), (ge(L, 2), eq(spread, 1)), narrow, _route, "counting values"),
    )


_READER = (
    "circular.lower bounds the radius of every such read-out (m = 0 suffices); the vectors given "
    "reach it at any norm of v_s, v_t. For L = 2 and 3 two antipodal points reach the infimum, for "
    "L = 4 only steps kappa -> oo come near it."
)

BARE = Theorem(
    "post.bare",
    "Bare post-normalisation needs B = W_L/sqrt(d), of order L^(3/2)",
    _parts(_radius / supplies.radius_bare(d), norm="post", affine="bare"),
    _bare_steps,
    reader=_READER,
    source="abstract, claim 4",
    justifies=("bminlib.extremal.least_radius_squared", "bminlib.bounds.b_min"),
    uses=("circular.lower", "circular.lattice"),
)

LEARNED = Theorem(
    "post.learned",
    "Learned post-normalisation needs B = sqrt(W_L/sqrt(d-1)), of order L^(3/4)",
    _parts(sympy.sqrt(_radius / supplies.radius_learned(spread)), norm="post", affine="learned"),
    _learned_steps,
    reader=_READER,
    source="abstract, claim 5",
    justifies=("bminlib.extremal.least_radius_squared", "bminlib.bounds.b_min"),
    uses=("circular.lower", "circular.lattice"),
)

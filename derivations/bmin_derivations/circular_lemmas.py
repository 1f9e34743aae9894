"""Polynomial certificates behind circular.lower: chi is least where the read-out is symmetric."""

from __future__ import annotations

from typing import Any

import sympy

from bmin_derivations.records import Step
from bmin_derivations.relations import eq, ge, gt, le, lt

_x, _y = sympy.symbols("x y", real=True)
_p, _q, _T = sympy.symbols("p q T", real=True)
_V = sympy.Symbol("V", nonnegative=True)
_V0 = sympy.Symbol("V_0", positive=True)
_u, _Y, _Z, _g01, _g23, _g12, _g03 = sympy.symbols("u Y Z g_01 g_23 g_12 g_03", real=True)
_a, _b = sympy.symbols("p q", nonnegative=True)  # half-angle tangents in [0, 1)
_sin, _cos, _tan = sympy.sin, sympy.cos, sympy.tan

_RR = _T**4 - 2 * _T**3 + 6 * _T**2 - 2 * _T + 1
_KK = _T**4 + 4 * _T**3 - 6 * _T**2 + 4 * _T + 1


def _g(x: Any, y: Any) -> Any:
    return (1 + _tan(x) * _tan(y)) / (1 + _cos(x - y))


def _g_half(p: Any, q: Any) -> Any:
    """g at x = 2 atan p, y = 2 atan q."""
    v = (1 - p**2) * (1 - q**2)
    return (v + 4 * p * q) * (1 + p**2) * (1 + q**2) / (2 * v * (1 + p * q) ** 2)


def _numerator(T: Any, V: Any) -> Any:
    return (
        8 * (1 + T) ** 2 * _RR.subs(_T, T)
        - 4 * _KK.subs(_T, T) * V
        - 6 * (1 - T) ** 2 * V**2
        + 3 * V**3
    )


def _below(T: Any, V: Any, V0: Any) -> Any:
    return (
        8 * (1 + T) ** 2 * _RR.subs(_T, T)
        - (4 * _KK.subs(_T, T) + 3 * V0**2) * V
        - 6 * ((1 - T) ** 2 - V0) * V**2
    )


def shift_steps() -> tuple[Step, ...]:
    """How chi moves when b is shifted: sin t0 = u-Y, sin t1 = u-Z, sin t2 = u+Z, sin t3 = u+Y."""
    total = (2 * _u - _Y - _Z) * _g01 + (2 * _u + _Y + _Z) * _g23 - 2 * _u * _g12 - 2 * _u * _g03
    return (
        Step(
            "Let u = L/2 - b in units of W', u >= 0 by reflection: sin t0 = u-Y, sin t1 = u-Z, "
            "sin t2 = u+Z, sin t3 = u+Y, 0 <= Z <= Y <= 1-u, dt_i/du = 1/cos t_i. Every term of "
            "d ln chi/du is of this form, g(x,y) = (1 + tan x tan y)/(1 + cos(x-y)).",
            eq(
                sympy.cot(_x - _y) * (1 / _cos(_x) - 1 / _cos(_y)),
                (_sin(_x) + _sin(_y)) * _g(_x, _y),
            ),
        ),
        Step(
            "With the sums of sines put in, d ln chi/du = (Y+Z)[g(t2,t3) - g(t0,t1)] + "
            "2u[g(t2,t3) + g(t0,t1) - g(t1,t2) - g(t0,t3)]; both brackets are >= 0 by Lemmas B, A.",
            eq(total, (_Y + _Z) * (_g23 - _g01) + 2 * _u * (_g23 + _g01 - _g12 - _g03)),
        ),
    )


def lemma_a_steps() -> tuple[Step, ...]:
    """g has a nonnegative mixed derivative on (-pi/2, pi/2)^2."""
    plus = (1 + _T) ** 2
    product, shape = _p * _q, (1 - _p**2) * (1 - _q**2)
    scale = shape**2 * (1 + product) ** 4
    chord = (1 - _V / _V0) * _below(_T, 0, _V0) + (_V / _V0) * _below(_T, _V0, _V0)
    return (
        Step(
            "Lemma A. With p = tan(x/2), q = tan(y/2) in (-1, 1), g is this rational function.",
            eq(_g(_x, _y), _g_half(_tan(_x / 2), _tan(_y / 2))),
        ),
        Step(
            "Its mixed derivative is N(T, V)/((1-p^2)^2 (1-q^2)^2 (1+pq)^4), T = pq, "
            "V = (1-p^2)(1-q^2).",
            eq(sympy.Derivative(_g_half(_p, _q), _p, _q) * scale, _numerator(product, shape)),
        ),
        Step("V <= (1+T)^2 ...", le(shape, (1 + product) ** 2)),
        Step("... and V <= (1-T)^2; let V0 be the lesser.", le(shape, (1 - product) ** 2)),
        Step(
            "V (V - V0)^2 >= 0 replaces the cubic N by a quadratic Q below it.",
            eq(_numerator(_T, _V) - _below(_T, _V, _V0), 3 * _V * (_V - _V0) ** 2),
        ),
        Step(
            "Q is concave: it exceeds its chord over [0, V0] by 6((1-T)^2 - V0) V (V0 - V) >= 0.",
            eq(_below(_T, _V, _V0) - chord, 6 * ((1 - _T) ** 2 - _V0) * _V * (_V0 - _V)),
        ),
        Step("Q(0) = 8 (1+T)^2 R with R > 0.", gt(_RR, 0)),
        Step(
            "For T <= 0, V0 = (1+T)^2 and Q(V0) is a square ...",
            eq(_below(_T, plus, plus), plus * (_T**2 - 10 * _T + 1) ** 2),
        ),
        Step(
            "... for T >= 0, V0 = (1-T)^2 and Q(V0) is this ...",
            eq(_below(_T, (1 - _T) ** 2, (1 - _T) ** 2), (1 + _T) ** 4 * (_T**2 + 6 * _T + 1)),
        ),
        Step("... positive. So N >= 0.", gt(_T**2 + 6 * _T + 1, 0), (ge(_T, 0),)),
    )


def lemma_b_steps() -> tuple[Step, ...]:
    """g(t0, t1) <= g(t2, t3), as |t0| <= t3 and |t1| <= t2."""
    slope = (
        _a**3 * (1 - _b**2) ** 2
        + _b * (1 - _b**2) ** 2
        + _a**2 * _b * (_b**4 + 10 * _b**2 - 3)
        + _a * (1 + 10 * _b**2 - 3 * _b**4)
    )
    scale = (1 + _a**2) / ((1 - _a**2) * (1 - _b**2) ** 2 * (1 + _a * _b) ** 3)
    C, S = _cos(_x) * _cos(_y), _sin(_x) * _sin(_y)
    unit = (ge(_a, 0), lt(_a, 1), ge(_b, 0), lt(_b, 1))
    return (
        Step("Lemma B. g(-x, -y) = g(x, y).", eq(_g(-_x, -_y), _g(_x, _y))),
        Step(
            "For x, y >= 0 the slope of g in q is a positive multiple of a polynomial M(p, q) ...",
            eq(sympy.Derivative(_g_half(_a, _b), _b), scale * slope),
        ),
        Step(
            "... that is nonnegative for 0 <= p, q < 1: g grows in each variable ...",
            ge(slope, 0),
            unit,
        ),
        Step(
            "... strictly in q for p > 0 (and in p for q > 0), so chi grows strictly with u.",
            gt(slope, 0),
            (gt(_a, 0), *unit[1:]),
        ),
        Step(
            "For opposite signs g is smaller: g(x, y) - g(x, -y) is 2 sin x sin y over a positive "
            "denominator.",
            eq(
                (_g(_x, _y) - _g(_x, -_y)) * C * (1 + C - S) * (1 + C + S),
                2 * S,
            ),
        ),
        Step(
            "|sin t0| = |u - Y| <= u + Y = sin t3 (likewise t1, t2), so g(t0, t1) <= "
            "g(|t0|, |t1|) <= g(t3, t2).",
            le((_u - _Y) ** 2, (_u + _Y) ** 2),
            (ge(_u, 0), ge(_Y, 0)),
        ),
    )

"""Steps that several theorems share: what norms allow, and when a read-out counts."""

from __future__ import annotations

from typing import Any

import sympy

from bmin_derivations.records import Step
from bmin_derivations.relations import eq, ge, le
from bmin_derivations.symbols import c, d

_half = sympy.Rational(1, 2)
_u, _v, _y = sympy.symbols("u v y", real=True)
_p = sympy.Symbol("p", nonnegative=True)
_q = sympy.Symbol("q", real=True)


def cauchy_schwarz() -> Step:
    """|<x, y>| <= |x| |y|, in the plane of x and y with x along the first axis."""
    return Step(
        "Cauchy-Schwarz: with x = (u, 0) and y = (v, y) in the plane of both, "
        "|x|^2 |y|^2 >= <x, y>^2.",
        ge(_u**2 * (_v**2 + _y**2), (_u * _v) ** 2),
    )


def largest_entry() -> Step:
    """The spread of LayerNorm: an entry u of n with sum 0 and |n|^2 = d has u^2 <= d - 1."""
    return Step(
        "The other d - 1 entries of a layer-normalised n with one entry u add up to -u and have "
        "squares d - u^2, so u^2 <= (d - 1)(d - u^2); the slack is d (d - 1 - u^2), hence "
        "u^2 <= d - 1 (rms: u^2 <= d at once).",
        eq((d - 1) * (d - _u**2) - _u**2, d * (d - 1 - _u**2)),
    )


def concentrated_gain() -> Step:
    """|P(x * y)|^2 <= (1 - 1/d) |x|^2 |y|^2, pair by pair of entries."""
    return Step(
        "For z = x * y elementwise, sum |z_i| <= |x||y|, and (1 - 1/d)(sum |z_i|)^2 - |P z|^2 is "
        "twice the sum over pairs of (1 - 1/d) p + q/d with p = |z_i z_j| and q = z_i z_j >= -p: "
        "nonnegative for d >= 2. So |P(x * y)| <= sqrt(1 - 1/d) |x||y|, with equality at "
        "x = y = |x| e_1 (rms: |x * y| <= |x||y|).",
        ge((1 - 1 / d) * _p + _q / d, 0),
        given=(ge(d, 2), ge(_q, -_p)),
    )


def within_half(
    what: str, yhat: Any, given: tuple[Any, ...], cases: tuple[Any, ...] = ()
) -> tuple[Step, ...]:
    """Steps that c - 1/2 <= yhat <= c + 1/2 at every count."""
    return (
        Step(f"{what}: yhat is never below c - 1/2.", ge(yhat, c - _half), given),
        Step(f"{what}: yhat is never above c + 1/2.", le(yhat, c + _half), given, cases),
    )

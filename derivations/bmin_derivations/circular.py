"""Theorem circular.lattice: the least radius of a circular read-out."""

from __future__ import annotations

from typing import Any

import sympy

from bmin_derivations import circular_search
from bmin_derivations.instances import whole
from bmin_derivations.records import Enclosure, Instance, Part, Step, Theorem
from bmin_derivations.relations import eq, ge, gt, le
from bmin_derivations.symbols import W_MIN, L, c, k
from bminlib import extremal

_half = sympy.Rational(1, 2)
_fourth = sympy.Rational(1, 4)
_W, _kappa, _X = sympy.symbols("W kappa X", positive=True)
_Y0 = sympy.Symbol("Y", nonnegative=True)
_z = sympy.Symbol("z", positive=True)  # |c - L/2|
_eta = sympy.Symbol("eta", nonnegative=True)
_i = sympy.Symbol("i", integer=True, positive=True)
REAL_K = sympy.Symbol("k", positive=True)
_best = sympy.floor((L + 3) / sympy.Integer(4))


def best_row(length: Any) -> Any:
    """W_L^2 = W_k^2 at k = floor((L+3)/4)."""
    return extremal.circular_row(length, _best.subs(L, length))


def peak() -> Any:
    """The real k at which W_k is largest."""
    above, below = extremal.circular_peak(L)
    return above / below


def shape_steps() -> tuple[Step, ...]:
    """The symmetric read-out y - L/2 = W kappa z/sqrt(1 + kappa^2 z^2), z = c - L/2."""
    row_x = 1 / extremal.circular_row(L, k)  # X_k
    at_end = L**2 / (L - 1) ** 2 - _eta  # what Y + X z^2 is at z = L/2
    Y = at_end - _X * L**2 / 4
    z = L / sympy.Integer(2) - k
    return (
        Step(
            "With b = L/2, tan theta_c = kappa z, z = c - L/2, X = 1/W^2, Y = 1/(kappa W)^2: "
            "(y - L/2)^2 = z^2/(Y + X z^2). It must lie between (|z| - 1/2)^2 and (|z| + 1/2)^2.",
            eq(
                (_W * _kappa * _z / sympy.sqrt(1 + (_kappa * _z) ** 2)) ** 2,
                _z**2 / (1 / (_kappa * _W) ** 2 + _z**2 / _W**2),
            ),
        ),
        Step(
            "Choose Y so that Y + X L^2/4 = L^2/(L-1)^2 - eta, eta >= 0 (at c = L the upper row "
            "has the slack eta). The lower row at c = L-k has the slack k (L-k)(X_k - X) - eta, "
            "X_k = 1/W_k^2: so all hold for eta = 0 and W >= max W_k, strictly for W greater.",
            eq(Y + _X * z**2 - z**2 / (z + _half) ** 2, k * (L - k) * (row_x - _X) - _eta),
        ),
        Step(
            "Y >= 0 as X <= X_1 = 4/(L-1)^2; Y = 0 (a step, reached only in the limit) iff "
            "W = (L-1)/2.",
            eq(Y.subs(_eta, 0), L**2 / 4 * (1 / extremal.circular_row(L, 1) - _X)),
        ),
        Step(
            "The other upper rows, 1/2 < z < L/2, follow: Y + X z^2 <= L^2/(L-1)^2 <= "
            "z^2/(z-1/2)^2 ...",
            le(L**2 / (L - 1) ** 2, _z**2 / (_z - _half) ** 2),
            (ge(L, 2 * _z), gt(_z, _half)),
        ),
        Step(
            "... and so does the lower row at c = L.",
            ge(L**2 / (L - 1) ** 2, L**2 / (L + 1) ** 2),
            (ge(L, 2),),
        ),
    )


def peak_step() -> Step:
    """W_k^2 has one peak on (0, L/2)."""
    row = extremal.circular_row(L, REAL_K)
    log_slope = sympy.Derivative(sympy.log(row), REAL_K)
    return Step(
        "W_k^2 rises in real k up to L(L+1)/(2(2L-1)) and falls from there to L/2: its "
        "logarithmic slope is a positive multiple of (k - peak)(k - L/2).",
        eq(
            log_slope,
            4 * (2 * L - 1) * (REAL_K - peak()) * (REAL_K - L / sympy.Integer(2))
            / (REAL_K * (L + 1 - 2 * REAL_K) * (L**2 - (2 * L - 1) * REAL_K)),
        ),
    )  # fmt: skip


def _text(formula: Any) -> str:
    return str(formula).replace("*", "")


def _neighbour_steps() -> tuple[Step, ...]:
    """floor((L+3)/4) is the best k, on each residue of L mod 4."""
    found = []
    for rest in range(4):
        length = 4 * _i + rest
        best = _i + (1 if rest else 0)
        here = extremal.circular_row(length, best)
        for other, words in ((best - 1, "next smaller"), (best + 1, "next larger")):
            found.append(
                Step(
                    f"At L = {_text(length)} > 3 the row k = {_text(best)} = floor((L+3)/4) is no "
                    f"smaller than that of the {words} k <= L/2.",
                    ge(here, extremal.circular_row(length, other)),
                    (ge(_i, 2 if rest == 1 and other != best - 1 else 1),),
                )
            )
    return tuple(found)


def _lattice_steps() -> tuple[Step, ...]:
    return (
        *shape_steps(),
        peak_step(),
        *_neighbour_steps(),
        Step(
            "L = 2 and 3 have the row k = 1 only, W = (L-1)/2: two antipodal points reach it. "
            "L = 2: yhat = 1/2 at c = 0, 1 ...",
            eq((_half - c) ** 2 - _fourth, c * (c - 1)),
        ),
        Step(
            "... and 3/2 at c = 1, 2 (L = 2) ...",
            eq((3 * _half - c) ** 2 - _fourth, (c - 1) * (c - 2)),
        ),
        Step(
            "... or 5/2 at c = 2, 3 (L = 3): errors of exactly 1/2.",
            eq((5 * _half - c) ** 2 - _fourth, (c - 2) * (c - 3)),
        ),
    )


def _lattice_route(instance: Instance) -> Enclosure:
    return circular_search.least_radius(whole(instance))


def lengths(*values: int) -> tuple[Instance, ...]:
    """Instances at lengths alone."""
    return tuple(Instance({L: sympy.Integer(n)}) for n in values)


LATTICE = Theorem(
    "circular.lattice",
    "The least radius W_L of a circular read-out",
    (
        Part(
            eq(W_MIN, sympy.sqrt(best_row(L))),
            (ge(L, 2),),
            lengths(5, 3, 2, 4, 6, 7, 8, 9, 10),
            _lattice_route,
            "least-norm read-outs over a grid of lines, refined by Newton's method",
        ),
    ),
    _lattice_steps,
    reader="circular.lower bounds W from below by every row 0 < k <= L/2; the symmetric read-out "
    "reaches the largest of them, without fillers' influence (N_c = p + c g).",
    source="this work",
    justifies=("bminlib.extremal.circular_active", "bminlib.extremal.least_radius_squared"),
)

"""Theorem circular.lower: no circular read-out counts to L with a radius below any row W_k."""

from __future__ import annotations

from typing import Any

import sympy

from bmin_derivations import circular_search
from bmin_derivations.circular_lemmas import lemma_a_steps, lemma_b_steps, shift_steps
from bmin_derivations.instances import whole
from bmin_derivations.records import Enclosure, Instance, Part, Step, Theorem
from bmin_derivations.relations import at, eq, ge, gt, le
from bmin_derivations.symbols import W_MIN, L, k
from bminlib import extremal

_p1, _p2, _g1, _g2 = sympy.symbols("p_1 p_2 g_1 g_2", real=True)
_t0, _t1, _t2, _t3 = sympy.symbols("theta_0 theta_1 theta_2 theta_3", real=True)
_x, _y = sympy.symbols("x y", real=True)
_R = sympy.Symbol("R", positive=True)
_w = sympy.Symbol("w", positive=True)  # 4 W'^2
_sin = sympy.sin


def _cross(i: Any, j: Any) -> Any:
    """The determinant of N_i and N_j for N_c = p + c g."""
    return (_p1 + i * _g1) * (_p2 + j * _g2) - (_p2 + i * _g2) * (_p1 + j * _g1)


def _cross_ratio() -> Any:
    """chi of four increasing angles."""
    return (_sin(_t1 - _t0) * _sin(_t3 - _t2)) / (_sin(_t2 - _t1) * _sin(_t3 - _t0))


def _line_steps() -> tuple[Step, ...]:
    middle = L - k
    return (
        Step(
            "Without fillers N_c = p + c g lies in a plane; sin(theta_j - theta_i) is the "
            "determinant of N_i, N_j over |N_i||N_j|, and that is (j - i) times the one of p, g.",
            eq(_cross(k, L), (L - k) * _cross(0, 1)),
        ),
        Step(
            "So for the counts 0, k, L-k, L the lengths cancel in chi = sin(t1-t0) sin(t3-t2) / "
            "(sin(t2-t1) sin(t3-t0)) = k^2/(L (L-2k)).",
            eq(
                _cross(0, k) * _cross(middle, L) * L * (L - 2 * k),
                k**2 * _cross(k, middle) * _cross(0, L),
            ),
        ),
        Step(
            "The angles increase and span less than pi, so all sines in chi are positive; "
            "cot x - cot y > 0 for 0 < x < y < pi.",
            eq(sympy.cot(_x) - sympy.cot(_y), _sin(_y - _x) / (_sin(_x) * _sin(_y))),
        ),
    )


def _pattern_steps() -> tuple[Step, ...]:
    log_chi = sympy.log(_cross_ratio())
    slopes = (
        (_t0, -_sin(_t3 - _t1) / (_sin(_t1 - _t0) * _sin(_t3 - _t0)), "falls as t0 grows"),
        (_t1, _sin(_t2 - _t0) / (_sin(_t1 - _t0) * _sin(_t2 - _t1)), "grows with t1"),
        (_t2, -_sin(_t3 - _t1) / (_sin(_t3 - _t2) * _sin(_t2 - _t1)), "falls as t2 grows"),
        (_t3, _sin(_t2 - _t0) / (_sin(_t3 - _t2) * _sin(_t3 - _t0)), "grows with t3"),
    )
    moves = (
        "y_c <= c + 1/2 <= y_(c+1) makes sin(theta_c) nondecreasing, so only theta_L may exceed "
        "pi/2 (or only theta_0 lie below -pi/2); reflecting it there lowers chi. Then y_0 up to "
        "1/2, y_k down to k - 1/2, y_(L-k) up to L-k+1/2, y_L down to L - 1/2 all lower chi"
    )
    return tuple(
        Step(
            f"ln chi {words}." if place else f"{moves}: ln chi {words}.",
            eq(sympy.Derivative(log_chi, angle), slope),
        )
        for place, (angle, slope, words) in enumerate(slopes)
    )


def _final_steps() -> tuple[Step, ...]:
    ratio = L / (L - 2 * k)
    row, trivial = extremal.circular_row(L, k), (L - 1) ** 2 / sympy.Integer(4)
    outer, inner = (L - 1) ** 2, (L + 1 - 2 * k) ** 2
    centred = _cross_ratio().subs({_t0: -_t3, _t1: -_t2})
    tangents = sympy.tan(_t3) / sympy.tan(_t2)
    slack = L**2 * inner * (_w - outer) - (L - 2 * k) ** 2 * outer * (_w - inner)
    return (
        Step(
            "So chi is least at b = L/2, where t0 = -t3, t1 = -t2 and chi = (R-1)^2/(4R) with "
            "R = tan t3/tan t2.",
            eq(centred, (tangents - 1) ** 2 / (4 * tangents)),
        ),
        Step(
            "k^2/(L (L-2k)) is the same function of R = L/(L-2k) ...",
            eq((ratio - 1) ** 2 / (4 * ratio), k**2 / (L * (L - 2 * k))),
        ),
        Step(
            "... which grows for R >= 1, so R <= L/(L-2k).",
            ge(sympy.Derivative((_R - 1) ** 2 / (4 * _R), _R), 0),
            (ge(_R, 1),),
        ),
        Step(
            "With w = 4 W'^2, tan^2 t3 = (L-1)^2/(w-(L-1)^2), tan^2 t2 = (L+1-2k)^2/"
            "(w-(L+1-2k)^2), the squared inequality is linear in w: 4(L-k)(L^2-(2L-1)k) "
            "(w - 4 W_k^2) >= 0 ...",
            eq(
                slack,
                4 * (L - k) * (L**2 - (2 * L - 1) * k) * (_w - 4 * extremal.circular_row(L, k)),
            ),
        ),
        Step(
            "... with a positive factor for 0 < k < L/2: W'^2 >= W_k^2.",
            gt((L - k) * (L**2 - (2 * L - 1) * k), 0),
            (gt(L, 2 * k),),
        ),
        Step(
            "k = L/2 is the trivial bound 2 W' >= y_L - y_0 >= L - 1 ...",
            eq(at(row, (k, L / sympy.Integer(2))), trivial),
        ),
        Step(
            "... and so is k = 1; a line of N_c through the origin, with two values only, "
            "serves at most four counts, L <= 3, where W_L is this bound.",
            eq(at(row, (k, 1)), trivial),
        ),
    )


def _steps() -> tuple[Step, ...]:
    return (
        *_line_steps(),
        *_pattern_steps(),
        *shift_steps(),
        *lemma_a_steps(),
        *lemma_b_steps(),
        *_final_steps(),
    )


def _route(instance: Instance) -> Enclosure:
    return circular_search.least_radius(whole(instance))


def _pair(length: int, count: int) -> Instance:
    return Instance({L: sympy.Integer(length), k: sympy.Integer(count)})


LOWER = Theorem(
    "circular.lower",
    "Four counts bound the radius of a circular read-out from below",
    (
        Part(
            ge(W_MIN, sympy.sqrt(extremal.circular_row(L, k))),
            (le(2 * k, L),),
            (
                _pair(2, 1),
                _pair(3, 1),
                _pair(4, 1),
                _pair(4, 2),
                _pair(5, 2),
                _pair(5, 1),
                _pair(6, 2),
                _pair(6, 3),
                _pair(7, 2),
                _pair(8, 2),
                _pair(9, 3),
            ),
            _route,
            "least-norm read-outs over a grid of lines, refined by Newton's method",
        ),
    ),
    _steps,
    reader="The angles' monotony and the order of the moves (stated with the steps); an integral "
    "of a positive mixed derivative over a rectangle is positive (Lemma A to the second bracket).",
    source="this work",
    justifies=("bminlib.extremal.circular_ratio", "bminlib.extremal.circular_row"),
)

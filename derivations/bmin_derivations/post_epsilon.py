"""Theorem post.epsilon: an epsilon inside the normaliser raises B_min of post-normalisation."""

from __future__ import annotations

from typing import Any

import sympy

from bmin_derivations import routes, supplies
from bmin_derivations.circular import best_row
from bmin_derivations.instances import whole
from bmin_derivations.post import line_steps
from bmin_derivations.records import Enclosure, Instance, Part, Step, Theorem
from bmin_derivations.relations import eq, ge, gt
from bmin_derivations.symbols import B_MIN, L, d, spread
from bminlib import extremal

_e = sympy.Symbol("e", positive=True)  # the normaliser's epsilon
_v, _S = sympy.Symbol("v", real=True), sympy.Symbol("S", positive=True)
_K0, _K1, _nu, _r = sympy.symbols("K_0 K_1 nu r", positive=True)
_f, _f1, _z = sympy.symbols("f f_1 z", real=True)
_across = sympy.Symbol("l_2", nonnegative=True)  # squared filler part off the plane
_al0, _al1, _be0, _be1 = sympy.symbols("alpha_0 alpha_1 beta_0 beta_1", real=True)
_n = sympy.Symbol("n", positive=True)  # |h|^2


def _rest(m: int) -> Any:
    """R_m: squared part of N' that the read-out does not see, after m fillers."""
    return (_nu + m * _f1) ** 2 + m**2 * _across


def _steps() -> tuple[Step, ...]:
    return (*line_steps(), *_extended_steps(), *_filler_steps())


def _extended_steps() -> tuple[Step, ...]:
    line = _al0 + _al1 * _z, _be0 + _be1 * _z
    odd = line[1] * line[0].subs(_z, -_z) + line[1].subs(_z, -_z) * line[0]
    return (
        Step(
            "An entry v of P h under epsilon e, with h scaled by S = 1 + eps c + delta m, is the "
            "entry S v over the length of the vector with one more coordinate sqrt(d e) S: the "
            "line p + c g + m l again, so circular.lower holds and B_min does not fall.",
            eq(
                _v / sympy.sqrt(_v**2 / d + _e),
                sympy.sqrt(d)
                * _S
                * _v
                / sympy.sqrt((_S * _v) ** 2 + (sympy.sqrt(d * _e) * _S) ** 2),
            ),
        ),
        Step(
            "L <= 4: W = (L-1)/2 needs a unit vector along +-w at c = 0 and L, but the extra "
            "coordinate is positive: |h|^2/(|h|^2 + d e) < 1.",
            gt(1 - _n / (_n + d * _e), 0),
        ),
        Step(
            "L >= 5: the row k = 2 beats k = 1, so the best k is at least 2 and below L/2.",
            gt(extremal.circular_row(L, 2), extremal.circular_row(L, 1)),
            (ge(L, 5),),
        ),
        Step(
            "If B_min did not rise, a compactness argument gives parameters that reach W_L; then "
            "tan theta is odd at z = L/2 and z = L/2 - k for z = c - L/2 (circular.lower is "
            "strict elsewhere), which forces alpha_1 = 0 = beta_0: N'_c = (nu, kappa z).",
            eq(odd, 2 * (_al0 * _be0 - _al1 * _be1 * _z**2)),
        ),
    )


def _filler_steps() -> tuple[Step, ...]:
    lower_k = _K1 * _r - (_K1 - _f)  # y(k, m) >= k - 1/2
    upper_k = _K1 * _r - (_K1 + _f)  # y(L-k, m) <= L - k + 1/2
    upper_0 = (_K0 - _f) - _K0 * _r  # y(0, m) <= 1/2
    return (
        Step(
            "With K_0 = kappa L/2 > K_1 = kappa (L/2 - k), r = sqrt(R_m)/nu and f the filler's "
            "part along w: the rows y(k,m) >= k - 1/2 and y(L-k,m) <= L-k+1/2 give r >= 1 ...",
            eq(lower_k + upper_k, 2 * _K1 * (_r - 1)),
        ),
        Step(
            "... and y(0,m) <= 1/2 with y(k,m) >= k - 1/2 gives r <= 1; then f = 0.",
            eq(upper_0 + lower_k, (_K0 - _K1) * (1 - _r)),
        ),
        Step(
            "r = 1 at m = 1 and m = 2 (m <= k allows both) leaves the filler no part off w "
            "either: (R_2 - nu^2) - 2 (R_1 - nu^2) = 2 (f_1^2 + l_2) = 0.",
            eq(
                (_rest(2) - _nu**2) - 2 * (_rest(1) - _nu**2),
                2 * (_f1**2 + _across),
            ),
        ),
        Step(
            "But the filler's extra coordinate is delta sqrt(d e) > 0, delta >= e^(-2 tau B^2): a "
            "contradiction, so B_min rises.",
            gt(sympy.exp(-_K0) * sympy.sqrt(d * _e), 0),
        ),
    )


def _route(power: int) -> Any:
    """A lower bound from counts 0 and L alone: |h| <= 2B shortens the normalised vector."""

    def route(instance: Instance) -> Enclosure:
        context = routes.reals()
        size, eps = whole(instance, d), routes.number(context, instance.at[_e])
        reach = routes.number(context, instance.at[spread]) if power == 2 else context.sqrt(size)
        needed = context.mpf(whole(instance) - 1)

        def surplus(norm: Any) -> Any:
            share = 2 * norm / context.sqrt(4 * norm**2 + size * eps)
            return 2 * reach * norm**power * share - needed

        low = routes.bisect_root(surplus, context.mpf(0), needed + size)
        return Enclosure(low, context.inf)

    return route


def _instances() -> tuple[Instance, ...]:
    values = ((2, 8, "1/100000"), (3, 3, "1/10"), (4, 64, "1/100000"), (4, 8, "1/1000000"))
    return tuple(
        Instance(
            {
                L: sympy.Integer(n),
                d: sympy.Integer(size),
                spread: sympy.sqrt(size - 1),
                _e: sympy.Rational(eps),
            }
        )
        for n, size, eps in values
    )


_radius = sympy.sqrt(best_row(L))
_ORACLE = "lower bound from the counts 0 and L alone, |h| <= 2B"

EPSILON = Theorem(
    "post.epsilon",
    "An epsilon > 0 inside the normaliser raises B_min of post-normalisation, for every L >= 2",
    (
        Part(
            gt(B_MIN, _radius / supplies.radius_bare(d)),
            (ge(L, 2), gt(_e, 0), ge(d, 2)),
            _instances(),
            _route(1),
            _ORACLE,
        ),
        Part(
            gt(B_MIN, sympy.sqrt(_radius / supplies.radius_learned(spread))),
            (ge(L, 2), gt(_e, 0), ge(d, 2)),
            _instances(),
            _route(2),
            _ORACLE,
        ),
    ),
    _steps,
    reader="Compactness: parameters of norm <= B_min(0) form a compact set on which the layer is "
    "continuous (e > 0), so an infimum equal to B_min(0) would be reached. The instances stop at "
    "L = 4, where two counts show the rise.",
    source="this work",
    justifies=(),
    uses=("circular.lower", "circular.lattice"),
)

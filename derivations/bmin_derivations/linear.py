"""Theorems linear.exact and linear.rounded: unnormalised attention counts at norms free of L."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from bmin_derivations import lemmas, supplies
from bmin_derivations.instances import over
from bmin_derivations.linear_routes import least_norm
from bmin_derivations.linear_supply import supply_steps
from bmin_derivations.records import Part, Step, Theorem
from bmin_derivations.relations import at, eq, ge, gt, le, lt
from bmin_derivations.symbols import B_MIN, A, B, L, c, d, s, spread, tau
from bminlib import extremal

_half = sympy.Rational(1, 2)
_fourth = sympy.Rational(1, 4)
_S = sympy.Symbol("S", real=True)
_ORACLE = "least slope by pairs of rows; largest slope of unit vectors by block ascent"
_two_points = eq(spread, 1)
_many_points = gt(spread, 1)

_SUPPLIED = {
    "none": supplies.slope_none(tau) * B**4,
    "bare pre": supplies.slope_bare(tau, d) * B,
    "learned pre": supplies.slope_learned(tau, spread) * B**4,
}


def _norms(slope: Any) -> dict[str, Any]:
    """B_min of each placement when the read-out needs a given slope."""
    return {
        "none": (slope / supplies.slope_none(tau)) ** _fourth,
        "bare pre": slope / supplies.slope_bare(tau, d),
        "learned pre": (slope / supplies.slope_learned(tau, spread)) ** _fourth,
    }


def _reaches(slope: Any, words: str) -> tuple[Step, ...]:
    return tuple(
        Step(
            f"{name}: at the stated B_min the largest slope is exactly {words}.",
            eq(at(_SUPPLIED[name], (B, norm)), slope),
        )
        for name, norm in _norms(slope).items()
    )


def _two_point_step() -> Step:
    slope = sympy.Symbol("S", positive=True)
    return Step(
        "Bare pre with two normalised vectors (layer d = 2, rms d = 1): keys and values differ by "
        "signs only, so a filler moves yhat by |F| = |S|. Strict rounding needs S L > L - 1 "
        "(counts 0 and L) and |F| L < 1 (fillers alone), but S L > L - 1 >= 1 for L >= 2.",
        gt(slope * L, 1),
        given=(gt(slope, extremal.linear_slope(L)), ge(L, 2)),
    )


def _exact_steps() -> tuple[Step, ...]:
    return (
        Step("yhat(0) = 0 and yhat(1) = 1 force S = 1.", eq((A + _S - 1) - (A - 0), _S - 1)),
        *supply_steps(),
        *_reaches(sympy.Integer(1), "1, and yhat = c with A = F = 0"),
        Step(
            "Bare pre with two normalised vectors: |F| = |S| = 1, but yhat(0, 1) = 0 = yhat(0, 0) "
            "needs F = 0.",
            gt(_S**2, 0),
            given=(eq(_S, 1),),
        ),
    )


def _rounded_steps() -> tuple[Step, ...]:
    need = extremal.linear_slope(L)
    steeper = _half - s * L / 2 + (need + s) * c
    small = (gt(s, 0), lt(s, 1 / L), ge(c, 0), le(c, L))
    return (
        Step(
            "yhat(0) <= 1/2 and yhat(L) >= L - 1/2 give S L >= L - 1, i.e. S >= 1 - 1/L.",
            eq(((A + _S * L) - (L - _half)) - (A - _half), L * (_S - need)),
        ),
        *supply_steps(),
        *_reaches(need, "1 - 1/L"),
        *lemmas.within_half("The line 1/2 + (1 - 1/L) c", _half + need * c, (ge(L, c),)),
        Step(
            "A steeper line of slope 1 - 1/L + s, 0 < s < 1/L, from 1/2 - sL/2 stays strictly "
            "above c - 1/2 ...",
            gt(steeper, c - _half),
            small,
        ),
        Step(
            "... and strictly below c + 1/2, so B_min is the infimum over strict counting.",
            lt(steeper, c + _half),
            small,
        ),
        _two_point_step(),
    )


def _parts(slope: Any, exactness: str, lengths: tuple[int, ...]) -> tuple[Part, ...]:
    tolerance = Fraction(0) if exactness == "exact" else Fraction(1, 2)
    common: dict[str, Any] = {"attention": "linear", "exactness": exactness}
    longer = (ge(L, 2),) if exactness == "rounded" else ()
    norms = _norms(slope)
    none = over(lengths, (1, 3, 64), norm="none", **common) + over(
        lengths[:2], (3,), norm="none", tau="0.1", **common
    )
    bare = over(lengths, (3, 8), norm="pre", affine="bare", **common) + over(
        lengths[:1], (2, 5), norm="pre", affine="bare", normalizer="rms", **common
    )
    learned = over(lengths, (2, 3, 8), norm="pre", affine="learned", **common) + over(
        lengths[:1], (1, 4), norm="pre", affine="learned", normalizer="rms", **common
    )
    narrow = over(lengths[:2], (2,), norm="pre", affine="bare", **common)

    def part(formula: Any, instances: Any, *hypotheses: Any) -> Part:
        route = least_norm(tolerance)
        return Part(eq(B_MIN, formula), (*longer, *hypotheses), instances, route, _ORACLE)

    return (
        part(norms["none"], none),
        part(norms["bare pre"], bare, _many_points),
        part(norms["learned pre"], learned, ge(spread, 1)),
        part(sympy.oo, narrow, _two_points),
    )


def _theorem(
    name: str, title: str, parts: tuple[Part, ...], steps: Callable[[], tuple[Step, ...]]
) -> Theorem:
    return Theorem(
        name,
        title,
        parts,
        steps,
        reader="The read-out is affine in c and m (stated with the forward pass); the lower bound "
        "uses c alone, the vectors given reach it, so both together are B_min.",
        source="abstract, claim 1",
        justifies=("bminlib.extremal.linear_slope", "bminlib.bounds.b_min"),
    )


EXACT = _theorem(
    "linear.exact",
    "Linear attention counts exactly at a norm that does not depend on L",
    _parts(sympy.Integer(1), "exact", (1, 2, 7)),
    _exact_steps,
)
ROUNDED = _theorem(
    "linear.rounded",
    "Linear attention counts after rounding at slope 1 - 1/L",
    _parts(extremal.linear_slope(L), "rounded", (2, 3, 12)),
    _rounded_steps,
)

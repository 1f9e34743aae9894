"""Theorem circular.real: the least radius when the counts are all real numbers in [0, L]."""

from __future__ import annotations

from typing import Any

import sympy

from bmin_derivations import routes
from bmin_derivations.circular import REAL_K, lengths, peak, peak_step, shape_steps
from bmin_derivations.instances import whole
from bmin_derivations.records import Enclosure, Instance, Part, Step, Theorem
from bmin_derivations.relations import at, eq, ge, gt, le
from bmin_derivations.symbols import W_MIN, L
from bminlib import extremal

_half = sympy.Rational(1, 2)
_T = sympy.Symbol("T", positive=True)
_z = sympy.Symbol("z", positive=True)  # |c - L/2|


def real_radius_squared(length: Any) -> Any:
    """((L^2-1)/(2L-1))^3/4: the squared least radius over all real counts."""
    return ((length**2 - 1) / (2 * length - 1)) ** 3 / 4


def _real_steps() -> tuple[Step, ...]:
    tangent = 4 / _T**3
    y = (_T - 1) ** 3 / _T**3
    z = (_T - 1) / sympy.Integer(2)
    envelope = _z**2 / (_z + _half) ** 2
    return (
        *shape_steps(),
        peak_step(),
        Step(
            "At the peak the row is ((L^2-1)/(2L-1))^3/4.",
            eq(at(extremal.circular_row(L, REAL_K), (REAL_K, peak())), real_radius_squared(L)),
        ),
        Step("The peak lies at k >= 1 ...", ge(peak(), 1), (ge(L, 2),)),
        Step("... and not beyond L/2.", le(peak(), L / sympy.Integer(2)), (ge(L, 2),)),
        Step(
            "Another way: the line Y + X z^2 (in z^2) touches z^2/(z+1/2)^2 at z = (T-1)/2 with "
            "slope X = 4/T^3, i.e. 4 W^2 = T^3 ...",
            eq((sympy.diff(envelope, _z) / (2 * _z)).subs(_z, z), tangent),
        ),
        Step("... and Y = ((T-1)/T)^3 ...", eq(envelope.subs(_z, z) - tangent * z**2, y)),
        Step(
            "... and with Y + X L^2/4 = L^2/(L-1)^2 this is a cubic in T that factors: "
            "T = (L^2-1)/(2L-1).",
            eq(
                L**2 * _T**3 - (L - 1) ** 2 * ((_T - 1) ** 3 + L**2),
                ((2 * L - 1) * _T - (L**2 - 1)) * (_T + L - 1) ** 2,
            ),
        ),
        Step(
            "The real value exceeds the row of any k by a square times a positive factor: "
            "they are equal iff the peak is that k.",
            eq(
                (real_radius_squared(L) - extremal.circular_row(L, REAL_K))
                * 4 * (L**2 - (2 * L - 1) * REAL_K) * (2 * L - 1) ** 3,
                (L - 1) ** 2 * (2 * (2 * L - 1) * REAL_K - L * (L + 1)) ** 2
                * (L**2 - 1 - (2 * L - 1) * REAL_K),
            ),
        ),
        Step(
            "That factor is positive for L > 2 and k <= L/2.",
            gt(L**2 - 1 - (2 * L - 1) * REAL_K, 0),
            (gt(L, 2), gt(REAL_K, 0), le(REAL_K, L / sympy.Integer(2))),
        ),
    )  # fmt: skip


def _real_route(instance: Instance) -> Enclosure:
    """Greatest X whose line stays above all real lower rows, for the symmetric read-out."""
    context, length = routes.reals(), whole(instance)
    end = context.mpf(length) ** 2 / (length - 1) ** 2

    def room(X: Any) -> Any:
        """The greatest excess of the lower rows over the line, up to z = L/2."""
        intercept = end - X * length**2 / 4

        def slack(z: Any) -> Any:
            return intercept + X * z**2 - z**2 / (z + context.mpf(1) / 2) ** 2

        top = context.mpf(length) / 2
        points = [top * place / 24 for place in range(25)]
        at = min(range(25), key=lambda place: slack(points[place]))
        low, high = points[max(at - 1, 0)], points[min(at + 1, 24)]
        return -routes.golden(slack, low, high, context, rounds=70)[1]

    low, high = context.mpf("1e-6"), 4 / context.mpf(length - 1) ** 2
    X = routes.bisect_root(room, low, high, rounds=60)
    return routes.around(context, 1 / context.sqrt(X), "1e-12")


REAL = Theorem(
    "circular.real",
    "The least radius over all real counts in [0, L]",
    (
        Part(
            eq(W_MIN, sympy.sqrt(real_radius_squared(L))),
            (ge(L, 3),),
            lengths(5, 3, 4, 10, 50),
            _real_route,
            "bisection in 1/W^2 over all real lower rows of the symmetric read-out",
        ),
    ),
    _real_steps,
    reader="circular.lower holds for real counts 0, k, L-k, L with 1 <= k <= L/2, since its "
    "monotony argument compares counts one apart; it gives the lower bound at the peak.",
    source="this work",
    justifies=("bminlib.extremal.circular_peak",),
)

"""Theorem fractional.real: the least gap when the counts are all real numbers in [0, L]."""

from __future__ import annotations

from typing import Any

import sympy

from bmin_derivations import routes
from bmin_derivations.fractional import READ_OUT, pair_steps
from bmin_derivations.instances import whole
from bmin_derivations.records import Enclosure, Instance, Part, Step, Theorem
from bmin_derivations.relations import at, eq, ge, gt, le, lt
from bmin_derivations.symbols import D_MIN, A, D, E, L, a, c, g, m
from bminlib import extremal

_half = sympy.Rational(1, 2)
_mu = sympy.Symbol("mu", positive=True)
_y = sympy.Symbol("y", positive=True)
_count = sympy.Symbol("y_c", nonnegative=True)  # a real count
_rest = sympy.Symbol("y_m", nonnegative=True)  # real fillers
_r = sympy.Symbol("r", nonnegative=True)  # sqrt(1 - alpha)
_s = sympy.Symbol("sigma", positive=True)  # sqrt(a)

_middle = (L - 1) / sympy.Integer(2)
_real_gap = (L + 1) ** 2 / sympy.Integer(4)

# The curve on which both rows bind, by its rational parameter mu.
_r_mu = (L * _mu**2 - 2 * L * _mu + 1) / (L * _mu**2 - 1)
_q_mu = (L * _mu**2 - 2 * _mu + 1) / (1 - L * _mu**2)
_s_mu = (1 - L * _mu**2) / (2 * _mu)
_gap_mu = ((L * _mu**2 + 1) * (L * _mu**2 - 2 * _mu + 1) / (2 * _mu * (1 - L * _mu**2))) ** 2
_stationary = L**3 * _mu**6 - 5 * L**2 * _mu**4 + 8 * L * _mu**3 - 5 * L * _mu**2 + 1


def cubic(length: Any, y: Any) -> Any:
    """The polynomial whose middle root is the least gap over real counts, for L = 2, 3, 4."""
    return y**3 - (8 * length + 3) * y**2 + (16 * length**2 - 20 * length + 3) * y + length - 1


def _gap_of_rows(r: Any, sigma: Any) -> Any:
    """The gap that the row c = L forces at alpha = 1 - r^2, a = sigma^2."""
    return (L - 1 + r**2) * (sigma**2 + L) / L


def _steps() -> tuple[Step, ...]:
    return (*pair_steps(), *_long_steps(), *_short_steps(), *_minimum_steps())


def _long_steps() -> tuple[Step, ...]:
    counted = READ_OUT.subs({A: -_half, E: 0, c: _count, m: _rest})
    fits = (eq(D, a + L), ge(L, _count + _rest))
    return (
        Step(
            "The pairs of rows are identities in k, so k = (L-1)/2 may be taken: "
            "a >= ((L-1)/2)^2 ...",
            eq(_middle * (L - 1 - _middle), (L - 1) ** 2 / sympy.Integer(4)),
        ),
        Step(
            "... and then D >= (L+1)^2/4, for L >= 5.",
            ge(extremal.gap_by_row(L, a, (L + 1) / sympy.Integer(2)), _real_gap),
            (ge(L, 5), ge(a, _middle**2)),
        ),
        Step("At a = (L-1)^2/4 the gap a + L is (L+1)^2/4 ...", eq(_middle**2 + L, _real_gap)),
        Step(
            "... a >= c (L-1-c) at every real c ...",
            ge(_middle**2, _count * (L - 1 - _count)),
        ),
        Step(
            "... so with alpha = 0, E = 0, g <= 1 every real count is met from below ...",
            ge(counted, _count - _half),
            (*fits, gt(g, 0), le(g, 1)),
        ),
        Step(
            "... and from above.",
            le(counted, _count + _half),
            (*fits, ge(a, _count * (L - 1 - _count))),
        ),
    )


def _short_steps() -> tuple[Step, ...]:
    """L <= 4: alpha > 0 pays; the upper rows touch between the integers."""
    gap = _gap_of_rows(_r, _s)
    conic = L * _q_mu**2 - _r_mu**2
    return (
        Step(
            "For any L, with a = sigma^2 and alpha = 1 - r^2: the upper row at c has the slack "
            "(c - sigma r)^2 + c ((sigma + r)^2 - D), so all real c allow D <= (sigma + r)^2.",
            eq(
                (_count + _r**2) * (_s**2 + _count) - D * _count,
                (_count - _s * _r) ** 2 + _count * ((_s + _r) ** 2 - D),
            ),
        ),
        Step(
            "Where the touching count sigma r lies beyond L, the row c = L alone asks for more "
            "than (L+1)^2/4.",
            gt(gap, _real_gap),
            (le(_r, 1), ge(_r, 0), gt(_s, L), ge(L, 2)),
        ),
        Step(
            "The row c = L asks for D >= (L-1+r^2)(sigma^2+L)/L; both fit iff "
            "2 sigma r + (1-r^2) sigma^2/L >= L - 1. Both grow in sigma: equality is best.",
            eq((_s + _r) ** 2 - gap, 2 * _s * _r + (1 - _r**2) * _s**2 / L - (L - 1)),
        ),
        Step("Rational points: r(mu), q(mu) lie on L q^2 - r^2 = L - 1 ...", eq(conic, L - 1)),
        Step("... sigma = (L-1)/(r+q) ...", eq(_s_mu * (_r_mu + _q_mu), L - 1)),
        Step(
            "... is the equality case ...",
            eq(2 * _s_mu * _r_mu + (1 - _r_mu**2) * _s_mu**2 / L, L - 1),
        ),
        Step("... and this is the gap.", eq(_gap_of_rows(_r_mu, _s_mu), _gap_mu)),
        Step(
            "It is stationary exactly where N(mu) = L^3 mu^6 - 5 L^2 mu^4 + 8 L mu^3 - 5 L mu^2 "
            "+ 1 vanishes, and falls where N > 0.",
            eq(
                sympy.Derivative(_gap_mu, _mu),
                -_stationary
                * (L * _mu**2 + 1)
                * (L * _mu**2 - 2 * _mu + 1)
                / (2 * _mu**3 * (1 - L * _mu**2) ** 3),
            ),
        ),
        Step("alpha = 0 (r = 1) is at mu = 1/L ...", eq(at(_r_mu, (_mu, 1 / L)), 1)),
        Step(
            "... where N has the sign of L^2 - 4L - 1: negative up to L = 4, positive from 5 on.",
            eq(at(_stationary, (_mu, 1 / L)), (L - 1) * (L**2 - 4 * L - 1) / L**3),
        ),
        Step(
            "r >= 0 needs mu > 1/(2L).",
            lt(_r_mu, 0),
            (gt(_mu, 0), le(_mu, 1 / (2 * L)), ge(L, 2)),
        ),
    )


def _minimum_steps() -> tuple[Step, ...]:
    found = []
    for length in (2, 3, 4):
        n = _stationary.subs(L, length)
        inside = (ge(_mu, sympy.Rational(1, 2 * length)), le(_mu, sympy.Rational(1, length)))
        found += [
            Step(
                f"L = {length}: N falls on [1/(2L), 1/L], so its zero there is the minimum.",
                lt(sympy.Derivative(n, _mu), 0),
                inside,
            ),
            Step(
                f"L = {length}: N > 0 at mu = 1/(2L).",
                gt(at(n, (_mu, sympy.Rational(1, 2 * length))), 0),
            ),
        ]
    return (
        *found,
        _cubic_step(),
        Step(
            "The cubic is negative at 8 > (L+1)^2/4, the gap at mu = 1/L ...",
            lt(at(cubic(L, _y), (_y, 8)), 0),
            (ge(L, 2), le(L, 4)),
        ),
        Step("... positive at 0 ...", gt(at(cubic(L, _y), (_y, 0)), 0), (ge(L, 2),)),
        Step(
            "... and negative at -1, so it has one root in each of (-oo, 0), (0, 8), (8, oo): the "
            "least gap is the middle one.",
            lt(at(cubic(L, _y), (_y, -1)), 0),
            (ge(L, 2),),
        ),
    )


def _cubic_step() -> Step:
    scale = 64 * _mu**6 * (1 - L * _mu**2) ** 6
    above, below = (
        sympy.Poly(part, _mu, L)
        for part in ((L * _mu**2 + 1) * (L * _mu**2 - 2 * _mu + 1), 2 * _mu * (1 - L * _mu**2))
    )
    terms = zip(sympy.Poly(cubic(L, _y), _y).all_coeffs(), (6, 4, 2, 0), strict=True)
    value = sum(
        (
            above**power * below ** (6 - power) * sympy.Poly(factor, _mu, L)
            for factor, power in terms
        ),
        sympy.Poly(0, _mu, L),
    )
    cofactor = value.exquo(sympy.Poly(_stationary, _mu, L) ** 2).as_expr()
    return Step(
        "The cubic y^3 - (8L+3) y^2 + (16L^2-20L+3) y + L - 1 at y = D(mu) is N(mu)^2 times a "
        "polynomial over 64 mu^6 (1 - L mu^2)^6: it vanishes at the minimum.",
        eq(cubic(L, _gap_mu) * scale, _stationary**2 * cofactor),
    )


def _route(instance: Instance) -> Enclosure:
    """Least a by golden section, least D at each a by bisection over the upper envelope."""
    context, length = routes.reals(), whole(instance)

    def gap(log_ratio: Any) -> Any:
        ratio = context.exp(log_ratio)

        def room(D: Any) -> Any:
            low = max(context.mpf(0), length - D * length / (ratio + length))
            touch = min(max(context.sqrt(D * ratio) - ratio, context.mpf(0)), context.mpf(length))
            return 1 + touch - D * touch / (ratio + touch) - low

        top = ratio + length
        if room(top) < 0:
            return context.inf
        return routes.bisect_root(room, context.mpf(0), top, rounds=60)

    low = context.log(context.mpf(length - 1) ** 2 / 4)
    value = routes.golden(gap, low - 1, low + 3, context, rounds=75)[1]
    return routes.around(context, value, "1e-14")


def _roots() -> tuple[Part, ...]:
    oracle = "golden section in a, bisection in D over the rows of all real c"
    lengths = tuple(Instance({L: sympy.Integer(n)}) for n in (5, 6, 9, 20))
    short = tuple(
        Part(
            eq(D_MIN, sympy.rootof(cubic(n, _y), 1)),
            (eq(L, n),),
            (Instance({L: sympy.Integer(n)}),),
            _route,
            oracle,
        )
        for n in (2, 3, 4)
    )
    return (Part(eq(D_MIN, _real_gap), (ge(L, 5),), lengths, _route, oracle), *short)


REAL = Theorem(
    "fractional.real",
    "The least gap over all real counts in [0, L]",
    _roots(),
    _steps,
    reader="A continuous function with one interior zero of its slope, falling before and rising "
    "after, has its minimum there; h is convex as in fractional.slope.",
    source="this work",
    justifies=("bminlib.extremal.gap_by_row",),
)

"""Theorem rates: the growth B_min ~ C L^p of every placement that counts at all lengths."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import sympy

from bmin_derivations import routes, supplies
from bmin_derivations.circular_real import real_radius_squared
from bmin_derivations.fractional_demand import whole_parts
from bmin_derivations.instances import over
from bmin_derivations.records import Enclosure, Instance, Part, Step, Theorem
from bmin_derivations.relations import eq, gt, lt
from bmin_derivations.symbols import CONSTANT, EXPONENT, L, d, j, spread, tau
from bminlib import CountingProblem, b_min, extremal

_half = sympy.Rational(1, 2)
_fourth = sympy.Rational(1, 4)
_i = sympy.Symbol("i", integer=True, positive=True)
_gap = sympy.Rational(1, 4)  # D_L ~ L^2/4
_radius = 1 / (4 * sympy.sqrt(2))  # W_L ~ L^(3/2)/(4 sqrt 2)
_POWERS = range(9, 25)  # lengths 2^9 .. 2^24
_DIGITS = 60


def _limit(formula: Any, symbol: Any, value: Any) -> Any:
    return eq(sympy.Limit(formula, symbol, sympy.oo), value)


def _gap_steps() -> tuple[Step, ...]:
    found = []
    for length in (2 * j, 2 * j + 1):
        gap, ratio = (
            whole_parts(formula(length))
            for formula in (extremal.least_gap, extremal.least_score_ratio)
        )
        found += [
            Step(f"D_L/L^2 tends to 1/4 (L = {length}).", _limit(gap / length**2, j, _gap)),
            Step(
                f"ln a*/L^2 tends to 0 (L = {length}): the read-out binds in the end.",
                _limit(sympy.log(ratio) / length**2, j, 0),
            ),
        ]
    return tuple(found)


def _radius_steps() -> tuple[Step, ...]:
    found = []
    for rest in range(4):
        length = 4 * _i + rest
        row = extremal.circular_row(length, _i + (1 if rest else 0))
        found.append(
            Step(
                f"W_L^2/L^3 tends to 1/32 (L = {length}, row floor((L+3)/4)).",
                _limit(row / length**3, _i, _radius**2),
            )
        )
    found.append(
        Step(
            "The radius over real counts has the same limit.",
            _limit(real_radius_squared(L) / L**3, L, _radius**2),
        )
    )
    return tuple(found)


def _norm_steps() -> tuple[Step, ...]:
    lead = L**2 * _gap
    arc = L ** sympy.Rational(3, 2) * _radius
    slope = extremal.linear_slope(L)
    root8 = 2 * sympy.sqrt(2)
    rows = (
        ("none: B ~ L/(2 sqrt 2)", sympy.sqrt(lead / supplies.gap_none()), L / root8),
        (
            "learned pre: B ~ L/(2 sqrt(2 s_d))",
            sympy.sqrt(lead / supplies.gap_learned(spread)),
            L / (root8 * sympy.sqrt(spread)),
        ),
        (
            "bare post: B ~ L^(3/2)/(4 sqrt(2 d))",
            arc / supplies.radius_bare(d),
            L ** sympy.Rational(3, 2) / (4 * sympy.sqrt(2 * d)),
        ),
        (
            "learned post: B ~ L^(3/4)/(2^(5/4) sqrt(s_d))",
            sympy.sqrt(arc / supplies.radius_learned(spread)),
            L ** sympy.Rational(3, 4) / (2 ** sympy.Rational(5, 4) * sympy.sqrt(spread)),
        ),
    )
    return (
        *(Step(f"{words}, from the limit of what it demands.", eq(x, y)) for words, x, y in rows),
        Step("Linear attention: the slope 1 - 1/L tends to 1 ...", _limit(slope, L, 1)),
        Step("... from below, so its norms are bounded.", lt(slope, 1)),
        Step(
            "Bare pre has no rate: a* ~ L^2/4 outgrows any bound on the scores (pre.bare.horizon).",
            _limit(extremal.least_score_ratio(2 * j + 1) / (2 * j + 1) ** 2, j, _fourth),
        ),
    )


def _steps() -> tuple[Step, ...]:
    return (*_gap_steps(), *_radius_steps(), *_norm_steps())


def _constant_route(instance: Instance) -> Enclosure:
    """Richardson extrapolation of B_min/L^p at L = 2^9 .. 2^24, p from the slope of its log."""
    context = routes.reals()
    exponent, _ = _slope(instance, context)
    power = context.mpf(int(context.nint(4 * exponent))) / 4
    rows = [norm / length**power for length, norm in _values(instance, context)]
    return _extrapolated(rows, context)


def _exponent_route(instance: Instance) -> Enclosure:
    context = routes.reals()
    value, error = _slope(instance, context)
    return Enclosure(value - error, value + error)


def _slope(instance: Instance, context: Any) -> tuple[Any, Any]:
    values = _values(instance, context)
    slopes = [context.log(after / before, 2) for (_, before), (_, after) in pairwise(values)]
    found = _extrapolated(slopes, context)
    middle = (found.low + found.high) / 2
    return middle, found.high - middle


def _values(instance: Instance, context: Any) -> list[tuple[Any, Any]]:
    import dataclasses

    problem = instance.problem
    if problem is None:
        raise ValueError("a rate needs a problem")
    context.dps = _DIGITS
    return [
        (
            context.mpf(2) ** power,
            context.mpf(b_min(dataclasses.replace(problem, L=2**power)).decimal(_DIGITS)),
        )
        for power in _POWERS
    ]


def _extrapolated(rows: list[Any], context: Any) -> Enclosure:
    """Richardson's table for an expansion in 1/L at doubling lengths."""
    table, last = list(rows), rows[-1]
    for order in range(1, 12):
        factor = context.mpf(2) ** order
        last = table[-1]
        table = [(factor * after - before) / (factor - 1) for before, after in pairwise(table)]
    error = 10 * abs(table[-1] - last) + context.mpf("1e-28")
    return Enclosure(table[-1] - error, table[-1] + error)


def _asymptote_constant(problem: CountingProblem) -> str | None:
    asymptote = b_min(problem).asymptote
    return None if asymptote is None else asymptote.constant.decimal(30)


def _asymptote_exponent(problem: CountingProblem) -> str | None:
    asymptote = b_min(problem).asymptote
    return None if asymptote is None else str(float(asymptote.exponent))


def _rate(constant: Any, exponent: Any, **named: Any) -> tuple[Part, ...]:
    longest = 2**24
    instances = over((longest,), (3, 64), **named)
    oracle = "Richardson extrapolation of values at L = 2^9 .. 2^24"
    return (
        Part(
            eq(CONSTANT, constant), (gt(spread, 1),), instances, _constant_route, oracle,
            _asymptote_constant,
        ),
        Part(
            eq(EXPONENT, exponent), (gt(spread, 1),), instances, _exponent_route, oracle,
            _asymptote_exponent,
        ),
    )  # fmt: skip


RATES = Theorem(
    "rates",
    "The growth of B_min with L",
    (
        *_rate(sympy.sqrt(_gap / supplies.gap_none()), sympy.Integer(1), norm="none"),
        *_rate(
            sympy.sqrt(_gap / supplies.gap_learned(spread)), sympy.Integer(1),
            norm="pre", affine="learned",
        ),
        *_rate(
            _radius / supplies.radius_bare(d), sympy.Rational(3, 2), norm="post", affine="bare"
        ),
        *_rate(
            sympy.sqrt(_radius / supplies.radius_learned(spread)), sympy.Rational(3, 4),
            norm="post", affine="learned",
        ),
        *_rate(
            (1 / supplies.slope_none(tau)) ** _fourth, sympy.Integer(0),
            attention="linear", norm="none",
        ),
        *_rate(
            1 / supplies.slope_bare(tau, d), sympy.Integer(0),
            attention="linear", norm="pre", affine="bare",
        ),
        *_rate(
            (1 / supplies.slope_learned(tau, spread)) ** _fourth, sympy.Integer(0),
            attention="linear", norm="pre", affine="learned",
        ),
    ),
    _steps,
    reader="A quotient of two quantities that both have limits has the quotient as its limit. "
    "Classification needs no norm at all (classification.bounded).",
    source="abstract, claims 1, 3, 4, 5, 6, 7",
    justifies=("bminlib.bounds.Asymptote",),
    uses=("none", "pre.learned", "post.bare", "post.learned", "linear.rounded"),
)  # fmt: skip

"""Theorem pre.learned: pre-normalisation with a learned gain and shift."""

from __future__ import annotations

from typing import Any

import sympy

from bmin_derivations import lemmas, norm_limited, routes, supplies, supply_search
from bmin_derivations.fractional import READ_OUT, pair_steps
from bmin_derivations.instances import centred, over, whole
from bmin_derivations.model import Head, Vector, axis, head
from bmin_derivations.records import Enclosure, Instance, Step, Theorem
from bmin_derivations.relations import eq, product, total
from bmin_derivations.symbols import A, B, D, E, a, d, g, spread, tau

_first = sympy.Symbol("u", real=True)  # first entry of the normalised query
_shift = sympy.Symbol("v", real=True)  # beta = v e_1
_root = sympy.Symbol("rho", positive=True)  # sqrt(d)
_capacity = supplies.gap_learned(spread)
_scores = supplies.scores_learned(tau, spread)
_COUNTS = (sympy.Integer(1), sympy.Integer(1), sympy.Integer(1), _root**2 - 3)
_PAIR = (sympy.Integer(1), sympy.Integer(1))
_layer = sympy.sqrt(_root**2 - 1)


def _tilted() -> Vector:
    """A vector with sum 0 and squared norm d whose first entry is u, for d >= 3."""
    rest = -_first / (_root**2 - 1)
    side = sympy.sqrt(_root**2 * (_root**2 - 1 - _first**2) / (2 * (_root**2 - 1)))
    return Vector((_first, rest + side, rest - side, rest), _COUNTS)


def _head(counts: Any, query: Vector, shift: Any) -> Head:
    """gamma = w = B e_1, beta along e_1, targets at the tip, read-out token and filler opposite."""
    e = axis(counts)
    return head(
        counts, norm="pre", gain=e * B, shift=e * shift,
        q=query, k_s=e, k_t=e * -1, k_f=e * -1, v_s=e * -1, v_t=e, v_f=e * -1,
        w=e * B, b=A - B * shift,
    )  # fmt: skip


def _forward_step(words: str, built: Head, ratio: Any, size: Any) -> Step:
    gap = supplies.gap_learned(size) * B**2
    middle = gap / 2
    return Step(
        words,
        eq(built.yhat() + middle, READ_OUT.subs({E: 0, g: 1, D: gap, a: ratio})),
    )


def _steps() -> tuple[Step, ...]:
    tilted = _tilted()
    one = sympy.Integer(1)
    return (
        *pair_steps(),
        Step(
            "With rho = sqrt d, a query whose normalised first entry is u: entries add up to 0 ...",
            eq(sum(n * y for y, n in zip(tilted.entries, tilted.counts, strict=True)), 0),
        ),
        Step(
            "... and squares to d, so it is its own layer normalisation (|u| <= s_d, d >= 3).",
            eq(tilted.dot(tilted), _root**2),
        ),
        _forward_step(
            "gamma = beta = w = B e_1, v_t = -v_s = -v_f = e_1, k_s = -k_t = -k_f = e_1 and that "
            "query: the forward pass is A + D c/(a + c + m) with D = 2 s_d B^2 and "
            "a = e^(2 tau s_d (u + 1) B^2), s_d = sqrt(d - 1); -1 <= u <= s_d gives every a "
            "from 1 to e^(2 tau s_d (1 + s_d) B^2) (signs of the keys reversed: down to its "
            "inverse; rms alike with s_d = sqrt d).",
            _head(_COUNTS, tilted, B),
            sympy.exp(2 * tau * _layer * (_first + 1) * B**2),
            _layer,
        ),
        _forward_step(
            "d = 2, where u = +-1 only: the shift beta = v e_1, |v| <= B, does the same.",
            _head(_PAIR, axis(_PAIR), _shift),
            sympy.exp(2 * tau * (B + _shift) * B),
            one,
        ),
        Step(
            "At u = s_d the scores reach 2 tau s_d (1 + s_d) B^2.",
            eq(product(2 * tau, spread, total(spread, 1)), _scores),
        ),
        lemmas.cauchy_schwarz(),
        lemmas.largest_entry(),
        lemmas.concentrated_gain(),
        Step(
            "D = <w * gamma, n_t - n_s> (beta cancels) <= 2 sqrt(d) |P(w * gamma)| <= "
            "2 sqrt(d-1) B^2.",
            eq(
                2 * _root * sympy.sqrt(1 - 1 / _root**2) * B**2,
                supplies.gap_learned(sympy.sqrt(_root**2 - 1)) * B**2,
            ),
        ),
        Step(
            "ln a = tau <(gamma * n_q + beta) * gamma, n_s - n_t> <= tau 2 sqrt(d) sqrt(1 - 1/d) "
            "|gamma| |gamma * n_q + beta|, and |gamma * n_q + beta| <= B s_d + B.",
            eq(product(tau, supplies.gap_learned(spread), B, total(B * spread, B)), _scores * B**2),
        ),
        *norm_limited.demand_steps(),
    )


def _route(instance: Instance) -> Enclosure:
    context = routes.reals()
    size, centre = whole(instance, d), centred(instance)
    capacity = context.mpf(supply_search.largest_gap(size, centre))
    factor = routes.number(context, instance.at[tau])
    scores = factor * context.mpf(supply_search.largest_score(size, centre))
    return norm_limited.least_norm(instance, capacity, scores, "1e-13")


def _instances(case: str) -> tuple[Instance, ...]:
    named: dict[str, Any] = {"norm": "pre", "affine": "learned"}
    rms: dict[str, Any] = {**named, "normalizer": "rms"}
    if case == "long":
        longer = over((4, 7, 10), (2, 3, 8), **named) + over((5,), (1, 4), **rms)
        return longer + over((6,), (3,), tau="0.01", **named)
    if case == "wide":
        return over((3,), (2, 5), **named) + over((3,), (3,), **rms)
    if case == "narrow":
        return over((3,), (2,), tau="0.05", **named) + over((3,), (3,), tau="0.03", **rms)
    return over((2,), (2, 3, 8), **named) + over((2,), (1,), **rms)


LEARNED = Theorem(
    "pre.learned",
    "Learned pre-normalisation is always feasible, at norms that grow as L",
    norm_limited.parts(_capacity, _scores, _instances, _route),
    _steps,
    reader="Every gap up to 2 s_d B^2 and every score ratio within the limits occur together; "
    "x = 2 s_d B^2 and kappa = tau (1 + s_d) turn the limits into those of the steps on L.",
    source="this work",
    justifies=("bminlib.bounds.b_min", "bminlib.supply.supply"),
)

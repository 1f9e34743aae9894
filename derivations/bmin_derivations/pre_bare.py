"""Theorems pre.bare and pre.bare.horizon: bounded scores, so lengths end."""

from __future__ import annotations

from typing import Any

import sympy

from bmin_derivations import lemmas, norm_limited, routes, supplies
from bmin_derivations.fractional import READ_OUT, pair_steps
from bmin_derivations.fractional_demand import lattice_steps, whole_parts
from bmin_derivations.instances import at, over, whole
from bmin_derivations.model import CENTRED, F1, F2, Head, head
from bmin_derivations.norm_limited import HALF, ROOT3
from bmin_derivations.records import Enclosure, Instance, Part, Step, Theorem
from bmin_derivations.relations import eq, ge, gt, le, lt, product, total
from bmin_derivations.symbols import B_MIN, L_MAX, A, B, D, E, L, a, d, g, j, spread, tau
from bminlib import CountingProblem, extremal, max_length

_cosine = sympy.Symbol("u", real=True)
_row = sympy.Symbol("u_row", integer=True, positive=True)
_N = sympy.Symbol("N", integer=True, nonnegative=True)
_t = sympy.Symbol("t", integer=True, nonnegative=True)
_range = supplies.range_bare(tau, d)
_capacity = supplies.gap_bare(d)
_largest = sympy.exp(_range)
_MARGIN = "1e-13"  # strict rows stay this far within their bounds
_ORACLE = "strict rows by brute force over every score ratio in range"


def longest(ratios: Any) -> Any:
    """The largest L with a*(L) <= N = floor of the largest score ratio."""
    return 1 + sympy.floor(sympy.sqrt(4 * ratios + 3))


def _head() -> Head:
    """Values along f_1, keys at an angle of cosine u to the query f_1."""
    sine = sympy.sqrt(1 - _cosine**2)
    target = F1 * -_cosine + F2 * sine
    return head(
        CENTRED, norm="pre", q=F1, k_s=F1 * _cosine + F2 * sine, k_t=target, k_f=target,
        v_s=F1 * -1, v_t=F1, v_f=F1 * -1, w=F1 * B, b=A + _capacity * B / 2,
    )  # fmt: skip


def _supply_steps() -> tuple[Step, ...]:
    counted = READ_OUT.subs({E: 0, g: 1, D: _capacity * B, a: sympy.exp(_range * _cosine)})
    root = sympy.sqrt(d)
    return (
        *pair_steps(),
        Step(
            "Keys at angles of cosine u and -u to the query, values along +-f_1, w = B f_1: the "
            "forward pass is A + D c/(a + c + m) with D = 2 sqrt(d) B, a = e^(2 tau d u), for any "
            "-1 <= u <= 1 (layer d >= 3; rms d >= 2 with e_1, e_2).",
            eq(_head().yhat(), counted),
        ),
        lemmas.cauchy_schwarz(),
        Step(
            "Normalised vectors have length sqrt d, so D = <w, n_t - n_s> <= 2 sqrt(d) B ...",
            eq(product(B, total(root, root)), _capacity * B),
        ),
        Step(
            "... and |ln a| = tau |<n_q, n_s - n_t>| <= 2 tau d, whatever the norms.",
            eq(product(tau, root, total(root, root)), _range),
        ),
    )


def _steps() -> tuple[Step, ...]:
    return (
        *_supply_steps(),
        *lattice_steps(),
        *norm_limited.three_steps(),
        Step(
            "L = 2: D(a) = 1 + a/2 is least at the least a = e^(-2 tau d).",
            eq(
                extremal.gap_by_row(2, sympy.exp(-_range), 2),
                extremal.small_gap(HALF, _largest),
            ),
        ),
        *(
            Step(
                "Two normalised vectors leave a = 1 or e^(+-2 tau d); strict rows need a > a*, "
                f"which is >= 1 at L = {n} >= 3, so a = e^(2 tau d), and D(a) is the gap there "
                "(fractional.slope).",
                ge(whole_parts(extremal.least_score_ratio(n)), 1),
                given,
            )
            for n, given in ((2 * j + 1, (ge(j, 1),)), (2 * j, (ge(j, 2),)))
        ),
    )


def _horizon_steps() -> tuple[Step, ...]:
    found = []
    for odd, words in ((False, "2i"), (True, "2i + 1")):
        size = 2 * j + 1 if odd else 2 * j
        ratio = whole_parts(extremal.least_score_ratio(size + 1))
        found += [
            Step(
                f"L - 1 = {words}: a* <= N gives (L-1)^2 <= 4N + 3: L <= 1 + isqrt(4N + 3) ...",
                le(size**2, 4 * _N + 3),
                (ge(_N, ratio),),
            ),
            Step(
                "... and a* >= N + 1 gives (L-1)^2 > 4N + 3.",
                gt(size**2, 4 * _N + 3),
                (le(_N, ratio - 1),),
            ),
        ]
    return (*_supply_steps(), *lattice_steps(), *found)


def _least_gap(instance: Instance) -> Any:
    """Least strict gap over the ratios at hand, inf where none is feasible."""
    context, length = routes.reals(), whole(instance)
    limit = routes.number(context, _range.subs(dict(instance.at)))

    def gap(log_ratio: Any) -> Any:
        return routes.gap_rows(length, context.exp(log_ratio), context, _MARGIN)

    if instance.at[spread] == 1:
        return min(gap(point) for point in (-limit, context.mpf(0), limit))
    start = max(context.log(routes.least_ratio(length, context, _MARGIN, rounds=60)), -limit)
    return routes.golden(gap, start, limit, context, rounds=70)[1] if start < limit else context.inf


def _route(instance: Instance) -> Enclosure:
    context, gap = routes.reals(), _least_gap(instance)
    if gap == context.inf:
        return routes.infinite(context)
    return routes.around(context, gap / (2 * context.sqrt(whole(instance, d))), "1e-10")


def _longest_route(instance: Instance) -> Enclosure:
    """Count L up until no gap is feasible at the largest ratio."""
    context = routes.reals()
    ratio = context.exp(routes.number(context, _range.subs(dict(instance.at))))
    length = 2
    while routes.gap_rows(length + 1, ratio, context, _MARGIN) < context.inf:
        length += 1
    return Enclosure(context.mpf(length), context.mpf(length))


def _longest_text(problem: CountingProblem) -> str | None:
    length = max_length(problem)
    return None if length is None else str(length)


_named: dict[str, Any] = {"norm": "pre", "affine": "bare"}
_feasible = lt(extremal.least_score_ratio(L), _largest)
_beyond = ge(extremal.least_score_ratio(L), _largest)


def _with_row(L_: int, row: int, **named: Any) -> Instance:
    base = at(CountingProblem(L=L_, **_named, **named))
    return Instance({**base.at, _row: sympy.Integer(row)}, base.problem)


BARE = Theorem(
    "pre.bare",
    "Bare pre-normalisation up to its horizon",
    (
        Part(
            eq(B_MIN, extremal.least_gap(L) / _capacity),
            (ge(L, 4), _feasible, gt(spread, 1)),
            over((4, 7, 12), (3, 8), **_named) + over((5, 8), (2,), normalizer="rms", **_named),
            _route,
            _ORACLE,
        ),
        Part(
            eq(B_MIN, extremal.gap_by_row(3, sympy.Min(ROOT3, _largest), 2) / _capacity),
            (eq(L, 3), gt(spread, 1)),
            over((3,), (3, 64), **_named) + over((3,), (3,), tau="1/20", **_named),
            _route,
            _ORACLE,
        ),
        Part(
            eq(B_MIN, extremal.small_gap(HALF, _largest) / _capacity),
            (eq(L, 2),),
            over((2,), (2, 3, 8), **_named) + over((2,), (1,), normalizer="rms", **_named),
            _route,
            _ORACLE,
        ),
        Part(
            eq(B_MIN, extremal.gap_by_row(L, _largest, _row) / _capacity),
            (
                eq(spread, 1),
                ge(L, 3),
                _feasible,
                le(_row, L),
                ge(_largest + L, _row * (_row - 1)),
                le(_largest + L, _row * (_row + 1)),
            ),
            (
                _with_row(4, 3, d=2, tau="1/2"),
                _with_row(9, 5, d=2),
                _with_row(5, 5, d=2),
                _with_row(3, 2, d=2, tau="1/4"),
            ),
            _route,
            _ORACLE,
        ),
        Part(
            eq(B_MIN, extremal.gap_by_row(L, _largest, L) / _capacity),
            (eq(spread, 1), ge(L, 3), ge(_largest + L, L * (L - 1))),
            over((3, 4), (2,), **_named) + over((3,), (1,), normalizer="rms", tau=2, **_named),
            _route,
            _ORACLE,
        ),
    ),
    _steps,
    reader="All score ratios in [e^(-2 tau d), e^(2 tau d)] and all gaps up to 2 sqrt(d) B occur "
    "together; B_min is the infimum over strict counting (fractional.demand, fractional.slope).",
    source="abstract, claim 6",
    justifies=("bminlib.extremal.gap_by_row", "bminlib.extremal.small_gap"),
)

HORIZON = Theorem(
    "pre.bare.horizon",
    "Bare pre-normalisation counts to no greater length, whatever the norms",
    (
        Part(
            eq(B_MIN, sympy.oo),
            (_beyond,),
            over((13, 20), (3,), **_named) + over((10,), (2,), **_named),
            _route,
            _ORACLE,
        ),
        Part(
            eq(L_MAX, longest(sympy.floor(_largest))),
            (gt(spread, 0),),
            over((1,), (2, 3, 4, 8), **_named)
            + over((1,), (3,), tau="11/24", **_named)  # N + 1 = 16 = 4^2
            + over((1,), (3,), tau="5/12", **_named)  # N = 12 = 3 * 4
            + over((1,), (1, 2), normalizer="rms", **_named),
            _longest_route,
            "counting L up by brute force over strict rows",
            _longest_text,
        ),
    ),
    _horizon_steps,
    reader="Strict rows need a > k(L-1-k) for every k; scores give a <= e^(2 tau d). Equality "
    "a* = e^(2 tau d) never happens for an algebraic tau > 0 (Lindemann).",
    source="abstract, claim 6",
    justifies=("bminlib.horizon.max_length", "bminlib.bounds.b_min"),
)

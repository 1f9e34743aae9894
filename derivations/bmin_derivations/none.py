"""Theorem none: softmax attention without normalisation."""

from __future__ import annotations

from typing import Any

import sympy

from bmin_derivations import lemmas, norm_limited, routes, supplies
from bmin_derivations.fractional import READ_OUT, pair_steps
from bmin_derivations.instances import over
from bmin_derivations.model import LINE, Head, axis, head
from bmin_derivations.records import Enclosure, Instance, Step, Theorem
from bmin_derivations.relations import eq, product, total
from bmin_derivations.symbols import A, B, D, E, a, g, tau

_half = sympy.Rational(1, 2)


def one_axis_head(sign: int) -> Head:
    """Gap D and score ratio a on the axis e_1: sign +1 for a >= 1, -1 for a <= 1."""
    e = axis(LINE)
    reach = sympy.sqrt(D / supplies.gap_none())
    score = sympy.sqrt(sign * sympy.log(a) / supplies.scores_none(tau))
    return head(
        LINE,
        q=e * score, k_s=e * (sign * score), k_t=e * (-sign * score), k_f=e * (-sign * score),
        v_s=e * -reach, v_t=e * reach, v_f=e * -reach, w=e * reach, b=A + D / 2,
    )  # fmt: skip


def _steps() -> tuple[Step, ...]:
    counted = READ_OUT.subs({E: 0, g: 1})
    high, low = one_axis_head(1), one_axis_head(-1)
    return (
        *pair_steps(),
        Step(
            "For a >= 1, on the axis e_1 with w = v_t = -v_s = -v_f = sqrt(D/2) and q = k_s = -k_t "
            "= -k_f = sqrt(ln(a)/(2 tau)) the forward pass is A + D c/(a + c + m).",
            eq(high.yhat(), counted),
        ),
        Step("For a <= 1 the keys change their signs.", eq(low.yhat(), counted)),
        Step("The read-out's vectors have squared norm D/2 ...", eq(high.w.norm**2, D / 2)),
        Step(
            "... those of the scores |ln a|/(2 tau).",
            eq(high.q.norm**2, sympy.log(a) / (2 * tau)),
        ),
        lemmas.cauchy_schwarz(),
        Step(
            "Conversely D = <w, v_t - v_s> <= |w| (|v_t| + |v_s|) <= 2 B^2 ...",
            eq(product(B, total(B, B)), supplies.gap_none() * B**2),
        ),
        Step(
            "... and |ln a| = tau |<q, k_s - k_t>| <= 2 tau B^2 = tau (2 B^2).",
            eq(product(tau, B, total(B, B)), supplies.scores_none(tau) * B**2),
        ),
        *norm_limited.demand_steps(),
    )


def _route(instance: Instance) -> Enclosure:
    context = routes.reals()
    return norm_limited.least_norm(
        instance,
        context.mpf(2),
        2 * routes.number(context, instance.at[tau]),
        "1e-23",
    )


def _instances(case: str) -> tuple[Instance, ...]:
    named: dict[str, Any] = {"norm": "none"}
    if case == "long":
        return over((4, 5, 9), (1, 3, 64), **named) + over((6, 11), (3,), tau="0.03", **named)
    if case == "wide":
        return over((3,), (1, 46), **named) + over((3,), (3,), tau="0.1472", **named)
    if case == "narrow":
        return over((3,), (47, 300), **named) + over((3,), (3,), tau="0.147", **named)
    return over((2,), (1, 3, 64), **named) + over((2,), (3,), tau=5, **named)


NONE = Theorem(
    "none",
    "Softmax without normalisation needs norms that grow as L",
    norm_limited.parts(supplies.gap_none(), supplies.scores_none(tau), _instances, _route),
    _steps,
    reader="D and a are limited separately by 2 B^2 and 2 tau B^2, and the vectors given reach "
    "every pair within these limits, so B_min is the least B that allows a demanded pair.",
    source="abstract, claim 3",
    justifies=("bminlib.extremal.self_limited_gap", "bminlib.bounds.b_min"),
)

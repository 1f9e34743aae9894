"""Theorem trivial: at L = 1 every placement counts at norms as small as wished."""

from __future__ import annotations

from typing import Any

import sympy

from bmin_derivations.instances import over
from bmin_derivations.model import CENTRED, F1, LINE, Head, Vector, axis, head
from bmin_derivations.proved_weights import tiny_norm_route
from bmin_derivations.records import Instance, Part, Step, Theorem
from bmin_derivations.relations import eq, lt
from bmin_derivations.symbols import B_MIN, L, c, d, m, s, tau

_half = sympy.Rational(1, 2)


def _heads() -> tuple[tuple[str, Head, Any], ...]:
    """(placement, head with vectors of norm s or less, its distance from 1/2)."""
    e, f, root = axis(LINE) * s, F1 * s, sympy.sqrt(d)
    flat = Vector((s / root,) * 4, CENTRED)  # norm s, the same gain for every entry
    gained: dict[str, Any] = {"gain": flat, "shift": flat * 0}
    soft: dict[str, Any] = {
        "norm": "pre", "q": f, "k_s": f, "k_t": f, "k_f": f,
        "v_s": f * -1, "v_t": f, "v_f": f * -1, "w": f,
    }  # fmt: skip
    line: dict[str, Any] = {**soft, "attention": "linear", "k_f": f * -1, "v_s": f, "v_f": f}
    step: dict[str, Any] = {"norm": "post", "v_t": f, "w": f, "b": _half}
    drawn: dict[str, Any] = {**step, "attention": "linear", "q": f, "k_t": f}
    pulled = tau * s**4
    bare, learned, slope = s * root, s**2, tau * d * s * root

    def built(counts: Any, distance: Any, offset: Any = 0, **named: Any) -> tuple[Head, Any]:
        return head(counts, **{"b": _half + offset, **named}), distance

    return (
        ("softmax, none", *built(LINE, s**2 / 4, -(s**2) / 4, v_t=e, w=e)),
        (
            "linear, none",
            *built(LINE, pulled / 2, -pulled / 2, attention="linear", q=e, k_t=e, v_t=e, w=e),
        ),
        ("softmax, bare pre", *built(CENTRED, bare / 2, bare / 2, **soft)),
        ("softmax, learned pre", *built(CENTRED, learned / 2, learned / 2, **soft, **gained)),
        ("linear, bare pre", *built(CENTRED, slope / 2, -3 * slope / 2, **line)),
        ("linear, learned pre", *built(CENTRED, pulled / 2, -3 * pulled / 2, **line, **gained)),
        ("softmax, bare post", *built(CENTRED, bare, r=f * sympy.Rational(-1, 4), **step)),
        (
            "softmax, learned post",
            *built(CENTRED, learned, r=f * sympy.Rational(-1, 4), **step, **gained),
        ),
        ("linear, bare post", *built(CENTRED, bare, r=f * (-tau * s**2 / 2), **drawn)),
        (
            "linear, learned post",
            *built(CENTRED, learned, r=f * (-tau * s**2 / 2), **drawn, **gained),
        ),
    )


def _steps() -> tuple[Step, ...]:
    found = []
    for name, built, distance in _heads():
        yhat = built.yhat()
        found += [
            Step(
                f"{name}: explicit vectors, yhat(0, 0) = 1/2 - x.",
                eq(_at(yhat, 0, 0), _half - distance),
            ),
            Step(f"{name}: yhat(0, 1) < 1/2.", lt(_at(yhat, 0, 1), _half)),
            Step(f"{name}: yhat(1, 0) = 1/2 + x.", eq(_at(yhat, 1, 0), _half + distance)),
        ]
    return tuple(found)


def _at(yhat: Any, targets: int, fillers: int) -> Any:
    return yhat.subs({c: targets, m: fillers})


def _instances() -> tuple[Instance, ...]:
    placements: list[dict[str, Any]] = [{"norm": "none"}]
    for norm in ("pre", "post"):
        placements += [{"norm": norm, "affine": affine} for affine in ("bare", "learned")]
    found: tuple[Instance, ...] = ()
    for attention in ("softmax", "linear"):
        for named in placements:
            found += over((1,), (2, 3), attention=attention, **named)
    return found + over((1,), (1,), norm="none") + over((1,), (1,), norm="post", normalizer="rms")


TRIVIAL = Theorem(
    "trivial",
    "Counting to L = 1 costs nothing",
    (
        Part(
            eq(B_MIN, sympy.Integer(0)),
            (eq(L, 1),),
            _instances(),
            tiny_norm_route,
            "weights of norm at most 10^-6, proved by the verifier",
        ),
    ),
    _steps,
    reader="x > 0 is as small as wished with s, the norm of every vector, so all three pairs "
    "(c, m) are strictly within 1/2. The heads along f_1 work from d = 2 on (rms: d = 1, e_1).",
    source="this work",
    justifies=("bminlib.bounds.b_min",),
)

"""Theorems classification.bounded and classification.storage: one output vector per count."""

from __future__ import annotations

from typing import Any

import sympy

from bmin_derivations import routes
from bmin_derivations.instances import over
from bmin_derivations.model import CENTRED, E1, E2, F1, F2, LINE, PLANE, Head, Vector, axis, head
from bmin_derivations.proved_weights import tiny_norm_route
from bmin_derivations.records import Enclosure, Instance, Part, Step, Theorem
from bmin_derivations.relations import eq, ge, gt
from bmin_derivations.symbols import B_MIN, STORED, L, c, d, m, s, tau
from bminlib import CountingProblem, b_min

_class = sympy.Symbol("j", integer=True, nonnegative=True)  # the class whose score this is
_kappa = sympy.Symbol("kappa", positive=True)
_off = sympy.Symbol("delta", real=True)  # c - j
_rows = 2 * _class, -(_class**2)  # what class j reads along the two directions
_root = sympy.sqrt(d)


def _class_heads() -> tuple[tuple[str, Head, Any], ...]:
    """(placement, head read by w_j and b_j, positive factor of 2 j c - j^2 in the score)."""
    e, f1, f2 = axis(LINE) * s, F1 * s, F2 * s
    total = 1 + c + m
    flat = Vector((s / _root,) * 4, CENTRED)  # a gain of norm s, equal in every entry
    gained: dict[str, Any] = {"gain": flat, "shift": flat * 0}
    in_plane = (E1 * _rows[0] + E2 * _rows[1]) * _kappa
    on_circle = (F1 * _rows[0] + F2 * _rows[1]) * _kappa
    line: dict[str, Any] = {
        "norm": "pre", "attention": "linear", "q": f1, "k_t": f1, "k_s": f2, "k_f": f2,
        "v_t": f1, "v_s": f2, "v_f": f2, "w": F1 * _rows[0] * _kappa,
    }  # fmt: skip
    post: dict[str, Any] = {"norm": "post", "w": on_circle}
    soft: dict[str, Any] = {**post, "v_s": f2, "v_t": f1}
    drawn: dict[str, Any] = {**post, "attention": "linear", "q": f1, "k_t": f1, "v_t": f1}
    triple: dict[str, Any] = {
        "norm": "pre", "q": f1, "k_s": f1, "k_t": f1, "k_f": f1,
        "v_s": f2, "v_t": f1 * -1, "v_f": f1,
    }  # fmt: skip
    sphere = sympy.sqrt(1 + c**2)

    def level(size: Any) -> Any:
        return {"b": _rows[1] * _kappa * size}

    def affine(size: Any) -> dict[str, Any]:
        """Scores 0, -j^2, 2j on the three normalised values of length `size`."""
        read = F1 * (-_class / size) + F2 * (-(_class**2 + _class) / size)
        return {"w": read * _kappa, "b": _class * _kappa}

    pulled, drop = tau * s**3, tau * d * _root
    return (
        ("softmax, none", head(PLANE, v_s=E2 * s, v_t=E1 * s, w=in_plane), _kappa * s / total),
        ("softmax, bare pre", head(CENTRED, **triple, **affine(_root)), _kappa / total),
        ("softmax, learned pre", head(CENTRED, **triple, **affine(s), **gained), _kappa / total),
        ("softmax, bare post", head(CENTRED, **soft), _kappa * _root / sphere),
        ("softmax, learned post", head(CENTRED, **soft, **gained), _kappa * s / sphere),
        (
            "linear, none",
            head(LINE, attention="linear", q=e, k_t=e, v_t=e,
                 w=axis(LINE) * (_rows[0] * _kappa), **level(pulled)),
            _kappa * pulled,
        ),
        ("linear, bare pre", head(CENTRED, **line, **level(drop)), _kappa * drop),
        ("linear, learned pre", head(CENTRED, **line, **gained, **level(pulled)), _kappa * pulled),
        ("linear, bare post", head(CENTRED, **drawn, r=F2 * pulled), _kappa * _root / sphere),
        (
            "linear, learned post",
            head(CENTRED, **drawn, **gained, r=F2 * pulled),
            _kappa * s / sphere,
        ),
    )  # fmt: skip


def _bounded_steps() -> tuple[Step, ...]:
    wanted = 2 * _class * c - _class**2
    forward = tuple(
        Step(
            f"{name}: vectors of norm s or less and rows w_j along two directions, kappa as small "
            "as wished, give the scores (2jc - j^2) times a factor free of j.",
            eq(built.yhat(), wanted * factor),
        )
        for name, built, factor in _class_heads()
    )
    return (
        *forward,
        *(
            Step(f"{name}: that factor is positive.", gt(factor, 0))
            for name, _, factor in _class_heads()
        ),
        Step(
            "2jc - j^2 = c^2 - (c-j)^2 is largest at j = c ...",
            eq(wanted.subs(_class, c) - wanted, (c - _class) ** 2),
        ),
        Step("... by at least 1 elsewhere.", ge(_off**2, 1), (ge(_off, 1),)),
    )


def _storage_steps() -> tuple[Step, ...]:
    regression, rows = d + 1, (L + 1) * (d + 1)
    return (
        Step(
            "One vector of length d and a scalar for regression; the dense head keeps them for "
            "each of the L + 1 counts: L + 1 times as many.",
            eq(rows / regression, L + 1),
        ),
        Step("L (d + 1) more numbers.", eq(rows - regression, L * (d + 1))),
        Step(
            "That is at least 2 more, from L = 1, d = 1 on.",
            ge(L * (d + 1), 2),
            (ge(L, 1), ge(d, 1)),
        ),
    )


def _instances() -> tuple[Instance, ...]:
    placements: list[dict[str, Any]] = [{"norm": "none"}]
    for norm in ("pre", "post"):
        placements += [{"norm": norm, "affine": affine} for affine in ("bare", "learned")]
    found: tuple[Instance, ...] = ()
    for attention in ("softmax", "linear"):
        for named in placements:
            found += over((2, 5, 12), (3,), attention=attention, readout="classification", **named)
    return found


def _stored_route(instance: Instance) -> Enclosure:
    """Count the entries of the library's explicit read-out arrays."""
    from bminlib.witness import witness

    context, problem = routes.reals(), instance.problem
    if problem is None:
        raise ValueError("weights need a problem")
    weights = witness(problem)
    name = "W" if problem.readout == "classification" else "w"
    count = context.mpf(int(weights.vectors[name].size + weights.b.size))
    return Enclosure(count, count)


def _stored_text(problem: CountingProblem) -> str:
    return str(b_min(problem).stored_numbers)


def _stored_part(formula: Any, readout: str) -> Part:
    instances = over((2, 7), (3, 8), norm="post", readout=readout)
    return Part(
        eq(STORED, formula), (ge(L, 1),), instances, _stored_route,
        "entries of explicit weights, counted", _stored_text,
    )  # fmt: skip


BOUNDED = Theorem(
    "classification.bounded",
    "Classification counts at norms as small as wished, under every placement",
    (
        Part(
            eq(B_MIN, sympy.Integer(0)),
            (ge(L, 1),),
            _instances(),
            tiny_norm_route,
            "weights of norm at most 10^-6, proved by the verifier",
        ),
    ),
    _bounded_steps,
    reader="The biases b_j are free. Directions f_1, f_2 need layer d >= 3 (rms d >= 2, e_1 and "
    "e_2); without normalisation d >= 2, linear d >= 1; linear learned pre works from layer d = 2 "
    "on with the killed filler of linear.rounded.",
    source="abstract, claim 7",
    justifies=("bminlib.bounds.b_min",),
)

STORAGE = Theorem(
    "classification.storage",
    "What the two read-outs store",
    (_stored_part(d + 1, "regression"), _stored_part((L + 1) * (d + 1), "classification")),
    _storage_steps,
    reader="Two counts with the same row and bias would tie, so a dense head keeps L + 1 different "
    "ones.",
    source="abstract, claim 7",
    justifies=("bminlib.bounds.Bound.stored_numbers",),
)

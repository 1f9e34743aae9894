"""Steps for linear attention: its forward pass, and the largest slope that norms allow."""

from __future__ import annotations

import sympy

from bmin_derivations import lemmas, supplies
from bmin_derivations.model import CENTRED, F1, F2, LINE, Head, Vector, axis, head
from bmin_derivations.records import Step
from bmin_derivations.relations import eq, product
from bmin_derivations.symbols import A, B, c, d, spread, tau

_root = sympy.Symbol("rho", positive=True)  # sqrt(d)


def _head_none() -> Head:
    """Every vector B e_1, filler key and value zero."""
    e = axis(LINE) * B
    return head(LINE, attention="linear", q=e, k_t=e, v_t=e, w=e, b=A)


def _head_bare() -> Head:
    """Targets along f_1; what the filler and the read-out token hold lies along f_2."""
    return head(
        CENTRED, attention="linear", norm="pre",
        q=F1, k_t=F1, k_s=F2, k_f=F2, v_t=F1, v_s=F2, v_f=F2, w=F1 * B, b=A,
    )  # fmt: skip


def _killed() -> Vector:
    """A vector whose normalisation has first entry -1, so that gamma n + beta vanishes."""
    y = -1 / (1 + _root)
    counts = (sympy.Integer(1), sympy.Integer(1), _root**2 - 2)
    return Vector((sympy.Integer(-1), 1 - (_root**2 - 2) * y, y), counts)


def _head_learned() -> Head:
    """gamma = beta = w = B e_1; targets at the tip of the normaliser, the rest killed."""
    counts = _killed().counts
    e = axis(counts)
    return head(
        counts, attention="linear", norm="pre", gain=e * B, shift=e * B,
        q=e, k_t=e, v_t=e, k_s=_killed(), v_s=_killed(), k_f=_killed(), v_f=_killed(),
        w=e * B, b=A,
    )  # fmt: skip


def supply_steps() -> tuple[Step, ...]:
    """Explicit vectors, their forward pass, and the matching bounds on the slope."""
    killed = _killed()
    return (
        Step(
            "No normalisation, q = k_t = v_t = w = B e_1, all else zero: the forward pass is "
            "A + tau B^4 c.",
            eq(_head_none().yhat(), A + supplies.slope_none(tau) * B**4 * c),
        ),
        Step(
            "Bare pre, q, k_t, v_t along f_1 = (1, -1, 0, ...)/sqrt 2, keys and values of filler "
            "and read-out token along f_2 = (1, 1, -2, 0, ...)/sqrt 6, w = B f_1: the forward "
            "pass is A + tau d^(3/2) B c (rms: e_1, e_2 in their place).",
            eq(_head_bare().yhat(), A + supplies.slope_bare(tau, d) * B * c),
        ),
        Step(
            "With rho = sqrt d, the vector (-1, 1 + (d-2) y, -y, ..., -y), y = 1/(1 + rho), has "
            "entries that add up to 0 ...",
            eq(sum(x * n for x, n in zip(killed.entries, killed.counts, strict=True)), 0),
        ),
        Step(
            "... and squares that add up to d, so it is its own layer normalisation, and the gain "
            "gamma = beta = B e_1 takes it to B (-1 + 1) e_1 = 0 (rms: (-1, 1, ..., 1)).",
            eq(killed.dot(killed), _root**2),
        ),
        Step(
            "Learned pre, gamma = beta = w = B e_1, q = k_t = v_t = e_1, all other tokens killed: "
            "the forward pass is A + tau B^4 (1 + s_d)^3 c with s_d = sqrt(d - 1) "
            "(rms: s_d = sqrt d).",
            eq(
                _head_learned().yhat(),
                A + supplies.slope_learned(tau, sympy.sqrt(_root**2 - 1)) * B**4 * c,
            ),
        ),
        lemmas.cauchy_schwarz(),
        lemmas.largest_entry(),
        *_ceilings(),
    )


def _ceilings() -> tuple[Step, ...]:
    lengths = (B, B, B, B)
    bare = (sympy.sqrt(d),) * 3 + (B,)
    learned = (B * spread + B,) * 3 + (B,)
    cases = (
        ("No normalisation: |q|, |k_t|, |v_t|, |w| <= B", lengths, supplies.slope_none(tau) * B**4),
        ("Bare pre: normalised vectors have length sqrt d", bare, supplies.slope_bare(tau, d) * B),
        (
            "Learned pre: |gamma * n + beta| <= B s_d + B",
            learned,
            supplies.slope_learned(tau, spread) * B**4,
        ),
    )
    return tuple(
        Step(
            f"{words}, so by Cauchy-Schwarz the slope tau <q, k_t> <w, v_t> is at most this, "
            "which the vectors above reach.",
            eq(product(tau, *sizes), limit),
        )
        for words, sizes, limit in cases
    )

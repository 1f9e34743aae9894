"""The one explicit list of theorems."""

from __future__ import annotations

from bmin_derivations import (
    circular,
    circular_lower,
    circular_real,
    classification,
    exact_softmax,
    fractional,
    fractional_demand,
    fractional_real,
    linear,
    none,
    post,
    post_epsilon,
    pre_bare,
    pre_learned,
    rates,
    trivial,
)
from bmin_derivations.records import Theorem
from bminlib.errors import DomainError, shown

THEOREMS: tuple[Theorem, ...] = (
    trivial.TRIVIAL,
    linear.EXACT,
    linear.ROUNDED,
    exact_softmax.SMALL,
    exact_softmax.INEXACT,
    fractional_demand.DEMAND,
    fractional.SLOPE,
    fractional_real.REAL,
    none.NONE,
    pre_bare.BARE,
    pre_bare.HORIZON,
    pre_learned.LEARNED,
    circular_lower.LOWER,
    circular.LATTICE,
    circular_real.REAL,
    post.BARE,
    post.LEARNED,
    post_epsilon.EPSILON,
    classification.BOUNDED,
    classification.STORAGE,
    rates.RATES,
)

_BY_ID = {theorem.id: theorem for theorem in THEOREMS}


def theorem(name: str) -> Theorem:
    """The theorem of that id; raises DomainError for an unknown one."""
    if name not in _BY_ID:
        raise DomainError(
            f"{shown(name)}: there is no theorem of this id; take one of {', '.join(_BY_ID)}"
        )
    return _BY_ID[name]

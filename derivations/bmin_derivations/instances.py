"""Instances of a theorem at the library's own problems."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sympy

from bmin_derivations.records import Instance
from bmin_derivations.symbols import L, d, spread, tau
from bminlib import CountingProblem


def at(problem: CountingProblem) -> Instance:
    """The values of L, d, tau and the spread at a problem."""
    values = {
        L: sympy.Integer(problem.L),
        d: sympy.Integer(problem.d),
        tau: sympy.sympify(problem.score_scale.text),
        spread: sympy.sqrt(problem.spread_squared),
    }
    return Instance(values, problem)


def over(
    lengths: Iterable[int], dimensions: Iterable[int] = (3,), **named: Any
) -> tuple[Instance, ...]:
    """Instances at every length and dimension."""
    return tuple(
        at(CountingProblem(L=length, d=dimension, **named))
        for dimension in dimensions
        for length in lengths
    )


def centred(instance: Instance) -> bool:
    """Whether the instance's normaliser subtracts the mean."""
    return instance.problem is not None and instance.problem.normalizer == "layer"


def whole(instance: Instance, symbol: Any = L) -> int:
    """An integer symbol's value."""
    return int(instance.at[symbol])

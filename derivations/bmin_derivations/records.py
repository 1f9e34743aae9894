"""Frozen records of a checked theorem: its parts, steps and instances, and the verdicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bminlib import CountingProblem


class Verdict(StrEnum):
    """What a check found; only `proved` is a pass.

    `refused` belongs to theorems alone: no instance meets the hypotheses, so nothing was claimed.
    """

    PROVED = "proved"
    REFUTED = "refuted"
    UNDECIDED = "undecided"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict on one claim and the argument behind it, as a phrase."""

    verdict: Verdict
    how: str

    @property
    def proved(self) -> bool:
        """Whether the claim is proved."""
        return self.verdict is Verdict.PROVED


@dataclass(frozen=True, slots=True)
class Step:
    """A sentence and a claim (an unevaluated sympy relation) that `decide` proves or doesn't.

    given: hypotheses used, each with the symbol it bounds on its left (`Ge(L, c + 1)`), on top of
    the assumptions that the symbols carry. cases: alternatives that exhaust all possibilities; the
    claim is proved under each of them.
    """

    sentence: str
    claim: Any
    given: tuple[Any, ...] = ()
    cases: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Enclosure:
    """An interval [low, high] that an independent route found to hold a number (mpmath reals)."""

    low: Any
    high: Any


@dataclass(frozen=True, slots=True)
class Instance:
    """Exact values for the symbols of a part, and the library's own problem at them (if any)."""

    at: Mapping[Any, Any]
    problem: CountingProblem | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """One case of a theorem: a statement `Eq(symbol, formula)`, where it holds, and its instances.

    route: an Enclosure of the left side at an instance, found without the formula; `oracle` says
    how in a phrase. library: the library's own number at the instance's problem as text (None
    where it has none: infeasible); left out, it is `b_min`.
    """

    statement: Any
    hypotheses: tuple[Any, ...]
    instances: tuple[Instance, ...]
    route: Callable[[Instance], Enclosure]
    oracle: str
    library: Callable[[CountingProblem], str | None] | None = None


@dataclass(frozen=True, slots=True)
class Theorem:
    """A claim with a permanent id, machine-checked step by step.

    steps: built when asked for, because symbolic forward passes take time. reader: what the steps
    leave to the reader. source: sentence of the abstract, a published theorem, or "this work".
    justifies: dotted names of the library functions that rest on it. uses: ids of the theorems
    that its argument needs.
    """

    id: str
    title: str
    parts: tuple[Part, ...]
    steps: Callable[[], tuple[Step, ...]]
    reader: str
    source: str
    justifies: tuple[str, ...]
    uses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mutant:
    """A false claim made of a true one by changing one number.

    where: "step 3" or "part 1"; index counts from 0; claim: the changed relation; at: where in the
    relation the number stands, as a path of argument positions.
    """

    where: str
    index: int
    claim: Any
    change: str

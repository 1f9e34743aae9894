"""Testing a part of a theorem at its instances: formula, independent route and library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy

from bmin_derivations import routes
from bmin_derivations.records import Enclosure, Instance, Part, Verdict
from bmin_derivations.relations import is_strict
from bmin_derivations.symbols import UNKNOWNS
from bminlib import CountingProblem, b_min

_LIBRARY_DIGITS = 24


@dataclass(frozen=True, slots=True)
class Tested:
    """One instance: its verdict, the digits on which formula and route agree, and a reason."""

    verdict: Verdict
    digits: int | None
    reason: str = ""


def meets(part: Part, instance: Instance) -> bool:
    """Whether an instance meets every hypothesis and its symbols' own assumptions."""
    for symbol, value in instance.at.items():
        if symbol.is_integer and not value.is_integer:
            return False
        if symbol.is_positive and not value.is_positive:
            return False
    values = dict(instance.at)
    return all(
        _true(relation.func(relation.lhs.subs(values), relation.rhs.subs(values)))
        for relation in part.hypotheses
    )


def judged(part: Part, instance: Instance, found: Enclosure) -> Tested:
    """Whether the formula lies in the route's enclosure and is the library's value."""
    context = routes.reals()
    if _is_implicit(part.statement):
        return _test_implicit(part, instance, found)
    value = _real(context, part.statement.rhs.subs(dict(instance.at)))
    if not _agrees(part.statement, found, value):
        return Tested(Verdict.REFUTED, None, f"formula {value}, {part.oracle}: {found.low}")
    complaint = _library_complaint(part, instance, value, context)
    if complaint:
        return Tested(Verdict.REFUTED, None, complaint)
    exact = isinstance(part.statement, sympy.Equality)
    return Tested(Verdict.PROVED, _digits(context, found, value) if exact else None)


def _is_implicit(statement: Any) -> bool:
    """Whether the unknown stands on both sides."""
    return bool(statement.rhs.free_symbols & UNKNOWNS)


def _test_implicit(part: Part, instance: Instance, found: Enclosure) -> Tested:
    """An equation for the unknown: its sides cross within the route's enclosure."""
    context = routes.reals()
    residual = (part.statement.lhs - part.statement.rhs).subs(dict(instance.at))
    (unknown,) = residual.free_symbols
    ends = [
        routes.number(context, residual.subs(unknown, sympy.Float(str(end), 40)))
        for end in (found.low, found.high)
    ]
    if not ends[0] * ends[1] < 0:
        return Tested(Verdict.REFUTED, None, f"sides don't cross at {part.oracle}: {found.low}")
    middle = (found.low + found.high) / 2
    complaint = _library_complaint(part, instance, middle, context, 12)
    if complaint:
        return Tested(Verdict.REFUTED, None, complaint)
    return Tested(Verdict.PROVED, _digits(context, found, middle))


def _agrees(statement: Any, found: Enclosure, value: Any) -> bool:
    if is_strict(statement):
        return bool(found.low > value)
    if isinstance(statement, sympy.GreaterThan):
        return bool(found.high >= value)
    return bool(found.low <= value <= found.high)


def _library_complaint(
    part: Part, instance: Instance, value: Any, context: Any, digits: int = _LIBRARY_DIGITS
) -> str:
    """Empty where the library gives the same number."""
    if instance.problem is None or is_strict(part.statement):
        return ""
    text = (part.library or _least_norm_text)(instance.problem)
    if text is None or value == context.inf:
        return "" if text is None and value == context.inf else f"formula {value}, library {text}"
    printed = context.mpf(text)
    if abs(printed - value) <= abs(value) * context.mpf(10) ** -digits:
        return ""
    return f"formula {value}, library {text}"


def _least_norm_text(problem: CountingProblem) -> str | None:
    bound = b_min(problem)
    return bound.decimal(_LIBRARY_DIGITS + 4) if bound.feasible else None


def _digits(context: Any, found: Enclosure, value: Any) -> int | None:
    if value == context.inf:
        return None
    error = max(abs(found.high - value), abs(value - found.low))
    scale = abs(value) if value else 1
    return int(context.floor(-context.log10(error / scale))) if error else None


def _real(context: Any, exact: Any) -> Any:
    return context.inf if exact == sympy.oo else routes.number(context, exact)


def _true(relation: Any) -> bool:
    return bool(sympy.simplify(relation) == sympy.true)

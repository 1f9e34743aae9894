"""False claims made of true ones: one number changed, here and there in a relation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import sympy

from bmin_derivations.decide import decide, fails_at, normal
from bmin_derivations.domain import sample_points
from bmin_derivations.records import Mutant, Part, Step
from bmin_derivations.relations import rebuilt, surplus

_ATOMIC = (sympy.CRootOf,)
_WITH_RESPECT_TO = (sympy.Derivative, sympy.Limit)


def changed_relations(relation: Any) -> Iterator[tuple[Any, str]]:
    """(relation, what changed) for every number in it, changed in one or more ways.

    In an equation each number is raised by 1; in an inequality it is also lowered, negated and
    multiplied by 10, since only some changes make it false. Without a number the right side is
    raised, or made finite.
    """
    found = False
    for side in ("rhs", "lhs"):
        for path, number in _numbers(getattr(relation, side)):
            found = True
            for new in _changes(relation, number):
                sides = {"lhs": relation.lhs, "rhs": relation.rhs}
                sides[side] = _put(sides[side], path, new)
                yield rebuilt(relation, sides["lhs"], sides["rhs"]), f"{number} -> {new} ({side})"
    if not found:
        right = sympy.Integer(1) if relation.rhs.is_infinite else relation.rhs + 1
        yield rebuilt(relation, relation.lhs, right), f"{relation.rhs} -> {right}"


def _changes(relation: Any, number: Any) -> tuple[Any, ...]:
    raised = number + 1 if number != -1 else sympy.Integer(-2)
    if isinstance(relation, sympy.Equality):
        return (raised,)
    return tuple(new for new in (raised, number - 1, -number, 10 * number) if new != number)


def step_mutants(step: Step, index: int) -> Iterator[Mutant]:
    """Mutants of a step's claim that are false, as a point of its domain shows."""
    for claim, change in changed_relations(step.claim):
        if is_false(replace(step, claim=claim)):
            yield Mutant("step", index, claim, change)


def part_mutants(part: Part, index: int) -> Iterator[Mutant]:
    """Mutants of a part's statement."""
    for claim, change in changed_relations(part.statement):
        yield Mutant("part", index, claim, change)


def killed(step: Step, mutant: Mutant) -> bool:
    """Whether the check doesn't prove a mutant of the step."""
    return not decide(replace(step, claim=mutant.claim)).proved


def is_false(step: Step) -> bool:
    """Whether sampled points of the domain contradict the claim, by plain evaluation.

    An equation must fail at two points, since one may be singular.
    """
    claim = step.claim
    gap = surplus(rebuilt(claim, normal(claim.lhs), normal(claim.rhs)))
    alternatives = [(*step.given, case) for case in step.cases] or [step.given]
    return any(_fails(claim, gap, given) for given in alternatives)


def _fails(claim: Any, gap: Any, given: tuple[Any, ...]) -> bool:
    symbols = gap.free_symbols.union(*(relation.free_symbols for relation in given))
    points = islice(sample_points(symbols, given), 40)
    wanted = 2 if isinstance(claim, sympy.Equality) and gap.free_symbols else 1
    bad = (point for point in points if fails_at(claim, gap, point))
    return len(list(islice(bad, wanted))) == wanted


def _numbers(expression: Any, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Any]]:
    """(path, number) of every rational number in an expression."""
    if isinstance(expression, sympy.Rational):
        yield path, expression
    elif not isinstance(expression, _ATOMIC):
        outermost = isinstance(expression, _WITH_RESPECT_TO)
        for place, part in enumerate(expression.args[: 1 if outermost else None]):
            yield from _numbers(part, (*path, place))


def _put(expression: Any, path: tuple[int, ...], new: Any) -> Any:
    """The expression with the part at `path` replaced."""
    if not path:
        return new
    args = list(expression.args)
    args[path[0]] = _put(args[path[0]], path[1:], new)
    return expression.func(*args)

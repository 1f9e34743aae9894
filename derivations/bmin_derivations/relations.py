"""Sympy relations that stay as written: none of them evaluates itself to true or false."""

from __future__ import annotations

from typing import Any

import sympy


def eq(left: Any, right: Any) -> Any:
    """left = right."""
    return sympy.Eq(left, right, evaluate=False)


def ge(left: Any, right: Any) -> Any:
    """left >= right."""
    return sympy.Ge(left, right, evaluate=False)


def gt(left: Any, right: Any) -> Any:
    """left > right."""
    return sympy.Gt(left, right, evaluate=False)


def le(left: Any, right: Any) -> Any:
    """left <= right."""
    return sympy.Le(left, right, evaluate=False)


def lt(left: Any, right: Any) -> Any:
    """left < right."""
    return sympy.Lt(left, right, evaluate=False)


def product(*factors: Any) -> Any:
    """A product that stays as written, for a page to show."""
    return sympy.Mul(*factors, evaluate=False)


def total(*terms: Any) -> Any:
    """A sum that stays as written."""
    return sympy.Add(*terms, evaluate=False)


def at(formula: Any, *pairs: tuple[Any, Any]) -> Any:
    """A formula at values of its symbols, the substitution left for the check to carry out."""
    symbols, values = zip(*pairs, strict=True)
    return sympy.Subs(formula, symbols, values)


def rebuilt(relation: Any, left: Any, right: Any) -> Any:
    """A relation of the same kind between other sides."""
    return relation.func(left, right, evaluate=False)


def is_strict(relation: Any) -> bool:
    """Whether it is < or >."""
    return isinstance(relation, sympy.StrictGreaterThan | sympy.StrictLessThan)


def is_lower(relation: Any) -> bool:
    """Whether it bounds its left side from below (> or >=)."""
    return isinstance(relation, sympy.GreaterThan | sympy.StrictGreaterThan)


def surplus(relation: Any) -> Any:
    """The expression that the relation says is >= 0, > 0 or (for an equation) = 0."""
    if isinstance(relation, sympy.LessThan | sympy.StrictLessThan):
        return relation.rhs - relation.lhs
    return relation.lhs - relation.rhs


def substituted(relation: Any, values: Any) -> Any:
    """The relation with symbols replaced on both sides, still unevaluated."""
    return rebuilt(relation, relation.lhs.subs(values), relation.rhs.subs(values))

"""B_min and a user's formula at one length, as nodes that compare exactly."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import TYPE_CHECKING

from bmin_derivations.formula import Node
from bmin_derivations.formula_values import OpenValueError, ball, number, settled, sign
from bminlib import CountingProblem, b_min
from bminlib.expressions import Expression
from bminlib.powers import RationalPower, rational_power

if TYPE_CHECKING:
    from bminlib.expressions import Number

_DIGITS = 12
_BITS = (96, 256, 1024, 4096)
_OPERATIONS = {"exp": "exp", "log": "log", "lambertw": "LambertW", "root2": "sqrt"}


def names(problem: CountingProblem) -> dict[str, Node]:
    """L, d and tau of a problem."""
    return {"L": number(problem.L), "d": number(problem.d), "tau": exact(problem.score_scale)}


def formula_at(root: Node, problem: CountingProblem) -> Node:
    """The formula's value as a settled node; raises OpenValueError where it is no real number."""
    value = settled(root, names(problem))
    if not any(ball(value, bits).is_finite() for bits in (64, 1024)):
        raise OpenValueError(f"the formula has no real value at L = {problem.L}")
    return value


def norm_at(problem: CountingProblem, length: int) -> Node | None:
    """B_min at a length; None where no parameters count."""
    value = b_min(dataclasses.replace(problem, L=length)).value
    return None if value is None else exact(value)


def exact(value: Number) -> Node:
    """A library number as a node."""
    if isinstance(value, int | Fraction):
        return number(value)
    if isinstance(value, RationalPower):
        root = number(value.radicand)
        return root if value.degree == 1 else Node("**", (root,), Fraction(1, value.degree))
    if not isinstance(value, Expression):
        return Node("value", value=value)
    parts = tuple(exact(argument) for argument in value.arguments)
    if value.operation == "value":
        return parts[0]
    if value.operation == "root4":
        return Node("**", parts, Fraction(1, 4))
    return Node(_OPERATIONS.get(value.operation, value.operation), parts)


def decimal(node: Node) -> str:
    """A settled node to 12 significant digits, correctly rounded."""
    side = sign(node)
    if side == 0:
        return "0"
    size = node if side != -1 else Node("neg", (node,))
    for bits in _BITS:
        value = ball(size, bits)
        ends = [_fraction(end) for end in (value.lower(), value.upper())] if value > 0 else []
        texts = {rational_power(end).decimal(_DIGITS) for end in ends}
        if len(texts) == 1:
            return ("-" if side == -1 else "") + texts.pop()
    raise OpenValueError("digits that balls don't settle")


def _fraction(end: object) -> Fraction:
    """An exact ball as a fraction."""
    mantissa, exponent = end.man_exp()  # type: ignore[attr-defined]
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)

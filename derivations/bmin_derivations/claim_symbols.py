"""A user's formula as a sympy expression on a residue class of L, and as a power of L^(1/q)."""

from __future__ import annotations

from math import lcm
from typing import Any

import sympy

from bmin_derivations.formula import Node
from bminlib import CountingProblem

L = sympy.Symbol("L", positive=True)
s = sympy.Symbol("s", positive=True)  # L^(1/q)

MAX_MODULUS = 48


class NotAlgebraicError(ArithmeticError):
    """A formula that no power turns into a rational function of L^(1/q), class by class."""


class _FinerClassError(ArithmeticError):
    """An integer part that needs a finer residue class."""

    def __init__(self, modulus: int) -> None:
        super().__init__(modulus)
        self.modulus = modulus


def on_classes(root: Node, problem: CountingProblem, modulus: int) -> list[Any]:
    """The formula on each residue class of L, a list whose length is the modulus used.

    It is a multiple of `modulus` at which every floor and ceil is a polynomial. Raises
    NotAlgebraicError where there is none.
    """
    while modulus <= MAX_MODULUS:
        try:
            return [_on_class(root, problem, rest, modulus) for rest in range(modulus)]
        except _FinerClassError as error:
            modulus = lcm(modulus, error.modulus)
    raise NotAlgebraicError("integer parts of too many kinds")


def plain(root: Node, problem: CountingProblem) -> Any:
    """The formula in L, floor and ceil left as they are."""
    return _sympy(root, _names(problem), sympy.floor)


def in_root(expression: Any) -> tuple[int, Any]:
    """(q, the expression in s = L^(1/q)) with no fractional power of L left."""
    degrees = [
        power.exp.q
        for power in expression.atoms(sympy.Pow)
        if power.base == L and power.exp.is_Rational
    ]
    q = lcm(1, *degrees)
    return q, expression.subs(L, s**q)


def is_rational(expression: Any) -> bool:
    """Whether it is a rational function of s."""
    return bool(expression.is_rational_function(s))


def _on_class(root: Node, problem: CountingProblem, rest: int, modulus: int) -> Any:
    def floor(inner: Any) -> Any:
        return _class_floor(sympy.expand(inner), rest, modulus)

    return _sympy(root, _names(problem), floor)


def _class_floor(inner: Any, rest: int, modulus: int) -> Any:
    """floor of a polynomial P(L)/q with integer P: (P(L) - P(rest) mod q)/q."""
    if not inner.is_polynomial(L):
        raise NotAlgebraicError("an integer part of something that is no polynomial in L")
    coefficients = sympy.Poly(inner, L).all_coeffs()
    if not all(value.is_Rational for value in coefficients):
        raise NotAlgebraicError("an integer part with irrational coefficients")
    q = lcm(1, *(int(value.q) for value in coefficients))
    if modulus % q:
        raise _FinerClassError(q)
    return (inner * q - int((inner * q).subs(L, rest)) % q) / q


def _names(problem: CountingProblem) -> dict[str, Any]:
    scale = sympy.sympify(problem.score_scale.text)
    return {"L": L, "d": sympy.Integer(problem.d), "tau": scale}


def _sympy(node: Node, names: dict[str, Any], floor: Any) -> Any:
    if node.op == "number":
        return sympy.Rational(*node.value.as_integer_ratio())
    if node.op == "name":
        return names[node.value]
    parts = [_sympy(part, names, floor) for part in node.parts]
    if node.op == "**":
        return parts[0] ** sympy.Rational(*node.value.as_integer_ratio())
    if node.op == "floor":
        return floor(parts[0])
    if node.op == "ceil":
        return -floor(-parts[0])
    return _ON_SYMPY[node.op](*parts)


_ON_SYMPY: dict[str, Any] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / y,
    "neg": lambda x: -x,
    "sqrt": sympy.sqrt,
    "log": sympy.log,
    "exp": sympy.exp,
}

"""Values of formulas in balls, and exact signs: rising precision, then a separation bound.

The bound is that of Burnikel, Fleischer, Funke, Mehlhorn and Schirra (2001): an expression over
integers with + - * / and k-th roots is 0 or at least 1/(u^(D-1) l) in size, where D is the product
of the degrees of its roots and u, l follow from its parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from bmin_derivations.formula import Node

if TYPE_CHECKING:
    from flint import arb

_BITS = (64, 128, 512, 2048)
_MOST_BITS = 1 << 18  # a separation bound beyond this is not used
_LAMBERT = "LambertW"


class OpenValueError(ArithmeticError):
    """A value that stayed open: no real number, or an integer part that balls don't settle."""


@dataclass(frozen=True, slots=True)
class _Size:
    """log2 of u and l, and the degrees of the roots met."""

    u: float
    l: float  # noqa: E741 - the letter of the published bound
    roots: Mapping[Node, int]


def number(value: int | Fraction) -> Node:
    """A rational number as a node."""
    return Node("number", value=Fraction(value))


def settled(node: Node, values: Mapping[str, Node]) -> Node:
    """The node with its names replaced and every floor and ceil computed.

    Raises OpenValueError where an integer part can't be told.
    """
    if node.op == "name":
        return values[str(node.value)]
    parts = tuple(settled(part, values) for part in node.parts)
    if node.op not in ("floor", "ceil"):
        return Node(node.op, parts, node.value)
    if node.op == "ceil":
        return number(-_floor(Node("neg", parts)))
    return number(_floor(parts[0]))


def ball(node: Node, bits: int) -> arb:
    """An enclosure of a settled node; not finite where it has no real value."""
    from flint import ctx

    with ctx.workprec(bits + 16):
        return _ball(node)


def sign(node: Node) -> int | None:
    """-1, 0 or 1 for a settled node; None where no precision tells."""
    for bits in _BITS:
        value = ball(node, bits)
        if not value.is_finite():
            continue
        if value > 0:
            return 1
        if value < 0:
            return -1
        if value.is_exact() and value == 0:
            return 0
    return _sign_by_separation(node)


def difference(left: Node, right: Node) -> Node:
    """left - right."""
    return Node("-", (left, right))


def _sign_by_separation(node: Node) -> int | None:
    size = _size(node)
    if size is None:
        return None
    degree = 1
    for root in size.roots.values():
        degree *= root
    needed = (degree - 1) * max(size.u, 0.0) + max(size.l, 0.0) + 8
    if needed > _MOST_BITS:
        return None
    value = ball(node, int(needed) * 2 + 64)
    if not value.is_finite():
        return None
    if value > 0 or value < 0:
        return 1 if value > 0 else -1
    from flint import arb

    return 0 if abs(value) < arb(2) ** -int(needed + 1) else None


def _floor(node: Node) -> int:
    """The integer part, settled at the boundary by an exact sign."""
    for bits in _BITS:
        value = ball(node, bits)
        whole = value.floor().unique_fmpz() if value.is_finite() else None
        if whole is not None:
            return int(whole)
        nearest = value.unique_fmpz() if value.is_finite() else None
        if nearest is not None:
            side = sign(difference(node, number(int(nearest))))
            if side is not None:
                return int(nearest) - (side < 0)
    raise OpenValueError("an integer part that balls don't settle")


def _ball(node: Node) -> arb:
    from flint import arb, ctx, fmpq

    if node.op == "number" and isinstance(node.value, Fraction):
        return arb(fmpq(*node.value.as_integer_ratio()))
    if node.op == "value":
        enclosure: arb = node.value.ball(ctx.prec)
        return enclosure
    parts = [_ball(part) for part in node.parts]
    if node.op == "**" and isinstance(node.value, Fraction):
        return _power(parts[0], node.value)
    result: arb = _ON_BALLS[node.op](*parts)
    return result


def _power(base: arb, exponent: Fraction) -> arb:
    above, below = exponent.as_integer_ratio()
    root = base if below == 1 else base.root(below)
    return root**above


_ON_BALLS: dict[str, Any] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / y,
    "neg": lambda x: -x,
    "sqrt": lambda x: x.sqrt(),
    "log": lambda x: x.log(),
    "exp": lambda x: x.exp(),
    _LAMBERT: lambda x: x.lambertw(),
}


def _size(node: Node) -> _Size | None:
    """What the separation bound needs; None for a transcendental part."""
    if node.op == "number" and isinstance(node.value, Fraction):
        above, below = node.value.as_integer_ratio()
        return _Size(_log2(abs(above)), _log2(below), {})
    if node.op in ("log", "exp", _LAMBERT, "value"):
        return None
    sizes = [_size(part) for part in node.parts]
    if any(size is None for size in sizes):
        return None
    known = [size for size in sizes if size is not None]
    if node.op == "neg":
        return known[0]
    if node.op == "sqrt":
        return _root_size(node, known[0], Fraction(1, 2))
    if node.op == "**" and isinstance(node.value, Fraction):
        return _root_size(node, known[0], node.value)
    x, y = known
    roots = {**x.roots, **y.roots}
    if node.op == "*":
        return _Size(x.u + y.u, x.l + y.l, roots)
    if node.op == "/":
        return _Size(x.u + y.l, x.l + y.u, roots)
    return _Size(max(x.u + y.l, x.l + y.u) + 1, x.l + y.l, roots)


def _root_size(node: Node, base: _Size, exponent: Fraction) -> _Size:
    """u^(1/k) l^((k-1)/k) over l for the root, then an integer power (inverted if negative)."""
    above, below = exponent.as_integer_ratio()
    u, l = (base.u + (below - 1) * base.l) / below, base.l  # noqa: E741
    roots = dict(base.roots)
    if below > 1:
        roots[node] = below
    power = abs(above)
    u, l = (power * u, power * l) if above >= 0 else (power * l, power * u)  # noqa: E741
    return _Size(u, l, roots)


def _log2(integer: int) -> float:
    """An upper bound of log2 for an integer >= 0 (0 counts as 1)."""
    return float(max(integer, 1).bit_length())

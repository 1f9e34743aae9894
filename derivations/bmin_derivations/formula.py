"""A user's formula in L, d and tau: a whitelist over Python's syntax tree, nothing is executed."""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from bminlib.errors import DomainError, shown

if TYPE_CHECKING:
    from typing import NoReturn

NAMES = ("L", "d", "tau")
FUNCTIONS = ("sqrt", "log", "exp", "floor", "ceil")
MAX_CHARACTERS = 1000
MAX_DEPTH = 40
MAX_EXPONENT = 64  # of numerator and denominator, and of their products along a nest of powers
MAX_EXP_NEST = 2

_LITERAL = re.compile(r"(?:\d{1,50}(?:\.\d{0,50})?|\.\d{1,50})(?:[eE][+-]?\d{1,2})?")
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Pow: "**",
}
_REMEDY = "use L, d, tau, numbers, + - * / **, brackets, sqrt, log, exp, floor, ceil"


@dataclass(frozen=True, slots=True)
class Node:
    """One operation of a formula.

    op: "number" (value), "name" (value), "+", "-", "*", "/" (two parts), "neg", a function (one
    part), or "**" (one part, value: the rational exponent). "value" is a number of the library.
    """

    op: str
    parts: tuple[Node, ...] = ()
    value: Any = None


def parse(text: str) -> Node:
    """The tree of a formula; raises DomainError, one sentence, for anything else.

    Bounded in time and memory: length, brackets, depth, literals and exponents are limited before
    anything is built from them, and no value is computed beyond constant exponents.
    """
    _check_text(text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the tokenizer warns of "1if", which is refused below
            tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        _refuse(text, "is not a formula")
    root = _Reader(text.strip()).node(tree.body, 0)
    _check_growth(root, text)
    return root


def _check_text(text: str) -> None:
    if not isinstance(text, str) or not text.strip():
        _refuse(text, "is no formula")
    if len(text) > MAX_CHARACTERS:
        raise DomainError(
            f"a formula of {len(text)} characters: at most {MAX_CHARACTERS} are read; shorten it"
        )
    if not text.isascii() or not text.isprintable():
        _refuse(text, "holds characters that no formula needs")
    if "^" in text:
        _refuse(text, "holds ^; a power is written **", "")
    depth = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if depth > MAX_DEPTH:
            raise DomainError(
                f"{shown(text)}: brackets are nested more than {MAX_DEPTH} deep; simplify it"
            )


class _Reader:
    """Turns the nodes of Python's syntax tree into ours, whitelisted."""

    def __init__(self, text: str) -> None:
        self.text = text

    def node(self, tree: ast.expr, depth: int) -> Node:
        if depth > 2 * MAX_DEPTH:
            raise DomainError(
                f"{shown(self.text)}: operations are nested more than {2 * MAX_DEPTH} deep; "
                "simplify it"
            )
        if isinstance(tree, ast.Constant):
            return Node("number", value=self._literal(tree))
        if isinstance(tree, ast.Name):
            return self._name(tree)
        if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.UAdd | ast.USub):
            inner = self.node(tree.operand, depth + 1)
            return inner if isinstance(tree.op, ast.UAdd) else Node("neg", (inner,))
        if isinstance(tree, ast.BinOp) and type(tree.op) in _OPERATORS:
            return self._operation(tree, depth)
        if isinstance(tree, ast.Call):
            return self._call(tree, depth)
        return self._stop(tree)

    def _operation(self, tree: ast.BinOp, depth: int) -> Node:
        left = self.node(tree.left, depth + 1)
        operator = _OPERATORS[type(tree.op)]
        if operator == "**":
            return Node("**", (left,), self._exponent(tree.right, depth + 1))
        return Node(operator, (left, self.node(tree.right, depth + 1)))

    def _call(self, tree: ast.Call, depth: int) -> Node:
        if not isinstance(tree.func, ast.Name) or tree.keywords or len(tree.args) != 1:
            self._stop(tree)
        if tree.func.id not in FUNCTIONS:
            self._stop(tree.func)
        return Node(tree.func.id, (self.node(tree.args[0], depth + 1),))

    def _name(self, tree: ast.Name) -> Node:
        if tree.id not in NAMES:
            self._stop(tree)
        return Node("name", value=tree.id)

    def _literal(self, tree: ast.Constant) -> Fraction:
        """The exact decimal that was written: 0.1 is 1/10."""
        written = ast.get_source_segment(self.text, tree) or ""
        if not _LITERAL.fullmatch(written):
            self._stop(tree)
        return Fraction(written)

    def _exponent(self, tree: ast.expr, depth: int) -> Fraction:
        value = _constant(self.node(tree, depth))
        if value is None or max(abs(value.numerator), value.denominator) > MAX_EXPONENT:
            raise DomainError(
                f"{shown(self.text)}: an exponent must be a plain number such as 3/2, with "
                f"numerator and denominator up to {MAX_EXPONENT}; write exp(x*log(y)) for others"
            )
        return value

    def _stop(self, tree: ast.expr) -> NoReturn:
        part = ast.get_source_segment(self.text, tree) or self.text
        _refuse(self.text, f"holds {shown(part)}, which no formula may")


def _constant(node: Node) -> Fraction | None:
    """The value of an exponent built from few small numbers by + - * /; None for others."""
    if node.op == "number" and isinstance(node.value, Fraction):
        return node.value
    values = [_constant(part) for part in node.parts]
    if any(value is None for value in values) or node.op not in ("neg", "+", "-", "*", "/"):
        return None
    known = [value for value in values if value is not None]
    if node.op == "neg":
        return -known[0]
    left, right = known
    if node.op == "/":
        return left / right if right else None
    return {"+": left + right, "-": left - right, "*": left * right}[node.op]


def _check_growth(root: Node, text: str) -> None:
    """Refuses nests of powers and of exp that would grow beyond all use."""
    stack = [(root, 1, 1, 0)]
    while stack:
        node, up, down, nest = stack.pop()
        if node.op == "**" and isinstance(node.value, Fraction):
            up, down = up * max(1, abs(node.value.numerator)), down * node.value.denominator
        down *= 2 if node.op == "sqrt" else 1
        nest += node.op == "exp"
        if max(up, down) > MAX_EXPONENT or nest > MAX_EXP_NEST:
            raise DomainError(
                f"{shown(text)}: powers within powers reach beyond {MAX_EXPONENT}, or exp is "
                f"nested more than {MAX_EXP_NEST} deep; simplify it"
            )
        stack += [(part, up, down, nest) for part in node.parts]


def _refuse(text: object, what: str, remedy: str = _REMEDY) -> NoReturn:
    end = f"; {remedy}" if remedy else "; write L**(3/2)"
    raise DomainError(f"formula {shown(text)} {what}{end}") from None

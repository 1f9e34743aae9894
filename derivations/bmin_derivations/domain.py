"""Hypotheses as a change of variables: L >= 4 becomes L = 4 + t with t >= 0."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import sympy

from bmin_derivations.relations import is_lower, is_strict


@dataclass(frozen=True, slots=True)
class Chart:
    """Symbols as expressions in slacks t >= 0 (or > 0) that cover a domain.

    open_end: bounds (symbol, value) of closed intervals that the chart only approaches.
    """

    of: dict[Any, Any]
    open_end: tuple[tuple[Any, Any], ...] = ()

    def pull(self, expression: Any) -> Any:
        """The expression in terms of the slacks."""
        for _ in range(len(self.of) + 1):
            changed = expression.subs(self.of)
            if changed == expression:
                return expression
            expression = changed
        raise ValueError(f"hypotheses chase each other in a circle: {sorted(map(str, self.of))}")

    def text(self) -> str:
        """`L = 4 + t1, c = t2`, for people."""
        return ", ".join(f"{symbol} = {value}" for symbol, value in self.of.items())


def chart(given: Iterable[Any]) -> Chart:
    """The chart of hypotheses whose left side is the symbol they bound."""
    bounds: dict[Any, list[Any]] = {}
    for relation in given:
        if not isinstance(relation.lhs, sympy.Symbol):
            raise TypeError(f"{relation}: a hypothesis must have one symbol on its left")
        bounds.setdefault(relation.lhs, []).append(relation)
    of, ends = {}, []
    for number, (symbol, relations) in enumerate(bounds.items(), 1):
        if len(relations) == 1:
            of[symbol] = _half_line(symbol, relations[0], number)
        else:
            low, high = _interval(relations)
            slack = _slack(number, is_strict(low), integer=False)
            of[symbol] = (low.rhs + high.rhs * slack) / (1 + slack)
            if not is_strict(high):
                ends.append((symbol, high.rhs))
    return Chart(of, tuple(ends))


def _half_line(symbol: Any, relation: Any, number: int) -> Any:
    if isinstance(relation, sympy.Equality):
        return relation.rhs
    integer = bool(symbol.is_integer and relation.rhs.is_integer)
    strict = is_strict(relation)
    distance = _slack(number, strict and not integer, integer)
    if strict and integer:
        distance = distance + 1
    return relation.rhs + distance if is_lower(relation) else relation.rhs - distance


def _interval(relations: list[Any]) -> tuple[Any, Any]:
    low = [relation for relation in relations if is_lower(relation)]
    high = [relation for relation in relations if not is_lower(relation)]
    if len(low) != 1 or len(high) != 1:
        raise TypeError(f"{relations}: a symbol takes one bound, or one from each side")
    return low[0], high[0]


def _slack(number: int, positive: bool, integer: bool) -> Any:
    kind = {"positive": True} if positive else {"nonnegative": True}
    if integer:
        kind["integer"] = True
    return sympy.Symbol(f"t{number}", **kind)


def exhaustive(cases: tuple[Any, ...]) -> bool:
    """Whether two cases `x <= u` and `x >= v` leave nothing out: v <= u (integers: v <= u + 1)."""
    if len(cases) != 2 or cases[0].lhs != cases[1].lhs:
        return False
    low, high = sorted(cases, key=is_lower)
    if is_lower(low) or not is_lower(high) or (is_strict(low) and is_strict(high)):
        return False
    whole = low.lhs.is_integer and low.rhs.is_integer and high.rhs.is_integer
    room = 1 if whole and not is_strict(low) and not is_strict(high) else 0
    return bool(sympy.simplify(low.rhs + room - high.rhs).is_nonnegative)


def sample_points(symbols: Iterable[Any], given: tuple[Any, ...]) -> Iterator[dict[Any, Any]]:
    """Deterministic exact points that meet the hypotheses and the symbols' own assumptions."""
    import random

    layout, source = chart(given), random.Random(0)
    images = {symbol: layout.pull(symbol) for symbol in symbols}
    free = set().union(*(image.free_symbols for image in images.values())) if images else set()
    for trial in range(80):
        draw = {s: _draw(s, source, trial) for s in sorted(free, key=str)}
        point = {symbol: image.subs(draw) for symbol, image in images.items()}
        if all(_belongs(symbol, value) for symbol, value in point.items()):
            yield point


def _draw(symbol: Any, source: Any, trial: int) -> Any:
    """A small number, often 0 or below 1, larger ones as trials go on."""
    top = 3 + trial // 4
    value = sympy.Integer(min(source.randint(0, top), source.randint(0, top)))
    if not symbol.is_integer and source.random() < 0.8:
        scale = source.choice((1, top))
        value = sympy.Rational(source.randint(0, 12 * scale), 13)
    if symbol.is_positive and value == 0:
        return sympy.Integer(1)
    return -value if _either_sign(symbol) and source.random() < 0.5 else value


def _either_sign(symbol: Any) -> bool:
    return symbol.is_nonnegative is None


def _belongs(symbol: Any, value: Any) -> bool:
    if not value.is_finite:
        return False
    wanted = {
        "integer": symbol.is_integer,
        "positive": symbol.is_positive,
        "nonnegative": symbol.is_nonnegative,
    }
    return all(getattr(value, f"is_{name}") for name, holds in wanted.items() if holds)

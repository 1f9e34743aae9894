"""Deciding a step: identities by exact simplification, inequalities by signs, limits by sympy."""

from __future__ import annotations

from functools import cache
from itertools import islice
from typing import Any

import sympy

from bmin_derivations.domain import chart, exhaustive, sample_points
from bmin_derivations.records import Decision, Step, Verdict
from bmin_derivations.relations import is_strict, rebuilt, surplus
from bmin_derivations.signs import sign_of

_TRIGONOMETRIC = (sympy.sin, sympy.cos, sympy.tan, sympy.cot)
_CLEARLY = sympy.Rational(1, 10**12)


@cache
def decide(step: Step) -> Decision:
    """Proved, refuted (by a point that meets the hypotheses) or undecided, with the argument.

    Remembered, since theorems share steps.
    """
    if not step.cases:
        return _decide_under(step.claim, step.given)
    if not exhaustive(step.cases):
        return Decision(Verdict.UNDECIDED, "the cases may leave something out")
    found = [_decide_under(step.claim, (*step.given, case)) for case in step.cases]
    worst = next((decision for decision in found if not decision.proved), found[0])
    return worst if not worst.proved else Decision(Verdict.PROVED, f"in each case: {worst.how}")


def normal(expression: Any) -> Any:
    """Derivatives and limits carried out, integer parts taken out of floors, W e^W = z used."""
    expression = expression.doit()
    expression = expression.replace(sympy.floor, lambda inner: sympy.floor(sympy.expand(inner)))
    return expression.replace(_is_exp_of_lambert, _exp_of_lambert)


def is_zero(expression: Any) -> bool | None:
    """Whether an expression vanishes identically; None where sympy can't tell."""
    numerator = sympy.numer(sympy.together(expression))
    if sympy.expand(numerator) == 0:
        return True
    if numerator.has(*_TRIGONOMETRIC):
        rational = half_angles(expression)
        return None if rational.has(*_TRIGONOMETRIC) else is_zero(rational)
    if numerator.is_polynomial(*numerator.free_symbols) and numerator.free_symbols:
        return bool(sympy.Poly(numerator, *numerator.free_symbols).is_zero)
    if nonzero_somewhere(expression):
        return False
    if sympy.simplify(numerator) == 0:
        return True
    known: bool | None = numerator.equals(0) if numerator.is_number else None
    return known


def nonzero_somewhere(expression: Any) -> bool:
    """Whether a value at some point of a fixed list is clearly not 0."""
    for point in islice(sample_points(expression.free_symbols, ()), 3):
        value = sympy.N(expression.subs(point), 30)
        if value.is_number and value.is_finite and abs(value) > _CLEARLY:
            return True
    return False


def half_angles(expression: Any) -> Any:
    """Trigonometric functions of x as rational functions of h = tan(x/2)."""
    values: dict[Any, Any] = {}
    for angle in sorted(expression.free_symbols, key=str):
        h = sympy.Dummy(f"h_{angle}", real=True)
        values |= {
            sympy.tan(angle / 2): h,
            sympy.sin(angle): 2 * h / (1 + h**2),
            sympy.cos(angle): (1 - h**2) / (1 + h**2),
            sympy.tan(angle): 2 * h / (1 - h**2),
            sympy.cot(angle): (1 - h**2) / (2 * h),
        }
    return sympy.expand_trig(expression).xreplace(values)


def _decide_under(claim: Any, given: tuple[Any, ...]) -> Decision:
    goal = rebuilt(claim, normal(claim.lhs), normal(claim.rhs))
    equation = isinstance(claim, sympy.Equality)
    decision = _equation(goal, given) if equation else _inequality(goal, given)
    if decision.verdict is not Verdict.UNDECIDED:
        return decision
    return _refutation(goal, given) or decision


def _equation(goal: Any, given: tuple[Any, ...]) -> Decision:
    if goal.lhs == goal.rhs:
        return Decision(Verdict.PROVED, "both sides are the same expression")
    if sympy.oo in (abs(goal.lhs), abs(goal.rhs)):
        return Decision(Verdict.REFUTED, "one side is infinite, the other isn't")
    layout = chart(given)
    difference = normal(layout.pull(surplus(goal)))
    if is_zero(difference):
        return Decision(Verdict.PROVED, "the difference of both sides simplifies to 0")
    return Decision(Verdict.UNDECIDED, "the difference doesn't simplify to 0")


def _inequality(goal: Any, given: tuple[Any, ...]) -> Decision:
    layout = chart(given)
    wanted = surplus(goal)
    if not _has_sign(normal(layout.pull(wanted)), is_strict(goal)):
        return Decision(Verdict.UNDECIDED, "the signs of the factors aren't all known")
    for symbol, end in layout.open_end:
        rest = tuple(relation for relation in given if relation.lhs != symbol)
        if not _inequality(
            rebuilt(goal, goal.lhs.subs(symbol, end), goal.rhs.subs(symbol, end)), rest
        ).proved:
            return Decision(Verdict.UNDECIDED, f"open at the end {symbol} = {end}")
    at = f" at {layout.text()}, all t >= 0" if layout.of else ""
    return Decision(Verdict.PROVED, f"every factor of the difference has a known sign{at}")


def _has_sign(expression: Any, strict: bool) -> bool:
    found = sign_of(expression)
    if found is None:
        return False
    sign, known_strict = found
    if sign == 1:
        return known_strict or not strict
    return not strict and not known_strict and bool(is_zero(expression))


def _refutation(goal: Any, given: tuple[Any, ...]) -> Decision | None:
    """A point at which the claim fails; two for an equation, where one may be singular."""
    gap, failures = surplus(goal), []
    wanted = 2 if isinstance(goal, sympy.Equality) and gap.free_symbols else 1
    symbols = gap.free_symbols.union(*(relation.free_symbols for relation in given))
    for point in sample_points(symbols, given):
        if fails_at(goal, gap, point):
            failures.append(point)
        if len(failures) == wanted:
            where = ", ".join(f"{symbol} = {number}" for symbol, number in failures[-1].items())
            return Decision(Verdict.REFUTED, f"fails at {where}" if where else "fails")
    return None


def fails_at(goal: Any, gap: Any, point: Any) -> bool:
    """Whether the value of `gap` at a point contradicts the claim, by plain evaluation."""
    value = sympy.N(gap.subs(point), 30)
    if not value.is_number or not value.is_real or not value.is_finite:
        return False
    if isinstance(goal, sympy.Equality):
        return bool(abs(value) > _CLEARLY)
    return bool(value < -_CLEARLY or (is_strict(goal) and normal(gap.subs(point)).is_zero))


def _is_exp_of_lambert(expression: Any) -> bool:
    return isinstance(expression, sympy.exp) and expression.has(sympy.LambertW)


def _exp_of_lambert(expression: Any) -> Any:
    """exp(n W(z) + rest) as (z/W(z))^n exp(rest)."""
    product = sympy.Integer(1)
    for term in sympy.Add.make_args(sympy.expand(expression.args[0])):
        coefficient, inner = term.as_coeff_Mul()
        if coefficient.is_Integer and isinstance(inner, sympy.LambertW):
            product *= (inner.args[0] / inner) ** coefficient
        else:
            product *= sympy.exp(term)
    return product

"""Whether a claim about B_min holds for all lengths: exact formulas on classes of L, then signs.

On each residue class of L a power of B_min is a rational function of L. If the same power of the
formula is one of s = L^(1/q), the claim is an inequality between polynomials in s; a shift
s = s1 + t whose coefficients have one sign proves it from L = s1^q on, and the lengths below are
tested one by one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import sympy

from bmin_derivations.claim_classes import NormPower, norm_power
from bmin_derivations.claim_symbols import (
    L,
    NotAlgebraicError,
    in_root,
    is_rational,
    on_classes,
    plain,
    s,
)
from bmin_derivations.claim_values import formula_at, norm_at
from bmin_derivations.formula import Node
from bmin_derivations.formula_values import OpenValueError, difference, sign
from bmin_derivations.records import Verdict
from bminlib import CountingProblem, b_min, max_length

MAX_TESTED = 20_000  # lengths below a proof's first, tested one by one
_HOLDS = {"lower": (-1, 0), "upper": (0, 1), "equal": (0,)}
_POWERS = (1, 2, 3, 4, 6, 8)
_LARGEST_SHIFT = 1 << 14


@dataclass(frozen=True, slots=True)
class Beyond:
    """The verdict for every length from a first one on, its reason, and the limit of the ratio."""

    verdict: Verdict
    reason: str
    limit: str | None


@dataclass(frozen=True, slots=True)
class _Tail:
    """On one class, from L = first on: the sign of formula - B_min, and the ratio's limit."""

    side: int
    first: int
    limit: Any


def beyond(root: Node, kind: str, problem: CountingProblem, start: int) -> Beyond:
    """What can be proved about the claim for all L >= start."""
    last = max_length(problem)
    if last is not None:
        return _up_to(root, kind, problem, start, last)
    power = norm_power(problem)
    if power is None:
        return Beyond(Verdict.UNDECIDED, "B_min is 0 at every length", None)
    try:
        forms = on_classes(root, problem, power.modulus)
        tails = [_tail(form, power, rest) for rest, form in enumerate(forms)]
    except NotAlgebraicError as error:
        return _by_limit_alone(root, kind, problem, str(error))
    limits = {tail.limit for tail in tails}
    limit = limits.pop() if len(limits) == 1 else None
    text = None if limit is None else sympy.sstr(limit)
    if kind == "asymptotic":
        return _asymptotic(limit, text)
    verdict, reason = _all_lengths(root, kind, problem, start, tails)
    return Beyond(verdict, reason, text)


def _all_lengths(
    root: Node, kind: str, problem: CountingProblem, start: int, tails: list[_Tail]
) -> tuple[Verdict, str]:
    first = max(tail.first for tail in tails)
    for rest, tail in enumerate(tails):
        if tail.side not in _HOLDS[kind]:
            length = max(first, start)
            length += (rest - length) % len(tails)
            step = len(tails) if any(other.side != tail.side for other in tails) else 1
            return (
                Verdict.REFUTED,
                f"it fails at L = {length}, {length + step}, {length + 2 * step}, ...",
            )
    if first - start > MAX_TESTED:
        return Verdict.UNDECIDED, f"proved from L = {first} on, not tested below"
    verdict, reason = _one_by_one(root, kind, problem, range(start, first))
    if verdict is not Verdict.PROVED:
        return verdict, reason
    where = f"from L = {first} on" if first > start else f"for every L >= {start}"
    below = f", exactly tested for {start} <= L < {first}" if first > start else ""
    return Verdict.PROVED, f"polynomial inequalities {where}{below}"


def _one_by_one(
    root: Node, kind: str, problem: CountingProblem, lengths: range
) -> tuple[Verdict, str]:
    for length in lengths:
        try:
            value = formula_at(root, replace(problem, L=length))
            norm = norm_at(problem, length)
            side = -1 if norm is None else sign(difference(value, norm))
        except OpenValueError as error:
            return Verdict.UNDECIDED, f"open at L = {length}: {error}"
        if side is None:
            return Verdict.UNDECIDED, f"open at L = {length}"
        if side not in _HOLDS[kind]:
            return Verdict.REFUTED, f"it fails at L = {length}"
    return Verdict.PROVED, "exactly tested"


def _up_to(root: Node, kind: str, problem: CountingProblem, start: int, last: int) -> Beyond:
    """Placements whose lengths end: beyond the last one no norm is enough."""
    if kind == "asymptotic":
        return Beyond(Verdict.UNDECIDED, f"no length beyond L = {last} counts", None)
    if kind in ("upper", "equal"):
        first = max(start, last + 1)
        return Beyond(Verdict.REFUTED, f"no parameters count at L = {first}", None)
    if last - start > MAX_TESTED:
        reason = f"too many lengths up to the last feasible one, L = {last}"
        return Beyond(Verdict.UNDECIDED, reason, None)
    verdict, reason = _one_by_one(root, kind, problem, range(start, last + 1))
    end = f"; beyond L = {last} no norm is enough" if verdict is Verdict.PROVED else ""
    return Beyond(verdict, reason + end, None)


def _tail(form: Any, power: NormPower, rest: int) -> _Tail:
    """Compare the formula with B_min on one class, for all L from some length on."""
    q, formula = in_root(form)
    norm = power.value(rest).subs(L, s**q)
    for more in _POWERS:
        exponent = power.exponent * more
        raised = formula**exponent
        if is_rational(raised):
            return _compare(formula, raised, norm**more, exponent, q, power.first)
    raise NotAlgebraicError("no power of the formula is rational in a root of L")


def _compare(formula: Any, raised: Any, norm: Any, exponent: int, q: int, first: int) -> _Tail:
    surplus = sympy.fraction(sympy.together(raised - norm))
    own = sympy.fraction(sympy.together(raised))
    polynomials = [sympy.Poly(sympy.expand(part), s) for part in (*surplus, *own)]
    if polynomials[2].is_zero:
        return _Tail(-1, first, sympy.Integer(0))
    shift = _shift(polynomials, first, q)
    signs = [_leading_sign(polynomial) for polynomial in polynomials]
    value = sympy.N(formula.subs(s, shift), 20)
    if not value.is_real:
        raise NotAlgebraicError("a formula without real values")
    side = signs[0] * signs[1] if value > 0 else -1
    ratio = _limit_of_quotient(raised / norm)
    limit = ratio if ratio.is_infinite else sympy.root(ratio, exponent)
    return _Tail(side, max(first, shift**q), sympy.simplify(limit if value > 0 else -limit))


def _shift(polynomials: list[Any], first: int, q: int) -> int:
    """An integer s1 >= first^(1/q) from which on no polynomial changes its sign."""
    shift = 1
    while shift**q < first:
        shift += 1
    while shift < _LARGEST_SHIFT:
        if all(_one_sign(polynomial, shift) for polynomial in polynomials):
            return shift
        shift += max(1, shift // 4)
    raise NotAlgebraicError("no length from which on the signs are known")


def _one_sign(polynomial: Any, shift: int) -> bool:
    """Whether all coefficients in t of the polynomial at s = shift + t have one sign."""
    moved = polynomial.compose(sympy.Poly(s + shift, s))
    signs = {_sign(coefficient) for coefficient in moved.all_coeffs()} - {0}
    return len(signs) <= 1 and None not in signs


def _leading_sign(polynomial: Any) -> int:
    return 0 if polynomial.is_zero else _sign(polynomial.LC()) or 0


def _sign(number: Any) -> int | None:
    if number.is_positive:
        return 1
    if number.is_negative:
        return -1
    return 0 if number.equals(0) else None


def _limit_of_quotient(quotient: Any) -> Any:
    above, below = (
        sympy.Poly(sympy.expand(part), s) for part in sympy.fraction(sympy.together(quotient))
    )
    if above.degree() > below.degree():
        return sympy.oo
    if above.degree() < below.degree():
        return sympy.Integer(0)
    return sympy.radsimp(above.LC() / below.LC())


def _asymptotic(limit: Any, text: str | None) -> Beyond:
    if limit is None:
        return Beyond(Verdict.REFUTED, "the ratio has no single limit", None)
    if sympy.simplify(limit - 1) == 0:
        return Beyond(Verdict.PROVED, "the ratio tends to 1", "1")
    if limit.is_infinite or limit.equals(1) is False:
        return Beyond(Verdict.REFUTED, f"the ratio tends to {text}", text)
    return Beyond(Verdict.UNDECIDED, f"the ratio tends to {text}, not told from 1", text)


def _by_limit_alone(root: Node, kind: str, problem: CountingProblem, why: str) -> Beyond:
    """A formula beyond polynomials: the limit by sympy, no proof for all lengths."""
    limit = _limit(root, problem)
    text = None if limit is None else sympy.sstr(limit)
    if kind == "asymptotic":
        if limit is None:
            return Beyond(Verdict.UNDECIDED, f"no limit was found ({why})", None)
        return _asymptotic(limit, text)
    return Beyond(Verdict.UNDECIDED, f"tested only, not proved: {why}", text)


def _limit(root: Node, problem: CountingProblem) -> Any:
    """The limit of formula/(C L^p), None where sympy finds none."""
    asymptote = b_min(replace(problem, L=4)).asymptote
    if asymptote is None or asymptote.constant.text is None:
        return None
    leading = sympy.sympify(asymptote.constant.text) * L ** sympy.Rational(
        asymptote.exponent.numerator, asymptote.exponent.denominator
    )
    if not leading:
        return None
    expression = plain(root.parts[0] if root.op in ("floor", "ceil") else root, problem)
    if expression.has(sympy.floor):
        return None
    if root.op in ("floor", "ceil") and sympy.limit(expression, L, sympy.oo) != sympy.oo:
        return None
    found = sympy.limit(expression / leading, L, sympy.oo)
    return found if found.is_number and (found.is_real or found.is_infinite) else None

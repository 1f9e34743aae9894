"""The sign of an expression in nonnegative symbols, from the coefficients of its factors.

A sign is 1 or 0 (the expression is > 0, or >= 0), or the same with a minus: (1, strict) and
(-1, strict). None stands for unknown.
"""

from __future__ import annotations

from typing import Any

import sympy

Sign = tuple[int, bool]
_POSITIVE: Sign = (1, True)


def sign_of(expression: Any) -> Sign | None:
    """The sign of a rational expression wherever it is defined, or None."""
    numerator, denominator = sympy.fraction(sympy.together(_atoms_renamed(expression)))
    above, below = _sign_of_product(numerator), _sign_of_product(denominator)
    if above is None or below is None:
        return None
    return above[0] * below[0], above[1]


def _atoms_renamed(expression: Any) -> Any:
    """Positive transcendental and algebraic parts as symbols of their own."""
    atoms = expression.atoms(sympy.exp, sympy.LambertW, sympy.log)
    atoms |= {power for power in expression.atoms(sympy.Pow) if not power.exp.is_integer}
    names = {
        atom: sympy.Dummy("p", positive=True)
        for atom in sorted(atoms, key=sympy.count_ops, reverse=True)
        if atom.is_positive
    }
    return expression.subs(names) if names else expression


def _sign_of_product(expression: Any) -> Sign | None:
    if expression.is_number:
        return _sign_of_number(expression)
    try:
        constant, factors = sympy.factor_list(expression)
    except sympy.PolynomialError:  # no polynomial, or a constant in disguise
        plain = sympy.expand(expression)
        return _sign_of_number(plain) if plain.is_number else None
    total = _sign_of_number(constant)
    for factor, multiplicity in factors:
        found = _sign_of_factor(factor) if multiplicity % 2 else _sign_of_square(factor)
        if found is None or total is None:
            return None
        total = total[0] * found[0], total[1] and found[1]
    return total


def _sign_of_number(number: Any) -> Sign | None:
    if number.is_positive:
        return _POSITIVE
    if number.is_negative:
        return -1, True
    return (1, False) if number.is_zero else None


def _sign_of_square(factor: Any) -> Sign:
    found = _sign_of_factor(factor)
    return 1, found is not None and found[1]


def _sign_of_factor(factor: Any) -> Sign | None:
    """The sign of a squarefree polynomial: by coefficients, by Sturm, or by a square completed."""
    symbols = sorted(factor.free_symbols, key=str)
    if any(not symbol.is_real for symbol in symbols) or not factor.is_polynomial(*symbols):
        return None
    found = None
    if all(symbol.is_nonnegative for symbol in symbols):
        found = _sign_of_coefficients(sympy.Poly(factor, *symbols))
    if found is None and len(symbols) == 1:
        return _sign_by_sturm(sympy.Poly(factor, *symbols))
    return found or _sign_of_quadratic(factor, symbols)


def _sign_of_coefficients(polynomial: Any) -> Sign | None:
    """All coefficients of one sign; strict when a term without factors that may vanish is there."""
    signs, strict = set(), False
    for monomial, coefficient in polynomial.terms():
        sign = _sign_of_number(coefficient)
        if sign is None:
            return None
        signs.add(sign[0])
        powers = zip(polynomial.gens, monomial, strict=True)
        strict = strict or all(symbol.is_positive for symbol, power in powers if power)
    return (signs.pop(), strict) if len(signs) == 1 else None


def _sign_by_sturm(polynomial: Any) -> Sign | None:
    """A squarefree polynomial in one symbol that has no root in the symbol's range."""
    if not all(coefficient.is_rational for coefficient in polynomial.coeffs()):
        return None
    symbol = polynomial.gen
    low = 0 if symbol.is_nonnegative else None
    roots = polynomial.count_roots(low, None)
    at_zero = polynomial.eval(0)
    if low == 0 and at_zero == 0:
        beyond = roots == 1
        top = sympy.sign(polynomial.LC())
        return (int(top), bool(symbol.is_positive)) if beyond else None
    return None if roots else (int(sympy.sign(at_zero)), True)


def _sign_of_quadratic(factor: Any, symbols: list[Any]) -> Sign | None:
    """a x^2 + b x + c with a > 0 and 4ac - b^2 >= 0, for a symbol x of either sign."""
    for symbol in symbols:
        if symbol.is_nonnegative or sympy.degree(factor, symbol) != 2:
            continue
        a, b, c = sympy.Poly(factor, symbol).all_coeffs()
        leading, rest = sign_of(a), sign_of(4 * a * c - b**2)
        if leading and rest and leading[1] and rest[0] == 1:
            return leading[0], rest[1]
    return None

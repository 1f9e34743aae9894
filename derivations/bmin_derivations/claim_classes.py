"""Powers of B_min as rational functions of L on residue classes. Sources: the theorems named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy

from bmin_derivations import supplies
from bmin_derivations.claim_symbols import L
from bminlib import CountingProblem, extremal

_FIRST_LATTICE = 4  # from here on D_L and a* are the least gap and ratio
_LONGEST_SEARCH = 1 << 40


@dataclass(frozen=True, slots=True)
class NormPower:
    """B_min^exponent = value(rest) for L >= first with L = rest modulo `modulus`."""

    exponent: int
    modulus: int
    value: Any  # rest -> sympy expression in L
    first: int


def norm_power(problem: CountingProblem) -> NormPower | None:
    """The power of B_min that is rational in L; None where B_min is 0 or ends at a horizon."""
    if problem.readout == "classification":
        return None
    if problem.norm == "post":
        return _post(problem)
    return _linear(problem) if problem.attention == "linear" else _softmax(problem)


def _spread(problem: CountingProblem) -> Any:
    return sympy.sqrt(problem.spread_squared)


def _tau(problem: CountingProblem) -> Any:
    return sympy.sympify(problem.score_scale.text)


def _post(problem: CountingProblem) -> NormPower | None:
    """W_L^2 over the squared radius: row floor((L+3)/4) (circular.lattice)."""
    if problem.two_points or problem.exactness == "exact":
        return None
    bare = problem.affine == "bare"
    reach = supplies.radius_bare(sympy.Integer(problem.d))
    reach = reach if bare else supplies.radius_learned(_spread(problem))

    def value(rest: int) -> Any:
        k = (L - rest % 4) / 4 + (1 if rest % 4 else 0)
        return extremal.circular_row(L, k) / reach**2

    return NormPower(2 if bare else 4, 4, value, 2)


def _softmax(problem: CountingProblem) -> NormPower | None:
    """D_L over the capacity (none, pre.learned); squared for bare pre up to its horizon."""
    if (problem.two_points and problem.affine == "bare") or problem.exactness == "exact":
        return None
    power, first = 1, _FIRST_LATTICE
    if problem.norm == "none":
        capacity, rate = supplies.gap_none(), _tau(problem)
    elif problem.affine == "bare":
        capacity, rate = supplies.gap_bare(sympy.Integer(problem.d)), None
    else:
        spread = _spread(problem)
        capacity = supplies.gap_learned(spread)
        rate = supplies.scores_learned(_tau(problem), spread) / capacity
    if rate is not None:
        power, first = 2, readout_binds_from(rate)

    def value(rest: int) -> Any:
        return ((L + 1) ** 2 - (1 - rest % 2)) / (4 * capacity)

    return NormPower(power, 2, value, first)


def _linear(problem: CountingProblem) -> NormPower | None:
    """The slope over what B = 1 reaches (linear.exact, linear.rounded)."""
    if problem.two_points and problem.affine == "bare":
        return None
    need = sympy.Integer(1) if problem.exactness == "exact" else extremal.linear_slope(L)
    d, tau = sympy.Integer(problem.d), _tau(problem)
    if problem.norm == "none":
        reach, power = supplies.slope_none(tau), 4
    elif problem.affine == "bare":
        reach, power = supplies.slope_bare(tau, d), 1
    else:
        reach, power = supplies.slope_learned(tau, _spread(problem)), 4
    first = 1 if problem.exactness == "exact" else 2
    return NormPower(power, 1, lambda _: need / reach, first)


def readout_binds_from(rate: Any) -> int:
    """A length from which rate D_L >= ln a* at every L (theorem none): found by doubling.

    rate (L^2 + 2L)/4 - ln((L-1)^2/4) grows where rate (L^2 - 1) >= 4, and bounds the surplus.
    """
    length = _FIRST_LATTICE
    while length < _LONGEST_SEARCH:
        surplus = rate * (length**2 + 2 * length) / 4 - sympy.log(
            sympy.Rational((length - 1) ** 2, 4)
        )
        grows = rate * (length**2 - 1) - 4
        if sympy.N(surplus, 30) > 0 and sympy.N(grows, 30) > 0:
            break
        length += max(1, length // 8)
    return length

"""Explicit weights that count with norms as close to B_min as wished: why B_min is no fiction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from bminlib.bounds import Bound, b_min
from bminlib.epsilon_norms import least_norm
from bminlib.errors import DomainError, InfeasibleError, UndecidedError, shown
from bminlib.frames import dyadic
from bminlib.powers import rational_power
from bminlib.problem import CountingProblem
from bminlib.weights import Weights, check_ln_eps, short_weights, to_ball
from bminlib.witness_classes import class_witness
from bminlib.witness_epsilon import epsilon_witness, linear_epsilon_witness
from bminlib.witness_fractional import fractional_witness
from bminlib.witness_linear import linear_witness
from bminlib.witness_post import post_witness

if TYPE_CHECKING:
    from flint import arb

# (problem, B, slack, ln_eps, bits) -> (weights, margin)
Builder: TypeAlias = Callable[
    [CountingProblem, "arb", Fraction, Fraction, int], tuple[Weights, "arb"]
]

MAX_SEARCH_LENGTH = 1000
_LARGEST_SLACK = Fraction(1)  # more room would not help the weights to count
_FIRST_BITS, _BITS_STEP, _MOST_BITS = 20, 6, 1 << 20


def witness(
    problem: CountingProblem,
    slack: Fraction = Fraction(1, 10**6),
    *,
    ln_eps: Fraction = Fraction(0),
    norm: Fraction = Fraction(1),
) -> Weights:
    """Weights that count every (c, m), c + m <= L, strictly after rounding, entries dyadic.

    Regression: every norm is at most (1 + slack) B_min, or slack where B_min is 0; with ln_eps > 0
    B_min has no closed form and the norms are near the least that a search finds. Classification:
    every norm is at most `norm`. The entries are float64 where 53 bits suffice, Fractions
    elsewhere.
    Raises InfeasibleError where no weights count, and DomainError for exactness "exact", a slack
    or norm that is no exact number > 0, and a placement that ln_eps is not supported in.
    """
    slack, norm = _positive("slack", slack), _positive("norm", norm)
    ln_eps = check_ln_eps(problem, ln_eps)
    if problem.exactness == "exact":
        raise DomainError(
            "exactness='exact': exact counting (yhat = c) needs symbolic weights, not rounded "
            "ones; take exactness 'rounded'"
        )
    if problem.readout == "classification":
        return class_witness(problem, norm, ln_eps)
    return _regression_witness(problem, slack, ln_eps)


def _regression_witness(problem: CountingProblem, slack: Fraction, ln_eps: Fraction) -> Weights:
    bound = b_min(problem)
    if bound.value is None:
        raise InfeasibleError(f"no weights count: {bound.reason}; lower L or raise d")
    if not ln_eps or problem.L == 1:
        return _settled(problem, _builder(problem), bound, slack, ln_eps)
    if problem.norm == "post":
        _check_search_length(problem)
        if problem.attention == "softmax":
            return epsilon_witness(problem, slack, ln_eps)
    start = dyadic(bound.enclosure(30), 128)
    least = rational_power(least_norm(problem, ln_eps, start))
    build = linear_epsilon_witness if problem.norm == "post" else _builder(problem)
    return _settled(problem, build, replace(bound, value=least), slack, ln_eps)


def _builder(problem: CountingProblem) -> Builder:
    """What makes weights of a given norm and number of bits for this placement."""
    if problem.norm == "post":
        return post_witness
    return linear_witness if problem.attention == "linear" else fractional_witness


def _check_search_length(problem: CountingProblem) -> None:
    if problem.L > MAX_SEARCH_LENGTH or problem.two_points:
        raise DomainError(
            f"L={problem.L}, d={problem.d}: with ln_eps > 0 and norm post, weights are searched "
            f"for up to L = {MAX_SEARCH_LENGTH} and from d = 3 (rms: 2) on; lower L or leave "
            "ln_eps out"
        )


def _settled(
    problem: CountingProblem, build: Builder, bound: Bound, slack: Fraction, ln_eps: Fraction
) -> Weights:
    """The shortest entries that keep three quarters of the margin that long ones have."""
    from flint import ctx

    used = min(slack, _LARGEST_SLACK)
    working = 128 + 8 * problem.L.bit_length() + 4 * (1 / used).__ceil__().bit_length()
    while working <= _MOST_BITS:
        with ctx.workprec(working):
            B, limit = _norms(bound, slack, working)
            _, reference = build(problem, B, used, ln_eps, working // 2)
            bits = range(_FIRST_BITS, working // 2, _BITS_STEP) if reference > 0 else ()
            for made, margin in (build(problem, B, used, ln_eps, count) for count in bits):
                if margin * 4 > reference * 3 and made.largest_norm(working) < limit:
                    return short_weights(made)
        working *= 2
    raise UndecidedError(f"no weights were proved to count at {_MOST_BITS} bits; raise the slack")


def _norms(bound: Bound, slack: Fraction, working: int) -> tuple[arb, arb]:
    """The norm to build for, and the one that no vector may reach."""
    from flint import arb

    if bound.value == rational_power(0):
        enough = Fraction(1, 16 * bound.problem.d)  # the signal stays below 1
        return to_ball(min(slack / 2, enough)), to_ball(slack)
    B = bound.enclosure(working * 3 // 10)
    return B, arb(B * (1 + to_ball(slack)))


def _positive(name: str, number: object) -> Fraction:
    if isinstance(number, int | Fraction) and not isinstance(number, bool) and number > 0:
        return Fraction(number)
    raise DomainError(
        f"{name}={shown(number)}: must be an exact number > 0; "
        "give an int or a Fraction such as Fraction('1e-6')"
    )

"""What can be certified: refusals before any work is done, each with its remedy."""

from __future__ import annotations

import re
from fractions import Fraction

from bminlib.bounds import b_min
from bminlib.decimals import decimal_text
from bminlib.errors import DomainError, shown
from bminlib.problem import CountingProblem
from bminlib.supply import supply

LEAST_GAP, LEAST_SEARCH_GAP = Fraction(1, 10**100), Fraction(1, 10**10)
MAX_LENGTH, MAX_SEARCH_LENGTH, MAX_CLASSES = 99_999, 300, 500
MAX_NUMBERS, MAX_TAU_CHARACTERS = 250_000, 400
MAX_DIGITS, MAX_EXPONENT = 700, 999
MAX_SCORE = 1300  # the checker's 2048 bits tell 1 + e^-R from 1 up to there, with some to spare
_VECTORS = 10  # besides the read-out
_TOO_LONG = (
    "this problem's scores are too large: the numbers of a certificate have at most "
    f"{MAX_DIGITS} digits, compared at 2048 bits; lower tau or d"
)
_TAU = re.compile(r"[0-9]+(?:/[0-9]+)?|sqrt\([0-9]+(?:/[0-9]+)?\)|[0-9]+/sqrt\([0-9]+\)")


def checked_gap(gap: object, by: str) -> Fraction:
    """`gap` if the argument `by` can keep to it; raises DomainError otherwise."""
    number = Fraction(gap) if isinstance(gap, int | Fraction) and gap is not True else None
    text = shown(gap) if number is None else shown(str(number)).strip("'")
    if number is None or not LEAST_GAP <= number <= 1:
        raise DomainError(
            f"gap={text}: must be an exact number from 1e-100 to 1; give 1e-6, in Python "
            "Fraction('1e-6')"
        )
    if by == "search" and number < LEAST_SEARCH_GAP:
        raise DomainError(
            f"gap={text}: the search works in float64, down to a gap of 1e-10; take a wider "
            "gap, or certify by theorem"
        )
    return number


def refuse(problem: CountingProblem, by: str) -> None:
    """Raises DomainError for what no certificate holds, or no argument of this kind proves."""
    if by not in ("theorem", "search"):
        raise DomainError(f"by={shown(by)}: must be theorem or search; pick one of these")
    _refuse_size(problem)
    _refuse_scores(problem)
    if problem.exactness == "exact" and b_min(problem).feasible:
        raise DomainError(
            "exactness='exact': weights that count exactly (yhat = c) have irrational entries, and "
            "a certificate holds rational ones; only infeasibility can be certified"
        )
    if by == "search":
        _refuse_search(problem)


def tau_text(problem: CountingProblem) -> str:
    """tau as the checker reads it."""
    tau = problem.score_scale
    return tau.text if _TAU.fullmatch(tau.text) else f"sqrt({tau.power(2).radicand})"


def number_text(number: int | Fraction) -> str:
    """The text of an exact number; raises DomainError where the checker would not read it."""
    if max(map(abs, number.as_integer_ratio())) >= 10**MAX_DIGITS:
        raise DomainError(_TOO_LONG)
    return str(number)


def decimal_in_file(text: str, exponent: int) -> str:
    """The decimal text; raises DomainError where its exponent is beyond what the checker reads."""
    if abs(exponent) > MAX_EXPONENT:
        raise DomainError(_TOO_LONG)
    return decimal_text(text, exponent)


def _refuse_scores(problem: CountingProblem) -> None:
    """Keys of two values: the score ratio is e^-R or e^R, and the weights' entries are as long."""
    span = supply(problem).score_range
    two_ratios = problem.readout == "regression" and problem.two_points
    if two_ratios and span is not None and span.ball(64) > MAX_SCORE:
        raise DomainError(_TOO_LONG)


def _refuse_size(problem: CountingProblem) -> None:
    classes = problem.readout == "classification"
    longest = MAX_CLASSES if classes else MAX_LENGTH
    if longest < problem.L:
        raise DomainError(
            f"L={shown(problem.L)}: certificates of a {problem.readout} read-out hold up to "
            f"L = {longest}; lower L"
        )
    widest = MAX_NUMBERS // (_VECTORS + (problem.L + 1 if classes else 1))
    if widest < problem.d:
        raise DomainError(
            f"d={shown(problem.d)}: at L = {problem.L} a certificate of a {problem.readout} "
            f"read-out holds vectors up to d = {widest}; lower d"
        )
    if len(tau_text(problem)) > MAX_TAU_CHARACTERS:
        raise DomainError(
            f"tau={shown(problem.tau)}: a certificate writes tau in {MAX_TAU_CHARACTERS} "
            "characters; take a shorter one"
        )


def _refuse_search(problem: CountingProblem) -> None:
    arc = problem.norm == "post" and not problem.two_points
    if arc and problem.exactness == "exact":
        raise DomainError(
            "by='search': that no arc counts exactly rests on theorem softmax.inexact; "
            "certify by theorem"
        )
    bounded = problem.exactness == "rounded" and problem.readout == "regression"
    ratios = problem.norm != "post" and problem.attention == "softmax"
    if bounded and (arc or ratios) and problem.L > MAX_SEARCH_LENGTH:
        raise DomainError(
            f"L={problem.L}: the search looks at all counts, up to L = {MAX_SEARCH_LENGTH}; "
            "lower L, or certify by theorem"
        )

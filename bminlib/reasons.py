"""Why a problem is infeasible: the broken inequality with its numbers, in one ASCII line."""

from bminlib import extremal
from bminlib.powers import RationalPower, short_integer
from bminlib.problem import CountingProblem

BENT = "yhat(0) - 2 yhat(1) + yhat(2) = -2D/((a+1)(a+2)) != 0"


def arc(L: int) -> str:
    """Exact counting under post-normalisation, L >= 3."""
    return f"a line meets the curve at most 3 times < L + 1 = {short_integer(L + 1)} counts"


def two_points(problem: CountingProblem) -> str:
    """More counts than a two-valued normaliser has values."""
    counts = short_integer(problem.L + 1)
    return f"{_two_values(problem)} < L + 1 = {counts} counts"


def filler(problem: CountingProblem) -> str:
    """Linear attention whose normalised filler key can't be orthogonal to the query."""
    return (
        f"{_two_values(problem)}: a filler moves yhat as far as a target does, "
        "|<w, v_f> a_f| = |<w, v_t> a_t| > 0"
    )


def horizon(L: int, score_range: RationalPower) -> str:
    """Scores within score_range of each other fall short of ln a*(L)."""
    ratio = short_integer(extremal.least_score_ratio(L))
    return f"a*({short_integer(L)}) = {ratio} > e^{_exponent_text(score_range)}"


def _two_values(problem: CountingProblem) -> str:
    name = "LayerNorm" if problem.normalizer == "layer" else "RMSNorm"
    return f"{name} at d = {problem.d} has 2 points"


def _exponent_text(score_range: RationalPower) -> str:
    """`8` or `(2 sqrt 23)`, whatever tau is."""
    if score_range.is_rational:
        text = score_range.text
        return f"({text})" if "/" in text else text
    inner = (score_range / 2).radicand
    text = str(inner) if inner.denominator == 1 else f"({inner})"
    return f"(2 sqrt {text})"

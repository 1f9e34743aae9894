"""The extremal formulas, each once: they take int, Fraction, Expression or sympy Symbol alike.

Notation: a = exp(a_s - a_t) is the score ratio, D the gap <w, v_t - v_s> that a fractional read-out
demands, W the radius that a circular one demands. Sources: theorems fractional.demand (a*, D_L,
D(a)), circular.lattice (W_L), linear.rounded, linear.exact, softmax.exact.small.
"""

import math
from fractions import Fraction
from typing import Any


def quotient(numerator: Any, denominator: Any) -> Any:
    """numerator/denominator, exact for integers too."""
    both = isinstance(numerator, int) and isinstance(denominator, int)
    return Fraction(numerator, denominator) if both else numerator / denominator


def least_score_ratio(L: Any) -> Any:
    """a* = floor((L-1)^2/4): no gap counts to L at a smaller score ratio, for L >= 1."""
    return (L - 1) ** 2 // 4


def least_gap(L: Any) -> Any:
    """D_L = floor((L+1)^2/4): the least gap over all score ratios, for L >= 4."""
    return (L + 1) ** 2 // 4


def gap_by_row(L: Any, a: Any, u: Any) -> Any:
    """(a+L)(u-1)(a+L-u)/(a u): the gap that the upper row at c = L-u and the lower row at L force.

    D(a), the least gap at score ratio a >= a*, is its maximum over integers 1 <= u <= L.
    """
    return quotient((u - 1) * (a + L) * (a + (L - u)), u * a)


def binding_row(L: int, floor_sum: int) -> int:
    """The u that maximises gap_by_row at a non-integer a with floor(a + L) = floor_sum.

    In u the gap is concave, and rises from u to u + 1 while u(u+1) < a + L.
    """
    u = math.isqrt(floor_sum)
    return min(u if u * (u + 1) > floor_sum else u + 1, L)


def gap_at_three(root3: Any) -> Any:
    """2 + sqrt 3: the least gap at L = 3, reached at a = sqrt 3 only; `root3` is sqrt 3."""
    return 2 + root3


def small_gap(share: Any, inverse_ratio: Any) -> Any:
    """1 + share a: the least gap at L = 2 (share 1/2), and to count exactly at L = 1 (share 1).

    `inverse_ratio` is 1/a, as large as the scores allow.
    """
    return 1 + share / inverse_ratio


def self_limited_gap(share: Any, rate: Any, exp: Any, lambertw: Any) -> Any:
    """The x with x = 1 + share exp(-rate x): small_gap where ln(1/a) <= rate x is all there is."""
    return 1 + lambertw(share * rate / exp(rate)) / rate


def circular_ratio(L: Any, k: Any) -> tuple[Any, Any]:
    """(numerator, denominator) of W_k^2: the counts 0, k, L-k, L force it, for 0 < k <= L/2."""
    return (L - 1) ** 2 * k * (L + 1 - 2 * k) ** 2, 4 * (L**2 - (2 * L - 1) * k)


def circular_row(L: Any, k: Any) -> Any:
    """W_k^2, the squared radius that the counts 0, k, L-k, L force."""
    return quotient(*circular_ratio(L, k))


def circular_peak(L: Any) -> tuple[Any, Any]:
    """(numerator, denominator) of the real k at which circular_row has its local maximum."""
    return L * (L + 1), 2 * (2 * L - 1)


def circular_active(L: int) -> int:
    """The integer k that maximises circular_row, for L >= 2: next to its peak, and <= L/2."""
    numerator, denominator = circular_peak(L)
    k: int = numerator // denominator
    if 2 * k + 2 <= L and _row_rises(L, k):
        k += 1
    return k


def _row_rises(L: int, k: int) -> bool:
    """Whether circular_row is greater at k + 1 than at k."""
    (here, over), (there, beneath) = circular_ratio(L, k), circular_ratio(L, k + 1)
    return bool(here * beneath < there * over)


def least_radius_squared(L: int) -> Fraction:
    """W_L^2, exact, for L >= 2: the least squared radius of a circular read-out."""
    return Fraction(*circular_ratio(L, circular_active(L)))


def linear_slope(L: Any) -> Any:
    """1 - 1/L: the least slope of a linear read-out that counts to L after rounding."""
    return 1 - quotient(1, L)

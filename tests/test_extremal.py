"""The extremal formulas against exact brute force over all pairs of counts, in Fractions.

Oracle for the gap: yhat = A + D x_c, x_c = c/(a + c), counts to L iff D (x_j - x_i) >= j - i - 1
for all i, j (A drops out). Oracle for the radius: tan(theta) at the counts 0, k, L-k, L of the
symmetric read-out, whose ratio is L/(L - 2k).
"""

import math
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bminlib import CountingProblem, b_min, extremal

LONG = st.integers(10**6, 10**40)
deterministic = settings(derandomize=True, max_examples=60, deadline=None)


def gap_interval(L, a):
    """(least, greatest) D that counts to L with m = 0 at score ratio a; crossed where none does."""
    low, high = Fraction(0), math.inf
    for i, j in permutations(range(L + 1), 2):
        bound = Fraction(j - i - 1) / (Fraction(j) / (a + j) - Fraction(i) / (a + i))
        if j > i:
            low = max(low, bound)
        else:
            high = min(high, bound)
    return low, high


def brute_gap(L, a):
    low, high = gap_interval(L, a)
    return low if low <= high else math.inf


def tangent_radius_squared(L, k):
    """The W^2 at which tan(theta_L)/tan(theta_(L-k)) = L/(L-2k), as sin = (L-1)/2W, (L+1-2k)/2W."""
    outer, inner = Fraction(L - 1, 2) ** 2, Fraction(L + 1 - 2 * k, 2) ** 2
    near, far = (L - 2 * k) ** 2, L**2
    return outer * inner * (far - near) / (inner * far - outer * near)


@pytest.mark.parametrize("L", range(2, 25))
def test_least_score_ratio_is_sharp(L):
    a = extremal.least_score_ratio(L)
    if a:
        assert gap_interval(L, Fraction(a))[0] == gap_interval(L, Fraction(a))[1]
        assert brute_gap(L, a - Fraction(1, 10**9)) == math.inf
        low, high = gap_interval(L, a + Fraction(1, 10**9))
        assert low < high


@pytest.mark.parametrize("L", range(4, 25))
def test_least_gap_over_all_score_ratios(L):
    a = extremal.least_score_ratio(L)
    assert brute_gap(L, Fraction(a)) == extremal.least_gap(L)
    ratios = [a * (1 + Fraction(1, 10**n)) for n in range(8)] + [a + Fraction(n, 3) for n in (1, 5)]
    assert all(brute_gap(L, ratio) > extremal.least_gap(L) for ratio in ratios)


def test_least_gap_at_length_three():
    """Its square root is irrational: bracket sqrt 3 between fractions."""
    root = Fraction(math.isqrt(3 * 10**40), 10**20)
    least = extremal.gap_at_three(root)
    assert abs(brute_gap(3, root) - least) < Fraction(1, 10**19)
    for step in (Fraction(1, 1000), Fraction(-1, 1000)):
        assert brute_gap(3, root + step) > least


@pytest.mark.parametrize("a", [Fraction(1, 7), Fraction(2), Fraction(9, 4)])
def test_small_gaps(a):
    """Share 1/2: rounded, L = 2. Share 1: exact at L = 1, so D x_1 = 1."""
    assert extremal.small_gap(Fraction(1, 2), 1 / a) == brute_gap(2, a)
    assert extremal.small_gap(1, 1 / a) * Fraction(1) / (a + 1) == 1


@deterministic
@given(st.integers(3, 16), st.fractions(Fraction(1, 60), 400, max_denominator=60))
def test_binding_row_is_the_brute_force_gap(L, excess):
    a = extremal.least_score_ratio(L) + excess
    rows = {u: extremal.gap_by_row(L, a, u) for u in range(1, L + 1)}
    assert max(rows.values()) == brute_gap(L, a)
    if a.denominator > 1:
        u = extremal.binding_row(L, math.floor(a + L))
        assert all(gap < rows[u] for row, gap in rows.items() if row != u)


@pytest.mark.parametrize("L", [50, 127, 300])
def test_binding_row_at_longer_lengths(L):
    for a in (extremal.least_score_ratio(L) + Fraction(1, 3), Fraction(10**7, 3)):
        rows = [extremal.gap_by_row(L, a, u) for u in range(1, L + 1)]
        assert rows.index(max(rows)) + 1 == extremal.binding_row(L, math.floor(a + L))


@deterministic
@given(LONG, st.fractions(Fraction(1, 60), 10**80, max_denominator=60))
def test_binding_row_beats_its_neighbours(L, excess):
    a = extremal.least_score_ratio(L) + excess
    if a.denominator > 1:
        u = extremal.binding_row(L, math.floor(a + L))
        gap = extremal.gap_by_row(L, a, u)
        assert all(gap > extremal.gap_by_row(L, a, v) for v in (u - 1, u + 1) if 1 <= v <= L)


@pytest.mark.parametrize("L", [*range(2, 260), 400])
def test_least_radius_is_the_brute_force_maximum(L):
    rows = {k: tangent_radius_squared(L, k) for k in range(1, L // 2 + 1)}
    assert extremal.least_radius_squared(L) == max(rows.values())
    best = [k for k, row in rows.items() if row == max(rows.values())]
    assert extremal.circular_active(L) == best[0]
    assert (
        best == [extremal.circular_active(L)] or L == 4
    )  # there k = 2 ties, in the limit of a step


@deterministic
@given(LONG)
def test_active_row_beats_its_neighbours(L):
    k = extremal.circular_active(L)
    least = extremal.least_radius_squared(L)
    assert least == tangent_radius_squared(L, k)
    assert all(least > tangent_radius_squared(L, j) for j in (1, k - 1, k + 1, L // 2))


@deterministic
@given(LONG)
def test_radius_stays_below_the_value_for_real_counts(L):
    """((L^2-1)/(2L-1))^3/4, at the real k that makes the row largest; equal iff k is an integer."""
    real, integer = Fraction(L**2 - 1, 2 * L - 1) ** 3 / 4, L * (L + 1) % (2 * (2 * L - 1)) == 0
    assert real * (1 - Fraction(8, L**2)) < extremal.least_radius_squared(L) <= real
    assert (extremal.least_radius_squared(L) == real) == integer


@pytest.mark.parametrize("L", range(2, 60))
def test_linear_slope_is_the_brute_force_slope(L):
    """slope (j - i) >= j - i - 1 for all counts i < j."""
    slopes = [Fraction(n - 1, n) for n in range(1, L + 1)]
    assert extremal.linear_slope(L) == max(slopes)


@deterministic
@given(LONG)
def test_active_counts_at_long_lengths(L):
    """They come as four touches, symmetric under c -> L - c with the sides swapped."""
    touches = set(b_min(CountingProblem(L=L, norm="post")).active)
    swapped = {(L - c, "-" if side == "+" else "+") for c, side in touches}
    assert len(touches) == 4
    assert {tuple(touch) for touch in touches} == swapped


def touching(errors):
    """(c, side) where |yhat - c| is 1/2, all other errors being smaller."""
    assert max(map(abs, errors)) <= Fraction(1, 2)
    return {(c, "+" if e > 0 else "-") for c, e in enumerate(errors) if abs(e) == Fraction(1, 2)}


@pytest.mark.parametrize("L", [*range(4, 20), 50, 101])
@pytest.mark.parametrize("tau", ["1", "1/1000"])
def test_active_counts_of_the_gap(L, tau):
    """The closed problem at a*, D_L, A = -1/2, E = 0, g = 1, in Fractions over all (c, m)."""
    a, D = extremal.least_score_ratio(L), extremal.least_gap(L)
    errors = {
        (c, m): Fraction(D * c, a + c + m) - Fraction(1, 2) - c
        for c in range(L + 1)
        for m in range(L + 1 - c)
    }
    assert max(map(abs, errors.values())) <= Fraction(1, 2)
    bound = b_min(CountingProblem(L=L, tau=tau))
    assert bound.attained
    assert {tuple(t) for t in bound.active} == touching([errors[c, 0] for c in range(L + 1)])


@pytest.mark.parametrize("L", [*range(5, 30), 64, 101])
def test_active_counts_of_the_radius(L):
    """The closed problem at yhat = L/2 + W z/sqrt(s + z^2), z = c - L/2, that starts at 1/2.

    |y| for y = yhat - L/2 is compared with z + 1/2 and z - 1/2 by their squares, exactly.
    """
    W_squared, half = extremal.least_radius_squared(L), Fraction(1, 2)
    end = Fraction(L, 2) ** 2
    s = end * (W_squared / (Fraction(L, 2) - half) ** 2 - 1)  # y = (L - 1)/2 at z = L/2
    active = set()
    for c in range(L // 2 + 1, L + 1):
        z = c - Fraction(L, 2)
        square = W_squared * z**2 / (s + z**2)
        assert (z - half) ** 2 <= square <= (z + half) ** 2
        active |= {(c, "-"), (L - c, "+")} if square == (z - half) ** 2 else set()
        active |= {(c, "+"), (L - c, "-")} if square == (z + half) ** 2 else set()
    bound = b_min(CountingProblem(L=L, norm="post"))
    assert bound.attained
    assert {tuple(touch) for touch in bound.active} == active

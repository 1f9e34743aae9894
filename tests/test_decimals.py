"""Decimal text is right in every digit, in all three roundings.

Oracles: integer powers for (p/q)^(1/n), mpmath at 80 digits more for expressions. Both decide on
which side of a rational bound the value lies; the definition of each rounding does the rest.
"""

from decimal import Context, Decimal
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bminlib import CountingProblem, DomainError, b_min
from bminlib.expressions import Expression, function
from bminlib.powers import rational_power

ROUNDINGS = ("nearest", "down", "up")
DIGITS = st.integers(1, 60)
deterministic = settings(derandomize=True, max_examples=150, deadline=None)


def assert_rounded(text, digits, rounding, side):
    """`text` shows x > 0 as promised; side(bound) is the sign of x - bound for bound > 0."""
    shown = Decimal(text)
    mantissa = shown.as_tuple().digits
    assert len(mantissa) == digits
    value, above = Fraction(shown), Fraction(10) ** shown.as_tuple().exponent
    power_of_ten = mantissa[0] == 1 and not any(mantissa[1:])
    below = above / 10 if power_of_ten else above  # the distance to the next number below
    if rounding == "down":
        assert side(value) >= 0 > side(value + above)
    elif rounding == "up":
        assert side(value) <= 0 < side(value - below)
    else:
        upper, lower = side(value + above / 2), side(value - below / 2)
        assert upper <= 0 <= lower
        if upper == 0 or (lower == 0 and not power_of_ten):
            assert mantissa[-1] % 2 == 0


def power_side(radicand, degree):
    def side(bound):
        difference = radicand - bound**degree
        return (difference > 0) - (difference < 0)

    return side


def mpmath_side(x):
    """Decided by `x`, good to mpmath's precision; a tie there is a failure of the oracle."""

    def side(bound):
        difference = x * bound.denominator / bound.numerator - 1
        assert abs(difference) > mpmath.mpf(10) ** (9 - mpmath.mp.dps)
        return 1 if difference > 0 else -1

    return side


def just_beside(bound, direction):
    """The sides of a number next to `bound`: above it for +1, below it for -1."""
    return lambda other: ((bound > other) - (bound < other)) or direction


rationals = st.one_of(
    st.fractions(Fraction(1, 10**6), 10**6, max_denominator=10**6),
    st.integers(1, 10**90).map(Fraction),
    st.integers(1, 10**90).map(lambda n: Fraction(1, n)),
    st.builds(lambda n, e: n * Fraction(10) ** e, st.integers(1, 999), st.integers(-900, 900)),
)


@deterministic
@given(rationals, st.sampled_from([1, 2, 4, 8]), DIGITS, st.sampled_from(ROUNDINGS))
def test_rational_powers(radicand, degree, digits, rounding):
    text = rational_power(radicand, degree).decimal(digits, rounding)
    assert_rounded(text, digits, rounding, power_side(radicand, degree))


@deterministic
@given(DIGITS, st.integers(-400, 400), st.sampled_from([1, 2, 4]), st.data())
def test_ties_go_to_even(digits, exponent, degree, data):
    doubled = 2 * data.draw(st.integers(10 ** (digits - 1), 10**digits - 1)) + 1
    radicand = (Fraction(doubled, 2) * Fraction(10) ** exponent) ** degree
    text = rational_power(radicand, degree).decimal(digits)
    assert_rounded(text, digits, "nearest", power_side(radicand, degree))
    assert Fraction(Decimal(text)) in {
        Fraction(even) * Fraction(10) ** exponent
        for even in (doubled // 2, doubled // 2 + 1)
        if even % 2 == 0
    }


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("digits", [1, 2, 15, 60])
@pytest.mark.parametrize("exponent", [-1000, -6, -5, -1, 0, 1, 14, 15, 16, 1000])
def test_next_to_powers_of_ten(exponent, digits, rounding):
    step = Fraction(1, 10 ** (digits + 1))
    for factor in (1, 1 - step, 1 + step, 1 - 5 * step, 1 + 5 * step):
        x = factor * Fraction(10) ** exponent
        for degree in (1, 2):
            text = rational_power(x, degree).decimal(digits, rounding)
            assert_rounded(text, digits, rounding, power_side(x, degree))


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("radicand", [Fraction(2), Fraction(10**8001, 7), Fraction(3, 7**9001)])
def test_five_thousand_digits_of_a_root(radicand, rounding):
    text = rational_power(radicand, 2).decimal(5000, rounding)
    assert_rounded(text, 5000, rounding, power_side(radicand, 2))


def test_zero_has_no_digits():
    assert [rational_power(0).decimal(n, r) for n in (1, 15) for r in ROUNDINGS] == ["0"] * 6


@pytest.mark.parametrize("digits", [0, -1, True, 1.5, "15", None, 10**6 + 1])
def test_numbers_of_digits_out_of_range_are_refused(digits):
    for value in (rational_power(2, 2), function("exp", 1), rational_power(0)):
        with pytest.raises(DomainError, match="significant digits must be an integer"):
            value.decimal(digits)


def as_mpmath(x):
    return mpmath.mpf(x.numerator) / x.denominator


IRRATIONAL = {
    "exp": lambda x: mpmath.exp(as_mpmath(x)),
    "exp of -x": lambda x: mpmath.exp(-as_mpmath(x)),
    "log": lambda x: mpmath.log1p(as_mpmath(x)),
    "lambertw": lambda x: mpmath.lambertw(as_mpmath(x)).real,
    "root2": lambda x: mpmath.sqrt(2) * as_mpmath(x),
}


def irrational(name, x):
    """The same number as IRRATIONAL[name](x)."""
    if name == "root2":
        return x * Expression("root2", (2,))
    if name == "exp of -x":
        return function("exp", -x)
    return function(name, x + 1 if name == "log" else x)


CHANGES = {
    "1 + y": (lambda y: 1 + y, lambda y: 1 + y),
    "root": (lambda y: y.root(4), lambda y: mpmath.root(y, 4)),
    "over": (lambda y: y.over(rational_power(7, 2)), lambda y: y / mpmath.sqrt(7)),
    "3/y": (lambda y: 3 / y, lambda y: 3 / y),
    "y + 1/3 - y/9": (
        lambda y: y + Fraction(1, 3) - y / 9,
        lambda y: y * 8 / 9 + mpmath.mpf(1) / 3,
    ),
}
small = st.fractions(Fraction(1, 1000), 1000, max_denominator=1000)


@deterministic
@given(
    st.sampled_from(sorted(IRRATIONAL)),
    small,
    st.lists(st.sampled_from(sorted(CHANGES)), max_size=3),
    DIGITS,
    st.sampled_from(ROUNDINGS),
)
def test_expressions(name, x, changes, digits, rounding):
    with mpmath.workdps(digits + 1000):
        exact, expected = irrational(name, x), IRRATIONAL[name](x)
        for change in changes:
            exact, expected = CHANGES[change][0](exact), CHANGES[change][1](expected)
        text = exact.decimal(digits, rounding)
        assert_rounded(text, digits, rounding, mpmath_side(expected))


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("name", sorted(IRRATIONAL))
def test_five_thousand_digits_of_an_expression(name, rounding):
    with mpmath.workdps(5080):
        text = irrational(name, Fraction(22, 7)).decimal(5000, rounding)
        side = mpmath_side(IRRATIONAL[name](Fraction(22, 7)))
        assert_rounded(text, 5000, rounding, side)


@pytest.mark.parametrize("exponent", [10**5, -(10**5), Fraction(1, 10**300), -Fraction(1, 10**300)])
@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_huge_and_tiny_expressions(exponent, rounding):
    """e^(10^5) has 43430 digits before its point; e^(10^-300) is next to 1."""
    with mpmath.workdps(800):
        side = mpmath_side(mpmath.exp(as_mpmath(exponent)))
        for digits in (1, 15, 290, 320):
            text = function("exp", exponent).decimal(digits, rounding)
            assert_rounded(text, digits, rounding, side)


BESIDE = [
    # (problem, the short decimal next to its value, on which side of that it lies)
    ({"norm": "pre", "L": 2, "d": 2**60}, Fraction(1, 2**31), 1),
    ({"norm": "pre", "L": 1, "d": 2**60, "exactness": "exact"}, Fraction(1, 2**31), 1),
    ({"norm": "pre", "L": 2, "d": 4, "tau": "1e-300"}, Fraction(3, 8), -1),
    ({"norm": "pre", "L": 3, "d": 4, "tau": "1e-300"}, Fraction(1), -1),
    ({"norm": "pre", "L": 1, "d": 4, "tau": "1e-300", "exactness": "exact"}, Fraction(1, 2), -1),
    ({"norm": "pre", "normalizer": "rms", "L": 3, "d": 1, "tau": "1e-300"}, Fraction(2), -1),
    ({"norm": "none", "L": 1, "d": 4, "tau": "1e-300", "exactness": "exact"}, Fraction(1), -1),
    ({"norm": "pre", "affine": "learned", "L": 3, "d": 5, "tau": "1e-300"}, Fraction(1), -1),
    ({"norm": "pre", "affine": "learned", "L": 2, "d": 10, "tau": "1e-300"}, Fraction(1, 2), -1),
    ({"norm": "pre", "affine": "learned", "L": 2, "d": 4**9 + 1, "tau": 1}, Fraction(1, 32), 1),
]


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("digits", [1, 15, 21, 22, 40, 200])
@pytest.mark.parametrize(("problem", "bound", "direction"), BESIDE)
def test_values_next_to_a_short_decimal(problem, bound, direction, digits, rounding):
    """Far nearer than the digits asked for, so that only the side decides."""
    text = b_min(CountingProblem(**problem)).decimal(digits, rounding)
    assert_rounded(text, digits, rounding, just_beside(bound, direction))


@pytest.mark.parametrize(
    ("number", "digits", "text"),
    [
        ("9/4", 15, "2.25000000000000"),
        ("29999/10000", 15, "2.99990000000000"),
        ("37/2", 15, "18.5000000000000"),
        ("3", 15, "3.00000000000000"),
        ("1", 3, "1.00"),
        ("-999999/1000000", 3, "-1.00"),
        ("1/10", 2, "0.10"),
        ("10", 2, "10"),
    ],
)
def test_balls_beside_round_numbers_keep_their_digits(number, digits, text):
    """A ball of radius 10^-50 around a number that is short in decimals."""
    from flint import arb, ctx, fmpq

    from bminlib.balls import ball_text

    with ctx.workprec(400):
        centre = arb(fmpq(*map(int, number.split("/")))) if "/" in number else arb(int(number))
        tiny = arb(10) ** -50
        for shift in (-tiny, arb(0), tiny):
            assert ball_text(arb((centre + shift).mid(), tiny.mid() / 3), digits) == text


@pytest.mark.parametrize(
    ("low", "high", "digits", "text"),
    [
        ("1", "1", 4, "1.000"),
        ("0.9999999", "1.0000001", 5, "1.0000"),
        ("9.9999999", "10.000001", 5, "10.000"),
        ("9.9999", "9.9999", 4, "10.00"),
        ("9.9999", "9.9999", 5, "9.9999"),
        ("9.97", "10.04", 3, None),  # 9.97 and 10.0
        ("99.96", "100.4", 3, "100"),
        ("99.94", "100.4", 3, None),  # 99.9 and 100
        ("7.4", "7.6", 1, None),
        ("9", "12", 1, None),
        ("9.749", "9.751", 2, None),
    ],
)
def test_a_ball_has_the_digits_that_all_its_numbers_share(low, high, digits, text):
    """Finer below a power of ten than above it. Oracle: decimal's rounding of both ends."""
    from flint import arb, ctx

    from bminlib.balls import nearest_text

    with ctx.workprec(200):
        assert nearest_text(arb(low).union(arb(high)), digits) == text
    rounded = {Context(prec=digits).create_decimal(end) for end in (low, high)}
    assert (text is None) == (len(rounded) > 1)
    assert text is None or {Decimal(text)} == rounded


@pytest.mark.parametrize(
    ("number", "digits"), [("0.75", 1), ("0.25", 1), ("99975", 4), ("99985", 4), ("1.5625", 4)]
)
def test_an_exact_ball_decides_its_tie(number, digits):
    """To even, as `root_digits` does."""
    from flint import arb, fmpq

    from bminlib.balls import nearest_text

    text = nearest_text(arb(fmpq(*Fraction(number).as_integer_ratio())), digits)
    assert text is not None
    assert Decimal(text) == Context(prec=digits).create_decimal(number)

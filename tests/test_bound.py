"""What a bound says beside its digits: attained, active, regime, theorem, method, storage, rates.

Oracles: the read-out itself. Softmax without post-normalisation: at a reachable score ratio a the
constraints |yhat - c| <= 1/2 are linear in (A, D), so the least gap D and the counts it touches
come from all pairs of rows in mpmath at 90 digits. Post: the curve z/sqrt(Y + X z^2) is checked at
every count in rational arithmetic. Decimals near a tie: the sign of the vanishing term.
"""

from fractions import Fraction
from itertools import combinations

import mpmath
import pytest
import sympy
from flint import arb, ctx

from bminlib import CountingProblem, DomainError, b_min

DIGITS = 90
TINY = mpmath.mpf(10) ** -80
SOFTMAX = [
    ("none", None),
    ("pre", "bare"),
    ("pre", "learned"),
    ("post", "bare"),
    ("post", "learned"),
]
LINEAR = [("none", None), ("pre", "bare"), ("pre", "learned")]


def bound_at(L, norm, affine=None, **fields):
    return b_min(CountingProblem(L=L, norm=norm, affine=affine, **fields))


def number(expression):
    """A sympy-parsable text or expression at 60 digits."""
    return mpmath.mpf(sympy.sympify(expression).evalf(DIGITS + 10))


def value(bound):
    """B_min: from its text, or from a narrow ball where only an equation defines it."""
    if bound.text is not None:
        return number(bound.text)
    with ctx.workprec(400):
        return mpmath.mpf(bound.enclosure(DIGITS + 10).mid().str(DIGITS + 10, radius=False))


def touches(bound):
    return [(touch.c, touch.side) for touch in bound.active]


# Softmax without post-normalisation --------------------------------------------------------------


def supplies(problem, B):
    """(gap D, largest |ln a|) that norms up to B supply."""
    tau = number(problem.score_scale.text)
    entry = mpmath.sqrt(problem.d - (problem.normalizer == "layer"))
    if problem.norm == "none":
        return 2 * B**2, 2 * tau * B**2
    if problem.affine == "bare":
        return 2 * mpmath.sqrt(problem.d) * B, 2 * tau * problem.d
    return 2 * entry * B**2, 2 * tau * entry * (1 + entry) * B**2


def gap_interval(L, a):
    """Least and greatest D at which some A counts: c - 1/2 <= A + D c/(a + c) <= c + 1/2."""
    share = [c / (a + c) for c in range(L + 1)]
    pairs = list(combinations(range(L + 1), 2))
    least = max((k - i - 1) / (share[k] - share[i]) for i, k in pairs)
    greatest = min((k - i + 1) / (share[k] - share[i]) for i, k in pairs)
    return least, greatest


def rows_touched(L, a, D):
    """The rows (c, side) at which the only possible A is tight, after a check of all (c, m)."""
    lower = [c - mpmath.mpf(1) / 2 - D * c / (a + c) for c in range(L + 1)]
    A = max(lower)
    for c in range(L + 1):
        for m in range(L + 1 - c):  # fillers that look like the read-out token: E = 0, g = 1
            assert abs(A + D * c / (a + c + m) - c) <= mpmath.mpf(1) / 2 + TINY
    sides = [(c, "-") for c in range(L + 1) if A - lower[c] < TINY]
    sides += [(c, "+") for c in range(L + 1) if lower[c] + 1 - A < TINY]
    return sorted(sides)


def best_ratio(L, reach):
    """The reachable score ratio with the least gap, for continuous scores."""
    if L == 2:
        return mpmath.exp(-reach)
    return min(mpmath.sqrt(3), mpmath.exp(reach)) if L == 3 else mpmath.mpf((L - 1) ** 2 // 4)


SCORES = ["scaled", "unscaled", "0.12", "0.03", "0.001"]


@pytest.mark.parametrize(("norm", "affine"), SOFTMAX[:3])
@pytest.mark.parametrize("L", [2, 3, 4, 5, 6, 7, 12])
@pytest.mark.parametrize("normalizer", ["layer", "rms"])
def test_the_fractional_readout_is_attained_and_touches_the_active_counts(
    L, norm, affine, normalizer
):
    kind = {} if norm == "none" else {"normalizer": normalizer}
    for d, tau in [(64, tau) for tau in SCORES] + [(3, "scaled"), (16, "1/9")]:
        bound = bound_at(L, norm, affine, d=d, tau=tau, **kind)
        with mpmath.workdps(DIGITS):
            if not bound.feasible:
                reach = supplies(bound.problem, mpmath.mpf(0))[1]
                assert mpmath.mpf((L - 1) ** 2 // 4) > mpmath.exp(reach)
                continue
            gap, reach = supplies(bound.problem, value(bound))
            a = best_ratio(L, reach)
            least, greatest = gap_interval(L, a)
            assert abs(mpmath.log(a)) <= reach + TINY
            assert least <= min(gap, greatest) + TINY
            binds = (abs(gap - least) < TINY, abs(abs(mpmath.log(a)) - reach) < TINY)
            regimes = {(True, False): "readout", (False, True): "scores", (True, True): "both"}
            assert bound.regime == (None if affine == "bare" else regimes[binds])
            assert touches(bound) == rows_touched(L, a, least)
            assert bound.attained


@pytest.mark.parametrize(("normalizer", "d", "last"), [("layer", 2, 9), ("rms", 1, 6)])
def test_two_valued_bare_pre_takes_one_of_three_score_ratios(normalizer, d, last):
    """a is 1 or e^(+-2 tau d), and counting is strict: the interval of D must have an interior."""
    for L in range(2, last + 2):
        bound = bound_at(L, "pre", "bare", d=d, normalizer=normalizer)
        with mpmath.workdps(DIGITS):
            reach = 2 * mpmath.sqrt(d)
            ratios = [mpmath.exp(sign * reach) for sign in (-1, 0, 1)]
            gaps = [(*gap_interval(L, a), a) for a in ratios]
            strict = [(least, a) for least, greatest, a in gaps if least < greatest - TINY]
            assert bound.feasible == bool(strict) == (last >= L)
            if strict:
                least, a = min(strict)
                assert abs(supplies(bound.problem, value(bound))[0] - least) < TINY
                assert touches(bound) == rows_touched(L, a, least)
                assert (bound.attained, bound.regime) == (True, None)


@pytest.mark.parametrize(
    ("norm", "affine", "tau", "L", "regime", "method"),
    [
        ("none", None, "0.2", 3, "readout", "closed form"),
        ("none", None, "0.1", 3, "both", "root"),
        ("none", None, "0.1", 2, "both", "closed form"),
        ("none", None, "1", 4, "readout", "closed form"),
        ("none", None, "0.01", 4, "scores", "closed form"),
        ("pre", "learned", "scaled", 3, "readout", "closed form"),
        ("pre", "learned", "0.001", 3, "both", "root"),
        ("pre", "learned", "0.001", 6, "scores", "closed form"),
        ("pre", "bare", "0.001", 3, None, "closed form"),
        ("pre", "bare", "scaled", 2, None, "closed form"),
    ],
)
def test_regime_and_method(norm, affine, tau, L, regime, method):
    bound = bound_at(L, norm, affine, tau=tau)
    assert (bound.regime, bound.method) == (regime, method)
    assert (bound.exact is None) == (bound.text is None) == (method == "root")


# Post-normalisation ------------------------------------------------------------------------------


def radius_squared(bound):
    """W^2 from B_min, exact: W = sqrt(d) B, with a gain sqrt(d-1) B^2 (rms: sqrt d)."""
    d, layer = bound.problem.d, bound.problem.normalizer == "layer"
    squared = bound.exact**2 * d if bound.problem.affine == "bare" else bound.exact**4 * (d - layer)
    assert squared.is_Rational
    return Fraction(int(squared.p), int(squared.q))


def rows_on_the_circle(L, W2):
    """Touched rows of yhat = L/2 + z/sqrt(Y + X z^2), z = c - L/2, X = 1/W^2, Y as L - 1/2 asks."""
    X, top = 1 / W2, Fraction(L, 2)
    Y = (top / (top - Fraction(1, 2))) ** 2 - X * top**2
    assert Y >= 0
    sides = []
    for c in range(L + 1):
        z = abs(c - top)
        inner, outer = ("-", "+") if c > top else ("+", "-")
        over = (z / (z + Fraction(1, 2))) ** 2  # |yhat - L/2| <= z + 1/2
        assert over <= Y + X * z**2
        if z and over == Y + X * z**2:
            sides.append((c, outer))
        if z > Fraction(1, 2):
            under = (z / (z - Fraction(1, 2))) ** 2  # |yhat - L/2| >= z - 1/2
            assert Y + X * z**2 <= under
            if Y + X * z**2 == under:
                sides.append((c, inner))
    return sides


@pytest.mark.parametrize(("norm", "affine"), SOFTMAX[3:])
@pytest.mark.parametrize("attention", ["softmax", "linear"])
@pytest.mark.parametrize("L", [5, 6, 7, 8, 9, 17, 64])
def test_the_circular_readout_is_attained_and_touches_the_active_counts(L, norm, affine, attention):
    for normalizer, d in (("layer", 3), ("layer", 64), ("rms", 2)):
        bound = bound_at(L, norm, affine, attention=attention, normalizer=normalizer, d=d)
        assert touches(bound) == rows_on_the_circle(L, radius_squared(bound))
        assert (bound.attained, bound.regime, bound.method) == (True, None, "closed form")
        assert bound.theorem == f"post.{affine}"


@pytest.mark.parametrize("affine", ["bare", "learned"])
@pytest.mark.parametrize("L", [2, 3, 4])
def test_the_shortest_circular_readouts_end_on_antipodal_points(L, affine):
    """W = (L-1)/2 puts counts 0 and L on antipodes, so every N_c is collinear: two values only.

    Each count must lie within 1/2 of 1/2 or of L - 1/2, which fails for 2 at L = 4 alone.
    """
    bound = bound_at(L, "post", affine)
    assert radius_squared(bound) == Fraction(L - 1, 2) ** 2
    half = Fraction(1, 2)
    near = [[y for y in (half, L - half) if abs(y - c) <= half] for c in range(L + 1)]
    assert bound.attained is all(near)
    for c, side in touches(bound):
        assert (half if c < L / 2 else L - half) == c + (half if side == "+" else -half)
    ends = [(0, "+"), (L, "-")]
    expected = {2: ends, 3: [ends[0], (1, "-"), (2, "+"), ends[1]]}
    assert touches(bound) == expected.get(L, [ends[0], (1, "-"), (3, "+"), ends[1]])


@pytest.mark.parametrize("affine", ["bare", "learned"])
@pytest.mark.parametrize(("normalizer", "d"), [("layer", 2), ("rms", 1)])
def test_post_with_two_points_counts_to_1_only(affine, normalizer, d):
    fields = {"normalizer": normalizer, "d": d}
    found = [bound_at(L, "post", affine, **fields).feasible for L in (1, 2, 3, 1000)]
    assert found == [True, False, False, False]
    assert "2 points < L + 1 = 3" in bound_at(2, "post", affine, **fields).reason


# Linear attention, exact counting, classification, L = 1 -----------------------------------------


@pytest.mark.parametrize(("norm", "affine"), LINEAR)
@pytest.mark.parametrize("L", [2, 3, 4, 7, 10**30])
def test_linear_readouts_touch_both_ends(L, norm, affine):
    bound = bound_at(L, norm, affine, attention="linear", d=17, tau="1/3")
    with mpmath.workdps(DIGITS):
        reach = {"none": 1, "bare": mpmath.sqrt(17) ** 3, "learned": 125}[affine or norm]
        slope = value(bound) ** (1 if affine == "bare" else 4) * reach / 3
        assert abs(slope - (1 - mpmath.mpf(1) / L)) < TINY  # 1/2 + slope c meets L - 1/2 at c = L
    assert touches(bound) == [(0, "+"), (L, "-")]
    assert (bound.attained, bound.regime, bound.theorem) == (True, None, "linear.rounded")


@pytest.mark.parametrize("attention", ["softmax", "linear"])
@pytest.mark.parametrize(("norm", "affine"), SOFTMAX)
def test_at_length_1_half_serves_both_counts(attention, norm, affine):
    """B = 0 makes every vector 0: fine without a norm, but LN(0) does not exist."""
    for d in (2, 64):
        bound = bound_at(1, norm, affine, attention=attention, d=d)
        assert (bound.decimal(5), bound.exact, bound.text, bound.enclosure(5)) == ("0", 0, "0", 0)
        assert (bound.theorem, bound.method, bound.regime) == ("trivial", "closed form", None)
        assert bound.attained is (norm == "none")
        assert touches(bound) == [(0, "+"), (1, "-")]


@pytest.mark.parametrize(("norm", "affine"), SOFTMAX[:3])
@pytest.mark.parametrize("tau", ["scaled", "1", "0.01"])
def test_softmax_counts_exactly_at_length_1_only(norm, affine, tau):
    """yhat(0) = A = 0 and yhat(1) = D/(1 + a) = 1: the gap 1 + a at the least reachable a."""
    bound = bound_at(1, norm, affine, tau=tau, exactness="exact")
    with mpmath.workdps(DIGITS):
        gap, reach = supplies(bound.problem, value(bound))
        assert abs(gap - 1 - mpmath.exp(-reach)) < TINY
    assert (bound.attained, bound.active, bound.theorem) == (True, (), "softmax.exact.small")
    for L in (2, 3, 10**100):
        longer = bound_at(L, norm, affine, tau=tau, exactness="exact")
        assert (longer.feasible, longer.theorem) == (False, "softmax.inexact")


@pytest.mark.parametrize("attention", ["softmax", "linear"])
@pytest.mark.parametrize("affine", ["bare", "learned"])
def test_post_counts_exactly_up_to_2(attention, affine):
    """L = 1: two antipodal points. L = 2: three symmetric points, in the limit of a step."""
    fields = {"attention": attention, "exactness": "exact"}
    one, two, three = (bound_at(L, "post", affine, **fields) for L in (1, 2, 3))
    assert [radius_squared(one), radius_squared(two)] == [Fraction(1, 4), 1]
    assert [one.attained, two.attained] == [True, False]
    assert [one.active, two.active, one.regime] == [(), (), None]
    assert {one.theorem, two.theorem} == {"softmax.exact.small"}
    assert (three.feasible, three.theorem) == (False, "softmax.inexact")


@pytest.mark.parametrize(("norm", "affine"), LINEAR)
def test_linear_attention_counts_exactly_at_every_length(norm, affine):
    bounds = [
        bound_at(L, norm, affine, attention="linear", exactness="exact") for L in (1, 2, 10**1000)
    ]
    assert len({bound.text for bound in bounds}) == 1
    for bound in bounds:
        assert (bound.attained, bound.active, bound.theorem) == (True, (), "linear.exact")


@pytest.mark.parametrize("attention", ["softmax", "linear"])
@pytest.mark.parametrize(("norm", "affine"), SOFTMAX)
@pytest.mark.parametrize("L", [1, 2, 10**30])
def test_classification_stores_a_vector_a_count(attention, norm, affine, L):
    bound = bound_at(L, norm, affine, attention=attention, readout="classification", d=7)
    assert (bound.decimal(3), bound.exact, bound.attained, bound.active) == ("0", 0, False, ())
    assert (bound.theorem, bound.regime) == ("classification.bounded", None)
    assert bound.stored_numbers == (L + 1) * 8
    assert bound_at(L, norm, affine, attention=attention, d=7).stored_numbers == 8


@pytest.mark.parametrize(
    ("fields", "least"),
    [
        ({"norm": "none"}, 2),
        ({"norm": "none", "attention": "linear"}, 1),
        ({"norm": "pre"}, 3),
        ({"norm": "pre", "affine": "learned"}, 3),
        ({"norm": "post"}, 3),
        ({"norm": "post", "attention": "linear"}, 3),
        ({"norm": "pre", "attention": "linear"}, 3),
        ({"norm": "pre", "normalizer": "rms"}, 2),
        ({"norm": "post", "normalizer": "rms"}, 2),
    ],
)
def test_classification_has_a_least_dimension(fields, least):
    for d in range(1, 5):
        if d >= least:
            assert bound_at(5, readout="classification", d=d, **fields).feasible
        else:
            with pytest.raises(DomainError):
                bound_at(5, readout="classification", d=d, **fields)


@pytest.mark.parametrize(
    ("norm", "affine", "theorem"),
    [
        ("none", None, "none"),
        ("pre", "bare", "pre.bare"),
        ("pre", "learned", "pre.learned"),
        ("post", "bare", "post.bare"),
        ("post", "learned", "post.learned"),
    ],
)
def test_theorems(norm, affine, theorem):
    for L in (2, 3, 4, 5, 6):
        assert bound_at(L, norm, affine).theorem == theorem
    far = bound_at(10**1000, norm, affine)
    assert far.theorem == (theorem if affine != "bare" or norm == "post" else "pre.bare.horizon")


# Digits, balls, rates ----------------------------------------------------------------------------


@pytest.mark.parametrize(("norm", "affine"), SOFTMAX)
@pytest.mark.parametrize("digits", [1, 15, 40])
def test_enclosures_hold_the_value_and_are_narrow(norm, affine, digits):
    for L in (2, 3, 4, 5, 100):
        bound = bound_at(L, norm, affine, d=23, tau="1/7")
        if not bound.feasible:
            continue
        ball = bound.enclosure(digits)
        with ctx.workprec(300):
            known = arb(bound.decimal(70, "down")).union(arb(bound.decimal(70, "up")))
            assert ball.overlaps(known)
            assert ball.rad() <= ball.abs_lower() / arb(10) ** digits
        if bound.exact is not None:
            with mpmath.workdps(DIGITS):
                evaluated = arb(mpmath.nstr(number(bound.exact), 50) + " +/- 1e-45")
                assert ball.overlaps(evaluated)


@pytest.mark.parametrize(
    ("fields", "digits", "nearest", "down", "up"),
    [
        # pre bare, L = 2: (1 + e^-2^31 / 2)/2^31, and 4.656612873077392578125e-10 is a tie
        (
            {"L": 2, "norm": "pre", "d": 2**60},
            21,
            "4.65661287307739257813e-10",
            "4.65661287307739257812e-10",
            "4.65661287307739257813e-10",
        ),
        ({"L": 2, "norm": "pre", "d": 2**60}, 3, "4.66e-10", "4.65e-10", "4.66e-10"),
        # pre bare, L = 3, a just above 1: D just below 4, so B just below 1/4, a tie at one digit
        ({"L": 3, "norm": "pre", "tau": "1e-300"}, 1, "0.2", "0.2", "0.3"),
        ({"L": 3, "norm": "pre", "tau": "1e-300"}, 4, "0.2500", "0.2499", "0.2500"),
        # pre learned, d = 5: 4 B^2 = 4 - 0 at L = 3, 4 B^2 = 1 + 0 at L = 2 and huge tau
        (
            {"L": 3, "norm": "pre", "affine": "learned", "d": 5, "tau": "1e-300"},
            4,
            "1.000",
            "0.9999",
            "1.000",
        ),
        (
            {"L": 2, "norm": "pre", "affine": "learned", "d": 5, "tau": "1e300"},
            4,
            "0.5000",
            "0.5000",
            "0.5001",
        ),
        # pre learned, d = 10, L = 2 and tiny tau: 6 B^2 = 3/2 - 0
        (
            {"L": 2, "norm": "pre", "affine": "learned", "d": 10, "tau": "1e-300"},
            4,
            "0.5000",
            "0.4999",
            "0.5000",
        ),
        # exactly, pre bare, L = 1: (1 + e^-2^31)/2^31
        (
            {"L": 1, "norm": "pre", "d": 2**60, "exactness": "exact"},
            21,
            "4.65661287307739257813e-10",
            "4.65661287307739257812e-10",
            "4.65661287307739257813e-10",
        ),
    ],
)
def test_the_sign_of_a_vanishing_term_decides_the_rounding(fields, digits, nearest, down, up):
    bound = b_min(CountingProblem(**fields))
    found = [bound.decimal(digits, rounding) for rounding in ("nearest", "down", "up")]
    assert found == [nearest, down, up]


@pytest.mark.parametrize(
    ("attention", "norm", "affine", "constant", "exponent"),
    [
        ("softmax", "none", None, "1/(2*sqrt(2))", 1),
        ("softmax", "pre", "learned", "1/sqrt(8*sqrt(22))", 1),
        ("softmax", "post", "bare", "1/(4*sqrt(46))", "3/2"),
        ("softmax", "post", "learned", "1/sqrt(4*sqrt(44))", "3/4"),
        ("linear", "none", None, "7**(1/4)", 0),
        ("linear", "pre", "bare", "7/23**(3/2)", 0),
        ("linear", "pre", "learned", "(7/(1 + sqrt(22))**3)**(1/4)", 0),
        ("linear", "post", "bare", "1/(4*sqrt(46))", "3/2"),
    ],
)
def test_the_leading_term(attention, norm, affine, constant, exponent):
    for L in (2, 3, 4, 100, 10**12, 10**1000):
        bound = bound_at(L, norm, affine, attention=attention, d=23, tau="1/7")
        leading = bound.asymptote
        assert leading.exponent == Fraction(exponent)
        with mpmath.workdps(DIGITS):
            assert abs(number(leading.constant.text) - number(constant)) < TINY
            term = number(constant) * mpmath.mpf(L) ** number(exponent)
            ratio = mpmath.mpf(leading.ratio.decimal(50))
            assert abs(mpmath.mpf(bound.decimal(50)) / term / ratio - 1) < mpmath.mpf(10) ** -45
            assert L < 10**12 or abs(ratio - 1) < mpmath.mpf(10) ** -11


@pytest.mark.parametrize(
    "fields",
    [
        {"norm": "pre"},
        {"norm": "none", "exactness": "exact"},
        {"norm": "post", "exactness": "exact"},
        {"norm": "post", "readout": "classification"},
    ],
)
def test_there_is_no_leading_term_where_there_is_no_growth(fields):
    assert bound_at(2, **fields).asymptote is None


def test_infeasible_bounds_have_no_value():
    bound = bound_at(244, "pre", "bare", d=23)
    assert (bound.feasible, bound.value, bound.method, bound.exact) == (False, None, None, None)
    assert (bound.attained, bound.active, bound.regime, bound.asymptote) == (False, (), None, None)
    assert bound.stored_numbers == 24

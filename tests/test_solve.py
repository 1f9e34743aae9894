"""The root-finding solver against the closed forms, which it does not use, and against itself.

Oracles: `b_min` for values, active counts and feasibility; values found by optimising the true
forward pass (tests/data/reference_values.csv); an exhaustive search for the extreme counts of a
curve; mpmath for derivatives. The solver's own proof must refuse what is no root, no minimum, or
leaves a count outside.
"""

import csv
import random
import re
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import mpmath
import numpy as np
import pytest
from flint import arb, ctx, fmpq

from bminlib import CountingProblem, b_min
from bminlib.errors import DomainError, InfeasibleError, UndecidedError
from bminlib.solve import digits_agreed, solve
from bminlib.solve.coarse import coarse
from bminlib.solve.curves import Arc, Line, Parts, Share
from bminlib.solve.exchange import OutsideError, Row, Task, settle
from bminlib.solve.lattice import lattice_turn, turn_is_proved
from bminlib.solve.optimality import System, curvature_sign, krawczyk, newton
from bminlib.solve.rationals import simplest_between, simplest_in

REFERENCE = Path(__file__).parent / "data" / "reference_values.csv"
LAYERS = {
    "none": {"norm": "none", "d": 8},
    "none-1": {"norm": "none", "d": 3, "tau": "unscaled"},
    "none-0.12": {"norm": "none", "d": 2, "tau": "0.12"},
    "none-0.03": {"norm": "none", "d": 1, "tau": "0.03"},
    "none-1e-4": {"norm": "none", "d": 1, "tau": "1e-4"},
    "bare": {"norm": "pre", "d": 12},
    "bare-0.12": {"norm": "pre", "d": 3, "tau": "0.12"},
    "bare-rms": {"norm": "pre", "d": 4, "normalizer": "rms"},
    "learned": {"norm": "pre", "affine": "learned", "d": 3},
    "learned-0.03": {"norm": "pre", "affine": "learned", "d": 3, "tau": "0.03"},
    "learned-rms": {"norm": "pre", "affine": "learned", "d": 2, "normalizer": "rms", "tau": "0.05"},
    "post": {"norm": "post", "d": 3},
    "post-rms": {"norm": "post", "d": 2, "normalizer": "rms"},
    "post-learned": {"norm": "post", "affine": "learned", "d": 4},
    "linear": {"norm": "none", "attention": "linear", "d": 2, "tau": "0.3"},
    "linear-bare": {"norm": "pre", "attention": "linear", "d": 3},
    "linear-learned": {"norm": "pre", "attention": "linear", "affine": "learned", "d": 3},
    "two-valued": {"norm": "pre", "d": 2},
    "two-valued-rms": {"norm": "pre", "d": 1, "normalizer": "rms", "tau": "1"},
    "two-valued-post": {"norm": "post", "d": 2},
    "two-valued-linear": {"norm": "pre", "attention": "linear", "d": 2},
}


def assert_agrees(problem, digits=15):
    """Value to all digits, feasibility, and after rounding the active counts."""
    bound, found = b_min(problem), solve(problem, digits)
    assert (found.value is None) == (not bound.feasible)
    if not bound.feasible:
        assert found.reason
        with pytest.raises(InfeasibleError):
            found.decimal()
        return
    assert found.decimal(digits) == bound.decimal(digits)
    if bound.decimal(3) != "0":
        assert digits_agreed(found.value, bound.enclosure(digits + 3), digits) == digits
        assert found.value.rel_accuracy_bits() > 3.32 * digits
    if problem.exactness == "rounded":
        assert found.active == bound.active


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("L", [1, 2, 3, 4, 5, 6, 7, 8, 12, 25, 101])
def test_values_and_active_counts(layer, L):
    assert_agrees(CountingProblem(L=L, **LAYERS[layer]))


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("L", [1, 2, 3, 4])
def test_exact_counting(layer, L):
    assert_agrees(CountingProblem(L=L, exactness="exact", **LAYERS[layer]))


@pytest.mark.slow
@pytest.mark.parametrize("norm", ["none", "post"])
@pytest.mark.parametrize("L", range(2, 300))
def test_every_length(norm, L):
    assert_agrees(CountingProblem(L=L, norm=norm, d=8))


@pytest.mark.parametrize("layer", ["none", "learned", "post", "post-learned", "linear-bare"])
@pytest.mark.parametrize("L", [10**5 + 3, 10**9, 10**18 + 1])
def test_long_lengths_at_fifty_digits(layer, L):
    assert_agrees(CountingProblem(L=L, **LAYERS[layer]), 50)


EXTREME = [
    {"norm": "none", "L": 2, "d": 64, "tau": 10**4},
    {"norm": "none", "L": 1, "d": 64, "tau": 10**5, "exactness": "exact"},
    {"norm": "pre", "L": 2, "d": 64, "tau": 100},
    {"norm": "pre", "L": 2, "d": 1000, "tau": 1},
    {"norm": "pre", "affine": "learned", "L": 2, "d": 4, "tau": 1000},
    {"norm": "pre", "normalizer": "rms", "L": 3, "d": 1, "tau": 1000},
    {"norm": "pre", "L": 2, "d": 2, "tau": 1000},
]


@pytest.mark.parametrize("digits", [15, 240])
@pytest.mark.parametrize("fields", EXTREME)
def test_score_ratios_far_below_the_digits(fields, digits):
    """e^-12800 decides whether a count lies inside; precision rises until it does."""
    assert_agrees(CountingProblem(**fields), digits)


def test_a_score_ratio_below_all_precisions_is_undecided():
    with pytest.raises(UndecidedError, match="bits of precision"):
        solve(CountingProblem(norm="pre", L=2, d=10**6, tau=1))


TIES = [  # B_min is halfway between two numbers of so many digits
    ({"norm": "pre", "normalizer": "rms", "L": 24, "d": 64, "tau": 1}, 2, "9.75"),
    ({"norm": "pre", "normalizer": "rms", "L": 112, "d": 256, "tau": 1}, 3, "99.75"),
    ({"norm": "pre", "normalizer": "rms", "L": 1548, "d": 9, "tau": 1}, 4, "99975"),
]


@pytest.mark.parametrize(("fields", "digits", "value"), TIES)
def test_a_tie_is_undecided_and_no_digit_is_lost(fields, digits, value):
    """A power of ten above it has coarser neighbours than what lies below."""
    found = solve(CountingProblem(**fields))
    with pytest.raises(UndecidedError, match="more than the ball"):
        found.decimal(digits)
    assert found.decimal(digits + 1) == value


def test_an_exact_value_rounds_its_tie_as_the_closed_form_does():
    problem = CountingProblem(norm="post", normalizer="rms", L=4, d=4)
    assert solve(problem).decimal(1) == b_min(problem).decimal(1) == "0.8"


def reference_rows():
    with REFERENCE.open(newline="", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if int(row["L"]) > 1]


def test_values_found_by_optimising_the_forward_pass():
    rows = reference_rows()[::3]
    assert len(rows) > 80
    for row in rows:
        placement = ("attention", "norm", "affine", "normalizer", "tau")
        fields = {name: row[name] for name in placement if row[name]}
        found = solve(CountingProblem(L=int(row["L"]), d=int(row["d"]), **fields), 40)
        assert (found.value is None) == (not row["b_min"])
        if row["b_min"]:
            with ctx.workprec(200):
                off = abs(found.value - arb(row["b_min"])) / found.value
            assert off < 2 * arb(10) ** (1 - int(row["digits"]))


@pytest.mark.parametrize("layer", ["none", "none-0.12", "learned-rms", "post", "post-learned"])
@pytest.mark.parametrize("L", [2, 3, 6, 11, 1000])
def test_answers_at_all_precisions_agree(layer, L):
    """What mpmath's findroot fails at: 10, 15, 20 and 50 digits round the answer at 240."""
    problem = CountingProblem(L=L, **LAYERS[layer])
    balls = [solve(problem, digits).value for digits in (10, 15, 20, 50, 240)]
    for wide, narrow in pairwise(balls):
        assert wide.overlaps(narrow)
        assert narrow.rel_accuracy_bits() > wide.rel_accuracy_bits() - 8
    finest = solve(problem, 240)
    for digits in (10, 15, 20, 50):
        text = solve(problem, digits).decimal(digits)
        assert text == finest.decimal(digits) == b_min(problem).decimal(digits)


def test_the_horizon():
    """Feasible by 8.2e-5 in the log, and infeasible by 8.2e-12."""
    for d, L in ((23, 243), (23, 244), (360, 347686978), (3, 12), (3, 13)):
        assert_agrees(CountingProblem(norm="pre", d=d, L=L))


def test_a_closed_problem_that_no_strict_one_reaches():
    """Two-valued scores at L = 3: a solver with a tolerance says sqrt 2."""
    found = solve(CountingProblem(norm="pre", L=3, d=2))
    assert found.decimal(8) == "4.6949129"


@pytest.mark.parametrize("layer", ["none", "post", "learned"])
def test_the_cost_does_not_grow_with_the_length(layer, monkeypatch):
    """Evaluations of the error curve at 10^9 against 10^3, both at 50 digits."""
    counts = []
    for curve in (Share, Arc):
        plain = curve.error
        monkeypatch.setattr(
            curve, "error", lambda *a, _plain=plain: (counts.append(1), _plain(*a))[1]
        )

    def evaluations(L):
        counts.clear()
        solve(CountingProblem(L=L, **LAYERS[layer]), 50)
        return len(counts)

    assert evaluations(10**9) < 2 * evaluations(10**3)


CURVES = {"line": Line(), "share": Share(), "ratio": Share("ratio"), "arc": Arc(mpmath.sqrt)}


@pytest.mark.parametrize("name", CURVES)
def test_derivatives(name):
    rng, curve, step = random.Random(3), CURVES[name], mpmath.mpf(10) ** -15
    with mpmath.workdps(50):
        for _ in range(4):
            v = [mpmath.mpf(rng.uniform(0.2, 3)) for _ in curve.names]
            y, eps = mpmath.mpf(rng.random()), mpmath.mpf(rng.uniform(0.01, 0.5))
            assert_derivatives(lambda v, y=y, eps=eps: curve.error(v, y, eps), v, step)
            assert_derivatives(lambda v, eps=eps: curve.objective(v, eps), v, step)
            e = [curve.error(v, y + k * step, eps).value for k in (-1, 0, 1)]
            first, second = curve.slope(v, y, eps)
            assert abs((e[2] - e[0]) / (2 * step) - first) < 1e-12
            assert abs((e[2] - 2 * e[1] + e[0]) / step**2 - second) < 1e-12


def assert_derivatives(part, v, step):
    here = part(v)
    for i in range(len(v)):
        up, down = ([x + sign * step * (j == i) for j, x in enumerate(v)] for sign in (1, -1))
        high, low = part(up), part(down)
        assert abs((high.value - low.value) / (2 * step) - here.gradient[i]) < 1e-12
        for j in range(len(v)):
            bend = (high.gradient[j] - low.gradient[j]) / (2 * step)
            assert abs(bend - here.hessian.get((min(i, j), max(i, j)), 0)) < 1e-12


def test_curves_are_the_forward_pass():
    """yhat from N_c and from attention shares, by their definitions."""
    L, eps = 7, 1 / 7
    beta, T, sigma, gamma, K = 0.3, 0.02, 1.5, 0.45, 3.0
    t, c0, s, q = T * L, gamma * L, 1 + sigma * eps, K * eps**3
    for c in range(L + 1):
        N = np.array([np.sqrt(q) * (c - c0), 1.0])
        p = np.array([s / np.sqrt(q), t])
        yhat = beta + c0 - t + p @ N / np.linalg.norm(N)
        error = Arc(np.sqrt).error((beta, T, sigma, gamma, K), c / L, eps).value
        assert error == pytest.approx(yhat - c, abs=1e-12)
        A, delta, alpha = 0.2, 1.1, 0.3
        a = alpha * L**2
        share = c / (a + c)
        yhat = A + (a + delta * L) * share
        assert Share().error((A, delta, alpha), c / L, eps).value == pytest.approx(yhat - c)


@pytest.mark.parametrize("seed", range(12))
def test_extreme_counts_without_a_scan(seed):
    rng = random.Random(seed)
    L = rng.randrange(5, 400)
    v = [arb(x) for x in (0.1, rng.uniform(-0.2, 0.2), 3.0, rng.uniform(0.4, 0.6), 32.0)]
    curve = Arc(lambda x: x.sqrt())
    with ctx.workprec(100):
        errors = [curve.error(v, fmpq(c, L), fmpq(1, L)).value.mid() for c in range(L + 1)]
        middle = L // 2
        lowest = min(range(middle + 1), key=lambda c: float(errors[c]))
        highest = max(range(middle, L + 1), key=lambda c: float(errors[c]))
        assert lattice_turn(curve, v, L, L // 5, -1) == lowest
        assert lattice_turn(curve, v, L, L - L // 5, 1) == highest
        assert turn_is_proved(curve, v, L, highest, 1)
        assert not turn_is_proved(curve, v, L, highest - 1, 1)


@pytest.mark.parametrize(("L", "rows"), [(5, [(0, 1), (2, -1), (3, 1), (5, -1)]), (40, None)])
def test_the_coarse_start(L, rows):
    found = [(c, side) for c, side, _ in coarse(Arc(np.sqrt), L).rows]
    assert [side for _, side in found] == [1, -1, 1, -1]
    if rows:
        assert found == rows


def arc_task(L):
    return Task(Arc(lambda x: x.sqrt()), L)


def test_an_exchange_from_wrong_counts():
    """Started two counts off, it ends at the right ones."""
    with ctx.workprec(200):
        v = [arb(x) for x in coarse(Arc(np.sqrt), 30).v]
        wrong = [Row(0, 1), Row(5, -1), Row(24, 1), Row(30, -1)]
        found = settle(arc_task(30), wrong, v, 200, 150)
        assert [touch.c for touch in b_min(CountingProblem(L=30, norm="post")).active] == [
            row.c for row in found.rows
        ]


def test_a_count_left_outside_is_noticed():
    """At L = 5 the counts 1 and 5 alone force a gap whose curve leaves count 0 below its bound."""
    with ctx.workprec(150):
        v = [arb(x) for x in (-0.5, 1, 0.16)]
        with pytest.raises(OutsideError, match=re.escape("yhat(2) = 2 + 1/2")):
            settle(Task(Share(), 5), [Row(2, 1), Row(5, -1)], v, 150, 150)


def test_a_multiplier_of_the_wrong_sign_is_noticed():
    """Touching from the wrong sides: the objective could fall."""
    with ctx.workprec(150):
        v = [arb(x) for x in (0, 1)]
        with pytest.raises(UndecidedError, match="multiplier is not proved positive"):
            settle(Task(Line(), 5), [Row(0, -1), Row(5, 1)], v, 150, 150)


def parabola(v):
    return Parts(v[0] ** 2 - 2, [2 * v[0]], {(0, 0): arb(2)})


def nothing(v):
    return Parts(0 * v[0], [arb(0)], {})


def test_newton_says_which_equations_and_which_precision_failed():
    double = System(nothing, [nothing], "0 = 0")
    with (
        ctx.workprec(77),
        pytest.raises(UndecidedError, match=r"0 = 0: .* at 77 bits of precision"),
    ):
        newton(double, [arb(1)], None)

    def rootless(v):
        return Parts(v[0] ** 2 + 1, [2 * v[0]], {(0, 0): arb(2)})

    system = System(nothing, [rootless], "x^2 + 1 = 0")
    with ctx.workprec(80), pytest.raises(UndecidedError, match=r"x\^2 \+ 1 = 0: .* 80 bits"):
        newton(system, [arb(3)], [arb(0)])


def test_krawczyk_proves_roots_and_nothing_else():
    def line(v):
        return Parts(v[0], [arb(1)], {})

    system = System(line, [parabola], "x^2 = 2")
    with ctx.workprec(120):
        near = newton(system, [arb(1.4)], None)
        root = krawczyk(system, near)
        assert root.v[0].contains(arb(2).sqrt()) or root.v[0].overlaps(arb(2).sqrt())
        assert root.v[0].rel_accuracy_bits() > 100
        away = near._replace(v=[near.v[0] + 1000])
        with pytest.raises(UndecidedError, match="Krawczyk"):
            krawczyk(system, away)
        flat = System(nothing, [nothing], "0 = 0")
        with pytest.raises(UndecidedError, match="singular"):
            krawczyk(flat, near)


@pytest.mark.parametrize(("sign", "expected"), [(1, 1), (-1, -1)])
def test_minima_are_told_from_maxima(sign, expected):
    """sign (x^2 + y^2) on the line x + y = 1: a minimum or a maximum at (1/2, 1/2)."""

    def bowl(v):
        gradient = [2 * sign * v[0], 2 * sign * v[1]]
        bends = {(0, 0): arb(2 * sign), (1, 1): arb(2 * sign)}
        return Parts(sign * (v[0] ** 2 + v[1] ** 2), gradient, bends)

    def line(v):
        return Parts(v[0] + v[1] - 1, [arb(1), arb(1)], {})

    system = System(bowl, [line], "x + y = 1")
    with ctx.workprec(100):
        root = krawczyk(system, newton(system, [arb(3), arb(1)], None))
        assert curvature_sign(system, root) == expected


def test_short_rationals():
    assert simplest_between(0.3, 0.35) == Fraction(1, 3)
    assert simplest_between(2.5, 9) == 3
    with ctx.workprec(200):
        third, whole = simplest_in([arb(1) / 3, arb(-7) / 2])
        assert (third, whole) == (fmpq(1, 3), fmpq(-7, 2))
        assert simplest_in([arb(0, 1e-9)]) == [0]


def test_digits_agreed():
    with ctx.workprec(200):
        one = arb(1)
        assert digits_agreed(one, one, 15) == 15
        assert digits_agreed(one + arb("1e-10"), one, 15) == 10
        assert digits_agreed(arb(2), one, 15) == 0
        assert digits_agreed(arb(1, 0.001), one, 15) == 3


def test_what_is_refused():
    with pytest.raises(DomainError, match="no equation"):
        solve(CountingProblem(norm="none", L=4, readout="classification"))
    with pytest.raises(DomainError, match="digits"):
        solve(CountingProblem(norm="none", L=4), 0)
    found = solve(CountingProblem(norm="post", L=9), 15)
    with pytest.raises(UndecidedError, match="more than the ball"):
        found.decimal(300)

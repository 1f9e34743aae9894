"""Where counts lie: the optimal shapes, the shapes of weights, and what the read-out does there.

Oracles: the float64 forward pass of explicit weights, which knows nothing of shapes; the vectors of
`witness` near B_min; a linear program for the least largest error; numpy's own angles.
"""

import csv
import io
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from scipy.optimize import linprog

from bmin.app import run
from bminlib import CountingProblem, DomainError, b_min
from bminlib.class_margins import class_margins
from bminlib.files import save_weights
from bminlib.geometry import geometry, geometry_of
from bminlib.layer import Layer, forward
from bminlib.shapes import least_error, optimal_shape
from bminlib.weight_shapes import weight_shape
from bminlib.weights import Weights, to_ball
from bminlib.witness import witness

PLACEMENTS = {
    "none": {},
    "pre-bare": {"norm": "pre"},
    "pre-learned": {"norm": "pre", "affine": "learned"},
    "post-bare": {"norm": "post"},
    "post-learned": {"norm": "post", "affine": "learned"},
    "post-rms": {"norm": "post", "normalizer": "rms"},
    "linear": {"attention": "linear"},
    "linear-pre": {"attention": "linear", "norm": "pre"},
}
PLACES = pytest.mark.parametrize("place", PLACEMENTS.values(), ids=PLACEMENTS)


def problem(place, L=16, d=24, **more):
    return CountingProblem(**{"L": L, "d": d} | place | more)


def random_weights(p, seed):
    """Weights of no special kind."""
    rng = np.random.RandomState(seed)
    names = ["q", "k_s", "k_t", "k_f", "v_s", "v_t", "v_f", "r"]
    names += ["gamma", "beta"] * (p.affine == "learned")
    vectors = {name: rng.randn(p.d) for name in names}
    if p.readout == "classification":
        return Weights(p, vectors | {"W": rng.randn(p.L + 1, p.d)}, rng.randn(p.L + 1))
    return Weights(p, vectors | {"w": rng.randn(p.d)}, np.array(rng.randn()))


@PLACES
@pytest.mark.parametrize("L", [2, 3, 4, 5, 6, 7, 12, 33])
def test_the_optimal_error_touches_one_half_and_never_passes_it(place, L):
    p = problem(place, L)
    half, touches = Fraction(1, 2), {}
    with ctx.workprec(200):
        shape, tiny = optimal_shape(b_min(p)), arb(2) ** -150
        for c in range(L + 1):
            for m in range(L - c + 1):
                error = shape.yhat(arb(c), arb(m)) - c
                assert abs(error) < to_ball(half) + tiny
                for side, edge in (("+", half), ("-", -half)):
                    if m == 0 and abs(error - to_ball(edge)) < tiny:
                        touches[c] = side
    assert touches == {touch.c: touch.side for touch in b_min(p).active}


@PLACES
@pytest.mark.parametrize("L", [5, 16, 40])
def test_witnesses_near_the_bound_have_the_optimal_shape(place, L):
    p = problem(place, L)
    with ctx.workprec(300):
        optimal = optimal_shape(b_min(p))
        layer = Layer.in_balls(witness(p, Fraction(1, 10**9)))
        found = weight_shape(layer, layer.vectors["w"], layer.b.item())
        for c in range(0, L + 1, 5):
            here, there = (float(shape.position(arb(c)).mid()) for shape in (optimal, found))
            assert here == pytest.approx(there, rel=1e-4, abs=1e-9)
            here, there = (float(shape.yhat(arb(c), arb(0)).mid()) for shape in (optimal, found))
            assert here == pytest.approx(there, abs=1e-5)


@PLACES
@pytest.mark.parametrize("seed", range(3))
def test_the_shape_of_any_weights_gives_their_output(place, seed):
    """yhat from five numbers of the shape against the forward pass of the vectors."""
    weights = random_weights(problem(place, d=6), seed)
    with ctx.workprec(200):
        layer = Layer.in_balls(weights)
        shape = weight_shape(layer, layer.vectors["w"], layer.b.item())
        c = np.arange(17)
        fillers = [0] if shape.kind == "arc" else [0, 3, 50]
        for m in fillers:
            yhat = [float(shape.yhat(arb(int(count)), arb(m)).mid()) for count in c]
            np.testing.assert_allclose(yhat, forward(weights, c, m), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["post-bare", "post-learned", "post-rms"])
def test_angles_on_the_circle_are_those_of_the_states(name):
    """Angles between normalised states, by numpy from the vectors."""
    weights = random_weights(problem(PLACEMENTS[name], d=6), 5)
    layer = Layer.in_floats(weights)
    h = layer.states(np.arange(17.0), np.zeros(17))
    h = h if name == "post-rms" else h - h.mean(axis=1, keepdims=True)
    h /= np.linalg.norm(h, axis=1, keepdims=True)
    between = np.arccos(np.clip((h[1:] * h[:-1]).sum(axis=1), -1, 1))
    spacings = [float(at.spacing.mid()) for at in geometry_of(weights).points[:-1]]
    np.testing.assert_allclose(spacings, between, atol=1e-7)


@pytest.mark.parametrize(("L", "rest"), [(100, 0.03), (10_000, 0.0003), (10**12, 1e-11)])
def test_the_asymptotic_shares(L, rest):
    """4/L of the segment and a half-angle of sqrt(8/L)."""
    segment = geometry(problem(PLACEMENTS["none"], L)).points[-1].position
    arc = geometry(problem(PLACEMENTS["post-bare"], L)).points[-1].position
    assert float(segment) == pytest.approx(4 / L, rel=rest)
    assert float(arc) == pytest.approx(math.sqrt(8 / L), rel=rest)


@pytest.mark.parametrize("L", [2, 3, 4])
def test_small_lengths_are_steps_on_the_circle(L):
    found = geometry(problem(PLACEMENTS["post-bare"], L))
    quarter = math.pi / 2
    assert found.shape.kappa is None
    assert {round(float(at.position) / quarter, 9) for at in found.points} <= {-1, 0, 1}
    assert float(found.largest_error) == pytest.approx(0.5, abs=1e-15)


def chebyshev(L, a):
    """The least largest |A + D c/(a + c) - c| over A and D, by a linear program."""
    c = np.arange(L + 1.0)
    rows = np.stack([np.ones(L + 1), a * c / (a + c)], axis=1)
    lhs = np.block([[rows, -np.ones((L + 1, 1))], [-rows, -np.ones((L + 1, 1))]])
    free = [(None, None)] * 3
    return linprog([0, 0, 1], A_ub=lhs, b_ub=np.concatenate([c, -c]), bounds=free).x[2]


@pytest.mark.parametrize("L", [2, 5, 12, 40])
@pytest.mark.parametrize("a", [0.3, 2.0, 30.0, 5000.0])
def test_the_least_error_at_a_score_ratio(L, a):
    assert float(least_error(L, arb(a))) == pytest.approx(chebyshev(L, a), rel=1e-6)


def test_the_least_eps_bends_the_curve_past_one_half_beyond_the_horizon():
    inside, beyond = (geometry(problem(PLACEMENTS["pre-bare"], L, d=16)) for L in (110, 111))
    assert inside.reason is None
    assert inside.bend.error < 0.5
    assert beyond.reason == "a*(111) = 3025 > e^8"
    assert beyond.bend.error > 0.5
    assert float(beyond.largest_error) == pytest.approx(float(beyond.bend.error), abs=1e-12)


@pytest.mark.parametrize("name", ["none", "pre-learned", "post-bare", "linear"])
@pytest.mark.parametrize("L", [1, 2, 9])
def test_class_margins_are_those_of_the_scores(name, L):
    weights = witness(problem(PLACEMENTS[name], L, readout="classification"))
    found = [float(margin) for margin in class_margins(weights, range(L + 1))]
    for c in range(L + 1):
        scores = forward(weights, c, np.array(sorted({0, L - c})))
        rest = np.delete(scores, c, axis=1).max(axis=1)
        assert found[c] == pytest.approx((scores[:, c] - rest).min(), rel=1e-6)
    assert min(found) > 0


def test_misread_classes_have_negative_margins():
    weights = random_weights(problem({"readout": "classification"}, 9), 0)
    assert min(float(margin) for margin in class_margins(weights, range(10))) < 0


@pytest.mark.parametrize("name", ["none", "post-learned", "linear"])
def test_class_vectors_give_the_scores(name):
    """Score of class j at count c from (main, side, bias) and the place of the count."""
    weights = witness(problem(PLACEMENTS[name], 6, readout="classification"))
    points = geometry_of(weights).points
    kind = geometry_of(weights).shape.kind
    scores = forward(weights, np.arange(7), 0)
    for c, at in enumerate(points):
        place = float(at.position.mid())
        x, y = (math.sin(place), math.cos(place)) if kind == "arc" else (place, 1.0)
        for j, other in enumerate(points):
            main, side, bias, norm = (float(ball.mid()) for ball in other.vector)
            assert main * x + side * y + bias == pytest.approx(scores[c, j], abs=1e-9)
            assert norm == pytest.approx(np.linalg.norm(weights.vectors["W"][j].astype(float)))


def test_long_lengths_list_a_choice_with_the_touching_counts():
    found = geometry(problem(PLACEMENTS["post-bare"], 10**18))
    listed = [at.c for at in found.points]
    touching = [at.c for at in found.points if at.touch]
    assert len(listed) < 80
    assert touching == [touch.c for touch in b_min(found.problem).active]
    assert {0, 10**18} <= set(listed)


def layer_with(p, **vectors):
    zero = {name: np.zeros(p.d) for name in Layer.in_floats(random_weights(p, 0)).vectors}
    return Weights(p, zero | vectors, np.array(0.0))


def test_weights_without_a_shape_are_refused():
    p = problem({"norm": "post", "normalizer": "rms"}, 4, d=3)
    e = np.eye(3)
    with pytest.raises(DomainError, match="a target leaves the state where it is"):
        geometry_of(layer_with(p, r=e[0], v_t=-e[0]))
    with pytest.raises(DomainError, match="on one line through 0"):
        geometry_of(layer_with(p, r=e[0], v_t=e[0]))


@pytest.mark.parametrize("counts", [[-1], [17], []])
def test_counts_beyond_the_length_are_refused(counts):
    with pytest.raises(DomainError, match="counts go from 0 to L = 16"):
        geometry(problem({}), counts)


def output(capsys, *arguments, code=0):
    assert run(["geometry", *arguments]) == code
    return capsys.readouterr().out


POST = ["--norm", "post", "--affine", "learned", "--L", "64", "--d", "64"]


def test_json_and_csv_hold_the_same(capsys):
    (row,) = json.loads(output(capsys, *POST, "--format", "json"))
    rows = list(csv.DictReader(io.StringIO(output(capsys, *POST, "--format", "csv"))))
    assert row["shape"] == "arc"
    assert row["half_angle"] == "0.351361306353908"
    assert [at["touch"] for at in row["points"] if at["touch"]] == ["+", "-", "+", "-"]
    assert [at["position"] for at in row["points"]] == [line["position"] for line in rows]
    assert rows[0]["radius"] == row["radius"]
    assert float(row["radius"]) == pytest.approx(91.5228717125486, rel=1e-14)


@pytest.mark.parametrize("style", ["table", "markdown", "latex"])
@pytest.mark.parametrize("arguments", [POST, ["--L", "16"]], ids=["one", "all"])
def test_text_formats(capsys, style, arguments):
    text = output(capsys, *arguments, "--format", style)
    assert text.isascii()
    assert "0.50000000" in text


def test_a_file_of_weights(capsys, tmp_path):
    path = tmp_path / "w.npz"
    save_weights(witness(problem(PLACEMENTS["post-learned"])), path)
    (row,) = json.loads(output(capsys, "--weights", str(path), "--format", "json"))
    assert row["L"] == "16"
    assert float(row["phi"]) == pytest.approx(0, abs=1e-12)
    assert float(row["c0"]) == pytest.approx(8)


def test_nothing_counts(capsys):
    arguments = ["--norm", "pre", "--affine", "bare", "--d", "16", "--L", "111"]
    assert "no weights count" in output(capsys, *arguments, code=1)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "--L is missing"),
        (["--L", "1"], "yhat = 1/2 serves both counts"),
        (["--L", "4", "--counts", "5"], "count 5: counts go from 0 to L = 4"),
        (["--L", "4", "--plot"], "--plot draws one placement"),
        (["--L", "4,5"], "one number is wanted"),
        (["--L", "5000", "--readout", "classification"], "shown up to L = 4096"),
        (["--weights", "nowhere.npz"], "can't be read"),
        (["--weights", "w.npz", "--L", "4"], "leave --L"),
        (["--norm", "post", "--affine", "bare", "--d", "2", "--L", "4"], "has 2 points"),
        (["--norm", "none", "--L", "10^13", "--plot"], "up to L = 1000000000000"),
    ],
)
def test_bad_usage_gets_one_sentence(capsys, arguments, sentence):
    assert run(["geometry", *arguments]) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1

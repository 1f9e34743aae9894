"""The projection keeps every norm within the radius exactly, and starting weights are as stated.

Oracle: sums of squares in Fractions, compared with the square of the radius.
"""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

jax = pytest.importorskip("jax")
pytest.importorskip("optax")

from bminlib import CountingProblem, DomainError  # noqa: E402
from bminlib.train.descent import Descent  # noqa: E402
from bminlib.train.experiments import Experiment  # noqa: E402
from bminlib.train.settings import Settings  # noqa: E402
from bminlib.train.updates import initial, largest_norm, project  # noqa: E402
from bminlib.weights import vector_names, vector_shape  # noqa: E402

ROWS, D = 3, 8
held = jax.jit(project)


@pytest.fixture(autouse=True)
def _float64():
    with jax.enable_x64(True):
        yield


def square(row):
    """The exact sum of squares."""
    return sum(Fraction(float(entry)) ** 2 for entry in row)


entries = st.builds(
    lambda mantissa, power: mantissa * 10.0**power,
    st.integers(-(10**6), 10**6),
    st.integers(-30, 3),
)
rows = st.lists(entries, min_size=D, max_size=D).map(np.array)
radii = st.builds(lambda x, power: x * 10.0**power, st.floats(1, 10), st.integers(-7, 6))


def params_of(w, W, b=0.0):
    return {"w": np.array(w), "W": np.array(W), "b": np.array(b)}


@settings(max_examples=200, derandomize=True)
@given(rows, st.lists(rows, min_size=ROWS, max_size=ROWS), radii)
def test_no_exact_norm_is_above_the_radius(w, W, radius):
    with jax.enable_x64(True):  # hypothesis calls this many times a fixture
        found = held(params_of(w, W), radius)
    for row in (found["w"], *found["W"]):
        assert square(row) <= Fraction(radius) ** 2


@settings(max_examples=200, derandomize=True)
@given(rows, radii, st.floats(-1e-15, 1e-15))
def test_vectors_whose_norm_is_the_radius_but_for_rounding(w, radius, excess):
    """The hardest case: scaled to the radius in float64, norms come out above it half the time."""
    w = w if w.any() else np.eye(D)[0]
    on_it = w * (radius * (1 + excess) / np.sqrt((w**2).sum()))
    with jax.enable_x64(True):
        found = held(params_of(on_it, np.zeros((ROWS, D))), radius)
    assert square(found["w"]) <= Fraction(radius) ** 2
    np.testing.assert_allclose(found["w"], on_it, rtol=1e-13, atol=0)


def test_those_norms_are_indeed_above_the_radius_before():
    """The check above can fail: without the projection it would."""
    rng = np.random.default_rng(0)
    w = rng.normal(size=(200, D))
    w /= np.sqrt((w**2).sum(axis=1, keepdims=True))
    assert sum(square(row) > 1 for row in w) > 50


@settings(max_examples=200, derandomize=True)
@given(rows, radii, st.floats(0, 0.999999))
def test_shorter_vectors_stay_as_they_are(w, radius, share):
    short = w * (share * radius / np.sqrt((w**2).sum())) if w.any() else w
    with jax.enable_x64(True):
        found = held(params_of(short, np.zeros((ROWS, D))), radius)
    np.testing.assert_array_equal(found["w"], short)


def test_longer_vectors_keep_their_direction_and_come_within_rounding_of_the_radius():
    rng = np.random.default_rng(1)
    w, W = rng.normal(size=D), rng.normal(size=(ROWS, D))
    found = held(params_of(w, W, b=50.0), 0.25)
    np.testing.assert_allclose(found["w"], 0.25 * w / np.linalg.norm(w), rtol=1e-14)
    assert float(square(found["w"])) == pytest.approx(1 / 16, rel=1e-14)
    assert float(found["b"]) == 50.0  # b is bounded by nothing


def test_each_row_of_a_dense_head_is_held_by_itself():
    W = np.outer([0.5, 3.0, 1.0], np.eye(D)[2])
    found = np.array(held(params_of(np.zeros(D), W), 2.0)["W"])
    np.testing.assert_array_equal(found[[0, 2]], W[[0, 2]])
    np.testing.assert_allclose(found[1], 2 * np.eye(D)[2], rtol=1e-14)


def test_the_largest_norm_is_that_of_a_vector_or_of_a_row():
    W = np.outer([0.5, 3.0, 1.0], np.eye(D)[2])
    assert float(largest_norm(params_of(np.ones(D), W, b=9.0))) == pytest.approx(3, rel=1e-15)
    assert float(largest_norm(params_of(2 * np.ones(D), W))) == pytest.approx(32**0.5, rel=1e-15)


def problem(readout, affine="learned", d=D, L=4):
    return CountingProblem(L=L, d=d, norm="post", affine=affine, readout=readout)


def test_initial_weights_have_gain_1_offsets_0_and_entries_of_variance_1_over_d():
    at = problem("classification", d=400, L=2)
    found = {name: np.array(x) for name, x in initial(at, 0).items()}
    assert found.keys() == {*vector_names(at), "b"}
    assert {name: x.shape for name, x in found.items()} == {
        name: vector_shape(at, name) for name in found
    }
    np.testing.assert_array_equal(found["gamma"], np.ones(400))
    np.testing.assert_array_equal(found["beta"], np.zeros(400))
    assert not found["b"].any()
    drawn = [x for name, x in found.items() if name not in ("gamma", "beta", "b")]
    for x in drawn:
        assert x.mean() == pytest.approx(0, abs=4 * 0.05 / 20)
        assert (x**2).mean() == pytest.approx(1 / 400, rel=0.3)
    assert len({float(x.flat[0]) for x in drawn}) == len(drawn)


def test_a_start_does_not_depend_on_the_seeds_beside_it():
    at = problem("regression")
    state = Descent.of(Experiment(at, "plain", 1), Settings()).start()
    alone = initial(at, 2)
    for name, x in state.params.items():
        np.testing.assert_array_equal(x[2], alone[name])
    other = Descent.of(Experiment(at, "plain", 6), Settings()).start()
    assert not np.isin(other.params["q"], state.params["q"]).any()


def test_a_start_in_a_ball_is_in_the_ball():
    experiment = Experiment(problem("classification"), "least", 0)
    params = Descent.of(experiment, Settings(radius=Fraction(1, 3))).start().params
    for name, x in params.items():
        if name != "b":
            for row in np.array(x).reshape(-1, D):
                assert square(row) <= Fraction(1 / 3) ** 2
    assert max(square(row) for row in np.array(params["gamma"])) > Fraction(1, 10)


@pytest.mark.parametrize("radius", [Fraction(0), Fraction(-1), Fraction(1, 10**400), 10**6 + 1])
def test_a_radius_that_float64_can_not_hold_norms_in_is_refused(radius):
    with pytest.raises(DomainError, match="radius"):
        Settings(radius=Fraction(radius))

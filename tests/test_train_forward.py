"""What is trained is the layer itself, and what it descends is the loss that is stated.

Oracles: `bminlib.layer.forward`; attention in numpy over every token of a shuffled sequence, which
never counts tokens; losses written in numpy over `forward`, and their central differences.
"""

import itertools

import numpy as np
import pytest
from layer_oracle import PLACEMENTS

jax = pytest.importorskip("jax")
pytest.importorskip("optax")

from bminlib import CountingProblem  # noqa: E402
from bminlib.layer import forward  # noqa: E402
from bminlib.train import losses  # noqa: E402
from bminlib.train.descent import Descent  # noqa: E402
from bminlib.train.experiments import Experiment  # noqa: E402
from bminlib.train.forward import reading  # noqa: E402
from bminlib.train.outcomes import weights_of  # noqa: E402
from bminlib.train.pairs import every_pair, few_fillers, of_lengths  # noqa: E402
from bminlib.train.settings import Settings  # noqa: E402
from bminlib.weights import vector_names, vector_shape  # noqa: E402

READOUTS = ("regression", "classification")
CASES = tuple(itertools.product(("softmax", "linear"), PLACEMENTS, READOUTS))
KINDS = (
    ("regression", "plain"),
    ("regression", "least"),
    ("classification", "plain"),
    ("classification", "plain T=1"),
    ("classification", "least"),
)
PROGRESS = 0.3


@pytest.fixture(autouse=True)
def _float64():
    with jax.enable_x64(True):
        yield


def named(case):
    return "-".join(named(part) if isinstance(part, tuple) else str(part) for part in case)


def problem_of(attention, placement, readout, L=5, d=6):
    norm, affine, normalizer = placement
    return CountingProblem(
        L=L, d=d, attention=attention, norm=norm, affine=affine, normalizer=normalizer,
        readout=readout, tau="1/sqrt(3)",
    )  # fmt: skip


def random_arrays(problem, seed=0):
    rng = np.random.default_rng(seed)
    return {n: rng.normal(size=vector_shape(problem, n)) for n in (*vector_names(problem), "b")}


def scores_along_last_axis(outputs):
    """Trained outputs laid out as those of `forward`."""
    return np.moveaxis(np.array(outputs), 0, -1) if outputs.ndim == 2 else np.array(outputs)


def trained_outputs(problem, arrays, c, m):
    tau = float(problem.score_scale.ball(64))
    return scores_along_last_axis(reading(problem, tau, arrays, c, m).outputs())


def agrees(ours, oracle):
    return np.abs(ours - oracle).max() <= 1e-12 * np.abs(oracle).max()


@pytest.mark.parametrize("case", CASES, ids=named)
def test_the_trained_forward_pass_is_the_layer(case):
    problem = problem_of(*case)
    arrays, pairs = random_arrays(problem), every_pair(5)
    oracle = forward(weights_of(Experiment(problem, "plain", 0), arrays), pairs.c, pairs.m)
    ours = trained_outputs(problem, arrays, pairs.c, pairs.m)
    assert ours.shape == ((21,) if case[2] == "regression" else (21, 6))
    assert agrees(ours, oracle)


def attend(problem, arrays, kinds):
    """yhat or the scores, from the vectors of each token of a sequence."""

    def norm(x):
        x = x - x.mean() if problem.normalizer == "layer" else x
        x = x / np.sqrt((x**2).mean())
        return arrays["gamma"] * x + arrays["beta"] if problem.affine == "learned" else x

    seen = norm if problem.norm == "pre" else lambda x: x
    scores = [seen(arrays["q"]) @ seen(arrays[f"k_{kind}"]) / 3**0.5 for kind in kinds]
    if problem.attention == "softmax":
        scores = np.exp(scores) / np.exp(scores).sum()
    values = [seen(arrays[f"v_{kind}"]) for kind in kinds]
    h = arrays["r"] + np.sum([a * v for a, v in zip(scores, values, strict=True)], axis=0)
    z = norm(h) if problem.norm == "post" else h
    return arrays["w" if problem.readout == "regression" else "W"] @ z + arrays["b"]


@pytest.mark.parametrize("case", CASES, ids=named)
def test_it_reads_real_sequences_of_tokens_in_any_order(case):
    problem, rng = problem_of(*case), np.random.default_rng(1)
    arrays = random_arrays(problem, seed=1)
    lengths = [(0, 0), (1, 0), (0, 3), (2, 2), (1, 4), (5, 0)]
    c, m = np.array(lengths, dtype=float).T
    ours = trained_outputs(problem, arrays, c, m)
    sequences = [rng.permutation(["s", *"t" * c, *"f" * m]) for c, m in lengths]
    assert agrees(ours, np.array([attend(problem, arrays, kinds) for kinds in sequences]))


def margins_by_hand(outputs, c):
    if outputs.ndim == 1:
        return 0.5 - np.abs(outputs - c)
    rows = [(row[int(i)], np.delete(row, int(i)).max()) for row, i in zip(outputs, c, strict=True)]
    return np.array([own - other for own, other in rows])


@pytest.mark.parametrize("readout", READOUTS)
def test_margins_are_how_far_outputs_are_from_counting(readout):
    problem = problem_of("softmax", ("post", "learned", "layer"), readout)
    arrays, (c, m, _) = random_arrays(problem, seed=2), every_pair(5)
    tau = float(problem.score_scale.ball(64))
    margin, slack = losses.margins(reading(problem, tau, arrays, c, m), c)
    by_hand = margins_by_hand(trained_outputs(problem, arrays, c, m), c)
    assert agrees(np.array(margin), by_hand)
    assert 0 < slack < 1e-8


def test_weights_of_the_data_add_to_the_same_over_each_count():
    pairs = every_pair(6)
    counts = {(int(c), int(m)) for c, m in zip(pairs.c, pairs.m, strict=True)}
    assert counts == {(c, m) for c in range(7) for m in range(7 - c)}
    assert len(pairs.c) == len(counts)
    for c in range(7):
        assert pairs.weight[pairs.c == c].sum() == pytest.approx(1 / 7, rel=1e-14)
    few = few_fillers(7)
    fillers = {c: sorted(few.m[few.c == c].tolist()) for c in range(8)}
    assert fillers == {c: [0, (7 - c) // 2, 7 - c] for c in range(8)}
    chosen = of_lengths(pairs, (2, 5))
    assert set((chosen.c + chosen.m).tolist()) == {2, 5}
    assert (len(chosen.c), chosen.weight.sum()) == (3 + 6, pytest.approx(1, rel=1e-14))


def logsumexp(x, axis=None):
    top = x.max(axis=axis, keepdims=True)
    return (np.log(np.exp(x - top).sum(axis=axis, keepdims=True)) + top).squeeze(axis)


def loss_by_hand(experiment, base):
    """arrays -> loss. The sharpness of a smooth maximum is that at `base`, as in the descent."""
    L, mode = experiment.problem.L, experiment.mode
    c, m, weight = few_fillers(L) if mode == "least" else every_pair(L)

    def outputs(arrays):
        return forward(weights_of(experiment, arrays), c, m)

    largest = np.abs(outputs(base) - c).max() if experiment.shrinks else None

    def loss(arrays):
        read = outputs(arrays)
        if experiment.shrinks:
            sharpness = 10 ** (0.3 + 2.2 * PROGRESS) / largest
            return logsumexp(sharpness * np.abs(read - c)) / sharpness
        if read.ndim == 1:
            return (weight * (read - c) ** 2).sum()
        logits = read if mode == "plain T=1" else read * (40 * L**2) ** PROGRESS
        own = logits[np.arange(len(c)), c.astype(int)]
        return (weight * (logsumexp(logits, axis=1) - own)).sum()

    return loss


def central_differences(function, arrays, step=1e-6):
    slopes = {name: np.zeros_like(x) for name, x in arrays.items()}
    for name, x in arrays.items():
        for at in np.ndindex(x.shape):
            ends = []
            for sign in (1, -1):
                moved = x.copy()
                moved[at] += sign * step
                ends.append(function(arrays | {name: moved}))
            slopes[name][at] = (ends[0] - ends[1]) / (2 * step)
    return slopes


PLAIN, BARE = KINDS[0], ("post", "bare", "layer")
GRADIENTS = (
    (PLAIN, ("none", None, None)),
    (PLAIN, ("pre", "learned", "layer")),
    (PLAIN, ("post", "learned", "rms")),
    *((kind, BARE) for kind in KINDS),
)


@pytest.mark.parametrize("case", GRADIENTS, ids=named)
def test_gradients_are_central_differences_of_the_loss(case):
    kind, placement = case
    readout, mode = kind
    experiment = Experiment(problem_of("softmax", placement, readout, L=3, d=4), mode, 0)
    arrays = random_arrays(experiment.problem, seed=5)
    descent = Descent.of(experiment, Settings())
    value, slopes = jax.jit(jax.value_and_grad(descent.loss))(arrays, PROGRESS, jax.random.key(0))
    by_hand = loss_by_hand(experiment, arrays)
    oracle = central_differences(by_hand, arrays)
    assert float(value) == pytest.approx(by_hand(arrays), rel=1e-12)
    scale = max(np.abs(x).max() for x in oracle.values())
    assert slopes.keys() == oracle.keys()
    for name, slope in slopes.items():
        np.testing.assert_allclose(slope, oracle[name], rtol=0, atol=1e-7 * scale, err_msg=name)


def test_a_sample_of_pairs_has_the_loss_of_all_pairs_on_average():
    problem = problem_of("softmax", ("post", "bare", "layer"), "regression", L=4)
    experiment, arrays = Experiment(problem, "plain", 0), random_arrays(problem, seed=6)
    sampled = Descent.of(experiment, Settings(batch=5))
    keys = jax.random.split(jax.random.key(0), 1000)
    losses_of = jax.jit(jax.vmap(lambda key: sampled.loss(arrays, 0.0, key)))
    found = np.array(losses_of(keys))
    error = found.std() / len(found) ** 0.5
    whole = loss_by_hand(experiment, arrays)(arrays)
    assert error < whole / 10  # else the next line would say nothing
    assert abs(found.mean() - whole) < 4 * error

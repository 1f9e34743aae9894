"""Numbers and bits: rounding is right, and what is said to count is what counts.

Oracles: numpy's float32 and float16, the upper half of a float32 for bfloat16, Python's `round` of
fractions; every pair evaluated by the float64 forward pass; the definitions written out naively.
"""

import csv
import io
import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bmin.app import run
from bminlib import CountingProblem
from bminlib.layer import forward
from bminlib.refute import refuted_quickly
from bminlib.rounding import BFLOAT16, FLOAT16, FLOAT32, FORMATS, fixed_point, floating
from bminlib.storage import counts, counts_in, format_reaches, least_bits, longest_length, storage
from bminlib.verify import verify
from bminlib.weights import Weights
from bminlib.witness import witness

EXAMPLES = settings(max_examples=150, deadline=None, derandomize=True, database=None)
PLACEMENTS = {
    "none": {},
    "pre-learned": {"norm": "pre", "affine": "learned"},
    "post-bare": {"norm": "post"},
    "linear": {"attention": "linear"},
}
PLACES = pytest.mark.parametrize("place", PLACEMENTS.values(), ids=PLACEMENTS)
READOUTS = pytest.mark.parametrize("readout", ["regression", "classification"])


def problem(place, L=6, d=5, **more):
    return CountingProblem(**{"L": L, "d": d} | place | more)


def weights_of(entries):
    """Weights whose vector q holds these entries."""
    p = CountingProblem(L=1, d=len(entries))
    names = ["k_s", "k_t", "k_f", "v_s", "v_t", "v_f", "r", "w"]
    return Weights(p, {name: np.zeros(p.d) for name in names} | {"q": entries}, np.array(0.0))


def spread_numbers():
    rng = np.random.RandomState(3)
    return rng.randn(4000) * 2.0 ** rng.randint(-160, 127, 4000)


def bfloat16(x):
    """The upper half of the float32 nearest to x, rounded to even."""
    bits = x.astype(np.float32).view(np.uint32)
    upper = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return upper.astype(np.uint32).view(np.float32)


@pytest.mark.parametrize(
    ("kind", "reference", "limit"),
    [
        (FLOAT32, lambda x: x.astype(np.float32), 1e38),
        (FLOAT16, lambda x: x.astype(np.float16), 65000),
        # A float32 is taken first, so that rounding twice is no issue for the oracle.
        (BFLOAT16, bfloat16, 1e38),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
@pytest.mark.parametrize("exact", [False, True])
def test_formats_round_as_numpy_does(kind, reference, limit, exact):
    x = spread_numbers()
    x = x[np.abs(x) < limit].astype(np.float32).astype(float)
    entries = x if not exact else np.array([*map(Fraction, x.tolist()), Fraction(1, 3)])
    rounded = floating(weights_of(entries), kind).vectors["q"][: len(x)]
    np.testing.assert_array_equal(rounded.astype(float), reference(x).astype(float))


@pytest.mark.parametrize("kind", FORMATS, ids=lambda kind: kind.name)
def test_the_largest_number_is_kept_and_the_next_overflows(kind):
    greatest = kind.greatest
    assert floating(weights_of([greatest, 0, 0]), kind).vectors["q"][0] == greatest
    half_step = Fraction(2) ** (greatest.numerator.bit_length() - kind.significand - 1)
    assert floating(weights_of([0, -greatest - half_step, 0]), kind) is None
    assert floating(weights_of([0, greatest + half_step - 1, 0]), kind) is not None


@pytest.mark.parametrize("bits", [0, 1, 7, 52, 300])
@pytest.mark.parametrize("exact", [False, True])
def test_fixed_point_is_the_nearest_multiple(bits, exact):
    x = [Fraction(number) for number in spread_numbers().tolist()]
    x += [Fraction(n, 1 << (bits + 1)) for n in range(-9, 9)]  # ties
    x += [Fraction(1, 3)] if exact else []
    rounded = fixed_point(weights_of(x), bits).vectors["q"]
    assert [Fraction(y) for y in rounded.tolist()] == [
        Fraction(round(y * 2**bits), 2**bits) for y in x
    ]


@EXAMPLES
@given(st.lists(st.booleans(), min_size=0, max_size=20))
def test_least_bits_is_the_first_run_of_three(answers):
    """Beyond the list everything works; asked is only what has to be."""
    padded = [*answers, *[True] * 3]
    expected = next(b for b in range(len(answers) + 1) if all(padded[b : b + 3]))
    asked = []

    def works(bits):
        asked.append(bits)
        return padded[bits] if bits < len(padded) else True

    assert least_bits(works) == expected
    assert len(asked) == len(set(asked)) or len(asked) <= 2 * len(padded)


def test_least_bits_gives_up():
    assert least_bits(lambda _: False, most=10) is None


def pairs(L):
    return np.array([(c, m) for c in range(L + 1) for m in range(L + 1 - c)]).T


def plainly_counts(weights):
    """Every pair by the float64 forward pass; None where that can't tell."""
    c, m = pairs(weights.problem.L)
    scores = forward(weights, c, m)
    if weights.problem.readout == "regression":
        room = 0.5 - np.abs(scores - c)
    else:
        own = scores[np.arange(len(c)), c]
        scores[np.arange(len(c)), c] = -np.inf
        room = own - scores.max(axis=1)
    return None if abs(room.min()) < 1e-11 else bool(room.min() > 0)


@PLACES
@READOUTS
def test_rounded_weights_count_where_every_pair_does(place, readout):
    weights = witness(problem(place, readout=readout), Fraction(1))
    told = [(counts(fixed_point(weights, b)), b) for b in range(2, 24)]
    plain = [(plainly_counts(fixed_point(weights, b)), b) for b in range(2, 24)]
    known = [(mine, other) for mine, other in zip(told, plain, strict=True) if other[0] is not None]
    assert len(known) > 15
    assert {mine[0] for mine, _ in known} == {True, False}
    assert [mine for mine, _ in known] == [other for _, other in known]


@PLACES
@READOUTS
def test_fraction_bits_are_the_least(place, readout):
    p = problem(place, readout=readout)
    found = storage(p)
    weights = witness(p, Fraction(1))
    works = [counts(fixed_point(weights, b)) for b in range(found.fraction_bits + 3)]
    assert works[-3:] == [True] * 3
    assert not any(all(works[b : b + 3]) for b in range(found.fraction_bits))
    assert found.formats == {kind.name: counts_in(weights, kind) for kind in FORMATS}


@PLACES
@READOUTS
@pytest.mark.parametrize("L", [6, 40])
def test_a_quick_refutation_is_a_refutation(place, readout, L):
    weights = witness(problem(place, L, readout=readout), Fraction(1))
    quick = 0
    for bits in range(2, 22):
        rounded = fixed_point(weights, bits)
        if refuted_quickly(rounded):
            quick += 1
            assert verify(rounded).verdict == "refuted"
    assert quick > 0


@READOUTS
def test_format_reaches_end_before_the_first_failure(readout):
    p = problem({}, readout=readout)
    found = format_reaches(p, 12)
    for kind in FORMATS:
        works = [
            counts_in(witness(problem({}, L, readout=readout), Fraction(1)), kind)
            for L in range(2, 13)
        ]
        first = works.index(False) + 2 if False in works else 13
        assert found[kind.name] == first - 1


def test_format_reaches_stop_at_the_horizon():
    p = problem({"norm": "pre"}, d=3)
    assert format_reaches(p, 40)["float32"] <= 12


def test_long_lengths_are_refined_by_halving():
    """The length before a failure counts, the next does not."""
    p = problem({}, d=4)
    reach = format_reaches(p, 16384)["float32"]
    assert 32 < reach < 16384
    near = [witness(problem({}, L, d=4), Fraction(1)) for L in (reach, reach + 1)]
    assert [counts_in(weights, FLOAT32) for weights in near] == [True, False]


def test_numbers_stored_split_as_the_heads_do():
    few, many = (
        storage(problem({"norm": "post"}, 32, 8, readout=r))
        for r in ("regression", "classification")
    )
    assert (few.numbers, many.numbers) == (9, 33 * 9)
    assert few.integer_bits > many.integer_bits
    assert many.largest_norm <= 1
    assert few.largest_norm > 1
    assert many.total_bits > 10 * few.total_bits


def test_nothing_is_stored_beyond_the_horizon():
    found = storage(problem({"norm": "pre"}, 13, 3))
    assert found.fraction_bits is None
    assert found.reason.startswith("a*(13) = 36 > e^")


def test_lengths_that_would_take_too_much_memory_are_said():
    p = problem({}, 10**7, readout="classification")
    assert longest_length(p) < 10**6
    assert storage(p).reason == f"too long: looked at up to L = {longest_length(p)}"


def output(capsys, *arguments, code=0):
    assert run(["storage", *arguments]) == code
    return capsys.readouterr().out


ARGUMENTS = ["--L", "4,9", "--d", "4", "--norm", "post", "--affine", "bare"]


def test_json_and_csv_hold_the_same(capsys):
    rows = json.loads(output(capsys, *ARGUMENTS, "--format", "json"))
    lines = list(csv.DictReader(io.StringIO(output(capsys, *ARGUMENTS, "--format", "csv"))))
    assert [(row["readout"], row["L"]) for row in rows] == [
        ("regression", "4"), ("regression", "9"), ("classification", "4"), ("classification", "9"),
    ]  # fmt: skip
    assert [str(row["fraction_bits"]) for row in rows] == [line["fraction_bits"] for line in lines]
    assert rows[3]["stored_numbers"] == "50"
    assert rows[0]["float32"] is True
    assert lines[0]["float32"] == "true"
    assert rows[0]["float32_up_to"] == rows[0]["looked_up_to"] == "9"


@pytest.mark.parametrize("style", ["table", "markdown", "latex"])
def test_text_formats(capsys, style):
    text = output(capsys, *ARGUMENTS, "--format", style)
    assert text.isascii()
    assert text.count("classification") >= 2


def test_nothing_counts(capsys):
    arguments = [
        "--norm",
        "pre",
        "--affine",
        "bare",
        "--d",
        "3",
        "--L",
        "13",
        "--readout",
        "regression",
    ]
    assert "a*(13) = 36" in output(capsys, *arguments, code=1)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "--L is missing"),
        (["--L", "4", "--slack", "0"], "slack"),
        (["--L", "4", "--slack", "x"], "--slack 'x'"),
        (["--L", "0"], "L=0"),
        (["--L", "4", "--norm", "none", "--affine", "bare"], "norm none has no affine"),
    ],
)
def test_bad_usage_gets_one_sentence(capsys, arguments, sentence):
    assert run(["storage", *arguments]) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1

"""Certificates hold B_min in the promised gap, for every placement, by theorem and by search.

Oracle for the values: `b_min`, whose closed forms the search does not use. Oracle for the weights:
`load_weights` and the float64 forward pass. That the checker is no rubber stamp is the business of
test_checker_mutations.py.
"""

import json
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from bminlib import CountingProblem, b_min
from bminlib.certify import certificate_text, certify, is_certificate, save_certificate
from bminlib.certify_limits import number_text
from bminlib.certify_program import best_weights
from bminlib.checker import check
from bminlib.errors import DomainError, UndecidedError
from bminlib.layer import forward
from bminlib.weights import Weights

DOCS = Path(__file__).parents[1] / "docs"
PLACEMENTS = {
    "none": {"norm": "none", "d": 4},
    "none-scores": {"norm": "none", "d": 4, "tau": "0.05"},
    "bare": {"norm": "pre", "d": 9},
    "bare-rms": {"norm": "pre", "d": 8, "normalizer": "rms"},
    "learned": {"norm": "pre", "affine": "learned", "d": 4},
    "learned-rms": {"norm": "pre", "affine": "learned", "d": 3, "normalizer": "rms"},
    "post": {"norm": "post", "d": 4},
    "post-rms": {"norm": "post", "d": 2, "normalizer": "rms"},
    "post-learned": {"norm": "post", "affine": "learned", "d": 4},
    "post-learned-rms": {"norm": "post", "affine": "learned", "d": 3, "normalizer": "rms"},
    "linear": {"norm": "none", "attention": "linear", "d": 2},
    "linear-bare": {"norm": "pre", "attention": "linear", "d": 4},
    "linear-learned": {"norm": "pre", "attention": "linear", "affine": "learned", "d": 3},
    "linear-post": {"norm": "post", "attention": "linear", "affine": "learned", "d": 3},
    "two-valued": {"norm": "pre", "d": 2},
    "two-valued-rms": {"norm": "pre", "d": 1, "normalizer": "rms", "tau": "1"},
}


def exact(text):
    return arb(fmpq(*Fraction(text).as_integer_ratio()))


def assert_brackets(record, problem, gap):
    """lower <= B_min <= upper <= (1 + gap) lower, decided in balls."""
    bound = b_min(problem)
    with ctx.workprec(1000):
        lower, upper, value = exact(record["lower"]), exact(record["upper"]), bound.enclosure(250)
        assert lower <= value
        assert value <= upper
        assert upper <= lower * (1 + fmpq(*gap.as_integer_ratio()))


@pytest.mark.parametrize("by", ["theorem", "search"])
@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("L", [2, 3, 4, 5, 6, 13])
def test_every_placement(placement, L, by):
    problem, gap = CountingProblem(L=L, **PLACEMENTS[placement]), Fraction(1, 10**6)
    record = certify(problem, gap, by)
    statement = check(certificate_text(record).encode())
    assert statement.by == by
    if b_min(problem).feasible:
        assert_brackets(record, problem, gap)
    else:
        assert statement.lower is statement.upper is None


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_long_lengths_in_short_files(placement):
    """L = 32: under 100 kB (20 are enough), by search."""
    problem, gap = CountingProblem(L=32, **PLACEMENTS[placement]), Fraction(1, 10**6)
    record = certify(problem, gap, "search")
    assert len(certificate_text(record)) < 20_000
    if record["lower"] is not None:
        assert_brackets(record, problem, gap)


@pytest.mark.slow
@pytest.mark.parametrize("gap", [Fraction(1, 10**3), Fraction(1, 10**6), Fraction(1, 10**9)])
@pytest.mark.parametrize("L", [*range(2, 33), 40, 48, 56, 64])
def test_arcs_are_searched_at_every_length(L, gap):
    problem = CountingProblem(L=L, norm="post", d=3)
    record = certify(problem, gap, "search")
    assert_brackets(record, problem, gap)
    assert len(record["proof"]["tree"]) < 400


@pytest.mark.parametrize("by", ["theorem", "search"])
@pytest.mark.parametrize(
    "fields",
    [
        {"norm": "none", "L": 2, "d": 64, "tau": 10**4},
        {"norm": "none", "L": 3, "d": 2, "tau": 10**30},
        {"norm": "pre", "L": 2, "d": 64, "tau": 100},
        {"norm": "pre", "L": 2, "d": 1024, "tau": 1},
        {"norm": "pre", "L": 2, "d": 4, "tau": 1000, "normalizer": "rms"},
        {"norm": "pre", "affine": "learned", "L": 2, "d": 4, "tau": 1000},
        {"norm": "pre", "L": 9, "d": 2, "tau": 300},
    ],
)
def test_scores_of_thousands(fields, by):
    """e^-12800 has more digits than a file holds, and no number needs them."""
    problem, gap = CountingProblem(**fields), Fraction(1, 10**6)
    assert_brackets(certify(problem, gap, by), problem, gap)


@pytest.mark.parametrize("number", [10**700, -(10**700), Fraction(1, 10**700)])
def test_numbers_longer_than_the_checker_reads_are_not_written(number):
    with pytest.raises(DomainError, match="lower tau or d"):
        number_text(number)
    assert number_text(10**700 - 1) == "9" * 700


@pytest.mark.parametrize("placement", ["none", "bare", "learned", "post", "linear-bare"])
@pytest.mark.parametrize("gap", [Fraction(1), Fraction(1, 30), Fraction(1, 10**40)])
def test_wide_and_narrow_gaps(placement, gap):
    problem = CountingProblem(L=5, **PLACEMENTS[placement])
    assert_brackets(certify(problem, gap), problem, gap)


@pytest.mark.parametrize("norm", ["none", "post"])
def test_a_long_theorem(norm):
    problem = CountingProblem(L=3000, norm=norm, d=4)
    assert_brackets(certify(problem), problem, Fraction(1, 10**9))


@pytest.mark.parametrize(
    ("fields", "by"),
    [
        ({"norm": "pre", "d": 23, "L": 244}, "search"),  # by 2.9e-5 in the log
        ({"norm": "pre", "d": 3, "L": 13}, "theorem"),
        ({"norm": "pre", "d": 2, "L": 10}, "search"),
        ({"norm": "post", "d": 2, "L": 2}, "search"),
        ({"norm": "post", "d": 1, "normalizer": "rms", "affine": "learned", "L": 5}, "theorem"),
        ({"norm": "pre", "attention": "linear", "d": 2, "L": 2}, "search"),
        ({"norm": "none", "exactness": "exact", "L": 2}, "search"),
        ({"norm": "none", "exactness": "exact", "L": 50, "tau": "3"}, "theorem"),
        ({"norm": "pre", "exactness": "exact", "L": 2}, "search"),
        ({"norm": "pre", "affine": "learned", "exactness": "exact", "L": 3}, "search"),
        ({"norm": "post", "exactness": "exact", "L": 3}, "theorem"),
        ({"norm": "post", "attention": "linear", "exactness": "exact", "L": 9}, "theorem"),
        ({"norm": "post", "d": 2, "exactness": "exact", "L": 2}, "search"),
        ({"norm": "pre", "attention": "linear", "d": 2, "exactness": "exact", "L": 1}, "search"),
    ],
)
def test_infeasible_problems(fields, by):
    problem = CountingProblem(**fields)
    assert not b_min(problem).feasible
    record = certify(problem, by=by)
    assert record["lower"] is record["upper"] is record["weights"] is None
    assert check(certificate_text(record).encode()).problem["L"] == str(problem.L)


def test_the_last_feasible_length_is_certified_so():
    """The length before the horizon, feasible by 8.2e-5 in the log."""
    problem = CountingProblem(norm="pre", d=23, L=243)
    assert_brackets(certify(problem, by="search"), problem, Fraction(1, 10**9))


@pytest.mark.parametrize(
    "fields",
    [
        {"norm": "none", "L": 1},
        {"norm": "pre", "L": 1, "d": 2},
        {"norm": "post", "L": 1, "d": 2},
        {"norm": "post", "affine": "learned", "attention": "linear", "L": 1, "d": 3},
        {"norm": "none", "L": 6, "readout": "classification"},
        {"norm": "post", "L": 20, "d": 3, "readout": "classification"},
    ],
)
def test_where_the_infimum_is_zero(fields):
    gap = Fraction(1, 10**7)
    record = certify(CountingProblem(**fields), gap)
    assert record["lower"] == "0"
    assert 0 < Fraction(record["upper"]) <= gap


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_the_weights_count_in_the_forward_pass(placement):
    problem = CountingProblem(L=6, **PLACEMENTS[placement])
    record = certify(problem, Fraction(1, 1000))
    if record["weights"] is None:
        return
    vectors = {
        name: np.array([Fraction(entry) for entry in vector], dtype=object)
        for name, vector in record["weights"]["vectors"].items()
    }
    weights = Weights(problem, vectors, np.array(Fraction(record["weights"]["b"]), dtype=object))
    c, m = np.array([(c, m) for c in range(7) for m in range(7 - c)]).T
    assert np.all(abs(forward(weights, c, m) - c) < 0.5)
    assert weights.largest_norm() <= exact(record["upper"])


@pytest.mark.parametrize(
    ("fields", "options", "part"),
    [
        ({"norm": "post", "L": 5}, {"gap": Fraction(0)}, "gap=0: must be"),
        ({"norm": "post", "L": 5}, {"gap": 0.1}, "gap=0.1: must be"),
        ({"norm": "post", "L": 5}, {"gap": Fraction(2)}, "gap=2: must be"),
        ({"norm": "post", "L": 5}, {"gap": Fraction(1, 10**11), "by": "search"}, "float64"),
        ({"norm": "post", "L": 5}, {"by": "luck"}, "by='luck': must be"),
        ({"norm": "post", "L": 100_000}, {}, "lower L"),
        ({"norm": "none", "L": 500}, {"by": "search"}, "certify by theorem"),
        ({"norm": "post", "L": 301}, {"by": "search"}, "certify by theorem"),
        ({"norm": "none", "L": 5, "tau": "1/" + "9" * 500}, {}, "a shorter one"),
        ({"norm": "none", "L": 501, "readout": "classification"}, {}, "lower L"),
        ({"norm": "post", "L": 5, "d": 10**6}, {}, "up to d = 22727"),
        ({"norm": "post", "L": 90, "d": 5000, "readout": "classification"}, {}, "lower d"),
        ({"norm": "none", "L": 1, "exactness": "exact"}, {}, "only infeasibility"),
        ({"norm": "pre", "L": 9, "d": 2, "tau": 1000}, {}, "lower tau or d"),
        ({"norm": "pre", "L": 3, "d": 1, "normalizer": "rms", "tau": 10**9}, {}, "700 digits"),
        ({"norm": "none", "attention": "linear", "L": 4, "exactness": "exact"}, {}, "irrational"),
        ({"norm": "post", "L": 3, "exactness": "exact"}, {"by": "search"}, "certify by theorem"),
    ],
)
def test_what_is_refused(fields, options, part):
    with pytest.raises(DomainError, match=re.escape(part)) as caught:
        certify(CountingProblem(**fields), **options)
    assert "\n" not in str(caught.value)


def test_what_the_checker_does_not_accept_is_not_given(monkeypatch):
    monkeypatch.setattr("bminlib.certify._longest", lambda *_: "0.1")
    with pytest.raises(UndecidedError, match="did not accept"):
        certify(CountingProblem(norm="post", L=5, d=3))


def test_files(tmp_path):
    path = tmp_path / "cert.json"
    record = certify(CountingProblem(norm="post", L=5, d=3))
    save_certificate(record, path)
    assert check(path.read_bytes()).lower == record["lower"]
    assert json.loads(path.read_text()) == record
    with pytest.raises(DomainError, match="can't be written"):
        save_certificate(record, tmp_path / "nowhere" / "cert.json")


def test_a_certificate_is_told_by_its_kind():
    data = certificate_text(certify(CountingProblem(norm="post", L=5, d=3))).encode()
    assert is_certificate(data)
    assert is_certificate(data[: len(data) // 2])
    assert is_certificate(json.dumps(dict(reversed(json.loads(data).items()))).encode())
    others = "", "[]", "{}", "null", '{"kind": "bminlib/weights"}', "[" * 10**6, "\0" * 99
    for text in others:
        assert not is_certificate(text.encode())
    assert not is_certificate(b"\xff\xfe\x00")


@pytest.mark.parametrize(
    "tau", ["scaled", "unscaled", "0.1", "1/3", "sqrt(2/3)", "3/sqrt(2)", "1e-2"]
)
def test_tau_in_every_spelling(tau):
    problem = CountingProblem(norm="none", L=3, d=5, tau=tau)
    record = certify(problem)
    assert_brackets(record, problem, Fraction(1, 10**9))
    spelled = CountingProblem(norm="none", L=3, d=5, tau=record["problem"]["tau"])
    assert spelled.score_scale == problem.score_scale


def test_the_search_uses_no_theorem():
    """Its lower bound comes out the same where the closed forms are out of reach."""
    import bminlib.certify_ratios as ratios

    with ctx.workprec(256):
        gap = arb(6) * (1 - arb("1e-6"))
        boxes = ratios.ratio_boxes(4, gap, arb(9), points=False, search=True)
    assert {tuple(box["left"]) for box in boxes} <= {("2", "4"), ("1", "4")}


def test_the_linear_program_of_a_box_against_a_known_optimum():
    """One arc that is a step: W = (L - 1)/2 from the counts 0 and L, so the value is 2/(L - 1)."""
    L = 6
    angles = np.where(np.arange(L + 1) < 3, -1.0, 1.0) * np.pi / 2
    points = np.stack([np.cos(angles), np.sin(angles)], 1)[None]
    weights, value = best_weights(points, np.full(L + 1, 1e-9), 0)
    assert value < 1e-8  # 0 and 2 lie on one point: they rule out the step at once
    assert abs(weights.sum()) < 1e-9
    straight = np.stack([np.ones(L + 1), (np.arange(L + 1) - 3) / 100], 1)
    points = (straight / np.linalg.norm(straight, axis=1)[:, None])[None]
    _, value = best_weights(points, np.full(L + 1, 1e-12), 0)
    assert value == pytest.approx(np.linalg.norm(points[0, L] - points[0, 0]) / (L - 1), rel=1e-6)


TYPES = {"object": dict, "array": list, "string": str, "integer": int, "null": type(None)}


def fits(value, schema, root):
    """Whether a value fits the few words of JSON Schema that docs/certificate.schema.json uses."""
    if "$ref" in schema:
        return fits(value, root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    if "oneOf" in schema:
        return sum(fits(value, one, root) for one in schema["oneOf"]) == 1
    allowed = [schema["const"]] if "const" in schema else schema.get("enum")
    if allowed is not None:
        return any(value == one and type(value) is type(one) for one in allowed)
    if type(value) is not TYPES[schema["type"]]:
        return False
    if isinstance(value, list):
        return list_fits(value, schema, root)
    if isinstance(value, dict):
        return object_fits(value, schema, root)
    if isinstance(value, str):
        return re.search(schema.get("pattern", ""), value) is not None
    return value is None or value >= schema.get("minimum", value)


def list_fits(value, schema, root):
    least, most = schema.get("minItems", 0), schema.get("maxItems", len(value))
    parts = schema.get("prefixItems") or [schema["items"]] * len(value)
    pairs = zip(value, parts, strict=False)
    return least <= len(value) <= most and all(fits(v, s, root) for v, s in pairs)


def object_fits(value, schema, root):
    assert schema["additionalProperties"] is False
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for name, part in value.items():
        found = [known[name]] if name in known else []
        found += [s for pattern, s in patterns.items() if re.search(pattern, name)]
        if not found or not all(fits(part, s, root) for s in found):
            return False
    return set(schema.get("required", ())) <= set(value)


@pytest.mark.parametrize("by", ["theorem", "search"])
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_the_schema_describes_the_files(placement, by):
    schema = json.loads((DOCS / "certificate.schema.json").read_text())
    record = certify(CountingProblem(L=5, **PLACEMENTS[placement]), Fraction(1, 1000), by)
    record = json.loads(certificate_text(record))
    assert fits(record, schema, schema)
    for name in record:
        assert not fits({k: v for k, v in record.items() if k != name}, schema, schema)
        assert not fits(record | {name: 1.5}, schema, schema)


def test_the_worked_example_is_a_certificate():
    """docs/certificate.md quotes a file in full; the checker accepts it as it stands."""
    blocks = re.findall(r"```json\n(.*?)```", (DOCS / "certificate.md").read_text(), re.DOTALL)
    whole = [block for block in blocks if '"kind"' in block]
    assert len(whole) == 1
    statement = check(whole[0].encode())
    schema = json.loads((DOCS / "certificate.schema.json").read_text())
    assert fits(json.loads(whole[0]), schema, schema)
    assert b_min(CountingProblem(norm="post", d=3, L=5)).enclosure(20) > exact(statement.lower)

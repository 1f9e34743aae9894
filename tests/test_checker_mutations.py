"""The checker accepts no certificate that is false, and none that does not prove what it says.

Every leaf and every part of several certificates is changed, one at a time. A changed file that is
still accepted must say something true: the oracle is `b_min`, which the checker does not use.
Changes that leave the statement true but the proof incomplete (a box dropped, shrunk or shifted, a
sign flipped) must be refused outright. What the proofs rest on, the bound that closes a box and the
supply of vectors, is tested against sampled arcs, linear programs and random layers.
"""

import copy
import functools
import json
import math
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from scipy.optimize import linprog

from bminlib import CountingProblem, b_min, checker
from bminlib.certify import certificate_text, certify
from bminlib.checker import NotProvedError, check
from bminlib.supply import supply

KINDS = {
    "none": ({"norm": "none", "L": 6, "d": 2}, "search"),
    "none-scores": ({"norm": "none", "L": 5, "d": 2, "tau": "1/30"}, "theorem"),
    "none-two": ({"norm": "none", "L": 2, "d": 1}, "search"),
    "bare": ({"norm": "pre", "L": 7, "d": 3}, "search"),
    "bare-points": ({"norm": "pre", "L": 4, "d": 2}, "search"),
    "bare-horizon": ({"norm": "pre", "L": 14, "d": 3}, "search"),
    "pre-learned": ({"norm": "pre", "affine": "learned", "L": 5, "d": 3}, "theorem"),
    "post-search": ({"norm": "post", "L": 6, "d": 3}, "search"),
    "post-theorem": ({"norm": "post", "affine": "learned", "L": 7, "d": 3}, "theorem"),
    "post-step": ({"norm": "post", "normalizer": "rms", "L": 4, "d": 2}, "search"),
    "linear": ({"norm": "pre", "attention": "linear", "L": 5, "d": 3}, "theorem"),
    "classes": ({"norm": "post", "readout": "classification", "L": 3, "d": 3}, "theorem"),
    "inexact": ({"norm": "none", "exactness": "exact", "L": 2, "d": 2}, "search"),
    "arc-inexact": ({"norm": "post", "exactness": "exact", "L": 3, "d": 3}, "theorem"),
    "two-values": ({"norm": "post", "L": 2, "d": 2}, "search"),
}
GAPS = {"post-search": Fraction(1, 12)}  # a tree of a few boxes
LONG = "post-fine"  # one of fifty: too many changes for the default run
KINDS_AND_LONG = [
    pytest.param(kind, marks=pytest.mark.slow if kind == LONG else ()) for kind in (*KINDS, LONG)
]


@functools.cache
def text_of(kind):
    fields, by = KINDS["post-search" if kind == LONG else kind]
    return certificate_text(
        certify(CountingProblem(**fields), GAPS.get(kind, Fraction(1, 10**6)), by)
    )


def record_of(kind):
    return json.loads(text_of(kind))


def accepted(record):
    """The statement, or None where the checker refuses it."""
    try:
        return check(json.dumps(record).encode())
    except NotProvedError:
        return None


def is_true(statement):
    """Whether B_min, from its closed form, is where the statement says."""
    fields = {**statement.problem, "L": int(statement.problem["L"])}
    bound = b_min(CountingProblem(**fields))
    if statement.lower is None:
        return not bound.feasible
    if not bound.feasible:
        return False
    value = bound.enclosure(60) if bound.decimal(3) != "0" else arb(0)
    with ctx.workprec(400):
        lower, upper = (
            arb(fmpq(*Fraction(x).as_integer_ratio())) for x in (statement.lower, statement.upper)
        )
        return bool(lower <= value <= upper)


def leaves(value, path=()):
    """(path, leaf) of everything in a JSON value that is no list and no object."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in items:
            yield from leaves(part, (*path, key))
    else:
        yield path, value


def parts(value, path=()):
    """(path, list or object) of all of them."""
    if isinstance(value, dict | list):
        yield path, value
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from parts(part, (*path, key))


def at(record, path):
    for key in path:
        record = record[key]
    return record


def changed(record, path, value):
    fresh = copy.deepcopy(record)
    at(fresh, path[:-1])[path[-1]] = value
    return fresh


def other_values(leaf):
    """What a leaf may turn into: another number, sign, type or name."""
    yield from (None, "", "x", 1.5, [leaf], {"x": leaf}, True, 7, "0", "-1", "1e999", "NaN", "1/0")
    if isinstance(leaf, int) and not isinstance(leaf, bool):
        yield from (leaf + 1, leaf - 1, -leaf, 2 * leaf, str(leaf))
    if isinstance(leaf, str) and leaf[-1:].isdigit():
        try:
            number = Fraction(leaf)
        except ValueError:
            return
        yield from (str(-number), str(number + 1), str(number / 2), str(number * 3), leaf + "0")
        yield str(number * (1 + Fraction(1, 10**5)))
        yield str(number * (1 - Fraction(1, 10**5)))
    words = ("softmax", "linear", "none", "pre", "post", "bare", "learned", "layer", "rms")
    yield from (*words, "regression", "classification", "exact", "rounded", "theorem", "search")
    yield "inf"


@pytest.mark.parametrize("kind", KINDS)
def test_certificates_are_accepted_and_true(kind):
    statement = check(text_of(kind).encode())
    assert is_true(statement)
    fields, by = KINDS[kind]
    assert statement.by == by
    assert {**fields, "L": str(fields["L"])}.items() <= {
        "tau": fields.get("tau"),
        **statement.problem,
    }.items()


@pytest.mark.parametrize("kind", KINDS_AND_LONG)
def test_a_changed_leaf_never_makes_it_lie(kind):
    record = record_of(kind)
    tried = survived = 0
    for path, leaf in leaves(record):
        if path[0] == "weights" and path[-1] not in (0, "b"):
            continue  # entries beyond the first of each vector: the same code reads them
        for value in other_values(leaf):
            if type(value) is type(leaf) and value == leaf:
                continue
            tried += 1
            statement = accepted(changed(record, path, value))
            if statement is not None:
                survived += 1
                assert is_true(statement), (path, leaf, value)
                same = json.dumps(statement.problem) == json.dumps(record["problem"])
                assert same or path[0] == "problem"
    assert tried > 200
    assert survived < tried / 4


@pytest.mark.parametrize("kind", KINDS_AND_LONG)
def test_a_missing_doubled_or_renamed_part_is_refused(kind):
    record = record_of(kind)
    for path, part in parts(record):
        for key in list(part) if isinstance(part, dict) else range(len(part)):
            without = copy.deepcopy(record)
            del at(without, path)[key]
            statement = accepted(without)
            if path[-1:] in (("left",), ("right",)):  # fewer weights may close a box too
                assert statement is None or is_true(statement)
            else:
                assert statement is None, (path, key)
        if isinstance(part, dict):
            beside = copy.deepcopy(record)
            at(beside, path)["unknown"] = "1"
            assert accepted(beside) is None, path
        elif path[:1] != ("weights",) and kind != "bare-points":  # whose boxes are a set
            doubled = copy.deepcopy(record)
            at(doubled, path).append(copy.deepcopy(part[-1]) if part else {})
            assert accepted(doubled) is None, path


def bounded(kind):
    return record_of(kind)["lower"] not in (None, "0")


@pytest.mark.parametrize("kind", [kind for kind in KINDS if bounded(kind)])
@pytest.mark.parametrize("part", ["lower", "upper"])
def test_a_tighter_bound_than_the_proof_gives_is_refused(kind, part):
    record = record_of(kind)
    value = b_min(CountingProblem(**KINDS[kind][0])).decimal(30)
    for shift in (Fraction(1, 10), Fraction(1, 10**7), Fraction(1, 10**20)):
        sign = 1 if part == "lower" else -1
        beyond = Fraction(value) * (1 + sign * shift)
        decimal = f"{beyond.numerator * 10**40 // beyond.denominator:041d}"
        text = f"{decimal[:-40]}.{decimal[-40:]}"
        assert accepted(record | {part: text, "gap": "1"}) is None


@pytest.mark.parametrize("kind", [kind for kind in KINDS if record_of(kind)["proof"]])
def test_flipped_signs_in_the_proof_are_refused(kind):
    record = record_of(kind)
    for path, leaf in leaves(record["proof"]):
        if isinstance(leaf, str) and leaf.lstrip("-").isdigit() and int(leaf):
            assert accepted(changed(record, ("proof", *path), str(-int(leaf)))) is None, path


def reach_of_scores(record):
    """ln of the greatest score ratio at norms up to `lower`, from the library's own supply."""
    problem = CountingProblem(**{**record["problem"], "L": int(record["problem"]["L"])})
    has = supply(problem)
    if has.score_range is not None:
        return float(has.score_range.ball(64))
    amount = float(has.capacity.ball(64)) * float(record["lower"]) ** has.power
    return float(has.score_rate.ball(64)) * amount


@pytest.mark.parametrize("kind", ["none", "none-two", "bare", "bare-horizon", "none-scores"])
def test_gaps_between_boxes_of_the_score_ratio_are_refused(kind):
    record = record_of(kind)
    boxes, reach = record["proof"]["boxes"], reach_of_scores(record)
    low, high = (str(Fraction(math.exp(x))) for x in (1e-3 - reach, reach - 1e-3))
    assert accepted(changed(record, ("proof", "boxes", 0, "a", 0), low)) is None
    assert accepted(changed(record, ("proof", "boxes", len(boxes) - 1, "a", 1), high)) is None
    for i in range(len(boxes) - 1):
        border = Fraction(boxes[i]["a"][1])
        for shift in (Fraction(1, 1000), Fraction(-1, 1000)):
            for path in (("proof", "boxes", i, "a", 1), ("proof", "boxes", i + 1, "a", 0)):
                assert accepted(changed(record, path, str(border + shift))) is None
    for box in range(len(boxes)):
        rest = boxes[:box] + boxes[box + 1 :]
        assert accepted(changed(record, ("proof", "boxes"), rest)) is None
    if len(boxes) > 1:
        assert accepted(changed(record, ("proof", "boxes"), boxes[::-1])) is None


def test_each_of_three_score_ratios_needs_its_box():
    record = record_of("bare-points")
    reach = reach_of_scores(record)
    for value in (-reach, 0, reach):
        for i, box in enumerate(record["proof"]["boxes"]):
            low, high = (math.inf if a == "inf" else float(Fraction(a)) for a in box["a"])
            if not low <= math.exp(value) <= high:
                continue
            beyond = str(Fraction(math.exp(value)) * Fraction(1001, 1000))
            moved = changed(record, ("proof", "boxes", i, "a", 0), beyond)
            assert accepted(moved) is None or any(
                float(Fraction(a)) <= math.exp(value) <= float(Fraction(b.replace("inf", "9e99")))
                for j, (a, b) in enumerate(box["a"] for box in moved["proof"]["boxes"])
                if j != i
            )


def test_gaps_in_the_tree_of_arcs_are_refused():
    record = record_of(LONG)
    tree, ends = record["proof"]["tree"], record["proof"]["steepness"]
    for i, item in enumerate(tree):
        assert accepted(changed(record, ("proof", "tree"), tree[:i] + tree[i + 1 :])) is None
        if isinstance(item, list):  # a split left out, and its upper half with it
            shorter = tree[:i] + tree[i + 1 : i + 2] + tree[i + 3 :]
            assert accepted(changed(record, ("proof", "tree"), shorter)) is None
            for value in ("0", "1", "5000", "-1/2"):
                assert accepted(changed(record, ("proof", "tree", i, 1), value)) is None
            turned = "skew" if item[0] == "steepness" else "steepness"
            assert accepted(changed(record, ("proof", "tree", i, 0), turned)) is None
    for end, factor in ((0, Fraction(101, 100)), (1, Fraction(1, 2))):
        inward = str(Fraction(ends[end]) * factor)
        assert accepted(changed(record, ("proof", "steepness", end), inward)) is None


def test_weights_of_one_box_do_not_close_another():
    record = record_of(LONG)
    tree = record["proof"]["tree"]
    leaf_places = [i for i, item in enumerate(tree) if isinstance(item, dict)]
    pair = {"0": "-1", "6": "1"}
    refused = 0
    for i in leaf_places:
        refused += accepted(changed(record, ("proof", "tree", i), pair)) is None
    assert refused > len(leaf_places) / 2


def test_norms_are_those_of_every_vector():
    record = record_of("post-theorem")
    for name, vector in record["weights"]["vectors"].items():
        longer = [str(Fraction(entry) * 2 + 1) for entry in vector]
        assert accepted(changed(record, ("weights", "vectors", name), longer)) is None


HOSTILE = {
    "empty": b"",
    "no object": b"[]",
    "a number": b"12",
    "not JSON": b'{"kind": ',
    "not UTF-8": b'{"kind": "\xff\xfe"}',
    "deep lists": b"[" * 1_000_000,
    "deep objects": b'{"a":' * 500_000,
    "a long integer": b'{"kind": ' + b"9" * 3_000_000 + b"}",
    "a huge exponent": b'{"kind": 1e999999999}',
    "NaN": b'{"kind": NaN}',
    "a key twice": b'{"kind": "a", "kind": "a"}',
    "too long": b" " * (checker.MAX_BYTES + 1),
    "many keys": b"{" + b",".join(b'"%d":0' % i for i in range(200_000)) + b"}",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused_at_once(name):
    start = time.perf_counter()
    with pytest.raises(NotProvedError) as caught:
        check(HOSTILE[name])
    assert time.perf_counter() - start < 2
    assert len(str(caught.value)) < 400


HOSTILE_FIELDS = {
    "a long exponent": (("lower",), "1e99999999"),
    "a long decimal": (("upper",), "1" * 3_000_000),
    "a huge length": (("problem", "L"), "9" * 1000),
    "a huge dimension": (("problem", "d"), 99999),
    "a huge tau": (("problem", "tau"), "9" * 500_000),
    "a tau of 0": (("problem", "tau"), "0"),
    "an endless split": (("proof", "tree"), [["skew", "1/2"]] * 100_000),
    "a point split": (("proof", "tree"), [["skew", "0"]] * 100_000),
    "many leaves": (("proof", "tree"), [{"0": "-1", "6": "1"}] * 100_000),
    "digits of another script": (("problem", "L"), "\u0666"),
    "long weights": (("proof", "tree"), [{"0": "-" + "9" * 699, "6": "9" * 699}] * 2000),
    "steepness 0": (("proof", "steepness"), ["0", "5"]),
    "steepness 0 both": (("proof", "steepness"), ["0", "0"]),
    "a long vector": (("weights", "vectors", "q"), ["1/" + "2" * 600] * 3000),
    "thirds": (("weights", "vectors", "q"), ["1/3", "0", "0"]),
}


@pytest.mark.parametrize("name", HOSTILE_FIELDS)
def test_hostile_fields_are_refused_at_once(name):
    path, value = HOSTILE_FIELDS[name]
    data = json.dumps(changed(record_of(LONG), path, value)).encode()
    start = time.perf_counter()
    with pytest.raises(NotProvedError):
        check(data)
    assert time.perf_counter() - start < 2


def linear_file(b, L=60_000):
    """yhat = c + b exactly, under an upper bound that says nothing."""
    record = record_of("linear")
    names = {name: ["0"] for name in ("k_s", "k_f", "v_s", "v_f", "r")}
    vectors = {name: ["1"] for name in ("q", "k_t", "v_t", "w")} | names
    problem = {"norm": "none", "affine": None, "normalizer": None, "d": 1, "tau": "1", "L": str(L)}
    record["problem"] |= problem
    sides = {"lower": "0", "upper": "1", "gap": "1", "proof": {}}
    return record | sides | {"weights": {"b": b, "vectors": vectors}}


@pytest.fixture
def evaluated(monkeypatch):
    """The pairs (c, m) that the checker evaluates, in order."""
    pairs, plain = [], checker._margins

    def counting(*arguments):
        at = plain(*arguments)
        return lambda c, m: pairs.append((c, m)) or at(c, m)

    monkeypatch.setattr("bminlib.checker._margins", counting)
    return pairs


@pytest.mark.parametrize(
    ("b", "reason"),
    [
        ("1", "do not count"),
        ("1/2", "do not count"),  # a tie, in exact balls
        (str(Fraction(1, 2) - Fraction(1, 2**2200)), "not proved to count"),  # beyond 2048 bits
    ],
)
def test_the_first_pair_that_fails_ends_the_work(evaluated, b, reason):
    with pytest.raises(NotProvedError, match=reason):
        check(json.dumps(linear_file(b)).encode())
    assert len(evaluated) <= 3


def test_more_bits_are_for_what_is_undecided(evaluated):
    """Every pair needs over 512 bits: three evaluations of the first, one of each other."""
    assert check(json.dumps(linear_file(str(Fraction(1, 2) - Fraction(1, 2**1000)), 50)).encode())
    pairs = [(c, m) for c in range(51) for m in {0, 50 - c}]
    assert sorted(set(evaluated)) == sorted(pairs)
    assert len(evaluated) == len(pairs) + 2


def test_a_filler_that_moves_a_normalised_state_is_refused_at_once(evaluated):
    record = record_of("post-theorem")
    record["weights"]["vectors"]["v_f"][0] = f"1/{2**60}"
    with pytest.raises(NotProvedError, match="fillers that move"):
        check(json.dumps(record).encode())
    assert not evaluated


@pytest.mark.parametrize("split", [[], [["skew", "1/2"]]])
def test_the_weights_of_a_box_are_bounded(split, monkeypatch):
    monkeypatch.setattr("bminlib.checker._shape_box_closed", None)  # never reached
    tree = [*split, {str(c): "1" for c in range(30_000)}]
    with pytest.raises(NotProvedError, match="over 20000 weights"):
        check(json.dumps(changed(record_of(LONG), ("proof", "tree"), tree)).encode())


def test_the_weights_of_many_boxes_add_up():
    record = record_of("none")
    box = {"a": ["0", "0"], "left": {"1": "-2", "2": "1"}, "right": {"1": "-2", "2": "1"}}
    record["proof"]["boxes"] = [box] * 5001
    with pytest.raises(NotProvedError, match="over 20000 weights"):
        check(json.dumps(record).encode())


@pytest.mark.parametrize("fields", [{"L": "99999", "d": 3}, {"L": "3", "d": 30_000}])
def test_the_size_of_explicit_weights_is_bounded(fields, evaluated):
    record = record_of("classes")
    record["problem"] |= fields | {"tau": "1"}
    rows = int(fields["L"]) + 1
    record["weights"]["vectors"]["W"] = [[]] * rows
    with pytest.raises(NotProvedError, match="too many counts or entries"):
        check(json.dumps(record).encode())
    assert not evaluated


@pytest.mark.parametrize("name", ["version", "gap", "lower", "proof", "weights", "by", "problem"])
def test_deep_lists_below_the_readers_limit_are_refused(name):
    """Nothing is shown of what is no string: its text could be deeper than Python allows."""
    limit = sys.getrecursionlimit()
    for depth in range(limit - 150, limit, 7):
        data = json.dumps(record_of("post-search") | {name: "HERE"})
        with pytest.raises(NotProvedError):
            check(data.replace('"HERE"', "[" * depth + "]" * depth).encode())


def test_the_checker_stands_alone(tmp_path):
    """Copied elsewhere, it imports nothing of this library, and only flint from others."""
    copy_of_it = tmp_path / "standalone.py"
    copy_of_it.write_bytes(Path(checker.__file__).read_bytes())
    certificate = tmp_path / "cert.json"
    certificate.write_text(text_of("post-search"))
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); import standalone\n"
        "print(standalone.check(open(sys.argv[2], 'rb').read()).lower)\n"
        "names = {name.partition('.')[0] for name in sys.modules}\n"
        "print(sorted(names - set(sys.stdlib_module_names) - {'__main__', 'standalone'}))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", script, str(tmp_path), str(certificate)],
        capture_output=True,
        text=True,
        check=True,
    )
    lower, modules = done.stdout.splitlines()
    assert lower == record_of("post-search")["lower"]
    assert "bminlib" not in modules
    assert "numpy" not in modules
    assert "flint" in modules


def layer(**fields):
    """The checker's own view of a problem."""
    problem = {**record_of("post-search")["problem"], **fields}
    return checker._problem({name: problem[name] for name in problem})


def directions(L, s, t):
    """u(c) in floats, from the definition: N_c = (L - c) e_- + c s e_+ at the angles -+atan t."""
    ends = np.array([[1, -t], [1, t]]) / math.hypot(1, t)
    c = np.arange(L + 1)[:, None]
    N = (L - c) * ends[0] + c * s * ends[1]
    N[L] = ends[1]
    return N / np.linalg.norm(N, axis=1)[:, None]


@pytest.mark.parametrize("seed", range(40))
def test_arcs_deviate_from_their_corners_by_less_than_the_bound(seed):
    rng = np.random.default_rng(seed)
    L = int(rng.integers(2, 40))
    s0, s1 = sorted(rng.uniform(0, 1, 2) ** rng.integers(1, 6))
    t0 = math.exp(rng.uniform(-3, 3))
    t1 = t0 * (1 + rng.uniform(0, 1) ** 3)
    box = [fmpq(*x.as_integer_ratio()) for x in map(float, (s0, s1, t0, t1))]
    bound = [float(checker._deviation(L, c, *box)) for c in range(L + 1)]
    corners = [[directions(L, s, t) for t in (t0, t1)] for s in (s0, s1)]
    for _ in range(20):
        p, r = rng.uniform(0, 1, 2)
        inner = directions(L, s0 + p * (s1 - s0), t0 * (t1 / t0) ** r)
        mixed = (1 - p) * ((1 - r) * corners[0][0] + r * corners[0][1])
        mixed += p * ((1 - r) * corners[1][0] + r * corners[1][1])
        off = np.linalg.norm(inner - mixed, axis=1)
        assert np.all(off <= np.array(bound) + 1e-12)
    for c in range(L + 1):
        point = [float(x) for x in checker._point(L, c, box[0], box[2])]
        assert point == pytest.approx(directions(L, s0, t0)[c], abs=1e-12)


def test_the_bound_on_deviations_is_no_idle_one():
    """Half of it is exceeded by some arc."""
    s0, s1, t0, t1 = 0.4, 0.8, 0.5, 0.52
    box = [fmpq(*x.as_integer_ratio()) for x in (s0, s1, t0, t1)]
    inner = directions(12, 0.6, math.sqrt(t0 * t1))
    mixed = sum(directions(12, s, t) for s in (s0, s1) for t in (t0, t1)) / 4
    off = np.linalg.norm(inner - mixed, axis=1)
    assert max(off[c] / float(checker._deviation(12, c, *box)) for c in range(13)) > 0.5


def least_gap(L, a):
    """The least |D| that counts at a score ratio, by a linear program in (A, D, |D|)."""
    c = np.arange(L + 1)
    rows = np.stack([np.ones(L + 1), c / (a + c), 0 * c], 1)
    rows = np.concatenate([rows, -rows, [[0, 1, -1], [0, -1, -1]]])
    limits = np.concatenate([c + 0.5, 0.5 - c, [0, 0]])
    free = (None, None)
    found = linprog([0, 0, 1], rows, limits, bounds=[free, free, free])
    return found.fun if found.status == 0 else math.inf


@pytest.mark.parametrize("seed", range(20))
def test_boxes_of_the_score_ratio_that_close_leave_no_gap(seed):
    """Random weights, most of which close nothing: where they do, a linear program agrees."""
    rng = np.random.default_rng(seed)
    L = int(rng.integers(2, 8))
    p = layer(norm="none", affine=None, normalizer=None, L=str(L))
    closed = 0
    for _ in range(80):
        i, j = sorted(rng.choice(np.arange(1, L + 1), 2, replace=False))[::-1] if L > 2 else (2, 1)
        ends = []
        for _ in range(2):
            weights = {int(i): int(rng.integers(1, 30)), int(j): -int(rng.integers(0, 30))}
            ends.append({c: fmpq(n) for c, n in weights.items()})
        low, width = rng.integers(0, 20), rng.integers(0, 5)
        a = fmpq(int(low), 4), fmpq(int(low + width), 4)
        gap = fmpq(int(rng.integers(1, 40)), 8)
        if checker._ratio_box_closed(p, gap, (a[0], fmpq(1)), (a[1], fmpq(1)), ends):
            closed += 1
            for share in (0.05, 0.5, 0.95):
                ratio = float(arb(a[0] + (a[1] - a[0]) * fmpq(*share.as_integer_ratio())))
                if ratio > 0:
                    assert least_gap(L, ratio) > float(arb(gap)) - 1e-6
    assert closed >= 1 or seed % 3


@pytest.mark.parametrize(
    "fields",
    [
        {"norm": "none", "affine": None, "normalizer": None},
        {"norm": "pre", "affine": "bare"},
        {"norm": "pre", "affine": "bare", "normalizer": "rms"},
        {"norm": "pre", "affine": "learned"},
        {"norm": "pre", "affine": "learned", "normalizer": "rms"},
        {"norm": "post", "affine": "bare"},
        {"norm": "post", "affine": "learned"},
        {"norm": "post", "affine": "learned", "normalizer": "rms"},
        {"norm": "none", "affine": None, "normalizer": None, "attention": "linear"},
        {"norm": "pre", "affine": "bare", "attention": "linear"},
        {"norm": "pre", "affine": "learned", "attention": "linear"},
    ],
)
def test_vectors_supply_no_more_than_the_checker_grants(fields):
    """Random vectors of norm 1, and ones that are aligned to supply as much as they can."""
    rng = np.random.default_rng(7)
    d = 3
    p = layer(**fields, d=d, tau="1/2")
    most, scores = checker._supply(p, fmpq(1))
    best = np.zeros(2)
    for _ in range(1500):
        spread = rng.choice([0.05, 0.3, 1.0])
        axis = np.eye(d)[0]
        v = axis * rng.choice([-1, 1], (8, 1)) + spread * rng.normal(size=(8, d))
        v /= np.linalg.norm(v, axis=1)[:, None]
        best = np.maximum(best, supplied(p, v))
    assert best[0] <= float(arb(most)) * (1 + 1e-12)
    assert best[0] > 0.85 * float(arb(most))
    if p.norm != "post" and not p.linear:
        assert best[1] <= float(scores) * (1 + 1e-12)
        assert best[1] > 0.8 * float(scores)


def supplied(p, v):
    """(slope, gap or radius; score difference) of vectors w, gamma, beta, q, k_s, k_t, v_s, v_t."""
    w, gamma, beta, q, *attended = v
    gain, shift = (gamma, beta) if p.affine == "learned" else (np.ones(p.d), 0 * w)

    def seen(x):
        if p.norm != "pre":
            return x
        x = x - x.mean() if p.normalizer == "layer" else x
        return gain * x * math.sqrt(p.d) / np.linalg.norm(x) + shift

    q, k_s, k_t, v_s, v_t = map(seen, (q, *attended))
    if p.norm == "post":
        row = gain * w
        row = row - row.mean() if p.normalizer == "layer" else row
        return math.sqrt(p.d) * np.linalg.norm(row), 0
    if p.linear:
        return 0.5 * abs(q @ k_t * (w @ v_t)), 0
    return abs(w @ (v_t - v_s)), 0.5 * abs(q @ (k_s - k_t))

"""`bmin compute` and `bmin horizon` answer what is asked, row by row.

Oracles: the grammar by hand-written lists, tau and values by sympy and mpmath, horizons by counting
up with mpmath at 60 digits.
"""

import itertools
import re
import shlex
from importlib import metadata

import mpmath
import pytest
import sympy

import bminlib
from bmin import bound_rows
from bminlib.errors import UndecidedError

SOFTMAX = [
    ("softmax", "none", None),
    ("softmax", "pre", "bare"),
    ("softmax", "pre", "learned"),
    ("softmax", "post", "bare"),
    ("softmax", "post", "learned"),
]
LINEAR = [("linear", norm, affine) for _, norm, affine in SOFTMAX]
EVERY_PLACEMENT = [*SOFTMAX, LINEAR[0]]


def placements(rows):
    return [(row["attention"], row["norm"], row["affine"]) for row in rows]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("", EVERY_PLACEMENT),
        ("--affine bare", [p for p in EVERY_PLACEMENT if p[2] != "learned"]),
        ("--affine learned", [p for p in EVERY_PLACEMENT if p[2] != "bare"]),
        ("--attention softmax", SOFTMAX),
        ("--attention linear", LINEAR),
        ("--attention linear --affine bare", [p for p in LINEAR if p[2] != "learned"]),
        ("--norm none", SOFTMAX[:1]),
        ("--norm pre", SOFTMAX[1:3]),
        ("--norm post", SOFTMAX[3:]),
        ("--norm post --affine learned", SOFTMAX[4:]),
        ("--norm none --attention linear", LINEAR[:1]),
        ("--norm pre --attention linear", LINEAR[1:3]),
    ],
)
def test_what_is_left_out_is_compared_in_the_papers_order(compute, options, expected):
    assert placements(compute("--L", "5", *options.split())) == expected


def test_rows_go_by_placement_then_dimension_then_length(compute):
    rows = compute("--L", "6,5", "--d", "16,8")
    found = [
        (*place, row["d"], row["L"]) for place, row in zip(placements(rows), rows, strict=True)
    ]
    assert found == [
        (*place, d, L) for place in EVERY_PLACEMENT for d in (8, 16) for L in ("5", "6")
    ]


@pytest.mark.parametrize("normalizer", ["layer", "rms"])
def test_norm_none_has_neither_affine_nor_normalizer_in_a_comparison(compute, normalizer):
    rows = compute("--L", "5", "--affine", "bare", "--normalizer", normalizer)
    parts = [(row["affine"], row["normalizer"]) for row in rows]
    assert parts == [(None, None), ("bare", normalizer), ("bare", normalizer), (None, None)]


@pytest.mark.parametrize("option", ["--affine learned", "--normalizer layer"])
@pytest.mark.parametrize("attention", [(), ("--attention", "linear"), ("--attention", "softmax")])
def test_affine_and_normalizer_are_refused_when_none_is_all_that_was_asked(
    run_bmin, option, attention
):
    answer = run_bmin("compute", "--L", "5", "--norm", "none", *option.split(), *attention)
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)


LISTS = [
    ("1024", [1024]),
    ("8,16,32", [8, 16, 32]),
    ("3:9", [3, 4, 5, 6, 7, 8, 9]),
    ("3:9:2", [3, 5, 7, 9]),
    ("3:10:3", [3, 6, 9]),
    ("16:4096:x2", [16, 32, 64, 128, 256, 512, 1024, 2048, 4096]),
    ("16:100:x3", [16, 48]),
    ("7:7", [7]),
    ("10^3", [1000]),
    ("10^2:10^4:x10", [100, 1000, 10000]),
    ("9,3:5", [3, 4, 5, 9]),
    ("8,8,7:9", [7, 8, 9]),
    ("8, 16", [8, 16]),
]


@pytest.mark.parametrize(("text", "numbers"), LISTS)
def test_a_list_of_lengths(compute, text, numbers):
    rows = compute("--norm", "post", "--affine", "bare", "--L", text)
    assert [int(row["L"]) for row in rows] == numbers


@pytest.mark.parametrize(("text", "numbers"), LISTS)
def test_dimensions_have_the_same_grammar(compute, text, numbers):
    rows = compute("--norm", "post", "--affine", "bare", "--L", "5", "--d", text)
    assert [row["d"] for row in rows] == numbers


def test_the_dimension_is_64_and_the_length_1_is_allowed(compute):
    assert [(row["d"], row["b_min"]) for row in compute("--L", "1")] == [(64, "0")] * 6


@pytest.mark.parametrize(
    ("tau", "d", "value"),
    [
        ("0.1", 64, "1/10"),
        ("0.10", 64, "1/10"),
        ("1e-3", 64, "1/1000"),
        ("1/3", 64, "1/3"),
        ("2.5/10", 64, "1/4"),
        ("scaled", 64, "1/8"),
        ("scaled", 5, "1/sqrt(5)"),
        ("scaled", 12, "1/sqrt(12)"),
        ("unscaled", 5, "1"),
        ("1/sqrt(5)", 64, "1/sqrt(5)"),
        ("2/sqrt(5)", 64, "2/sqrt(5)"),
        ("sqrt(2)/sqrt(3)", 64, "sqrt(2)/sqrt(3)"),
        ("sqrt(1/3)", 64, "1/sqrt(3)"),
        ("7", 64, "7"),
    ],
)
def test_tau_is_exact_and_counts(compute, tau, d, value):
    """Linear attention without a norm needs B^4 tau = 1 - 1/L."""
    (row,) = compute(
        *("--norm", "none", "--attention", "linear", "--L", "2", "--d", str(d), "--tau", tau)
    )
    assert sympy.sympify(row["tau"]) == sympy.sympify(value)
    assert sympy.simplify(
        sympy.sympify(row["exact"]) ** 4 * sympy.sympify(value)
    ) == sympy.Rational(1, 2)


@pytest.mark.parametrize(
    ("tau", "d"),
    [
        ("scaled", "64"),
        ("scaled", "5"),
        ("scaled", "1000003"),
        ("unscaled", "5"),
        ("0.1", "64"),
        ("1/3", "64"),
        ("12/sqrt(7)", "64"),
        ("sqrt(2)/sqrt(3)", "64"),
        ("sqrt(1/3)", "64"),
        ("1e-12", "64"),
        ("1e999", "64"),
        ("1e-999", "64"),
        ("scaled", "10^2000"),
    ],
)
def test_the_printed_tau_is_accepted_and_means_the_same(compute, tau, d):
    first = compute("--L", "5", "--d", d, "--tau", tau)
    again = compute("--L", "5", "--d", d, "--tau", first[0]["tau"])
    assert again == first


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ("--L 5", 0),
        ("--norm pre --affine bare --d 23 --L 243", 0),
        ("--norm pre --affine bare --d 23 --L 243,244", 0),
        ("--norm pre --affine bare --d 23 --L 244", 1),
        ("--norm pre --affine bare --d 23 --L 244:300", 1),
        ("--norm post --d 2 --L 2", 1),
        ("--norm post --normalizer rms --d 1 --L 2", 1),
        ("--exact --L 3", 0),
        ("--exact --norm post --L 3", 1),
        ("--readout classification --L 5", 0),
        ("--L 0", 2),
        ("", 2),
    ],
)
def test_exit_codes(run_bmin, options, code):
    assert run_bmin("compute", *options.split()).code == code


def test_an_undecided_comparison_ends_with_code_1_and_one_line(run_bmin, monkeypatch):
    def undecided(problem):
        raise UndecidedError(f"undecided at L={problem.L}")

    monkeypatch.setattr(bound_rows, "b_min", undecided)
    answer = run_bmin("compute", "--L", "5")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err == "bmin: undecided at L=5\n"


def test_the_broken_inequality_is_quoted_with_its_numbers(compute):
    near, far = compute("--norm", "pre", "--affine", "bare", "--d", "23", "--L", "243,244")
    assert (near["feasible"], near["reason"]) == (True, None)
    assert (far["feasible"], far["reason"]) == (False, "a*(244) = 14762 > e^(2 sqrt 23)")


@pytest.mark.parametrize(
    ("d", "L", "feasible"), [(360, 347686977, True), (360, 347686978, False), (126000, 10**9, True)]
)
def test_near_ties_and_huge_exponents_are_decided(compute, d, L, feasible):
    (row,) = compute("--norm", "pre", "--affine", "bare", "--d", str(d), "--L", str(L))
    assert row["feasible"] is feasible


def test_exact_counting_is_for_linear_attention_and_the_shortest_lengths(compute):
    rows = compute("--exact", "--L", "1:4")
    feasible = {}
    for row in rows:
        feasible.setdefault((row["attention"], row["norm"]), set()).add((row["L"], row["feasible"]))
    assert {row["exactness"] for row in rows} == {"exact"}
    upto = {key: max(int(L) for L, answer in found if answer) for key, found in feasible.items()}
    assert upto == {
        ("softmax", "none"): 1,
        ("softmax", "pre"): 1,
        ("softmax", "post"): 2,
        ("linear", "none"): 4,
    }
    assert all(row["reason"] for row in rows if not row["feasible"])


def test_exact_linear_counting_costs_the_same_at_every_length(compute):
    rows = compute("--exact", "--attention", "linear", "--norm", "none", "--L", "1,2,1000,10^1000")
    assert {(row["b_min"], row["exact"]) for row in rows} == {("1.68179283050743", "8**(1/4)")}


@pytest.mark.parametrize(("length", "L"), [("1", 1), ("2", 2), ("9", 9), ("10^40", 10**40)])
def test_classification_costs_nothing_but_storage(compute, length, L):
    options = ("--L", length, "--d", "8")
    rows = compute(*options, "--readout", "classification")
    assert placements(rows) == EVERY_PLACEMENT
    for row in rows:
        assert (row["b_min"], row["exact"], row["attained"]) == ("0", "0", False)
        assert (row["theorem"], row["active"]) == ("classification.bounded", [])
        assert int(row["stored_numbers"]) == (L + 1) * 9
    assert {row["stored_numbers"] for row in compute(*options)} == {"9"}


def test_normalizer_rms_frees_the_dimension_that_layer_norm_takes(compute):
    layer, rms = (
        compute("--norm", "post", "--L", "9", "--d", "16", "--normalizer", name)
        for name in ("layer", "rms")
    )
    assert layer[0]["exact"] == rms[0]["exact"]
    ratio = sympy.sympify(layer[1]["exact"]) / sympy.sympify(rms[1]["exact"])
    assert sympy.simplify(ratio**4 - sympy.Rational(16, 15)) == 0


@pytest.mark.parametrize("digits", [1, 2, 15, 40, 1000])
def test_digits_are_significant_digits(compute, digits):
    for row in compute("--L", "2,7,1000", "--d", "16", "--digits", str(digits)):
        if row["feasible"]:
            mantissa = row["b_min"].partition("e")[0].replace(".", "").lstrip("0")
            assert len(mantissa) == digits


def test_weights_free_is_the_default(compute):
    assert compute("--L", "5", "--weights", "free") == compute("--L", "5")
    assert {row["weights"] for row in compute("--L", "5")} == {"free"}


def test_affine_bare_and_learned_and_the_readouts_are_named_in_the_rows(compute):
    (row,) = compute("--L", "5", "--norm", "pre", "--affine", "learned", "--readout", "regression")
    assert (row["affine"], row["readout"], row["exactness"]) == ("learned", "regression", "rounded")


@pytest.mark.parametrize(
    "arguments", [(), ("--help",), ("compute", "--help"), ("horizon", "--help")]
)
def test_help_shows_worked_examples(run_bmin, arguments):
    answer = run_bmin(*arguments)
    assert (answer.code, answer.err) == (0, "")
    assert len(examples(answer.out)) >= 5


def examples(help_text):
    """The commands of the worked examples; what follows two spaces is a comment."""
    lines = (line.strip() for line in help_text.splitlines())
    return [re.split(r"\s{2,}", line)[0] for line in lines if re.match(r"bmin \w+ ", line)]


def test_every_worked_example_runs(run_bmin, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for example in examples(run_bmin("--help").out):
        if example.split()[1] in ("train", "compare"):  # minutes: test_train_sweep runs them
            continue
        answer = run_bmin(*shlex.split(example)[1:])
        wrote = answer.err.startswith("bmin: wrote ") and "--plot" in example
        assert (example, answer.code, answer.err if not wrote else "") == (example, 0, "")
        assert answer.out


def test_version(run_bmin):
    answer = run_bmin("--version")
    assert (answer.code, answer.out, answer.err) == (0, f"bmin {bminlib.__version__}\n", "")
    assert metadata.version("bminlib") == bminlib.__version__


def test_python_m_bmin(spawn_bmin, run_bmin):
    arguments = ("compute", "--norm", "post", "--L", "1024")
    assert spawn_bmin(*arguments) == run_bmin(*arguments)


@pytest.mark.parametrize(
    ("words", "offered"), [("bmin compu", "compute"), ("bmin compute --norm po", "post")]
)
def test_shell_completion(spawn_bmin, words, offered):
    answer = spawn_bmin(
        _BMIN_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=str(words.count(" "))
    )
    assert (answer.code, answer.out.split(), answer.err) == (0, [offered], "")


def largest_length(d):
    """The largest L with floor((L-1)^2/4) <= e^(2 sqrt d), by counting up."""
    with mpmath.workdps(60):
        bound = mpmath.exp(2 * mpmath.sqrt(d))
        return next(L for L in itertools.count(1) if bound < L * L // 4)


def test_horizon_of_every_dimension_from_3_to_64(run_bmin):
    answer = run_bmin("horizon", "--d", "3:64", "--format", "json")
    found = {row["d"]: row["max_length"] for row in answer.records}
    assert found == {d: str(largest_length(d)) for d in range(3, 65)}
    known = {3: 12, 4: 15, 5: 19, 6: 24, 8: 34, 16: 110, 23: 243}
    assert {d: int(found[d]) for d in known} == known
    assert (answer.code, answer.err) == (0, "")


def test_horizon_is_where_compute_turns(run_bmin, compute):
    (row,) = run_bmin("horizon", "--d", "10000", "--tau", "1/97", "--format", "json").records
    last = int(row["max_length"])
    where = ("--norm", "pre", "--affine", "bare", "--d", "10000", "--tau", "1/97")
    feasible = [r["feasible"] for r in compute(*where, "--L", f"{last},{last + 1}")]
    assert feasible == [True, False]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--norm none", [None]),
        ("--norm post --d 3", [None, None]),
        ("--norm post --d 2", ["1", "1"]),
        ("--norm pre --affine bare --d 2", ["9"]),
        ("--norm none --exact", ["1"]),
        ("--norm post --exact", ["2", "2"]),
        ("--norm none --attention linear --exact", [None]),
    ],
)
def test_horizon_of_other_placements(run_bmin, options, expected):
    answer = run_bmin("horizon", *options.split(), "--format", "json")
    assert [row["max_length"] for row in answer.records] == expected


@pytest.mark.parametrize("style", ["table", "csv", "markdown", "latex"])
def test_horizon_in_every_format(run_bmin, style):
    answer = run_bmin("horizon", "--d", "3:8", "--format", style)
    assert (answer.code, answer.err) == (0, "")
    rows = [re.findall(r"\d+", line) for line in answer.out.splitlines() if "pre" in line]
    assert [(int(row[0]), int(row[-1])) for row in rows] == [
        (d, largest_length(d)) for d in range(3, 9)
    ]


def test_horizon_beyond_a_million_digits_is_refused_with_its_estimate(run_bmin):
    answer = run_bmin("horizon", "--d", "10^18")
    assert (answer.code, answer.out) == (2, "")
    assert "2 e^(tau d)" in answer.err
    assert answer.err.count("\n") == 1

"""Bad input gets one sentence with the value, the rule and a remedy, and gets it fast.

On the command line: `bmin: ` and the sentence on standard error, nothing on standard output, exit
code 2. In the library: DomainError with the same sentence.
"""

import dataclasses
import resource
import subprocess
import time
from fractions import Fraction

import numpy as np
import pytest
from conftest import command_line, environment

from bminlib import Bound, CountingProblem, DomainError, InfeasibleError, b_min, max_length

GRAMMAR = ("whole number", "write 1024, 8,16,32, 2:64, 2:64:2, 16:4096:x2 or 10^1000")
LENGTH = ("the length must be an integer >= 1", "give a whole number such as 1024")
DIMENSION = ("the dimension must be an integer >= 1", "give a whole number such as 64")
STEP = ("a step is >= 1", "write 16:4096:x2 or 2:64:2")
FACTOR = ("a factor is at least 2", "write 16:4096:x2 or 2:64:2")
TOO_LONG = ("at most 100000 digits", "take a smaller one")
TOO_MANY = ("at most 100000 numbers", "take a larger step")
TAU = ("tau must be an exact number > 0", "write scaled, unscaled, a decimal such as 0.1")
DIGITS = ("an integer from 1 to 1000000", "15 is the default")
LAYER = ("LayerNorm needs d >= 2", "raise d, or take normalizer rms")
NONE = ("norm none has no", "leave it out, or take norm pre or post")
TIED = ("tied weights are not supported yet", "use weights='free'")
NO_YHAT = ("a classification read-out has no yhat", "or readout 'regression'")
OPTION = ("No such option", "see bmin --help")
CHOICE = ("is not one of", "see bmin --help")

BAD_LISTS = [
    *(
        (text, text, *GRAMMAR)
        for text in ("-3", "2.5", "True", "NaN", "1e3", "", "x2", "+5", "1_0")
    ),
    *(
        (text, text, *GRAMMAR)
        for text in ("\u0663", "\uff11\uff10", "10^10^10", "10^-1", "^3", "3^")
    ),
    *((text, text, *GRAMMAR) for text in ("2:", ":3", "2:64:x", "2:64:-1", "2:64:2:2", "None")),
    ("8,", "''", *GRAMMAR),
    ("3:2", "3:2", "the range ends before it starts", "swap its ends"),
    ("1:2:0", "1:2:0", *STEP),
    ("2:64:x1", "2:64:x1", *FACTOR),
    ("2:64:x0", "2:64:x0", *FACTOR),
    ("0:64:x2", "0:64:x2", *FACTOR),
    ("10^100000", "10^100000", *TOO_LONG),
    ("10^9999999999999999999999", "10^9999999999999999999999", *TOO_LONG),
    ("9" * 100_001, "99999...", *TOO_LONG),
    ("2:10^9", "2:10^9", *TOO_MANY),
    ("1:10^80000", "1:10^80000", *TOO_MANY),
]
BAD_TAUS = [
    *("0", "-1", "nan", "inf", "1/0", "0/5", "1e999999999", "sqrt(0)", "1/sqrt(0)", "sqrt(2"),
    *(
        "__import__",
        "__import__('os').system('true')",
        "",
        "pi",
        "1/3/5",
        "\uff11",
        "Scaled",
        "1+1",
    ),
    *("9**9**9**9", "1" * 100_000, "(" * 100_000),
]
BAD_CALLS = [
    *((f"--L|{text}", *rest) for text, *rest in BAD_LISTS),
    *((f"--L|5|--d|{text}", *rest) for text, *rest in BAD_LISTS),
    *((f"--L|5|--tau|{text}", text[:30], *TAU) for text in BAD_TAUS),
    *((f"--L|5|--digits|{text}", text, *DIGITS) for text in ("0", "x", "10^9", "-1", "1.5", "")),
    ("--L|5|--digits|1000001", "1000001", *DIGITS),
    ("--L|5|--digits|99999999999999", "99999999999999", *DIGITS),
    ("--L|0", "L=0", *LENGTH),
    ("--L|0:5", "L=0", *LENGTH),
    ("--L|5|--d|0", "d=0", *DIMENSION),
    ("--L|5|--d|1", "d=1", *LAYER),
    ("--L|5|--d|1|--norm|pre", "d=1", *LAYER),
    ("--L|5|--d|1|--norm|post|--affine|learned", "d=1", *LAYER),
    ("--L|5|--norm|none|--affine|bare", "affine='bare'", *NONE),
    ("--L|5|--norm|none|--affine|learned|--attention|linear", "affine='learned'", *NONE),
    ("--L|5|--norm|none|--normalizer|layer", "normalizer='layer'", *NONE),
    ("--L|5|--weights|tied", "tied", *TIED),
    ("--L|5|--readout|classification|--exact", "exact", *NO_YHAT),
    ("--L|5|--norm|none|--readout|classification|--d|1", "d=1", "from d = 2 on", "raise d to 2"),
    ("--L|5|--norm|post|--readout|classification|--d|2", "d=2", "from d = 3 on", "raise d to 3"),
    ("--L|5|--readout|classification|--d|2", "d=2", "from d = 3 on", "raise d to 3"),
    ("--bogus|5", "--bogus", *OPTION),
    ("--bo\ngus|5", "--bo", *OPTION),
    ("--l|5", "--l", *OPTION),
    ("--L|5|--norm|mid", "'mid'", *CHOICE),
    ("--L|5|--affine|yes", "'yes'", *CHOICE),
    ("--L|5|--normalizer|batch", "'batch'", *CHOICE),
    ("--L|5|--attention|hard", "'hard'", *CHOICE),
    ("--L|5|--readout|ranking", "'ranking'", *CHOICE),
    ("--L|5|--weights|frozen", "'frozen'", *CHOICE),
    ("--L|5|--format|xml", "'xml'", *CHOICE),
    ("--norm|post", "--L", "missing", "for example --L 1024"),
    ("--L", "--L", "requires an argument", "see bmin --help"),
    ("--L|5|6", "6", "unexpected extra argument", "see bmin --help"),
]


@pytest.mark.parametrize(
    ("call", "value", "rule", "remedy"), BAD_CALLS, ids=[call[0][:40] or "''" for call in BAD_CALLS]
)
def test_the_command_refuses_in_one_sentence(run_bmin, call, value, rule, remedy):
    before = time.process_time()
    answer = run_bmin("compute", *call.split("|"))
    assert time.process_time() - before < 1
    check_sentence(answer, value, rule, remedy)


def check_sentence(answer, value, rule, remedy):
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.count("\n") == 1
    assert answer.err.endswith("\n")
    assert answer.err.startswith("bmin: ")
    assert len(answer.err) < 300
    for part in (value.removesuffix("..."), rule, remedy):
        assert part in answer.err


@pytest.mark.parametrize(
    ("call", "value", "rule", "remedy"),
    [
        ("bogus", "bogus", "No such command", "see bmin --help"),
        ("--bogus", "--bogus", *OPTION),
        ("horizon|--d|0", "d=0", *DIMENSION),
        ("horizon|--d|1", "d=1", *LAYER),
        ("horizon|--d|3:2", "3:2", "the range ends before it starts", "swap its ends"),
        ("horizon|--tau|0", "tau='0'", *TAU),
        ("horizon|--norm|none|--affine|bare", "affine='bare'", *NONE),
        ("horizon|--L|5", "--L", *OPTION),
        ("horizon|--d|10^18", "10^18 or about 4.34e+08 digits", "over 1000000", "lower d or tau"),
    ],
)
def test_other_calls_are_refused_in_one_sentence(run_bmin, call, value, rule, remedy):
    check_sentence(run_bmin(*call.split("|")), value.split(" or ")[-1], rule, remedy)


def test_a_number_of_100000_digits_is_no_number_of_over_100000_digits(run_bmin):
    """Exact linear counting, so that the answer takes no long roots."""
    options = "--L 10^99999 --norm none --attention linear --exact --digits 5"
    assert run_bmin("compute", *options.split()).code == 0


def test_a_table_of_ten_billion_rows_is_refused_before_it_is_built():
    """At most 10^5 numbers a list still allows 10^10 pairs (d, L)."""

    def limit_memory():
        resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))

    done = subprocess.run(
        command_line("compute", "--norm", "post", "--L", "1:99999", "--d", "3:99999"),
        capture_output=True,
        env=environment(),
        preexec_fn=limit_memory,
        timeout=3,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1


BAD_PROBLEMS = [
    *(({"L": bad}, "L=", *LENGTH) for bad in (0, -3, 2.5, True, None, "1e3", float("nan"), 5j)),
    *(({"L": bad}, "L=", *LENGTH) for bad in (float("inf"), "5", Fraction(5), [5], -(10**5000))),
    ({"L": np.array([1, 2])}, "L=", *LENGTH),
    *(({"d": bad}, "d=", *DIMENSION) for bad in (0, -1, True, 2.0, "64", None, -(10**5000))),
    *(({"tau": bad}, "tau=", *TAU) for bad in (0, -1, True, 0.1, None, float("nan"), Fraction(0))),
    *(({"tau": bad}, "tau=", *TAU) for bad in (-(10**5000), Fraction(-(10**5000)), *BAD_TAUS)),
    ({"norm": "post", "d": 1}, "d=1", *LAYER),
    ({"norm": "pre", "d": 1, "affine": "learned"}, "d=1", *LAYER),
    ({"affine": "bare"}, "affine='bare'", *NONE),
    ({"normalizer": "rms"}, "normalizer='rms'", *NONE),
    ({"weights": "tied"}, "weights='tied'", *TIED),
    ({"readout": "classification", "exactness": "exact"}, "exactness='exact'", *NO_YHAT),
    ({"readout": "classification", "d": 1}, "d=1", "from d = 2 on", "raise d to 2"),
    *(
        ({"norm": "post", name: "other"}, f"{name}='other'", "must be one of", "pick one of these")
        for name in ("attention", "affine", "normalizer", "readout", "weights", "exactness")
    ),
    ({"norm": "mid"}, "norm='mid'", "must be one of", "pick one of these"),
]


@pytest.mark.parametrize(
    ("fields", "value", "rule", "remedy"),
    BAD_PROBLEMS,
    ids=[f"{i}-{','.join(case[0])}" for i, case in enumerate(BAD_PROBLEMS)],
)
def test_the_library_raises_domain_error_with_one_sentence(fields, value, rule, remedy):
    before = time.process_time()
    with pytest.raises(DomainError) as caught:
        CountingProblem(**{"L": 5} | fields)
    assert time.process_time() - before < 0.5
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert len(sentence) < 300
    assert sentence.startswith(value)
    assert rule in sentence
    assert remedy in sentence


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        ("--L 0", {"L": 0}),
        ("--L 5 --d 0", {"L": 5, "d": 0}),
        ("--L 5 --norm post --d 1", {"L": 5, "norm": "post", "d": 1}),
        ("--L 5 --tau 1/0", {"L": 5, "tau": "1/0"}),
        ("--L 5 --weights tied", {"L": 5, "weights": "tied"}),
        ("--L 5 --norm none --affine bare", {"L": 5, "affine": "bare"}),
    ],
)
def test_the_command_says_what_the_library_says(run_bmin, options, fields):
    with pytest.raises(DomainError) as caught:
        CountingProblem(**fields)
    assert run_bmin("compute", *options.split()).err == f"bmin: {caught.value}\n"


@pytest.mark.parametrize("digits", [0, -1, True, 2.5, "x", None, 10**9])
@pytest.mark.parametrize("method", ["decimal", "enclosure"])
def test_digits_have_a_domain(digits, method):
    with pytest.raises(DomainError, match=r"digits=.*from 1 to 1000000; 15 is the default"):
        getattr(b_min(CountingProblem(L=5)), method)(digits)


def test_an_unknown_rounding_is_refused():
    with pytest.raises(DomainError, match="sideways"):
        b_min(CountingProblem(L=5)).decimal(5, "sideways")


def test_asking_an_infeasible_bound_for_digits_says_why_there_are_none():
    bound = b_min(CountingProblem(L=244, norm="pre", d=23))
    assert isinstance(bound, Bound)
    for method in (bound.decimal, bound.enclosure):
        with pytest.raises(InfeasibleError, match=r"a\*\(244\) = 14762 > e\^\(2 sqrt 23\)"):
            method(15)
    assert (bound.exact, bound.text, bound.method) == (None, None, None)


def test_max_length_refuses_beyond_a_million_digits_with_its_estimate():
    with pytest.raises(DomainError, match=r"2 e\^\(tau d\) with tau d = 1\.0*e\+09"):
        max_length(CountingProblem(L=1, norm="pre", d=10**18))


def test_a_problem_is_frozen_and_compares_by_value():
    problem = CountingProblem(L=5, norm="post")
    with pytest.raises(dataclasses.FrozenInstanceError):
        problem.L = 6
    with pytest.raises((AttributeError, TypeError)):
        problem.note = "no room"
    same = CountingProblem(L=np.int64(5), norm="post", affine="bare", normalizer="layer")
    assert problem == same
    assert hash(problem) == hash(same)
    assert type(same.L) is int


def test_replace_validates_and_tau_stays_scaled():
    problem = CountingProblem(L=5, norm="post")
    wider = dataclasses.replace(problem, d=100)
    assert (problem.score_scale.text, wider.score_scale.text) == ("1/8", "1/10")
    assert wider.tau == "scaled"
    with pytest.raises(DomainError, match="L=0"):
        dataclasses.replace(problem, L=0)


def test_defaults():
    problem = CountingProblem(L=5)
    assert (problem.attention, problem.norm, problem.readout) == ("softmax", "none", "regression")
    assert (problem.affine, problem.normalizer) == (None, None)
    assert (problem.weights, problem.d, problem.exactness) == ("free", 64, "rounded")
    pre = dataclasses.replace(problem, norm="pre")
    assert (pre.affine, pre.normalizer) == ("bare", "layer")


def test_long_problems_can_be_printed():
    """CPython refuses to convert integers of more than 4300 digits by itself."""
    problem = CountingProblem(L=10**5000)
    assert "CountingProblem(" in repr(problem)
    assert "CountingProblem(" in repr(b_min(problem))

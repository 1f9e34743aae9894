"""Promise: every listed theorem is proved, and a check can fail in each way it says it can."""

import dataclasses
import importlib
import pkgutil
from fractions import Fraction

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import bmin_derivations
from bmin_derivations.catalogue import THEOREMS, theorem
from bmin_derivations.check import check, check_theorem, with_uses
from bmin_derivations.decide import decide
from bmin_derivations.domain import exhaustive
from bmin_derivations.records import Enclosure, Instance, Step, Theorem, Verdict
from bmin_derivations.relations import eq, ge, gt, le, lt
from bmin_derivations.symbols import L, c, j, m
from bminlib import DomainError

PERMANENT_IDS = [
    "trivial",
    "linear.exact",
    "linear.rounded",
    "softmax.exact.small",
    "softmax.inexact",
    "fractional.demand",
    "fractional.slope",
    "fractional.real",
    "none",
    "pre.bare",
    "pre.bare.horizon",
    "pre.learned",
    "circular.lower",
    "circular.lattice",
    "circular.real",
    "post.bare",
    "post.learned",
    "post.epsilon",
    "classification.bounded",
    "classification.storage",
    "rates",
]

x, y = sympy.symbols("x y", real=True)
t = sympy.Symbol("t", nonnegative=True)


def test_no_theorem_of_the_package_is_left_out_of_the_list() -> None:
    found = []
    for module in pkgutil.iter_modules(bmin_derivations.__path__):
        names = vars(importlib.import_module(f"bmin_derivations.{module.name}"))
        found += [value for value in names.values() if isinstance(value, Theorem)]
    assert {id(entry) for entry in found} == {id(entry) for entry in THEOREMS}
    assert [entry.id for entry in THEOREMS] == PERMANENT_IDS


@pytest.mark.parametrize("name", PERMANENT_IDS)
def test_quick_check_proves_every_step_and_the_first_instances(name: str) -> None:
    outcome = check_theorem(theorem(name), quick=True)
    assert (outcome.verdict, outcome.reason) == (Verdict.PROVED, "")
    assert outcome.steps[0] == outcome.steps[1] > 0
    assert outcome.instances == (len(theorem(name).parts),) * 2


@pytest.mark.slow
@pytest.mark.parametrize("name", PERMANENT_IDS)
def test_whole_check_proves_instances_mutants_and_weights(name: str) -> None:
    outcome = check_theorem(theorem(name))
    assert (outcome.verdict, outcome.reason) == (Verdict.PROVED, "")
    assert outcome.mutants[0] >= outcome.steps[1] + len(theorem(name).parts)


def test_ids_bring_along_what_they_use_and_unknown_ones_are_refused() -> None:
    assert with_uses(["post.bare"]) == ["circular.lower", "circular.lattice", "post.bare"]
    with pytest.raises(DomainError, match=r"'post': there is no theorem of this id; take one of"):
        check(["post"])


def test_processes_give_the_same_verdicts() -> None:
    names, seen = ["trivial", "classification.storage"], []
    parallel = check(names, quick=True, jobs=2, progress=lambda *pair: seen.append(pair))
    single = check(names, quick=True)
    assert [(o.id, o.verdict, o.steps) for o in parallel] == [
        (o.id, o.verdict, o.steps) for o in single
    ]
    assert seen == [(1, 2), (2, 2)]


@pytest.mark.parametrize("entry", THEOREMS, ids=PERMANENT_IDS)
def test_records_name_sources_and_library_functions_that_exist(entry: Theorem) -> None:
    assert entry.source == "this work" or entry.source.startswith("abstract, claim")
    assert entry.title
    assert entry.reader.endswith(".")
    assert set(entry.uses) < set(PERMANENT_IDS) - {entry.id}
    for dotted in entry.justifies:
        package, module, *path = dotted.split(".")
        target = importlib.import_module(f"{package}.{module}")
        for name in path:
            target = getattr(target, name)
    for step in entry.steps():
        assert step.sentence.isascii()
        assert step.sentence.rstrip().endswith((".", "...", ")", "B,"))


def _storage(**changes: object) -> Theorem:
    entry = theorem("classification.storage")
    part = dataclasses.replace(entry.parts[0], **changes)
    return dataclasses.replace(entry, parts=(part,))


def test_a_theorem_whose_hypotheses_no_instance_meets_is_refused() -> None:
    outcome = check_theorem(_storage(hypotheses=(ge(L, 10**6),)), quick=True)
    assert outcome.verdict is Verdict.REFUSED
    assert not outcome.proved
    assert "no instance meets the hypotheses" in outcome.reason


def test_an_instance_of_another_kind_than_its_symbol_does_not_count() -> None:
    half = Instance({L: sympy.Rational(5, 2)})
    assert check_theorem(_storage(instances=(half,)), quick=True).verdict is Verdict.REFUSED


def test_a_route_that_disagrees_refutes() -> None:
    outcome = check_theorem(_storage(route=lambda _: Enclosure(1, 2)), quick=True)
    assert outcome.verdict is Verdict.REFUTED
    assert "formula 4" in outcome.reason


def test_a_library_that_disagrees_refutes() -> None:
    outcome = check_theorem(_storage(library=lambda _: "5"), quick=True)
    assert outcome.verdict is Verdict.REFUTED
    assert "library 5" in outcome.reason


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        (gt(x**2 + y**2, -1), Verdict.PROVED),
        (gt(x, 0), Verdict.REFUTED),
        (ge(sympy.sin(x) + x**4, -2), Verdict.UNDECIDED),
    ],
)
def test_one_step_not_proved_is_a_theorem_not_proved(claim: object, verdict: Verdict) -> None:
    entry = theorem("classification.storage")
    changed = dataclasses.replace(entry, steps=lambda: (Step("?", claim),))
    assert check_theorem(changed, quick=True).verdict is verdict


TRUE = [
    Step("", eq((x + 1) ** 2, x**2 + 2 * x + 1)),
    Step("", eq(sympy.sqrt(t) ** 2, t)),
    Step("", eq(sympy.sin(x + y), sympy.sin(x) * sympy.cos(y) + sympy.cos(x) * sympy.sin(y))),
    Step("", eq(sympy.Limit((1 + 1 / t) ** t, t, sympy.oo), sympy.E)),
    Step("", gt(x**2 - x + 1, 0)),
    Step("", ge(x**2 - 2 * x * y + 3 * y**2, 0)),
    Step("", ge(L**2, 16), (ge(L, 4),)),
    Step("", gt(x**3 - 4 * x + 4, 0), (ge(x, 0),)),
    Step("", lt(x * (1 - x), 1), (ge(x, 0), le(x, 1))),
    Step("", ge((j - c) * (j - c - 1), 0), (), (le(c, j - 1), ge(c, j))),
]
FALSE = [
    Step("", eq((x + 1) ** 2, x**2 + 2 * x)),
    Step("", eq(sympy.sin(x + y), sympy.sin(x) * sympy.cos(y))),
    Step("", eq(sympy.Limit(sympy.sin(t) / t, t, 0), 0)),
    Step("", gt(x**2 - 2 * x + 1, 0)),
    Step("", ge(x**2 - 4 * x * y + 3 * y**2, 0)),
    Step("", gt(L**2, 16), (ge(L, 4),)),
    Step("", gt(x**3 - 3 * x + 2, 0), (ge(x, 0),)),
    Step("", lt(x * (1 - x), sympy.Rational(1, 4)), (ge(x, 0), le(x, 1))),
    Step("", gt(1 - x, 0), (ge(x, 0), le(x, 1))),
    Step("", ge((2 * j - 2 * c - 1) ** 2, 2), (), (le(c, j - 1), ge(c, j))),
    Step("", ge(c * (L - c), 0), (ge(L, 1),)),
]


@pytest.mark.parametrize("step", TRUE, ids=lambda step: str(step.claim))
def test_true_claims_are_proved(step: Step) -> None:
    assert decide(step).proved, decide(step)


@pytest.mark.parametrize("step", FALSE, ids=lambda step: str(step.claim))
def test_false_claims_are_not_proved(step: Step) -> None:
    assert not decide(step).proved, decide(step)


def test_cases_that_leave_something_out_prove_nothing() -> None:
    whole, real = (le(c, j - 1), ge(c, j)), (le(x, y - 1), ge(x, y))
    assert exhaustive(whole)
    assert not exhaustive(real)
    assert not exhaustive((le(c, j - 1), ge(c, j + 1)))
    assert not exhaustive((lt(x, y), gt(x, y)))
    assert exhaustive((le(x, y), ge(x, y)))
    assert not exhaustive((le(c, j), ge(m, j)))
    assert not decide(Step("", ge(x**2, 0), (), real)).proved


polynomials = st.lists(st.integers(-9, 9), min_size=1, max_size=6)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(polynomials, st.fractions(0, 50))
def test_a_polynomial_proved_nonnegative_is_so_at_every_point(
    coefficients: list[int], point: Fraction
) -> None:
    polynomial = sum(value * t**power for power, value in enumerate(coefficients))
    value = sum(value * point**power for power, value in enumerate(coefficients))
    if decide(Step("", ge(polynomial, 0))).proved:
        assert value >= 0
    if decide(Step("", gt(polynomial, 0))).proved:
        assert value > 0
    if decide(Step("", ge(polynomial, 0))).verdict is Verdict.REFUTED:
        assert not decide(Step("", ge(polynomial, 0))).proved

"""Promise: a false neighbour of a theorem, one number changed, is not proved."""

import dataclasses
from itertools import islice

import pytest
import sympy

from bmin_derivations.catalogue import THEOREMS, theorem
from bmin_derivations.check import check_theorem
from bmin_derivations.instances_check import judged, meets
from bmin_derivations.mutate import changed_relations, is_false, killed, part_mutants, step_mutants
from bmin_derivations.records import Enclosure, Part, Step, Theorem, Verdict
from bmin_derivations.relations import eq, ge
from bmin_derivations.symbols import L

IDS = [entry.id for entry in THEOREMS]
FEW_STEPS = [
    "fractional.slope",
    "circular.lattice",
    "post.epsilon",
    "classification.storage",
    "rates",
]

# (theorem, part, wrong statement): what a slip of the pen would claim instead.
SLIPS = [
    ("linear.rounded", 0, "(1/tau)**(1/4)"),
    ("linear.exact", 1, "1/(tau*d)"),
    ("softmax.exact.small", 0, "sqrt((1 + LambertW(tau*exp(-tau)/2)/tau)/2)"),
    ("fractional.demand", 0, "floor((L + 1)**2/4) + 1"),
    ("fractional.demand", 1, "floor(L**2/4)"),
    ("fractional.slope", 0, "(a + L)*(u - 1)*(a + L - u)/(a*(u + 1))"),
    ("fractional.real", 0, "floor((L + 1)**2/4)"),
    ("pre.bare", 0, "floor((L + 1)**2/4)/(2*sqrt(d - 1))"),
    ("pre.bare.horizon", 1, "1 + floor(sqrt(4*floor(exp(2*tau*d))))"),
    ("circular.lattice", 0, "sqrt((L**2 - 1)**3/(4*(2*L - 1)**3))"),
    ("post.bare", 0, "(L - 1)/(2*sqrt(d))"),
    ("classification.storage", 1, "L*(d + 1)"),
    ("rates", 4, "1/(4*sqrt(2*d - 2))"),
]


def _survives(part: Part, statement: object) -> bool:
    """Whether a changed statement passes at every instance that meets the hypotheses."""
    changed = dataclasses.replace(part, statement=statement)
    met = [instance for instance in part.instances if meets(part, instance)]
    return all(
        judged(changed, instance, part.route(instance)).verdict is Verdict.PROVED
        for instance in met
    )


@pytest.mark.parametrize(("name", "number", "slip"), SLIPS, ids=str)
def test_slips_of_the_pen_are_refuted(name: str, number: int, slip: str) -> None:
    part = theorem(name).parts[number]
    names = {symbol.name: symbol for symbol in part.statement.free_symbols}
    names |= {symbol.name: symbol for instance in part.instances for symbol in instance.at}
    wrong = sympy.sympify(slip, locals=names)
    assert not _survives(part, eq(part.statement.lhs, wrong))
    assert _survives(dataclasses.replace(part, instances=part.instances[:1]), part.statement)


@pytest.mark.parametrize("entry", THEOREMS, ids=IDS)
def test_every_statement_has_a_mutant_that_its_instances_kill(entry: Theorem) -> None:
    for number, part in enumerate(entry.parts, 1):
        mutants = part_mutants(part, number)
        assert any(not _survives(part, mutant.claim) for mutant in mutants)


@pytest.mark.parametrize("name", FEW_STEPS)
def test_every_step_has_a_false_mutant_and_the_check_kills_it(name: str) -> None:
    for number, step in enumerate(theorem(name).steps(), 1):
        mutants = list(islice(step_mutants(step, number), 1))
        assert mutants, f"step {number}"
        assert all(killed(step, mutant) for mutant in mutants), f"step {number}"


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(IDS) - {"circular.lower", "fractional.real"}))
def test_several_false_mutants_of_every_step_are_killed(name: str) -> None:
    for number, step in enumerate(theorem(name).steps(), 1):
        for mutant in islice(step_mutants(step, number), 3):
            assert killed(step, mutant), f"step {number}: {mutant.change}"


def test_mutants_change_one_number_each() -> None:
    changes = [change for _, change in changed_relations(eq(L**2 + 3, 5))]
    assert changes == ["5 -> 6 (rhs)", "3 -> 4 (lhs)", "2 -> 3 (lhs)"]
    assert [change for _, change in changed_relations(eq(L, sympy.oo))] == ["oo -> 1"]


def test_truth_and_falsehood_are_told_by_plain_evaluation() -> None:
    assert is_false(Step("", ge(L, 2)))
    assert not is_false(Step("", ge(L, 1)))
    assert not is_false(Step("", ge(L, 2), (ge(L, 2),)))


def test_a_step_that_no_change_makes_false_is_reported() -> None:
    entry = theorem("classification.storage")
    empty = dataclasses.replace(entry, steps=lambda: (Step("Nothing.", ge(L**2 + L, -L)),))
    outcome = check_theorem(empty)
    assert outcome.verdict is Verdict.UNDECIDED
    assert "no change of a number makes it false" in outcome.reason


def test_a_statement_whose_mutants_survive_is_reported() -> None:
    entry = theorem("classification.storage")
    loose = dataclasses.replace(
        entry.parts[0],
        route=lambda _: Enclosure(0, 10**9),
        instances=tuple(dataclasses.replace(i, problem=None) for i in entry.parts[0].instances),
    )
    outcome = check_theorem(dataclasses.replace(entry, parts=(loose,)))
    assert outcome.verdict is Verdict.UNDECIDED
    assert "the mutant 1 -> 2 (rhs) survives" in outcome.reason

"""Running theorems: steps, instances, mutants and proved weights, in parallel by theorem."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from bmin_derivations.catalogue import THEOREMS, theorem
from bmin_derivations.decide import decide
from bmin_derivations.instances_check import judged, meets
from bmin_derivations.mutate import killed, part_mutants, step_mutants
from bmin_derivations.proved_weights import sandwich_complaint, takes_weights
from bmin_derivations.records import Enclosure, Instance, Part, Step, Theorem, Verdict

Progress = Callable[[int, int], None]

_LONG = ("circular.lower", "pre.learned", "none", "fractional.real")  # these start first


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a check found about one theorem.

    verdict: proved only if every step is proved and every instance, mutant and weights as well.
    reason: what failed first; empty when proved. steps, instances, mutants, weights: (passed, all);
    instances count those that meet their hypotheses, mutants and weights are (0, 0) in a quick
    check. digits: the fewest on which a formula and its independent route agree, None where
    nothing has digits.
    """

    id: str
    verdict: Verdict
    reason: str
    steps: tuple[int, int]
    instances: tuple[int, int]
    mutants: tuple[int, int]
    weights: tuple[int, int]
    digits: int | None
    seconds: float

    @property
    def proved(self) -> bool:
        """Whether the theorem passed."""
        return self.verdict is Verdict.PROVED


@dataclass(slots=True)
class _Tally:
    """Passed and all, and the first complaint with its verdict."""

    passed: int = 0
    total: int = 0
    verdict: Verdict = Verdict.PROVED
    reason: str = ""

    def add(self, verdict: Verdict, reason: str) -> None:
        self.total += 1
        if verdict is Verdict.PROVED:
            self.passed += 1
        elif self.verdict is not Verdict.REFUTED and (
            not self.reason or verdict is Verdict.REFUTED
        ):
            self.verdict, self.reason = verdict, reason

    @property
    def count(self) -> tuple[int, int]:
        return self.passed, self.total


def check(
    ids: Iterable[str] = (),
    *,
    quick: bool = False,
    jobs: int = 1,
    progress: Progress | None = None,
) -> list[Outcome]:
    """Outcomes of the named theorems and of all that they use; of every theorem if none is named.

    quick: symbolic steps and the first instance of each part only. jobs: processes that share the
    theorems. progress: called with the numbers of theorems done and of all. Raises DomainError
    for an unknown id.
    """
    names = with_uses(ids)
    outcomes: dict[str, Outcome] = {}
    for outcome in _outcomes(names, quick, jobs):
        outcomes[outcome.id] = outcome
        if progress:
            progress(len(outcomes), len(names))
    return [outcomes[name] for name in names]


def with_uses(ids: Iterable[str] = ()) -> list[str]:
    """The ids and those of all theorems that they use, in the catalogue's order."""
    wanted, waiting = set(), list(ids) or [entry.id for entry in THEOREMS]
    while waiting:
        entry = theorem(waiting.pop())
        if entry.id not in wanted:
            wanted.add(entry.id)
            waiting += entry.uses
    return [entry.id for entry in THEOREMS if entry.id in wanted]


def check_theorem(entry: Theorem, *, quick: bool = False) -> Outcome:
    """One theorem by itself, without those that it uses."""
    began = time.perf_counter()
    steps, mutants, weights = _Tally(), _Tally(), _Tally()
    for number, step in enumerate(entry.steps(), 1):
        decision = decide(step)
        steps.add(decision.verdict, f"step {number}: {decision.how}")
        if not quick:
            _test_step_mutants(step, number, mutants)
    instances, digits = _Tally(), []
    for number, part in enumerate(entry.parts, 1):
        digits += _test_part(part, number, quick, instances, mutants)
    if not quick:
        _test_weights(entry, weights)
    tallies = (steps, instances, mutants, weights)
    verdict, reason = _worst(tallies)
    return Outcome(
        entry.id,
        verdict,
        reason,
        steps.count,
        instances.count,
        mutants.count,
        weights.count,
        min(digits, default=None),
        time.perf_counter() - began,
    )


def _outcomes(names: list[str], quick: bool, jobs: int) -> Iterator[Outcome]:
    if jobs <= 1 or len(names) == 1:
        yield from (check_theorem(theorem(name), quick=quick) for name in names)
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor, as_completed

    # Fresh processes: a fork would copy a progress bar's thread in an unknown state.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(jobs, len(names)), mp_context=context) as pool:
        longest_first = sorted(names, key=lambda name: name not in _LONG)
        waiting = [pool.submit(_check_named, name, quick) for name in longest_first]
        for done in as_completed(waiting):
            yield done.result()


def _check_named(name: str, quick: bool) -> Outcome:
    return check_theorem(theorem(name), quick=quick)


def _worst(tallies: tuple[_Tally, ...]) -> tuple[Verdict, str]:
    for wanted in (Verdict.REFUTED, Verdict.REFUSED, Verdict.UNDECIDED):
        for tally in tallies:
            if tally.verdict is wanted:
                return wanted, tally.reason
    return Verdict.PROVED, ""


def _test_part(
    part: Part, number: int, quick: bool, instances: _Tally, mutants: _Tally
) -> list[int]:
    """Tally one part; the digits on which its instances agree."""
    met = [instance for instance in part.instances if meets(part, instance)]
    if not met:
        reason = f"part {number}: no instance meets the hypotheses, so nothing is claimed"
        instances.add(Verdict.REFUSED, reason)
        return []
    found = [(instance, part.route(instance)) for instance in (met[:1] if quick else met)]
    digits = []
    for instance, enclosure in found:
        result = judged(part, instance, enclosure)
        instances.add(result.verdict, f"part {number}: {result.reason}")
        if result.digits is not None:
            digits.append(result.digits)
    if not quick:
        _test_part_mutants(part, number, found, mutants)
    return digits


def _test_part_mutants(
    part: Part, number: int, found: list[tuple[Instance, Enclosure]], tally: _Tally
) -> None:
    """Each changed statement of an equation must fail at an instance; of a bound, one of them."""
    import dataclasses

    import sympy

    verdicts = []
    for mutant in part_mutants(part, number):
        changed = dataclasses.replace(part, statement=mutant.claim)
        survives = all(
            judged(changed, instance, enclosure).verdict is Verdict.PROVED
            for instance, enclosure in found
        )
        verdicts.append((not survives, mutant.change))
    if not isinstance(part.statement, sympy.Equality):
        verdicts = [max(verdicts)]
    for dead, change in verdicts:
        verdict = Verdict.PROVED if dead else Verdict.UNDECIDED
        tally.add(verdict, f"part {number}: the mutant {change} survives")


def _test_step_mutants(step: Step, number: int, tally: _Tally) -> None:
    mutants = list(islice(step_mutants(step, number), 1))
    if not mutants:
        tally.add(Verdict.UNDECIDED, f"step {number}: no change of a number makes it false")
    for mutant in mutants:
        verdict = Verdict.PROVED if killed(step, mutant) else Verdict.REFUTED
        tally.add(verdict, f"step {number}: the false mutant {mutant.change} is proved")


def _test_weights(entry: Theorem, tally: _Tally) -> None:
    """Proved weights just above B_min and refuted ones below, at every instance that has them."""
    problems = dict.fromkeys(
        instance.problem
        for part in entry.parts
        for instance in part.instances
        if part.library is None and instance.problem is not None and meets(part, instance)
    )
    for problem in problems:
        if problem is not None and takes_weights(problem):
            complaint = sandwich_complaint(problem)
            verdict = Verdict.REFUTED if complaint else Verdict.PROVED
            tally.add(verdict, f"L = {problem.L}, d = {problem.d}: {complaint}")

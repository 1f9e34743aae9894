"""Running theorems: steps, instances, mutants, weights, certificates, in parallel by theorem."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from bmin_derivations.catalogue import THEOREMS, theorem
from bmin_derivations.decide import decide
from bmin_derivations.instances_check import judged, meets
from bmin_derivations.mutate import killed, part_mutants, step_mutants
from bmin_derivations.origins import norm_problem, tally_certificates, tally_solver
from bmin_derivations.proved_weights import sandwich_complaint, takes_weights
from bmin_derivations.records import Enclosure, Instance, Part, Step, Theorem, Verdict
from bmin_derivations.tally import Tally, worst
from bminlib import CountingProblem

Progress = Callable[[int, int], None]

TALLIES = ("steps", "instances", "solved", "mutants", "weights", "certificates")
_LONG = ("circular.lower", "pre.learned", "none", "fractional.real")  # these start first


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a check found about one theorem.

    verdict: proved only if every step is proved and every instance, mutant and weights as well.
    reason: what failed first; empty when proved. The pairs are (passed, all): instances those that
    meet their hypotheses, solved those at which root-finding gives B_min again; mutants and weights
    are (0, 0) in a quick check, certificates where none are asked for. digits: the fewest on which
    a formula and its best independent route agree, None where nothing has digits.
    """

    id: str
    verdict: Verdict
    reason: str
    steps: tuple[int, int]
    instances: tuple[int, int]
    solved: tuple[int, int]
    mutants: tuple[int, int]
    weights: tuple[int, int]
    certificates: tuple[int, int]
    digits: int | None
    seconds: float

    @property
    def proved(self) -> bool:
        """Whether the theorem passed."""
        return self.verdict is Verdict.PROVED


def check(
    ids: Iterable[str] = (),
    *,
    quick: bool = False,
    certificates: bool = False,
    jobs: int = 1,
    progress: Progress | None = None,
) -> list[Outcome]:
    """Outcomes of the named theorems and of all that they use; of every theorem if none is named.

    quick: symbolic steps and the first instance of each part only. certificates: B_min certified
    at the instances as well. jobs: processes that share the theorems. progress: called with the
    numbers of theorems done and of all. Raises DomainError for an unknown id.
    """
    names = with_uses(ids)
    outcomes: dict[str, Outcome] = {}
    for outcome in _outcomes(names, quick, certificates, jobs):
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


def check_theorem(entry: Theorem, *, quick: bool = False, certificates: bool = False) -> Outcome:
    """One theorem by itself, without those that it uses."""
    began = time.perf_counter()
    tallies = {name: Tally() for name in TALLIES}
    for number, step in enumerate(entry.steps(), 1):
        decision = decide(step)
        tallies["steps"].add(decision.verdict, f"step {number}: {decision.how}")
        if not quick:
            _test_step_mutants(step, number, tallies["mutants"])
    digits: list[int] = []
    problems: dict[CountingProblem, None] = {}
    for number, part in enumerate(entry.parts, 1):
        met = [instance for instance in part.instances if meets(part, instance)]
        met = met[:1] if quick else met
        digits += _test_part(part, number, met, tallies, mutating=not quick)
        problems |= dict.fromkeys(filter(None, (norm_problem(part, one) for one in met)))
    if not quick:
        _test_weights(problems, tallies["weights"])
    if certificates:
        tally_certificates(problems, tallies["certificates"])
    verdict, reason = worst(tallies.values())
    return Outcome(
        id=entry.id,
        verdict=verdict,
        reason=reason,
        **{name: tally.count for name, tally in tallies.items()},
        digits=min(digits, default=None),
        seconds=time.perf_counter() - began,
    )


def _outcomes(names: list[str], quick: bool, certificates: bool, jobs: int) -> Iterator[Outcome]:
    if jobs <= 1 or len(names) == 1:
        yield from (_check_named(name, quick, certificates) for name in names)
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor, as_completed

    # Fresh processes: a fork would copy a progress bar's thread in an unknown state.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(jobs, len(names)), mp_context=context) as pool:
        longest_first = sorted(names, key=lambda name: name not in _LONG)
        waiting = [pool.submit(_check_named, name, quick, certificates) for name in longest_first]
        for done in as_completed(waiting):
            yield done.result()


def _check_named(name: str, quick: bool, certificates: bool) -> Outcome:
    return check_theorem(theorem(name), quick=quick, certificates=certificates)


def _test_part(
    part: Part, number: int, met: list[Instance], tallies: dict[str, Tally], *, mutating: bool
) -> list[int]:
    """Tally one part; the digits on which its instances agree."""
    if not met:
        reason = f"part {number}: no instance meets the hypotheses, so nothing is claimed"
        tallies["instances"].add(Verdict.REFUSED, reason)
    found = [(instance, part.route(instance)) for instance in met]
    digits = []
    for instance, enclosure in found:
        result = judged(part, instance, enclosure)
        tallies["instances"].add(result.verdict, f"part {number}: {result.reason}")
        problem = norm_problem(part, instance)
        solved = None if problem is None else tally_solver(problem, tallies["solved"])
        known = [n for n in (result.digits, solved) if n is not None]
        digits += [max(known)] if known else []
    if mutating and found:
        _test_part_mutants(part, number, found, tallies["mutants"])
    return digits


def _test_part_mutants(
    part: Part, number: int, found: list[tuple[Instance, Enclosure]], tally: Tally
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


def _test_step_mutants(step: Step, number: int, tally: Tally) -> None:
    mutants = list(islice(step_mutants(step, number), 1))
    if not mutants:
        tally.add(Verdict.UNDECIDED, f"step {number}: no change of a number makes it false")
    for mutant in mutants:
        verdict = Verdict.PROVED if killed(step, mutant) else Verdict.REFUTED
        tally.add(verdict, f"step {number}: the false mutant {mutant.change} is proved")


def _test_weights(problems: Iterable[CountingProblem], tally: Tally) -> None:
    """Proved weights just above B_min and refuted ones below, wherever weights count."""
    for problem in problems:
        if takes_weights(problem):
            complaint = sandwich_complaint(problem)
            verdict = Verdict.REFUTED if complaint else Verdict.PROVED
            tally.add(verdict, f"L = {problem.L}, d = {problem.d}: {complaint}")

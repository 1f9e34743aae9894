"""A value's other two origins: root-finding on the forward pass, and certificates by search.

Neither uses the formulas that the theorems state.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING

from bmin_derivations.records import Instance, Part, Verdict
from bmin_derivations.relations import is_strict
from bmin_derivations.tally import Tally
from bminlib import CountingProblem, b_min
from bminlib.certify import certificate_text, certify
from bminlib.errors import UndecidedError
from bminlib.solve import digits_agreed, solve

if TYPE_CHECKING:
    from bminlib.certify import Argument

SOLVED_DIGITS = 24
CERTIFIED_GAP = Fraction(1, 10**6)
_LONGEST_CERTIFIED = 32


def norm_problem(part: Part, instance: Instance) -> CountingProblem | None:
    """The problem whose B_min the part states at an instance; None if it states something else."""
    stated = part.library is None and not is_strict(part.statement)
    return instance.problem if stated else None


def tally_solver(problem: CountingProblem, tally: Tally) -> int | None:
    """Tally whether root-finding finds B_min again; the digits on which both agree."""
    if problem.readout == "classification":
        return None
    where = f"L = {problem.L}, d = {problem.d}"
    try:
        found = solve(problem, SOLVED_DIGITS).value
    except UndecidedError as error:
        tally.add(Verdict.UNDECIDED, f"{where}: {error}")
        return None
    bound = b_min(problem)
    if found is None or bound.value is None or found == 0:
        agrees = (found is None) == (bound.value is None) and (
            found is None or bound.enclosure() == 0
        )
        digits = None
    else:
        digits = digits_agreed(found, bound.enclosure(SOLVED_DIGITS + 3), SOLVED_DIGITS)
        agrees = digits == SOLVED_DIGITS
    solved = "infeasible" if found is None else found.str(SOLVED_DIGITS, radius=False)
    verdict = Verdict.PROVED if agrees else Verdict.REFUTED
    tally.add(verdict, f"{where}: the library's value is not {solved}, found by root-finding")
    return digits


def tally_certificates(problems: Iterable[CountingProblem], tally: Tally) -> None:
    """Tally certificates by search of all problems that are short enough for one."""
    for problem in dict.fromkeys(problems):
        if not takes_certificate(problem):
            continue
        try:
            complaint, verdict = certificate_complaint(problem), Verdict.REFUTED
        except UndecidedError as error:
            complaint, verdict = str(error), Verdict.UNDECIDED
        reason = f"L = {problem.L}, d = {problem.d}: {complaint}"
        tally.add(verdict if complaint else Verdict.PROVED, reason)


def takes_certificate(problem: CountingProblem) -> bool:
    """Whether L is small, and weights, if any count, have rational entries."""
    exact = problem.exactness == "exact" and b_min(problem).feasible
    return problem.L <= _LONGEST_CERTIFIED and not exact


def certificate_complaint(problem: CountingProblem) -> str:
    """Empty where the checker accepts a certificate whose bounds hold B_min.

    By search, but for arcs that never count exactly, which only a theorem says.
    """
    from flint import arb, ctx, fmpq

    from bminlib.checker import check

    arc = problem.norm == "post" and problem.exactness == "exact" and not problem.two_points
    by: Argument = "theorem" if arc else "search"
    found = check(certificate_text(certify(problem, CERTIFIED_GAP, by)).encode())
    bound = b_min(problem)
    if found.lower is None or found.upper is None or bound.value is None:
        agree = found.lower is None and bound.value is None
        return "" if agree else "certificate and library differ in feasibility"
    with ctx.workprec(200):
        ends = [arb(fmpq(*Fraction(x).as_integer_ratio())) for x in (found.lower, found.upper)]
        holds = bool(ends[0] <= bound.enclosure(30) <= ends[1])
    return "" if holds else f"B_min is not proved within {found.lower}..{found.upper}"

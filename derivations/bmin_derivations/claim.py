"""A user's own claim about B_min: exact at every length asked for, and beyond where provable."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal, get_args

from bmin_derivations.claim_proof import Beyond
from bmin_derivations.claim_values import decimal, formula_at, norm_at
from bmin_derivations.formula import Node, parse
from bmin_derivations.formula_values import OpenValueError, ball, difference, number, sign
from bmin_derivations.limited import beyond_in_time
from bmin_derivations.records import Verdict
from bminlib import CountingProblem, DomainError
from bminlib.errors import shown

Kind = Literal["lower", "upper", "equal", "asymptotic"]
Progress = Callable[[int, int], None]

_HOLDS = {"lower": (-1, 0), "upper": (0, 1), "equal": (0,)}  # signs of formula - B_min


@dataclass(frozen=True, slots=True)
class Counterexample:
    """The first length at which a claim fails; `b_min` is None where no parameters count."""

    L: int
    formula: str
    b_min: str | None


@dataclass(frozen=True, slots=True)
class Extreme:
    """An extreme value of formula/B_min over the lengths tested, and the first L that has it."""

    ratio: str
    L: int


@dataclass(frozen=True, slots=True)
class ClaimReport:
    """What was found about `formula` as a lower or upper bound, value or asymptote of B_min.

    verdict: for the lengths tested, decided exactly at each (undecided: `open_at` is the first that
    is not); an asymptotic claim has the verdict of its limit. all_lengths: the same for every
    integer L >= first_length, with the reason; it is proved only by proof, never by testing.
    ratio_limit: of formula/B_min as L grows, exact, or None where it isn't known or has no sense.
    """

    formula: str
    kind: Kind
    problem: CountingProblem
    tested: int
    first_length: int
    verdict: Verdict
    counterexample: Counterexample | None
    open_at: int | None
    open_reason: str | None
    least: Extreme | None
    greatest: Extreme | None
    ratio_limit: str | None
    all_lengths: Verdict
    all_lengths_reason: str

    @property
    def proved(self) -> bool:
        """Whether the claim is proved at the lengths tested (asymptotic: in the limit)."""
        return self.verdict is Verdict.PROVED


def examine_claim(
    formula: str,
    kind: Kind,
    problem: CountingProblem,
    lengths: Iterable[int],
    progress: Progress | None = None,
) -> ClaimReport:
    """Test a claim about B_min of `problem` at every length, and for all lengths where possible.

    formula: text in L, d, tau, see `formula.parse`; `problem.L` plays no part. Raises DomainError
    for a formula, kind, length or problem that makes no claim.
    """
    root, numbers = parse(formula), list(lengths)
    _check(kind, problem, numbers)
    scan = _Scan(root, kind, problem)
    for done, length in enumerate(numbers, 1):
        scan.visit(length)
        if progress:
            progress(done, len(numbers))
    beyond = beyond_in_time(root, kind, problem, min(numbers))
    return _report(formula, kind, problem, numbers, scan, beyond)


class _Scan:
    """The running verdict and extremes of a pass over lengths."""

    def __init__(self, root: Node, kind: Kind, problem: CountingProblem) -> None:
        self.root, self.kind, self.problem = root, kind, problem
        self.counterexample: Counterexample | None = None
        self.open_at: tuple[int, str] | None = None
        self.least: tuple[Node, int] | None = None
        self.greatest: tuple[Node, int] | None = None

    def visit(self, length: int) -> None:
        """Decide the claim at one length."""
        try:
            self._visit(length)
        except OpenValueError as error:
            self.open_at = self.open_at or (length, str(error))

    def _visit(self, length: int) -> None:
        value = formula_at(self.root, replace(self.problem, L=length))
        norm = norm_at(self.problem, length)
        if norm is None:
            if self.kind in ("upper", "equal"):
                self._fail(length, value, None)
            return
        side = sign(difference(value, norm))
        if self.kind != "asymptotic" and side not in _HOLDS[self.kind]:
            if side is None:
                raise OpenValueError("formula and B_min are too close to tell apart")
            self._fail(length, value, norm)
        self._compare(length, value, norm, side)

    def _fail(self, length: int, value: Node, norm: Node | None) -> None:
        shown_norm = None if norm is None else decimal(norm)
        self.counterexample = self.counterexample or Counterexample(
            length, decimal(value), shown_norm
        )

    def _compare(self, length: int, value: Node, norm: Node, side: int | None) -> None:
        if sign(norm) == 0:
            return
        ratio = number(1) if side == 0 else Node("/", (value, norm))
        if self.least is None or _clearly_less(ratio, self.least[0]):
            self.least = ratio, length
        if self.greatest is None or _clearly_less(self.greatest[0], ratio):
            self.greatest = ratio, length


def _clearly_less(left: Node, right: Node) -> bool:
    for bits in (64, 512):
        first, second = ball(left, bits), ball(right, bits)
        if first < second:
            return True
        if first > second:
            return False
    return False


def _report(
    formula: str,
    kind: Kind,
    problem: CountingProblem,
    numbers: list[int],
    scan: _Scan,
    beyond: Beyond,
) -> ClaimReport:
    if kind == "asymptotic":
        verdict = beyond.verdict
    elif scan.counterexample:
        verdict = Verdict.REFUTED
    else:
        verdict = Verdict.UNDECIDED if scan.open_at else Verdict.PROVED
    if scan.counterexample and beyond.verdict is not Verdict.REFUTED:
        beyond = Beyond(Verdict.REFUTED, f"it fails at L = {scan.counterexample.L}", beyond.limit)
    return ClaimReport(
        formula=formula,
        kind=kind,
        problem=problem,
        tested=len(numbers),
        first_length=min(numbers),
        verdict=verdict,
        counterexample=scan.counterexample,
        open_at=scan.open_at[0] if scan.open_at else None,
        open_reason=scan.open_at[1] if scan.open_at else None,
        least=_extreme(scan.least),
        greatest=_extreme(scan.greatest),
        ratio_limit=beyond.limit,
        all_lengths=beyond.verdict,
        all_lengths_reason=beyond.reason,
    )


def _extreme(found: tuple[Node, int] | None) -> Extreme | None:
    return None if found is None else Extreme(decimal(found[0]), found[1])


def _check(kind: str, problem: CountingProblem, numbers: list[int]) -> None:
    if kind not in get_args(Kind):
        raise DomainError(
            f"--as {shown(kind)}: a formula is claimed as one of {', '.join(get_args(Kind))}; "
            "pick one of these"
        )
    if not numbers:
        raise DomainError("no length to test the formula at; give --L, for example --L 4:4096")
    for length in numbers:
        replace(problem, L=length)

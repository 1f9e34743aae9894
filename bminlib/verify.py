"""Whether given weights count every (c, m) up to L: proved, refuted, or undecided with a reason."""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from bminlib.bounds import b_min
from bminlib.errors import DomainError, UndecidedError, shown
from bminlib.exact_gaps import ExactClassification, ExactReadout, ExactRegression
from bminlib.exact_layer import ExactLayer, reduce_weights
from bminlib.filter64 import Duels, FloatLayer, float_layer
from bminlib.least_gap import Margin
from bminlib.monotone import neighbours_suffice
from bminlib.problem import CountingProblem
from bminlib.readouts import Everyone, Neighbours, Regression
from bminlib.surds import MAX_BITS
from bminlib.sweep import Lost, Progress, Sweep, pairs_below

if TYPE_CHECKING:
    from flint import arb

    from bminlib.weights import Weights

Verdict = Literal["proved", "refuted", "undecided"]

MAX_LENGTH = 10**9


@dataclass(frozen=True, slots=True)
class Failure:
    """The first pair, by c and then m, that does not count.

    yhat: what is read there, in a ball: the number of a regression read-out (c + 1/2 or c - 1/2
    exactly in a tie), the rival count with the greatest score of a classification. tie: whether
    that is level with the count c only.
    """

    c: int
    m: int
    yhat: arb
    tie: bool


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found about weights and all pairs with c + m <= problem.L.

    pairs: how many pairs the verdict covers: all when proved, those up to the failure when refuted,
    0 when undecided. failure: only when refuted. reason: only when undecided. margin: only when
    proved; the least of 1/2 - |yhat - c|, or of the score of c less the greatest other score.
    largest_norm: a ball. ratio: a ball for the largest norm over B_min of `problem` at ln_eps = 0;
    None where that is 0 or does not exist. method: the facts that were used. seconds: time taken.
    """

    problem: CountingProblem
    verdict: Verdict
    pairs: int
    largest_norm: arb
    ratio: arb | None
    method: tuple[str, ...] = ()
    failure: Failure | None = None
    reason: str | None = None
    margin: Margin | None = None
    seconds: float = 0.0


def verify(
    weights: Weights, L: int | None = None, progress: Progress | None = None
) -> Verification:
    """Prove or refute that `weights` count every pair with c + m <= L, `weights.problem.L` if None.

    Counting is strict: |yhat - c| < 1/2, or a score of c above all others; ties are failures.
    Verdicts are proofs for the exact numbers in `weights`; undecided needs a gap below about
    2^-130000. `progress` is called with the numbers of pairs done and of all pairs.
    Raises DomainError for a bad L, and where a vector without spread would have to be normalised
    at a pair that no failure precedes. Source: theorems of `monotone`, bounds of `filter64`.
    """
    began = time.perf_counter()
    problem = _stated(weights, L)
    norm = weights.largest_norm()
    found = Verification(problem, "undecided", 0, norm, _ratio(problem, norm))
    try:
        found = _decided(found, weights, progress)
    except UndecidedError as error:
        found = dataclasses.replace(found, reason=str(error))
    return dataclasses.replace(found, seconds=time.perf_counter() - began)


def _stated(weights: Weights, L: int | None) -> CountingProblem:
    """The problem of `weights` at length L."""
    problem = weights.problem
    if L is not None:
        problem = dataclasses.replace(problem, L=L)
    if problem.L > MAX_LENGTH:
        raise DomainError(
            f"L={shown(problem.L)}: every count is looked at, so L must be <= {MAX_LENGTH}; "
            "give a smaller L"
        )
    if problem.exactness == "exact":
        raise DomainError(
            "exactness='exact': verify proves counts after rounding only; "
            "state the problem with exactness 'rounded'"
        )
    if problem.readout == "classification" and problem.L > weights.problem.L:
        raise DomainError(
            f"L={problem.L}: the read-out has rows for counts up to {weights.problem.L} only; "
            f"give L <= {weights.problem.L}"
        )
    return problem


def _ratio(problem: CountingProblem, norm: arb) -> arb | None:
    bound = b_min(problem)
    if not bound.feasible:
        return None
    least = bound.enclosure(30)
    return norm / least if least > 0 else None


def _decided(found: Verification, weights: Weights, progress: Progress | None) -> Verification:
    """`found` with its verdict."""
    exact = reduce_weights(weights)
    layer = float_layer(exact)
    facts = [_row_fact(exact, layer)]
    problem = found.problem
    if problem.readout == "regression":
        sweep = Sweep(
            problem, exact, layer, ExactRegression(exact, weights), Regression(layer, weights)
        )
        sweep.run(progress)
    else:
        sweep, fact = _classification(problem, weights, exact, layer, progress)
        facts.append(fact)
    return _judged(found, sweep, facts)


def _classification(
    problem: CountingProblem,
    weights: Weights,
    exact: ExactLayer,
    layer: FloatLayer,
    progress: Progress | None,
) -> tuple[Sweep, str]:
    """A sweep over neighbours where that proves it, else over all rivals."""
    readout = ExactClassification(exact, weights)
    if problem.L == weights.problem.L:
        neighbours = Neighbours(layer, weights)
        sweep = Sweep(problem, exact, layer, readout, neighbours)

        def enough(duels: Duels) -> bool:
            return neighbours_suffice(layer, duels, problem.L)

        if sweep.run(progress, enough) and not sweep.lost:
            return (
                sweep,
                "each count beats its neighbours where it should, which implies the others",
            )
    sweep = Sweep(problem, exact, layer, readout, Everyone(layer, weights))
    sweep.run(progress)
    return sweep, "each count was compared with all the others"


def _row_fact(exact: ExactLayer, layer: FloatLayer) -> str:
    if not exact.fillers_matter:
        return "the filler direction is 0: fillers change nothing, so m = 0 decides every count"
    if not layer.post:
        return "gaps times their positive denominator are affine in m: m = 0 and m = L - c decide"
    return "the derivative in m changes its sign at most once: five m decide every count"


def _judged(found: Verification, sweep: Sweep, facts: list[str]) -> Verification:
    if sweep.rows_in_full:
        facts.append(f"counts looked at for every m: {sweep.rows_in_full}")
    if sweep.pairs_exact:
        facts.append(
            f"gaps that float64 left open and exact arithmetic decided: {sweep.pairs_exact}"
        )
    L, lost = found.problem.L, sweep.lost
    if lost is None:
        return dataclasses.replace(
            found,
            verdict="proved",
            pairs=pairs_below(L, L + 1),
            margin=sweep.least.margin(sweep.readout),
            method=tuple(facts),
        )
    return dataclasses.replace(
        found,
        verdict="refuted",
        pairs=pairs_below(L, lost.c) + lost.m + 1,
        failure=_failure(found.problem, sweep.readout, lost),
        method=tuple(facts),
    )


def _failure(problem: CountingProblem, readout: ExactReadout, lost: Lost) -> Failure:
    from flint import arb, ctx, fmpq

    balls = {
        rival: readout.gap(lost.c, rival).ball(lost.m) if sign else arb(0)
        for rival, sign in lost.rivals.items()
    }
    worst = min(balls, key=lambda rival: float(balls[rival].mid()))
    tie = not lost.rivals[worst]
    if problem.readout == "classification":
        return Failure(lost.c, lost.m, arb(worst), tie)
    with ctx.workprec(MAX_BITS):
        beyond = (fmpq(1, 2) - balls[worst]) * (worst - lost.c)
        return Failure(lost.c, lost.m, lost.c + beyond, tie)

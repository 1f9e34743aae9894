"""What a directory of runs says: growth, ratios to B_min, where norms and counts lie."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median

from bminlib.bounds import b_min
from bminlib.errors import DomainError
from bminlib.geometry import geometry_of
from bminlib.measured import Series, measure
from bminlib.problem import CountingProblem
from bminlib.runs_csv import Run
from bminlib.shapes import Shape, optimal_shape
from bminlib.train.experiments import Mode
from bminlib.train.outcomes import Outcome
from bminlib.train.store import Store
from bminlib.train.table import in_order

_BITS = 64
_ROUNDING = 1e-12
_COORDINATES = {
    "arc": ("phi", "kappa", "c0"),
    "segment": ("score_ratio", "gap"),
    "line": ("slope",),
}


@dataclass(frozen=True, slots=True)
class Coordinate:
    """A number that places the counts: the median over runs, their range, and the optimum's.

    phi in radians, c0 in counts, kappa per count; score_ratio, gap and slope are pure numbers.
    optimum: None for a classification, which has no least norm, and where no weights count.
    """

    name: str
    middle: float
    least: float
    greatest: float
    optimum: float | None


@dataclass(frozen=True, slots=True)
class Group:
    """The runs of one problem and mode; all but `runs` and `errors` speak of those that count.

    errors: the worst margin, negated, of each run that does not count, None where unknown.
    norms, ratios: ascending, ratios to B_min (none where that is 0 or does not exist). shares: the
    median of each vector's norm over the largest, in descending order.
    """

    problem: CountingProblem
    mode: Mode
    runs: int
    errors: tuple[float | None, ...]
    norms: tuple[float, ...]
    ratios: tuple[float, ...]
    steps: tuple[int, ...]
    shares: tuple[tuple[str, float], ...]
    shape: tuple[Coordinate, ...]


def growth(outcomes: Iterable[Outcome], seed: int = 0) -> list[Series]:
    """A fit of the norms of the runs that count, a series a model and mode, over whole seeds.

    Raises DomainError for a run below B_min: weights that count have no such norms.
    """
    series = measure(map(_run, (one for one in in_order(outcomes) if one.counts)), seed)
    for point in (point for one in series for point in one.points if point.below):
        raise DomainError(
            f"L={point.bound.problem.L}: a run that counts is said to have norm {point.least!r}, "
            "below B_min; its row is wrong, delete it and train anew"
        )
    return series


def groups(store: Store, *, weights: bool = True) -> list[Group]:
    """The runs of a directory by problem and mode, in the order of runs.csv.

    weights: whether to read each run's weights too; without them shares and shape are empty.
    Raises DomainError for a file of weights that is missing or another run's.
    """
    found: dict[tuple[object, ...], list[Outcome]] = {}
    for outcome in store.outcomes:
        found.setdefault(outcome.experiment.key[:-1], []).append(outcome)
    return [_group(store, outcomes, weights) for outcomes in found.values()]


def _run(outcome: Outcome) -> Run:
    one = outcome.experiment
    norm = Fraction(outcome.largest_norm)
    digits = len(outcome.largest_norm.partition("e")[0].replace(".", "").lstrip("0"))
    rounding = norm / 10 ** max(1, digits - 1) / 2
    return Run(0, one.problem, norm, rounding, str(one.seed), one.mode)


def _group(store: Store, outcomes: Sequence[Outcome], weights: bool) -> Group:
    one = outcomes[0].experiment
    counted = [outcome for outcome in outcomes if outcome.counts]
    failed = [outcome for outcome in outcomes if not outcome.counts]
    return Group(
        problem=one.problem,
        mode=one.mode,
        runs=len(outcomes),
        errors=tuple(None if o.margin is None else -float(o.margin) for o in failed),
        norms=tuple(sorted(float(o.largest_norm) for o in counted)),
        ratios=tuple(sorted(float(o.ratio) for o in counted if o.ratio is not None)),
        steps=tuple(o.steps for o in counted),
        shares=_shares(store, counted) if weights and counted else (),
        shape=_shape(store, counted) if weights and counted else (),
    )


def _shares(store: Store, counted: Sequence[Outcome]) -> tuple[tuple[str, float], ...]:
    norms = [store.weights(outcome.experiment).norms(_BITS) for outcome in counted]
    largest = [max(float(norm) for norm in one.values()) for one in norms]
    for outcome, top in zip(counted, largest, strict=True):
        if abs(float(outcome.largest_norm) - top) > _ROUNDING * top:
            raise DomainError(
                f"{store.file(outcome.experiment)}: its largest norm is {top!r}, not that of its "
                f"row, {outcome.largest_norm}; delete the file and train anew"
            )
    middle = {
        name: median(float(one[name]) / top for one, top in zip(norms, largest, strict=True))
        for name in norms[0]
    }
    return tuple(sorted(middle.items(), key=lambda item: -item[1]))


def _shape(store: Store, counted: Sequence[Outcome]) -> tuple[Coordinate, ...]:
    problem = counted[0].experiment.problem
    shapes = [geometry_of(store.weights(outcome.experiment), [0]).shape for outcome in counted]
    best = _optimum(problem)
    names = _COORDINATES[shapes[0].kind]
    if problem.readout == "classification":  # what depends on the class is left out
        names = tuple(name for name in names if name in ("kappa", "c0", "score_ratio"))
    found = []
    for name in names:
        values = [float(getattr(shape, name)) for shape in shapes]
        ideal = None if best is None else getattr(best, name)
        optimum = None if ideal is None else float(ideal)
        found.append(Coordinate(name, median(values), min(values), max(values), optimum))
    return tuple(found)


def _optimum(problem: CountingProblem) -> Shape | None:
    """The shape that B_min is reached with, at 128 bits; None where there is none."""
    from flint import ctx

    if problem.readout == "classification":
        return None
    with ctx.workprec(2 * _BITS):
        try:
            return optimal_shape(b_min(problem))
        except DomainError:
            return None

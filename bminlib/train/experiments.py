"""What is trained: one experiment a problem, mode and seed."""

from __future__ import annotations

import dataclasses
import operator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal, get_args

from bminlib.errors import DomainError, shown
from bminlib.problem import CountingProblem, parse_tau

Mode = Literal["plain", "plain T=1", "least"]

SEEDS_TOGETHER = 4
MAX_LENGTH = 4096
MAX_SEEDS = 10_000
_CURRICULUM_FROM = 16


@dataclass(frozen=True, slots=True)
class Experiment:
    """One run: `problem` trained in `mode` from the initial weights of `seed`.

    mode: "plain" (mean squared error, or cross-entropy of logits whose inverse temperature rises),
    "plain T=1" (cross-entropy as it is; classification only), or "least" (norms held in a ball).
    Raises DomainError for anything that can't be trained.
    """

    problem: CountingProblem
    mode: Mode
    seed: int

    def __post_init__(self) -> None:
        if self.mode not in get_args(Mode):
            modes = ", ".join(get_args(Mode))
            raise DomainError(f"mode={shown(self.mode)}: must be one of {modes}; pick one of these")
        _check_trainable(self.problem)
        if self.mode == "plain T=1" and self.problem.readout == "regression":
            raise DomainError(
                "mode='plain T=1': a regression read-out has no temperature; take mode 'plain'"
            )
        object.__setattr__(self, "seed", in_range("seed", self.seed, 0, MAX_SEEDS - 1))
        object.__setattr__(self, "problem", _with_named_tau(self.problem))

    @property
    def shrinks(self) -> bool:
        """Whether the ball shrinks with each success; else a run is done at its first one."""
        return self.mode == "least" and self.problem.readout == "regression"

    @property
    def together(self) -> tuple[Experiment, ...]:
        """The experiments of one batch, this one among them: seeds 4k to 4k + 3.

        A batch is always whole, so that no result depends on which other seeds were asked for.
        """
        first = self.seed - self.seed % SEEDS_TOGETHER
        seeds = range(first, first + SEEDS_TOGETHER)
        return tuple(dataclasses.replace(self, seed=seed) for seed in seeds)

    @property
    def warm(self) -> Experiment | None:
        """The run, at half the length, that this one starts from; None where it starts anew."""
        if not self.shrinks or self.problem.L < _CURRICULUM_FROM:
            return None
        return dataclasses.replace(
            self, problem=dataclasses.replace(self.problem, L=self.problem.L // 2)
        )

    @property
    def key(self) -> tuple[object, ...]:
        """What tells runs apart, however their tau is written."""
        at = self.problem
        placement = (at.attention, at.norm, at.affine, at.normalizer, at.readout)
        return (*placement, at.d, at.score_scale, at.L, self.mode, self.seed)


def require_jax() -> None:
    """Raises DomainError where jax or optax is not installed."""
    missing = [name for name in ("jax", "optax") if find_spec(name) is None]
    if missing:
        raise DomainError(
            f"{' and '.join(missing)} missing: training needs jax and optax; "
            "run pip install 'bminlib[train]'"
        )


def in_range(name: str, value: object, low: int, high: int) -> int:
    """`value` as an int from `low` to `high`; raises DomainError for anything else."""
    if not isinstance(value, bool) and hasattr(value, "__index__"):
        number = operator.index(value)
        if low <= number <= high:
            return number
    raise DomainError(
        f"{name}={shown(value)}: must be an integer from {low} to {high}; give one of these"
    )


def _with_named_tau(problem: CountingProblem) -> CountingProblem:
    """The same problem with a tau of 1/sqrt(d) called "scaled", however it was written."""
    scaled = parse_tau("scaled", problem.d) == problem.score_scale
    return dataclasses.replace(problem, tau="scaled") if scaled else problem


def _check_trainable(problem: CountingProblem) -> None:
    if problem.L > MAX_LENGTH:
        raise DomainError(
            f"L={shown(problem.L)}: training looks at every pair (c, m), so L must be "
            f"<= {MAX_LENGTH}; give a smaller L"
        )
    if problem.exactness == "exact":
        raise DomainError(
            "exactness='exact': training aims at counts after rounding; take exactness 'rounded'"
        )

"""How runs are trained: what a user may set, and the recipe of each kind of run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, NamedTuple

from bminlib.errors import DomainError, shown
from bminlib.train.experiments import Experiment, in_range

MAX_STEPS = 10**8
_STEPS_A_LENGTH = 300  # in mode least, where that is more


class Recipe(NamedTuple):
    """How a run is trained.

    steps: at most. rate: the first step size of the attention's vectors; readout_rate: that of the
    read-out, gain and offsets.
    """

    steps: int
    rate: float
    readout_rate: float


_RECIPES = {
    ("plain", "regression"): Recipe(100_000, 0.05, 0.05),
    ("plain", "classification"): Recipe(5_000, 0.001, 0.001),
    ("plain T=1", "classification"): Recipe(30_000, 0.03, 0.03),
    ("least", "regression"): Recipe(20_000, 0.0085, 0.028),
    ("least", "classification"): Recipe(20_000, 0.001, 0.001),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the runs of one directory share.

    steps: of each run at most; None for those of its recipe. radius: the ball of a classification
    in mode "least". lengths: the sequence lengths c + m to train on, ascending; None for 0..L.
    batch: how many pairs a step draws from the data; None for all of them at every step.
    """

    steps: int | None = None
    radius: Fraction = Fraction(1)
    lengths: tuple[int, ...] | None = None
    batch: int | None = None

    def __post_init__(self) -> None:
        for name in ("steps", "batch"):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, in_range(name, given, 1, MAX_STEPS))
        if not Fraction(1, 10**6) <= self.radius <= 10**6:
            raise DomainError(
                f"radius={shown(str(self.radius))}: the ball's radius must be from 10^-6 to 10^6; "
                "give 1"
            )
        if self.lengths is not None:
            object.__setattr__(self, "lengths", _ascending(self.lengths))

    def recipe(self, experiment: Experiment) -> Recipe:
        """The recipe of a run."""
        usual = _RECIPES[experiment.mode, experiment.problem.readout]
        if experiment.mode == "least":
            usual = usual._replace(steps=max(usual.steps, _STEPS_A_LENGTH * experiment.problem.L))
        return usual if self.steps is None else usual._replace(steps=self.steps)

    def record(self) -> dict[str, Any]:
        """The settings as JSON values."""
        record = {field.name: getattr(self, field.name) for field in fields(self)}
        lengths = None if self.lengths is None else list(self.lengths)
        return record | {"radius": str(self.radius), "lengths": lengths}


def _ascending(lengths: Iterable[int]) -> tuple[int, ...]:
    numbers = tuple(sorted({in_range("lengths", n, 0, 10**9) for n in lengths}))
    if not numbers:
        raise DomainError("lengths=(): there is nothing to train on; name one, or leave them out")
    return numbers

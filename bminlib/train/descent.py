"""The training loop: seeds side by side, any number of steps at a time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import optax

from bminlib.problem import CountingProblem
from bminlib.train import losses
from bminlib.train.experiments import Experiment
from bminlib.train.forward import reading
from bminlib.train.pairs import Pairs, every_pair, few_fillers, of_lengths
from bminlib.train.settings import Recipe, Settings
from bminlib.train.updates import READOUT, initial, largest_norm, per_vector, project

if TYPE_CHECKING:
    Array: TypeAlias = jax.Array
    Params: TypeAlias = dict[str, Array]

_SHRINK = 0.003  # of the radius with a success at the first step size
_GROWTH = 5.0  # of the radius from length to length; no placement's B_min grows as fast
_FIRST_RADIUS = 2.0  # of a ball that shrinks, over L
_LAST_RATE = 0.01  # step size at the end over that at the start


class State(NamedTuple):
    """The seeds, one along the first axis of every array.

    kept: the best weights so far, those that count before those that don't. rank: of kept, lower is
    better: its step or its largest norm if it counts, else its worst margin, negated. step: the
    number of steps before it.
    """

    params: Params
    momentum: optax.OptState
    radius: Array
    kept: Params
    counts: Array
    rank: Array
    step: Array


class Look(NamedTuple):
    """What a report shows of the last step, one entry a seed."""

    loss: Array
    wrong: Array
    norm: Array


@dataclass(frozen=True, eq=False)
class Descent:
    """The descent of one batch of seeds.

    data: what the loss sees. few, every: the pairs at which a success is looked for, in turn.
    """

    experiment: Experiment
    recipe: Recipe
    data: Pairs
    few: Pairs
    every: Pairs
    batch: int | None
    tau: float
    radius: float

    @classmethod
    def of(cls, experiment: Experiment, settings: Settings) -> Descent:
        """The descent of an experiment's batch; raises DomainError without data."""
        problem = experiment.problem
        few, every = few_fillers(problem.L), every_pair(problem.L)
        data = few if experiment.mode == "least" else every
        return cls(
            experiment,
            settings.recipe(experiment),
            of_lengths(data, settings.lengths),
            few,
            every,
            settings.batch,
            float(problem.score_scale.ball(64)),
            float(settings.radius),
        )

    @property
    def problem(self) -> CountingProblem:
        """The problem that is trained."""
        return self.experiment.problem

    def start(self) -> State:
        """States of fresh weights."""
        seeds = self._seeds
        params = jax.vmap(lambda seed: initial(self.problem, seed))(seeds)
        radius = _FIRST_RADIUS * self.problem.L if self.experiment.shrinks else self.radius
        return self._state(params, jnp.full(len(seeds), radius, float))

    def warm(self, params: Params, L: int) -> State:
        """States of weights trained at a smaller L: the read-out is stretched."""
        stretch = self.problem.L / L
        radius = _GROWTH * jax.vmap(largest_norm)(params)
        stretched = {n: x * stretch if n in ("w", "b") else x for n, x in params.items()}
        return self._state(stretched, radius)

    def advance(self, state: State, first: int, count: int) -> tuple[State, Look]:
        """`count` >= 1 further steps, the first of which is number `first`."""
        after, look = self._advance(state, jnp.asarray(first), jnp.asarray(count))
        return after, look

    @cached_property
    def _advance(self) -> Any:
        """Compiled once for every count."""

        def run(state: State, first: Array, count: Array) -> tuple[State, Look]:
            keys = jax.vmap(lambda seed: jax.random.fold_in(jax.random.key(seed), 1))(self._seeds)

            def step(i: Array, before: tuple[State, Look]) -> tuple[State, Look]:
                drawn = jax.vmap(lambda key: jax.random.fold_in(key, i))(keys)
                state, wrong = self._judged(before[0], i)
                state, loss = jax.vmap(self._step, (0, 0, 0, None))(state, wrong, drawn, i)
                return state, Look(loss, wrong, jax.vmap(largest_norm)(state.params))

            none = jnp.zeros(len(keys))
            blank = Look(none, none.astype(int), none)
            after: tuple[State, Look]
            after = jax.lax.fori_loop(first, first + count, step, (state, blank))
            return after

        return jax.jit(run)

    @property
    def _seeds(self) -> Array:
        return jnp.array([one.seed for one in self.experiment.together])

    @property
    def _direction(self) -> optax.GradientTransformation:
        return per_vector() if self.experiment.shrinks else optax.scale_by_adam()

    def _state(self, params: Params, radius: Array) -> State:
        seeds = len(radius)
        if self.experiment.mode == "least":
            params = jax.vmap(project)(params, radius)
        return State(
            params,
            jax.vmap(self._direction.init)(params),
            radius,
            params,
            jnp.zeros(seeds, bool),
            jnp.full(seeds, jnp.inf, float),
            jnp.zeros(seeds, int),
        )

    def _judged(self, state: State, i: Array) -> tuple[State, Array]:
        """The states with their weights kept if the best so far; how many pairs are wrong."""
        wrong, margin = self._look(state.params, self.few)
        if not self.experiment.shrinks:
            wrong, margin = jax.lax.cond(
                ((wrong == 0) & ~state.counts).any(),
                lambda: self._look(state.params, self.every),
                lambda: (wrong, margin),
            )
        counts = wrong == 0
        norm = jax.vmap(largest_norm)(state.params)
        rank = jnp.where(counts, norm if self.experiment.shrinks else i, -margin)
        better = (counts & ~state.counts) | ((counts == state.counts) & (rank < state.rank))
        judged = state._replace(
            kept={n: _where(better, x, state.kept[n]) for n, x in state.params.items()},
            counts=counts | state.counts,
            rank=jnp.where(better, rank, state.rank),
            step=jnp.where(better, i, state.step),
        )
        return judged, wrong

    def _look(self, params: Params, pairs: Pairs) -> tuple[Array, Array]:
        """How many pairs each seed gets wrong, and its worst margin."""
        c, m = jnp.asarray(pairs.c), jnp.asarray(pairs.m)

        def look(params: Params) -> tuple[Array, Array]:
            margin, slack = losses.margins(reading(self.problem, self.tau, params, c, m), c)
            return (~(margin > slack)).sum(), margin.min()  # NaN is wrong too

        return jax.vmap(look)(params)

    def _step(self, state: State, wrong: Array, key: Array, i: Array) -> tuple[State, Array]:
        """One step of one seed, and its loss before it."""
        progress = i / self.recipe.steps
        loss, slope = jax.value_and_grad(self.loss)(state.params, progress, key)
        direction, momentum = self._direction.update(slope, state.momentum, state.params)
        cosine = (1 + jnp.cos(jnp.pi * progress)) / 2
        slower = _LAST_RATE + (1 - _LAST_RATE) * cosine
        radius = state.radius
        if self.experiment.shrinks:
            shrunk = jnp.minimum(radius, largest_norm(state.params)) * (1 - _SHRINK * slower)
            radius = jnp.where(wrong == 0, shrunk, radius)
        rates = {name: slower * self._stride(name, x) for name, x in state.params.items()}
        params = {name: x - rates[name] * direction[name] for name, x in state.params.items()}
        if self.experiment.mode == "least":
            params = project(params, radius)
        if self.experiment.shrinks:
            params["b"] = params["b"] - self._midrange(params)
        return state._replace(params=params, momentum=momentum, radius=radius), loss

    def loss(self, params: Params, progress: Array, key: Array) -> Array:
        """The loss of one seed; `key` draws its sample where the settings want one."""
        c, m, weight = map(jnp.asarray, self.data)
        if self.batch is not None:
            drawn = jax.random.choice(key, len(c), (self.batch,), p=weight)
            c, m, weight = c[drawn], m[drawn], jnp.full(self.batch, 1 / self.batch)
        read = reading(self.problem, self.tau, params, c, m)
        if self.experiment.shrinks:
            return losses.smooth_maximum(read, c, progress)
        if self.problem.readout == "regression":
            return losses.squared_error(read, c, weight)
        warm = self.experiment.mode == "plain T=1"
        cold = 1.0 if warm else losses.annealed(self.problem.L, progress)
        return losses.cross_entropy(read, c, weight, cold)

    def _stride(self, name: str, x: Array) -> Array | float:
        """The step size of a vector; where norms grow with L, relative to its norm beyond 4."""
        rate = self.recipe.readout_rate if name in READOUT else self.recipe.rate
        if not self.experiment.shrinks:
            return rate
        return rate * jnp.maximum(1, jnp.sqrt((x * x).sum()) / 4)

    def _midrange(self, params: Params) -> Array:
        """The middle between the least and the greatest error, which the best b makes 0."""
        c, m, _ = map(jnp.asarray, self.data)
        error = reading(self.problem, self.tau, params, c, m).outputs() - c
        return (error.max() + error.min()) / 2


def _where(better: Array, new: Array, old: Array) -> Array:
    """The new values of the seeds that are better, the old ones of the others."""
    return jnp.where(better.reshape(-1, *[1] * (new.ndim - 1)), new, old)

"""Initial weights, directions of descent, and the projection that holds norms in a ball."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import jax
import jax.numpy as jnp
import optax

from bminlib.problem import CountingProblem
from bminlib.weights import vector_names, vector_shape

if TYPE_CHECKING:
    Array: TypeAlias = jax.Array
    Params: TypeAlias = dict[str, Array]

READOUT = frozenset({"w", "W", "gamma", "beta", "b"})


def initial(problem: CountingProblem, seed: Array) -> Params:
    """Entries of variance 1/d; the gain is 1; beta and b are 0."""
    names = vector_names(problem)
    keys = jax.random.split(jax.random.key(seed), len(names))
    params = {
        name: jax.random.normal(key, vector_shape(problem, name)) / problem.d**0.5
        for name, key in zip(names, keys, strict=True)
    }
    if problem.affine == "learned":
        params |= {"gamma": jnp.ones(problem.d), "beta": jnp.zeros(problem.d)}
    return params | {"b": jnp.zeros(vector_shape(problem, "b"))}


def per_vector() -> optax.GradientTransformation:
    """Adam with one second moment a vector instead of one an entry (NovoGrad).

    Where a gain multiplies a read-out, B_min needs both on one coordinate. Adam's step is as large
    on small entries as on large ones and gets stuck on two coordinates; a step that keeps the
    gradient's direction doesn't.
    """
    momentum = 0.9
    return optax.chain(optax.scale_by_novograd(momentum, 0.99), optax.scale(1 - momentum))


def project(params: Params, radius: Array) -> Params:
    """Every vector (of W: every row) moved into the ball: no exact norm exceeds `radius`.

    A vector of computed norm up to radius (1 - delta) stays as it is, with delta above what
    rounding can hide.
    """
    return {name: x if name == "b" else _held(x, radius) for name, x in params.items()}


def largest_norm(params: Params) -> Array:
    """The largest norm of a vector, or of a row of W."""
    return jnp.stack([_norms(x).max() for name, x in params.items() if name != "b"]).max()


def _held(x: Array, radius: Array) -> Array:
    within = radius * (1 - (x.shape[-1] + 8) * 2.0**-52)
    norms = _norms(x)
    return jnp.where(norms > within, x * (within / norms), x)


def _norms(x: Array) -> Array:
    return jnp.sqrt((x * x).sum(axis=-1, keepdims=True))

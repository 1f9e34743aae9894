"""Losses, and how far outputs are from counting."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import jax
import jax.numpy as jnp

from bminlib.train.forward import Reading

if TYPE_CHECKING:
    Array: TypeAlias = jax.Array

_REGRESSION_SLACK = 1e-9  # far above what float64 rounds here, far below any margin that matters
_CLASSIFICATION_SLACK = 1e-12  # of the greatest score
_SHARPNESS = (0.3, 2.5)  # powers of ten, at the start and at the end


def squared_error(read: Reading, c: Array, weight: Array) -> Array:
    """The weighted mean of (yhat - c)^2."""
    return weight @ (read.outputs() - c) ** 2


def smooth_maximum(read: Reading, c: Array, progress: Array) -> Array:
    """A smooth maximum of |yhat - c|, from above, that sharpens as `progress` goes from 0 to 1."""
    error = jnp.abs(read.outputs() - c)
    start, end = _SHARPNESS
    sharpness = 10 ** (start + (end - start) * progress) / jax.lax.stop_gradient(error.max())
    return jax.nn.logsumexp(sharpness * error) / sharpness


def cross_entropy(read: Reading, c: Array, weight: Array, cold: Array | float) -> Array:
    """The weighted mean cross-entropy of the scores times the inverse temperature `cold`."""
    logits, own = cold * read.outputs(), cold * read.own_scores(c)
    return weight @ (jax.nn.logsumexp(logits, axis=0) - own)


def annealed(L: int, progress: Array) -> Array:
    """The inverse temperature (40 L^2)^progress."""
    return (40.0 * L**2) ** progress


def margins(read: Reading, c: Array) -> tuple[Array, Array]:
    """1/2 - |yhat - c|, or the score of c less the greatest other one. (n,)

    Beside it what a margin has to exceed to be > 0 whatever float64 rounded.
    """
    output = read.outputs()
    if output.ndim == 1:
        return 0.5 - jnp.abs(output - c), jnp.asarray(_REGRESSION_SLACK)
    others = jnp.where(jnp.arange(len(output))[:, None] == c, -jnp.inf, output).max(axis=0)
    own = read.own_scores(c)
    return own - others, _CLASSIFICATION_SLACK * jnp.abs(own).max()

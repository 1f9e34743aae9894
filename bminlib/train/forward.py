"""The layer in jax: `bminlib.layer.forward` once more, for gradients and batches of seeds.

States are sums over three kinds of token, so an output is A n / size(n) + b with n = (1, c, m), a
matrix A, and size(n) the softmax denominator or the length that the normaliser divides by: work
per pair does not depend on d.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp

from bminlib.problem import CountingProblem

if TYPE_CHECKING:
    Array: TypeAlias = jax.Array
    Params: TypeAlias = dict[str, Array]

_KINDS = ("s", "t", "f")


class Reading(NamedTuple):
    """n pairs as a read-out sees them: outputs are rows @ states + offset.

    states: n / size(n), (3, n). rows: A, (3,) for a regression, else (L + 1, 3). offset: b, with
    what a learned beta adds.
    """

    states: Array
    rows: Array
    offset: Array

    def outputs(self) -> Array:
        """yhat of shape (n,), or scores of shape (L + 1, n)."""
        return self.rows @ self.states + self.offset[..., None]

    def own_scores(self, c: Array) -> Array:
        """The scores of the classes c, one a pair. (n,)"""
        own = c.astype(int)
        return (self.rows[own].T * self.states).sum(axis=0) + self.offset[own]


def reading(problem: CountingProblem, tau: float, params: Params, c: Array, m: Array) -> Reading:
    """What is read at n pairs; params holds the arrays of `vector_names` and b.

    The eps of the normaliser is 0.
    """
    values, shares = _pencil(problem, tau, params)  # (3, d), (3,)
    tokens = jnp.stack([jnp.ones_like(c), c, m])  # (3, n)
    readout = params["W" if problem.readout == "classification" else "w"]
    size, offset = shares @ tokens, params["b"]
    if problem.norm == "post":
        values = _centred(problem, values)
        size = jnp.sqrt((tokens * (values @ values.T @ tokens)).sum(axis=0) / problem.d)
        if problem.affine == "learned":
            offset = offset + readout @ params["beta"]
            readout = readout * params["gamma"]
    return Reading(tokens / size, readout @ values.T, offset)


def normalised(problem: CountingProblem, params: Params, x: Array) -> Array:
    """LayerNorm or RMSNorm along the last axis, learned gamma and beta included."""
    x = _centred(problem, x)
    y = x * jax.lax.rsqrt((x * x).mean(axis=-1, keepdims=True))
    return params["gamma"] * y + params["beta"] if problem.affine == "learned" else y


def _centred(problem: CountingProblem, x: Array) -> Array:
    return x - x.mean(axis=-1, keepdims=True) if problem.normalizer == "layer" else x


def _pencil(problem: CountingProblem, tau: float, params: Params) -> tuple[Array, Array]:
    """(N, S) with h = N n / S n, as `bminlib.layer.Layer.pencil`."""

    def attending(name: str) -> Array:
        x = params[name]
        return normalised(problem, params, x) if problem.norm == "pre" else x

    scores = tau * jnp.stack([attending(f"k_{kind}") for kind in _KINDS]) @ attending("q")  # (3,)
    values = jnp.stack([attending(f"v_{kind}") for kind in _KINDS])  # (3, d)
    if problem.attention == "linear":
        once = jnp.array([1.0, 0.0, 0.0])
        return scores[:, None] * values + once[:, None] * params["r"], once
    shares = jnp.exp(scores - jax.lax.stop_gradient(scores.max()))
    return shares[:, None] * (values + params["r"]), shares

"""Largest gaps, score differences and slopes of learned pre-normalisation, found by ascent.

Block ascent over all vectors from several starts: it knows the definitions, not the maximisers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

_ROUNDS = 60
_STARTS = 8


def largest_gap(d: int, centre: bool) -> float:
    """max <w * gamma, n_t - n_s> over unit w, gamma and normalised n."""

    def climb(state: dict[str, Array]) -> float:
        w, gain, n = state["w"], state["gain"], state["n"]
        for _ in range(_ROUNDS):
            n = _normalised(w * gain, centre)
            w = _unit(gain * n)
            gain = _unit(w * n)
        return float(2 * (w * gain) @ n)

    return _best(climb, d)


def largest_score(d: int, centre: bool) -> float:
    """max <gamma n_q + beta, gamma (n_s - n_t)> over unit gamma, beta and normalised n."""

    def climb(state: dict[str, Array]) -> float:
        gain, shift, query, n = state["gain"], state["shift"], state["query"], state["n"]
        for _ in range(_ROUNDS):
            n = _normalised(gain * (gain * query + shift), centre)
            shift = _unit(gain * n)
            query = _normalised(gain * gain * n, centre)
            gain = _unit(2 * gain * query * n + shift * n)
        return float(2 * (gain * query + shift) @ (gain * n))

    return _best(climb, d)


def largest_slope(d: int, centre: bool) -> float:
    """max <gamma n_q + beta, gamma n_k + beta> <w, gamma n_v + beta> in the same way."""

    def climb(state: dict[str, Array]) -> float:
        gain, shift, w, n = state["gain"], state["shift"], state["w"], state["n"]
        query = value = n
        for _ in range(_ROUNDS):
            query = _normalised(gain * (gain * n + shift), centre)
            n = _normalised(gain * (gain * query + shift), centre)
            value = _normalised(gain * w, centre)
            x_q, x_k, x_v = gain * query + shift, gain * n + shift, gain * value + shift
            score, reading = x_q @ x_k, w @ x_v
            shift = _unit((x_q + x_k) * reading + score * w)
            gain = _unit((query * x_k + n * x_q) * reading + score * value * w)
            w = _unit(gain * value + shift)
        x_q, x_k, x_v = gain * query + shift, gain * n + shift, gain * value + shift
        return float((x_q @ x_k) * (w @ x_v))

    return _best(climb, d)


def _best(climb: Callable[[dict[str, Array]], float], d: int) -> float:
    import numpy as np

    source = np.random.default_rng(0)
    names = ("w", "gain", "shift", "query", "n")
    return max(
        climb({name: _unit(source.normal(size=d)) for name in names}) for _ in range(_STARTS)
    )


def _unit(x: Array) -> Array:
    size = (x @ x) ** 0.5
    return x / size if size > 0 else x


def _normalised(x: Array, centre: bool) -> Array:
    if centre:
        x = x - x.mean()
    return _unit(x) * x.size**0.5  # type: ignore[no-any-return]

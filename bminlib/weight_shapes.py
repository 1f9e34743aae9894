"""The shape of given weights: where their counts lie and how their read-out sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bminlib.errors import DomainError
from bminlib.layer import Layer
from bminlib.shapes import Arc, Ray, Segment, Shape

if TYPE_CHECKING:
    import numpy as np
    from flint import arb


def weight_shape(layer: Layer, row: np.ndarray, bias: arb) -> Shape:
    """The shape of a layer in balls, read by the vector `row` and the scalar `bias`.

    Raises DomainError where targets don't move the state, so that there is no shape.
    """
    if layer.problem.norm == "post":
        return _arc(layer, row, bias)
    states, masses = layer.pencil()
    s, t, f = states
    if layer.problem.attention == "linear":
        return Ray(_dot(row, t), _dot(row, s) + bias, _dot(row, f), _positive_norm(t))
    s, t, f = s / masses[0], t / masses[1], f / masses[2]
    return Segment(
        score_ratio=masses[0] / masses[1],
        gap=_dot(row, t - s),
        offset=_dot(row, s) + bias,
        filler_ratio=masses[2] / masses[1],
        filler_gap=_dot(row, f - s),
        length=_positive_norm(t - s),
    )


def plane_of(layer: Layer) -> tuple[np.ndarray, np.ndarray, arb, arb]:
    """(g1, g2, kappa, c0): the plane of a post-normalised layer's circle at m = 0.

    N_c = N_s + c N_t without its mean is proportional to kappa (c - c0) g1 + g2, g1 and g2 of
    length 1. Raises DomainError where the states N_c lie on a line through 0.
    """
    (s, t, _), _ = layer.pencil()
    s, t = centred(layer, s), centred(layer, t)
    square = _positive_norm(t) ** 2
    c0 = -_dot(s, t) / square
    nearest = s + t * c0
    height = _norm(nearest)
    if not height > 0:
        raise DomainError(
            "the states of all counts lie on one line through 0, so normalising leaves two points "
            "of them; change the weights"
        )
    return t / square.sqrt(), nearest / height, square.sqrt() / height, c0


def centred(layer: Layer, vector: np.ndarray) -> np.ndarray:
    """`vector` without its mean for LayerNorm, as it is for RMSNorm."""
    if layer.problem.normalizer == "rms":
        return vector
    mean: np.ndarray = vector - vector.sum() / layer.problem.d
    return mean


def _arc(layer: Layer, row: np.ndarray, bias: arb) -> Arc:
    from flint import arb

    along, across, kappa, c0 = plane_of(layer)
    effective = row
    if layer.problem.affine == "learned":
        effective = row * layer.vectors["gamma"]
        bias = bias + _dot(row, layer.vectors["beta"])
    root = arb(layer.problem.d).sqrt()
    main, side = root * _dot(effective, along), root * _dot(effective, across)
    (_, t, f), _ = layer.pencil()
    filler = _norm(centred(layer, f)) / _norm(centred(layer, t))
    radius = (main * main + side * side).sqrt()
    return Arc(kappa, c0, arb.atan2(side, main), radius, bias, filler)


def _dot(x: np.ndarray, y: np.ndarray) -> arb:
    from flint import arb

    return sum((a * b for a, b in zip(x, y, strict=True)), arb(0))


def _norm(x: np.ndarray) -> arb:
    """|x|; around 0 where the square can't be told from 0."""
    from flint import arb

    square = _dot(x, x)
    return square.sqrt() if square > 0 else arb(0, square.abs_upper().sqrt())


def _positive_norm(x: np.ndarray) -> arb:
    norm = _norm(x)
    if not norm > 0:
        raise DomainError(
            "a target leaves the state where it is, so the counts have no place of their own; "
            "change v_t"
        )
    return norm

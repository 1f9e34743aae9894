"""Gaps between the score of a count and that of a rival, exact at any pair (c, m).

Classification: gap = <w_c - w_j, z> + b_c - b_j. Regression: gap = 1/2 - (yhat - c) against the
rival c + 1 and 1/2 + (yhat - c) against c - 1. A pair counts if all its gaps are positive. Each gap
is k + alpha/g in the terms of `exact_layer`, and its sign is that of k g + alpha.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from bminlib.exact_layer import ExactLayer
from bminlib.surds import MAX_BITS, Surd, rational, surd

if TYPE_CHECKING:
    from flint import arb

    from bminlib.weights import Weights

_BALL_BITS = 128
_ACCURATE_BITS = 64


@dataclass(frozen=True, slots=True, eq=False)
class Gap:
    """One gap at c targets, as a function of the number m of fillers."""

    layer: ExactLayer
    c: int
    alpha: tuple[Surd, ...]
    k: Surd

    def sign(self, m: int) -> int:
        """-1, 0 or 1, exact; raises UndecidedError where precision runs out."""
        x, layer = (1, self.c, m), self.layer
        if layer.gram is None:
            parts = zip(x, self.alpha, layer.masses, strict=True)
            return layer.powers.sign([(a + self.k.times(n)).times(u) for u, a, n in parts])
        weighted = [a.times(u) for u, a in zip(x, self.alpha, strict=True)]
        sign, k_sign = layer.powers.sign(weighted), self.k.sign()
        if sign * k_sign >= 0:
            return sign or k_sign
        return sign * self._excess_sign(weighted, m)

    def _excess_sign(self, weighted: list[Surd], m: int) -> int:
        """The sign of alpha^2 - k^2 g^2 for post."""
        square = self.k * self.k
        norms = squared_norm(self.layer, self.c, m)
        products = [a * b for a in weighted for b in weighted]
        return _pair_sign(
            self.layer, [p - square * n for p, n in zip(products, norms, strict=True)]
        )

    def ball(self, m: int) -> arb:
        """An enclosure, with a relative radius below 2^-64 unless the gap is all but 0."""
        bits = _BALL_BITS
        while True:
            enclosure = self._ball_at(m, bits)
            if enclosure.rel_accuracy_bits() > _ACCURATE_BITS or bits >= MAX_BITS:
                return enclosure
            bits *= 2

    def _ball_at(self, m: int, bits: int) -> arb:
        from flint import arb, ctx

        x, layer = (1, self.c, m), self.layer
        with ctx.workprec(bits):
            powers = [u * power for u, power in zip(x, layer.powers.balls(bits), strict=True)]
            alpha = sum((p * a.ball(bits) for p, a in zip(powers, self.alpha, strict=True)), arb(0))
            if layer.gram is None:
                g = sum((p * n for p, n in zip(powers, layer.masses, strict=True)), arb(0))
            else:
                rows = zip(powers, layer.gram, strict=True)
                pairs = ((p * q, x) for p, row in rows for q, x in zip(powers, row, strict=True))
                g = sum((pq * x.ball(bits) for pq, x in pairs), arb(0)).sqrt()
            return self.k.ball(bits) + alpha / g


class ExactReadout(Protocol):
    """What the gaps of a read-out are made of."""

    def gap(self, c: int, rival: int) -> Gap:
        """The gap of the count c to `rival`."""


@dataclass(frozen=True, eq=False)
class ExactRegression:
    """Gaps of a regression read-out."""

    layer: ExactLayer
    weights: Weights

    def gap(self, c: int, rival: int) -> Gap:
        """The gap of c to c + 1 or c - 1."""
        *alpha, offset = self._read
        side = c - rival
        k = offset.times(side) + surd(Fraction(1, 2) - side * c)
        return Gap(self.layer, c, tuple(a.times(side) for a in alpha), k)

    @cached_property
    def _read(self) -> tuple[Surd, ...]:
        w = [rational(x) for x in self.weights.vectors["w"].tolist()]
        *alpha, offset = self.layer.read(w)
        return (*alpha, offset + surd(self.weights.b.item()))


@dataclass(frozen=True, slots=True, eq=False)
class ExactClassification:
    """Gaps of a classification read-out."""

    layer: ExactLayer
    weights: Weights

    def gap(self, c: int, rival: int) -> Gap:
        """The gap of c to any other count."""
        W, b = self.weights.vectors["W"], self.weights.b
        both = zip(W[c].tolist(), W[rival].tolist(), strict=True)
        *alpha, offset = self.layer.read([rational(x) - rational(y) for x, y in both])
        return Gap(self.layer, c, tuple(alpha), offset + surd(b[c]) - surd(b[rival]))


def squared_norm(layer: ExactLayer, c: int, m: int) -> list[Surd]:
    """The nine terms of g^2 for post, beside `layer.pair_powers`."""
    x = (1, c, m)
    rows = zip(x, layer.gram or (), strict=True)
    return [entry.times(u * v) for u, row in rows for v, entry in zip(x, row, strict=True)]


def has_spread(layer: ExactLayer, c: int, m: int) -> bool:
    """Whether the state at (c, m) can be normalised; true where it need not be."""
    return layer.gram is None or _pair_sign(layer, squared_norm(layer, c, m)) > 0


def _pair_sign(layer: ExactLayer, terms: list[Surd]) -> int:
    if layer.pair_powers is None:
        raise TypeError("only post-normalisation has a norm")
    return layer.pair_powers.sign(terms)

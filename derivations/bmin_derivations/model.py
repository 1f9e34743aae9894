"""The symbolic forward pass: attention heads at vectors whose entries and dimension are symbols.

A vector of dimension d is given by blocks: `entries` and how often each stands (`counts`, which
add up to d), so that d stays a symbol.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy

from bmin_derivations.symbols import c, d, m, tau


@dataclass(frozen=True, slots=True)
class Vector:
    """Blocks of equal entries; two vectors that meet have the same `counts`."""

    entries: tuple[Any, ...]
    counts: tuple[Any, ...]

    def __add__(self, other: Vector) -> Vector:
        pairs = zip(self.entries, other.entries, strict=True)
        return Vector(tuple(x + y for x, y in pairs), self.counts)

    def __mul__(self, scalar: Any) -> Vector:
        return Vector(tuple(scalar * x for x in self.entries), self.counts)

    def times(self, other: Vector) -> Vector:
        """The elementwise product."""
        pairs = zip(self.entries, other.entries, strict=True)
        return Vector(tuple(x * y for x, y in pairs), self.counts)

    def dot(self, other: Vector) -> Any:
        """The scalar product."""
        triples = zip(self.entries, other.entries, self.counts, strict=True)
        return sum(n * x * y for x, y, n in triples)

    @property
    def norm(self) -> Any:
        """The Euclidean norm."""
        return root(self.dot(self))


def root(square: Any) -> Any:
    """The square root of an expression, with positive squared factors taken out of it."""
    above, below = (
        _root_of_polynomial(part) for part in sympy.fraction(sympy.cancel(sympy.expand(square)))
    )
    return above / below


def _root_of_polynomial(square: Any) -> Any:
    square = sympy.expand(square)
    if square.is_number:
        return sympy.sqrt(square)
    constant, factors = sympy.factor_list(square)
    outside, inside = sympy.Integer(1), constant
    for factor, power in factors:
        taken = power // 2 if factor.is_nonnegative else 0
        outside, inside = outside * factor**taken, inside * factor ** (power - 2 * taken)
    return outside * sympy.sqrt(sympy.expand(inside))


def zero(counts: tuple[Any, ...]) -> Vector:
    """The zero vector."""
    return Vector((sympy.Integer(0),) * len(counts), counts)


def axis(counts: tuple[Any, ...]) -> Vector:
    """The unit vector of the first entry; `counts` starts with 1."""
    return Vector((sympy.Integer(1), *(sympy.Integer(0),) * (len(counts) - 1)), counts)


def normalised(vector: Vector, centre: bool = True) -> Vector:
    """sqrt(d) P h/|P h|; without `centre` (rms) sqrt(d) h/|h|."""
    if centre:
        mean = sum(n * x for x, n in zip(vector.entries, vector.counts, strict=True)) / sum(
            vector.counts
        )
        vector = Vector(tuple(sympy.factor(x - mean) for x in vector.entries), vector.counts)
    scale = sympy.sqrt(sum(vector.counts)) / vector.norm
    return Vector(tuple(scale * x for x in vector.entries), vector.counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Trainable vectors, named as in the library; `b` is the scalar of the read-out.

    norm: none, pre or post. gain and shift are gamma and beta, None where the norm is bare.
    """

    q: Vector
    k_s: Vector
    k_t: Vector
    k_f: Vector
    v_s: Vector
    v_t: Vector
    v_f: Vector
    r: Vector
    w: Vector
    b: Any = 0
    norm: str = "none"
    attention: str = "softmax"
    gain: Vector | None = None
    shift: Vector | None = None
    centre: bool = True

    def entering(self, vector: Vector) -> Vector:
        """What attention sees of a trainable vector."""
        if self.norm != "pre":
            return vector
        return self._affine(normalised(vector, self.centre))

    def scores(self) -> tuple[Any, Any, Any]:
        """tau <q, k_j> of the read-out token, a target and a filler."""
        query = self.entering(self.q)
        s_s, s_t, s_f = (
            sympy.factor(tau * query.dot(self.entering(key)))
            for key in (self.k_s, self.k_t, self.k_f)
        )
        return s_s, s_t, s_f

    def pencil(self) -> tuple[Vector, Any]:
        """(N, S) with h = r + o = N/S at c targets and m fillers; S = 1 for linear attention."""
        s_s, s_t, s_f = self.scores()
        v_s, v_t, v_f = (self.entering(v) for v in (self.v_s, self.v_t, self.v_f))
        if self.attention == "linear":
            output: Vector = v_s * s_s + v_t * (c * s_t) + v_f * (m * s_f)
            return self.r + output, sympy.Integer(1)
        e_t, e_f = _exp(s_t - s_s), _exp(s_f - s_s)
        total = 1 + c * e_t + m * e_f
        return self.r * total + (v_s + v_t * (c * e_t) + v_f * (m * e_f)), total

    def representation(self) -> Vector:
        """z: h = N/S, or its normalisation under post, which is that of N as S > 0."""
        above, below = self.pencil()
        if self.norm == "post":
            return self._affine(normalised(above, self.centre))
        return Vector(tuple(x / below for x in above.entries), above.counts)

    def yhat(self) -> Any:
        """The regression read-out <w, z> + b."""
        return self.w.dot(self.representation()) + self.b

    def _affine(self, vector: Vector) -> Vector:
        scaled = vector if self.gain is None else self.gain.times(vector)
        return scaled if self.shift is None else scaled + self.shift


def head(counts: tuple[Any, ...], **named: Any) -> Head:
    """A head whose unnamed vectors are zero."""
    vectors = ("q", "k_s", "k_t", "k_f", "v_s", "v_t", "v_f", "r", "w")
    return Head(**{name: zero(counts) for name in vectors} | named)


def _exp(score: Any) -> Any:
    return sympy.exp(sympy.expand(sympy.simplify(score)))


LINE = (sympy.Integer(1), d - 1)  # e_1 and the rest
PLANE = (sympy.Integer(1), sympy.Integer(1), d - 2)  # e_1, e_2 and the rest (rms)
CENTRED = (sympy.Integer(1),) * 3 + (d - 3,)  # three entries of their own and the rest

# Orthonormal directions; F1, F2 sum to 0, so LayerNorm sees them as they are.
F1 = Vector((1 / sympy.sqrt(2), -1 / sympy.sqrt(2), sympy.Integer(0), sympy.Integer(0)), CENTRED)
F2 = Vector((1 / sympy.sqrt(6), 1 / sympy.sqrt(6), -2 / sympy.sqrt(6), sympy.Integer(0)), CENTRED)
E1 = Vector((sympy.Integer(1), sympy.Integer(0), sympy.Integer(0)), PLANE)
E2 = Vector((sympy.Integer(0), sympy.Integer(1), sympy.Integer(0)), PLANE)

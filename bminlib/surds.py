"""Exact numbers of the layer: sums of rational multiples of square roots, and their exponentials.

Both kinds know whether they are 0, so a tie is told from a near miss: square roots of rationals in
different square classes are linearly independent over the rationals (Besicovitch), and so are the
exponentials of different algebraic numbers over the algebraic ones (Lindemann and Weierstrass).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cmp_to_key
from typing import TYPE_CHECKING, Any

from bminlib.errors import UndecidedError

if TYPE_CHECKING:
    from flint import arb, fmpq

MAX_BITS = 1 << 17
_FIRST_BITS = 64


@dataclass(frozen=True, slots=True)
class Surd:
    """The sum of q sqrt(r) over its terms (r, q).

    r > 0 and q != 0 are rational, r = 1 if sqrt(r) is, and no two r differ by a square factor: so
    the number is 0 exactly if there are no terms.
    """

    terms: tuple[tuple[fmpq, fmpq], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.terms)

    def __neg__(self) -> Surd:
        return Surd(tuple((r, -q) for r, q in self.terms))

    def __add__(self, other: Surd) -> Surd:
        return _collected((*self.terms, *other.terms))

    def __sub__(self, other: Surd) -> Surd:
        return self + -other

    def __mul__(self, other: Surd) -> Surd:
        return _collected((r * s, p * q) for r, p in self.terms for s, q in other.terms)

    def times(self, q: Any) -> Surd:
        """The product with a rational number or an integer."""
        return Surd(tuple((r, p * q) for r, p in self.terms) if q else ())

    def ball(self, bits: int) -> arb:
        """Enclosure computed at a working precision of `bits`."""
        from flint import arb, ctx

        with ctx.workprec(bits):
            return sum((arb(r).sqrt() * q for r, q in self.terms), arb(0))

    def sign(self) -> int:
        """-1, 0 or 1; raises UndecidedError at MAX_BITS."""
        signs = {1 if q > 0 else -1 for _, q in self.terms}
        return sum(signs) if len(signs) < 2 else sign_of(self.ball)


@dataclass(frozen=True, slots=True, eq=False)
class Exponentials:
    """The real numbers e^E for a few surds E, up to one positive factor that all share.

    Combinations of them with surds as coefficients have exact signs. `order` has each E's place
    among the different values, the greatest first; `below` has those, less the greatest.
    """

    order: tuple[int, ...]
    below: tuple[Surd, ...]
    _cache: dict[int, list[arb]] = field(default_factory=dict, repr=False)

    def balls(self, bits: int) -> list[arb]:
        """Enclosures of the e^E, divided by the greatest of them."""
        distinct = self._distinct(bits)
        return [distinct[place] for place in self.order]

    def sign(self, coefficients: Sequence[Surd]) -> int:
        """The sign of the sum of coefficient e^E; raises UndecidedError at MAX_BITS."""
        sums = [Surd() for _ in self.below]
        for place, coefficient in zip(self.order, coefficients, strict=True):
            if coefficient:
                sums[place] += coefficient
        signs = {total.sign() for total in sums if total}
        return sum(signs) if len(signs) < 2 else sign_of(lambda bits: self._sum(sums, bits))

    def _sum(self, sums: Sequence[Surd], bits: int) -> arb:
        from flint import arb, ctx

        with ctx.workprec(bits):
            parts = zip(sums, self._distinct(bits), strict=True)
            return sum((total.ball(bits) * power for total, power in parts if total), arb(0))

    def _distinct(self, bits: int) -> list[arb]:
        from flint import ctx

        if bits not in self._cache:
            with ctx.workprec(bits):
                self._cache[bits] = [exponent.ball(bits).exp() for exponent in self.below]
        return self._cache[bits]


def exponentials(exponents: Sequence[Surd]) -> Exponentials:
    """The e^E of `exponents`, sorted; raises UndecidedError at MAX_BITS."""
    distinct: list[Surd] = []
    for exponent in exponents:
        if all(exponent - known for known in distinct):
            distinct.append(exponent)
    distinct.sort(key=cmp_to_key(lambda x, y: (y - x).sign()))
    places = ((i for i, known in enumerate(distinct) if not x - known) for x in exponents)
    return Exponentials(
        tuple(next(place) for place in places), tuple(x - distinct[0] for x in distinct)
    )


def rational(number: Any) -> fmpq:
    """An int, a Fraction or a finite float as an exact rational of python-flint."""
    from flint import fmpq

    return fmpq(*number.as_integer_ratio())


def surd(number: Any) -> Surd:
    """A rational number (int, Fraction, float or fmpq) as a Surd."""
    from flint import fmpq

    q = number if isinstance(number, fmpq) else rational(number)
    return Surd(((fmpq(1), q),) if q else ())


def root(radicand: fmpq) -> Surd:
    """The square root of a rational number >= 0."""
    from flint import fmpq

    return _collected([(radicand, fmpq(1))] if radicand else [])


def sign_of(ball: Callable[[int], arb]) -> int:
    """The sign of a nonzero number from its enclosures; raises UndecidedError at MAX_BITS."""
    bits = _FIRST_BITS
    while bits <= MAX_BITS:
        enclosure = ball(bits)
        if enclosure > 0:
            return 1
        if enclosure < 0:
            return -1
        bits *= 2
    raise UndecidedError(f"a sign is still open at {MAX_BITS} bits of working precision")


def _collected(terms: Iterable[tuple[fmpq, fmpq]]) -> Surd:
    """The Surd of terms (r, q), those that differ by a square factor under the root united."""
    from flint import fmpq

    united: dict[fmpq, fmpq] = {}
    for radicand, q in terms:
        for known in (fmpq(1), *united):
            factor = _rational_root(radicand / known)
            if factor is not None:
                united[known] = united.get(known, fmpq(0)) + q * factor
                break
        else:
            united[radicand] = q
    return Surd(tuple((r, q) for r, q in united.items() if q))


def _rational_root(number: fmpq) -> fmpq | None:
    """The square root of a positive rational, None where it is irrational."""
    from flint import fmpq

    if number == 1:
        return number
    above, below = int(number.p), int(number.q)
    top, bottom = math.isqrt(above), math.isqrt(below)
    return fmpq(top, bottom) if (top * top, bottom * bottom) == (above, below) else None

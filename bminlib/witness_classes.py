"""Explicit weights for the classification read-out: scores proportional to 2jc - j^2.

Over j such scores are greatest at j = c, by a margin that shrinks with L while all norms stay
bounded. What is the same for every j changes nothing: rows are centred, to be short.
Source: theorem classification.bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from bminlib.entries import float64_array
from bminlib.errors import DomainError
from bminlib.frames import (
    Frame,
    Vector,
    dyadic,
    dyadic_below,
    first_axis,
    plane_frame,
    power_below,
    power_of_two,
)
from bminlib.layer import Layer
from bminlib.problem import CountingProblem
from bminlib.weights import Weights, exact_weights, to_ball
from bminlib.witness_linear import silenced_vectors

if TYPE_CHECKING:
    import numpy as np
    from flint import arb

MAX_ENTRIES = 1 << 20  # of W, for it is held in memory
_SHORT_BITS = 8


@dataclass(frozen=True, slots=True)
class _Rows:
    """Row j of W is main[j] * (the frame's main) + side[j] * (its side); b's entry is bias[j].

    The three columns have a factor each in `factors`; the first and the last row are the longest.
    """

    frame: Frame
    main: Sequence[Fraction]
    side: Sequence[Fraction]
    bias: Sequence[Fraction]
    factors: tuple[arb, arb, arb]

    def multiplied(self, norm: Fraction, bits: int) -> _Rows:
        """The factors rounded and multiplied in, so that the longest row is about `norm` long."""
        f, g, _ = self.factors
        squares = [
            self.frame.main_square * (to_ball(self.main[j]) * f) ** 2
            + self.frame.side_square * (to_ball(self.side[j]) * g) ** 2
            for j in (0, -1)
        ]
        longest = squares[0].max(squares[1]).sqrt() * (1 + to_ball(power_of_two(2 - bits)))
        common = to_ball(dyadic_below(to_ball(norm) / longest, _SHORT_BITS))
        by_main, by_side, by_one = (dyadic(common * x, bits) for x in self.factors)
        main, side = _times(self.main, by_main), _times(self.side, by_side)
        bias = _times(self.bias, by_one)
        return replace(self, main=main, side=side, bias=bias)


_Parts = tuple[dict[str, Vector], _Rows]


def class_witness(problem: CountingProblem, norm: Fraction, ln_eps: Fraction) -> Weights:
    """Weights of norms <= `norm` whose greatest score is the count's, for every pair.

    Raises DomainError where W would have more than MAX_ENTRIES entries.
    """
    from flint import ctx

    if (problem.L + 1) * problem.d > MAX_ENTRIES:
        raise DomainError(
            f"L={problem.L}, d={problem.d}: W would have over {MAX_ENTRIES} entries; "
            "lower L or d, or take a regression read-out"
        )
    length = problem.L.bit_length()
    with ctx.workprec(128 + 16 * length):
        vectors, rows = _builder(problem)(problem, norm, ln_eps)
        # The place of the greatest score errs by at most about L^2 2^-bits.
        rows = rows.multiplied(norm, _SHORT_BITS + 2 * length)
    return _assembled(problem, vectors, rows, ln_eps)


def _builder(
    problem: CountingProblem,
) -> Callable[[CountingProblem, Fraction, Fraction], _Parts]:
    if problem.norm == "post":
        return _post
    if problem.attention == "linear":
        return _linear
    return _free if problem.norm == "none" else _softmax


def _free(problem: CountingProblem, norm: Fraction, _: Fraction) -> _Parts:
    """z = size (c e1 + e2)/(1 + n)."""
    from flint import arb

    frame = plane_frame(problem)
    size = dyadic_below(to_ball(norm), _SHORT_BITS)
    vectors = dict.fromkeys(("q", "k_s", "k_t", "k_f", "v_f", "r"), frame.vector())
    vectors |= {"v_s": frame.vector(0, size), "v_t": frame.vector(size)}
    slopes, squares = _parabola(problem.L)
    factors = (arb(1), arb(-1), arb(0))
    return vectors, _Rows(frame, slopes, squares, squares, factors)


def _post(problem: CountingProblem, norm: Fraction, _: Fraction) -> _Parts:
    """N = size ((c - L/2) main + height side): scores are exact, whatever divides N."""
    from flint import arb

    frame, L = plane_frame(problem), problem.L
    of_main, of_side = frame.main_square, frame.side_square
    height = power_below(L * (arb(of_main) / of_side).sqrt() / 4)
    size = power_below(to_ball(norm / (L + 3 * height)))
    nothing = frame.vector()
    key = nothing if problem.attention == "softmax" else frame.vector(size)
    vectors = dict.fromkeys(("k_f", "v_f", "r"), nothing) | dict.fromkeys(("q", "k_s", "k_t"), key)
    vectors["v_s"] = frame.vector(-size * L / 2, size * height)
    vectors["v_t"] = frame.vector(size)
    places = [Fraction(2 * j - L, 2) for j in range(L + 1)]
    main = [2 * x * of_side for x in places]
    side = [(Fraction(L * L, 8) - x * x) * of_main / height for x in places]
    rows = _Rows(frame, main, side, main, (arb(1), arb(1), arb(0)))
    return vectors | _even_gain(problem, norm), rows


def _softmax(problem: CountingProblem, norm: Fraction, ln_eps: Fraction) -> _Parts:
    """Equal scores: h is the mean of the images of v_s, v_t, v_f, the corners of a triangle.

    v_f = -v_s; what row j and b_j give at the corners is a multiple of -j^2, 2j and 0 (centred).
    """
    from flint import arb

    frame, inner = plane_frame(problem), _inner(norm)
    loud = frame.polar(inner, arb(1), 2 * _SHORT_BITS)
    across = frame.polar(inner, arb(0), 2 * _SHORT_BITS)
    vectors = dict.fromkeys(("q", "k_s", "k_t", "k_f", "v_s"), loud) | _even_gain(problem, norm)
    vectors |= {"v_t": across, "v_f": [-x for x in loud], "r": frame.vector()}
    layer = _probe(problem, vectors, ln_eps)
    at_main = _along(frame.main, layer.attending("v_s"))
    at_side = _along(frame.side, layer.attending("v_t"))
    slopes, squares = _parabola(problem.L)
    side = [2 * p + x for p, x in zip(slopes, squares, strict=True)]
    return vectors, _Rows(frame, squares, side, squares, (-1 / at_main, 1 / at_side, arb(-1)))


def _linear(problem: CountingProblem, norm: Fraction, ln_eps: Fraction) -> _Parts:
    """h = c times a vector: row j is 2j - L times its direction, b_j carries -j^2."""
    from flint import arb

    bits = 2 * _SHORT_BITS + problem.L.bit_length()
    vectors = silenced_vectors(problem, _inner(norm), ln_eps, bits)
    frame = plane_frame(problem)
    if problem.affine == "learned":  # the gain keeps the first entry only
        frame = Frame((1, *[0] * (problem.d - 1)), (0,) * problem.d)
    N, _ = _probe(problem, vectors, ln_eps).pencil()
    slopes, squares = _parabola(problem.L)
    factors = (arb(1), arb(0), -_along(frame.main, N[1]))
    return vectors, _Rows(frame, slopes, slopes, squares, factors)


def _parabola(L: int) -> tuple[list[Fraction], list[Fraction]]:
    """(2j - L, j^2 - L^2/2) for j = 0..L: centred 2j and j^2."""
    slopes = [Fraction(2 * j - L) for j in range(L + 1)]
    return slopes, [j * j - Fraction(L * L, 2) for j in range(L + 1)]


def _even_gain(problem: CountingProblem, norm: Fraction) -> dict[str, Vector]:
    """gamma with equal entries and beta = 0, where they are learned."""
    from flint import arb

    if problem.affine != "learned":
        return {}
    gain = dyadic_below(to_ball(norm) / arb(problem.d).sqrt(), _SHORT_BITS)
    return {"gamma": [gain] * problem.d, "beta": first_axis(problem.d, Fraction(0))}


def _inner(norm: Fraction) -> arb:
    """A little less than `norm`, so that rounding stays below it."""
    return to_ball(norm * (1 - power_of_two(2 - 2 * _SHORT_BITS)))


def _probe(problem: CountingProblem, vectors: dict[str, Vector], ln_eps: Fraction) -> Layer:
    """The layer in balls before any read-out."""
    unread = {"w": [Fraction(0)] * problem.d}
    regression = replace(problem, readout="regression")
    return Layer.in_balls(exact_weights(regression, vectors | unread, Fraction(0), ln_eps))


def _along(direction: Sequence[int], image: np.ndarray) -> arb:
    from flint import arb

    return sum((x * y for x, y in zip(direction, image, strict=True)), arb(0))


def _times(column: Sequence[Fraction], factor: Fraction) -> list[Fraction]:
    return [factor * x for x in column]


def _assembled(
    problem: CountingProblem, vectors: dict[str, Vector], rows: _Rows, ln_eps: Fraction
) -> Weights:
    """The weights, in float64 where that holds every entry; W is nonzero in few columns."""
    import numpy as np

    directions = zip(rows.frame.main, rows.frame.side, strict=True)
    columns = {
        str(i): [x * p + y * q for x, y in zip(rows.main, rows.side, strict=True)]
        for i, (p, q) in enumerate(directions)
        if p or q
    }
    exact = {
        n: np.array(x, dtype=object) for n, x in (vectors | columns | {"b": rows.bias}).items()
    }
    try:
        arrays = {name: float64_array(name, array) for name, array in exact.items()}
    except DomainError:
        arrays = exact
    zero = arrays["b"] * 0
    W = np.repeat(zero[:, None], problem.d, axis=1)
    for name in columns:
        W[:, int(name)] = arrays.pop(name)
    b = arrays.pop("b")
    return Weights(problem, arrays | {"W": W}, b, ln_eps)

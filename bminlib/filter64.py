"""Gaps in float64 for whole arrays of pairs, each with a proved bound on its error.

Coefficients come from balls as (value, size): their error is at most 3.1 u size, u = 2^-53, with
size >= |value|. The bounds, for x = (1, c, m) with integers below 2^53:

- A linear form sum x_i a_i takes at most 3 roundings a term, a quadratic one at most 5. Together
  with the coefficients' errors that makes less than 6.2 u S and 8.2 u S, S being the same form in
  sizes as computed in float64 (the slack over 6.1 and 8.1 covers the roundings of S).
- With r = S/value < 2^46 for g (for g^2 in post), 1/g is off by a relative 6.6 u r, and
  1/g <= 1.05/value.
- So k + alpha/g is off by at most 16 u (size(k) + (S(alpha) + |alpha| r)/g): 6.6 u S(alpha)/g comes
  from alpha, 6.6 u |alpha| r/g from g, 4.2 u size(k) from k, and 3.1 u of each from the root, the
  quotient and the last sum.
- alpha_f g^2 - alpha <X, X_f>, whose sign is that of the gap's derivative in m, is off by at most
  16 u (size(alpha_f) S(g^2) + S(alpha) S(<X, X_f>)).

Underflow of a form is covered by sizes, which are 0 or above 2^-1021; elsewhere by 2^-1000. An
overflow makes the error infinite or not a number, and no comparison with it holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from bminlib.exact_layer import ExactLayer

if TYPE_CHECKING:
    import numpy as np
    from flint import arb, arb_mat

Array: TypeAlias = "np.ndarray"

SLACK = 16 * 2.0**-53
TINY = 2.0**-1000
BITS = 192
_MAX_CANCELLATION = 2.0**46


@dataclass(frozen=True, slots=True, eq=False)
class Floats:
    """Approximations of real numbers, each with an error of at most 3.1 2^-53 size."""

    value: Array
    size: Array

    def __getitem__(self, key: Any) -> Floats:
        return Floats(self.value[key], self.size[key])

    def __sub__(self, other: Floats) -> Floats:
        return Floats(self.value - other.value, self.size + other.size)

    def scaled(self, factor: Array) -> Floats:
        """The product with numbers whose products round nothing, such as -1 and 1."""
        return Floats(self.value * factor, self.size * abs(factor))


@dataclass(frozen=True, slots=True, eq=False)
class Duels:
    """Counts c with a rival each; their gaps are k + alpha/g.

    c, rival: integers of shape (n,). alpha: shape (3, n). k: shape (n,).
    """

    c: Array
    rival: Array
    alpha: Floats
    k: Floats

    def __getitem__(self, key: Any) -> Duels:
        return Duels(self.c[key], self.rival[key], self.alpha[:, key], self.k[key])


@dataclass(frozen=True, slots=True, eq=False)
class FloatLayer:
    """What all gaps share: g by its masses, shape (3,), or for post by its gram matrix, (3, 3).

    directions: balls of shape (d, 4), the readers of `exact_layer` times e^(E_j).
    """

    g: Floats
    directions: arb_mat
    post: bool
    fillers_matter: bool

    def divisor(self, c: Array, m: Array) -> tuple[Array, Array]:
        """(g, r) at pairs; r is not a number where cancellation leaves too little of g."""
        import numpy as np

        value, size = (square_form if self.post else linear_form)(self.g, c, m)
        ratio = size / value
        ratio = np.where((value > 0) & (ratio < _MAX_CANCELLATION), ratio, np.nan)
        return (np.sqrt(value) if self.post else value), ratio

    def gaps(self, duels: Duels, m: Array) -> tuple[Array, Array]:
        """(gap, error) of duels at m fillers; `m` broadcasts against the duels."""
        alpha, alpha_size = linear_form(duels.alpha, duels.c, m)
        g, ratio = self.divisor(duels.c, m)
        gap = duels.k.value + alpha / g
        return gap, SLACK * (duels.k.size + (alpha_size + abs(alpha) * ratio) / g) + TINY

    def slopes(self, duels: Duels, m: Array) -> tuple[Array, Array]:
        """(slope, error): numbers of the sign of the gaps' derivatives in m, linear in m; post."""
        alpha, alpha_size = linear_form(duels.alpha, duels.c, m)
        square, square_size = square_form(self.g, duels.c, m)
        along, along_size = linear_form(self.g[:, 2], duels.c, m)
        slope = duels.alpha.value[2] * square - alpha * along
        error = SLACK * (duels.alpha.size[2] * square_size + alpha_size * along_size) + TINY
        return slope, error


def float_layer(layer: ExactLayer) -> FloatLayer:
    """The layer's coefficients in float64; only the ratio alpha/g keeps its scale."""
    import numpy as np
    from flint import ctx

    with ctx.workprec(BITS):
        powers = layer.powers.balls(BITS)
        if layer.gram is None:
            masses = [n * p for n, p in zip(layer.masses, powers, strict=True)]
            return FloatLayer(
                floats(np.array(masses)),
                _directions(layer, powers),
                post=False,
                fillers_matter=True,
            )
        gram = np.array([[x.ball(BITS) for x in row] for row in layer.gram])
        scale = _power_of_two([gram[i, i].sqrt() * powers[i] for i in range(3)])
        powers = [p / scale for p in powers]
        column = np.array(powers, dtype=object)[:, None]
        gram = gram * column * column.T
        directions = _directions(layer, powers)
    return FloatLayer(floats(gram), directions, post=True, fillers_matter=layer.fillers_matter)


def floats(balls: Array) -> Floats:
    """Balls of any shape as floats; exact zeros stay exact."""
    import numpy as np

    value = np.array([float(ball.mid()) for ball in balls.flat])
    radius = np.array([float(ball.rad()) for ball in balls.flat])
    zero = np.array([ball.is_zero() for ball in balls.flat])
    spread = np.where(zero, 0.0, (radius + 2.0**-1074) * 2.0**53)
    return Floats(value.reshape(balls.shape), (abs(value) + 1.001 * spread).reshape(balls.shape))


def linear_form(form: Floats, c: Array, m: Array) -> tuple[Array, Array]:
    """(value, size) of the sum of x_i form_i."""
    value, size = form.value, form.size
    return value[0] + c * value[1] + m * value[2], size[0] + c * size[1] + m * size[2]


def square_form(form: Floats, c: Array, m: Array) -> tuple[Array, Array]:
    """(value, size) of the sum of x_i x_j form_ij."""
    value, size = (
        a[0, 0] + c * (2 * a[0, 1] + c * a[1, 1]) + m * (2 * (a[0, 2] + c * a[1, 2]) + m * a[2, 2])
        for a in (form.value, form.size)
    )
    return value, size


def _directions(layer: ExactLayer, powers: list[arb]) -> arb_mat:
    from flint import arb, arb_mat

    columns = []
    for reader, power in zip(layer.readers, (*powers, arb(1)), strict=True):
        column: Any = [arb(0)] * layer.d
        for share, vector in reader.parts:
            factor = share.ball(BITS) * power
            column = [known + factor * x for known, x in zip(column, vector, strict=True)]
        columns.append(column)
    return arb_mat(columns).transpose()


def _power_of_two(lengths: list[arb]) -> arb:
    """A power of two near the greatest of some lengths; 1 if none is known to be positive."""
    from flint import arb

    positive = [x for x in lengths if x > 0]
    if not positive:
        return arb(1)
    greatest = max(positive, key=lambda x: x.log().mid())
    exponent = (greatest.log() / arb(2).log()).mid().floor().unique_fmpz()
    return arb(1) if exponent is None else arb(2) ** int(exponent)

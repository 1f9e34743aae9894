"""Which pairs decide all the others: few m for a count, neighbours for a classification.

Each fact is checked, in float64 with proved errors, for the duels it is used on.

- none and pre: gap times g > 0 is affine in m, so the gap is positive for every m if it is at
  m = 0 and m = L - c.
- post: the derivative of the gap in m has the sign of a linear function. Where its signs at a few m
  show that it vanishes between two of them only, the ends and those two with what lies between
  decide. A sign other than 0 also shows that no state of the row has zero spread.
- A classification compares neighbours only, if for every count i the gap U of i over i + 1 is
  positive at all pairs with c <= i and negative at those with c > i: scores then fall on both
  sides of the right count. For none and pre, U g is affine in (c, m), so its signs in the rows i
  and i + 1 carry over to the corners of both polygons. For post, U g = k |X| + alpha with X and
  alpha affine: concave for k <= 0, so the corners decide; convex for k > 0, and then at least
  alpha + k <X, X_0>/|X_0| for any X_0 (Cauchy and Schwarz), which is affine again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from bminlib.filter64 import SLACK, TINY, Duels, FloatLayer, Floats, linear_form

if TYPE_CHECKING:
    import numpy as np

Array: TypeAlias = "np.ndarray"


def decisive_fillers(layer: FloatLayer, duels: Duels, L: int) -> tuple[Array, Array]:
    """(m, covered): numbers of fillers, shape (points, n), and where they decide the whole row."""
    import numpy as np

    last = L - duels.c
    first = np.zeros_like(last)
    always = np.ones(last.shape, dtype=bool)
    if not layer.fillers_matter:
        return first[None], always
    if not layer.post:
        return np.stack([first, last]), always
    turn = _turning_point(layer, duels, last)
    low, high = np.maximum(turn - 1, 0), np.minimum(turn + 1, last)
    signs = _slope_signs(layer, duels, np.stack([first, low, high, last]))
    before = (low == 0) | (signs[0] * signs[1] > 0)
    after = (high == last) | (signs[2] * signs[3] > 0)
    covered = (signs[0] * signs[3] > 0) | (before & after)
    return np.stack([first, low, turn, high, last]), covered


def neighbours_suffice(layer: FloatLayer, duels: Duels, L: int) -> bool:
    """Whether gaps between neighbours that are positive in their own rows imply all the others.

    duels: (i, i + 1) and (i + 1, i) for some i. False where float64 can't tell.
    """
    import numpy as np

    if not layer.post:
        return True
    up = duels.rival > duels.c
    ends = np.zeros_like(duels.c), L - duels.c
    far_ends = np.where(up, L, 0)
    corners = [(duels.c, m) for m in ends] + [(np.where(up, 0, L), m) for m in (ends[0], far_ends)]
    turn = _turning_point(layer, duels, ends[1]) if layer.fillers_matter else ends[0]
    return all(bool(_positive_plane(layer, duels, turn, c, m).all()) for c, m in corners)


def _positive_plane(layer: FloatLayer, duels: Duels, turn: Array, c: Array, m: Array) -> Array:
    """Whether an affine lower bound of gap times g, or a concave one, is positive at (c, m).

    X_0 is the state at `turn` fillers in the duel's own row. The bounds on the errors are those of
    `filter64`; its scalar products <X, X_0> are off by at most 9.3 u S.
    """
    import numpy as np

    k = duels.k.value - SLACK / 4 * duels.k.size
    alpha, alpha_size = linear_form(duels.alpha, c, m)
    g, ratio = layer.divisor(c, m)
    chord, chord_error = k * g, -k * g * (1 + ratio)
    g_0, ratio_0 = layer.divisor(duels.c, turn)
    rows = [linear_form(layer.g[:, i], duels.c, turn) for i in range(3)]
    product = Floats(np.stack([row for row, _ in rows]), np.stack([size for _, size in rows]))
    along, along_size = linear_form(product, c, m)
    plane, plane_error = k * along / g_0, k * (along_size + abs(along) * ratio_0) / g_0
    convex = k > 0
    bound = alpha + np.where(convex, plane, chord)
    positive: Array = (
        bound > SLACK * (alpha_size + np.where(convex, plane_error, chord_error)) + TINY
    )
    return positive


def _turning_point(layer: FloatLayer, duels: Duels, last: Array) -> Array:
    """A guess, in 0..last, at the m where the gap's derivative vanishes."""
    import numpy as np

    start, _ = layer.slopes(duels, np.zeros_like(last))
    end, _ = layer.slopes(duels, last)
    guess = np.nan_to_num(last * (start / (start - end)), nan=0.0, posinf=0.0, neginf=0.0)
    turn: Array = np.clip(np.rint(guess), 0, last).astype(np.int64)
    return turn


def _slope_signs(layer: FloatLayer, duels: Duels, m: Array) -> Array:
    """The signs of the gaps' derivatives where they are certain, 0 elsewhere."""
    import numpy as np

    slope, error = layer.slopes(duels, m)
    return np.where(abs(slope) > error, np.sign(slope), 0.0)

"""Explicit weights for post-normalisation: yhat - L/2 = W kappa x/sqrt(1 + kappa^2 x^2).

Here x = c - L/2, the read-out has radius W, and fillers leave no trace (r = v_f = 0).
Source: theorems circular.lattice, post.*.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from bminlib.frames import Frame, Vector, dyadic, first_axis, floor_of_middle, frame_of, power_below
from bminlib.problem import CountingProblem
from bminlib.weights import Weights, exact_weights, to_ball

if TYPE_CHECKING:
    from flint import arb


def post_witness(
    problem: CountingProblem, B: arb, slack: Fraction, ln_eps: Fraction, bits: int
) -> tuple[Weights, arb]:
    """(weights, a ball that is positive if they count), as `fractional_witness`; eps must be 0.

    The ball is the room of (kappa W)^-2 between its bounds; at L = 1 it is the least distance of
    yhat from the half-integers.
    """
    above = B * (1 + to_ball(slack / 2))
    frame = frame_of(problem)
    vectors, radius = post_readout(problem, frame, above, bits)
    kappa = _steepness(problem, radius)
    vectors |= _line_vectors(problem, frame, above, kappa, bits)
    made = exact_weights(problem, vectors, Fraction(problem.L, 2), ln_eps)
    return made, _room(problem, vectors, radius)


def post_readout(
    problem: CountingProblem, frame: Frame, norm: arb, bits: int
) -> tuple[dict[str, Vector], arb]:
    """Read-out vectors of this norm, and a ball for their radius W."""
    from flint import arb

    if problem.affine == "bare":
        w = frame.polar(norm, arb(1), bits)
        return {"w": w}, (problem.d * sum((to_ball(x) ** 2 for x in w), arb(0))).sqrt()
    size = dyadic(norm, bits)
    spread = arb(problem.spread_squared).sqrt()
    axis = first_axis(problem.d, size)
    vectors = {"w": axis, "gamma": axis, "beta": [Fraction(0)] * problem.d}
    return vectors, spread * to_ball(size) ** 2


def flatness_bounds(L: int, radius: arb) -> tuple[arb, arb]:
    """The least and greatest Y = (kappa W)^-2 that count to L >= 2 at a radius W.

    z^2/(z + 1/2)^2 < Y + X z^2 < z^2/(z - 1/2)^2 for x = +-z, X = W^-2. The lower bound on Y rises
    up to z + 1/2 = (2X)^(-1/3) and then falls; the upper one binds at z = L/2.
    """
    from flint import arb

    X, half = 1 / radius**2, to_ball(Fraction(1, 2))
    first = to_ball(Fraction(1 if L % 2 else 2, 2))
    turn = floor_of_middle((1 / (2 * X)).root(3) - half - first)
    low = arb(0)
    for step in range(turn - 1, turn + 3):
        z = first + min(max(step, 0), (L - 1) // 2)
        low = low.max((z / (z + half)) ** 2 - X * z * z)
    return low, (arb(L) / (L - 1)) ** 2 - X * L * L / 4


def _steepness(problem: CountingProblem, radius: arb) -> arb:
    """A kappa whose flatness lies in the middle of its bounds."""
    from flint import arb

    if problem.L == 1:
        return arb(2)
    low, high = flatness_bounds(problem.L, radius)
    return 1 / (radius * ((low + high) / 2).sqrt()) if low < high else arb(1)


def _line_vectors(
    problem: CountingProblem, frame: Frame, B: arb, kappa: arb, bits: int
) -> dict[str, Vector]:
    """v_s = side - (L/2) main, v_t = main in multiples that give this kappa, norms <= B."""
    from flint import arb

    L = problem.L
    side = power_below(B / (4 * (1 + kappa * L)))
    side_norm = to_ball(side) * arb(frame.side_square or 1).sqrt()
    main = dyadic(kappa * side_norm / arb(frame.main_square).sqrt(), bits)
    nothing = frame.vector()
    key = nothing if problem.attention == "softmax" else first_axis(problem.d, power_below(B))
    return {
        "q": key,
        "k_s": key,
        "k_t": key,
        "k_f": nothing,
        "v_s": frame.vector(-main * L / 2, side),
        "v_t": frame.vector(main),
        "v_f": nothing,
        "r": nothing,
    }


def _room(problem: CountingProblem, vectors: dict[str, Vector], radius: arb) -> arb:
    """How far the flatness of rounded vectors is inside its bounds; at L = 1 the margin."""
    main, side = _size(vectors["v_t"]), _size(vectors["v_s"], vectors["v_t"], problem.L)
    if problem.L == 1:
        signal = radius * main / (main * main + 4 * side * side).sqrt()
        return signal.min(1 - signal)
    flatness = (side / (main * radius)) ** 2
    low, high = flatness_bounds(problem.L, radius)
    return (flatness - low).min(high - flatness)


def _size(start: Vector, step: Vector | None = None, L: int = 0) -> arb:
    """|start + (L/2) step|."""
    from flint import arb

    moved = start if step is None else [x + y * L / 2 for x, y in zip(start, step, strict=True)]
    return sum((to_ball(x) ** 2 for x in moved), arb(0)).sqrt()

"""Where counts lie and what a read-out makes of them: a segment, an arc or a line, in balls.

Each shape knows the place of a count (m = 0) and the output yhat(c, m). `optimal_shape` is the one
that B_min is reached with; the shapes of given weights come from `weight_shapes`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, TypeAlias

from bminlib import extremal
from bminlib.bounds import Bound
from bminlib.errors import DomainError
from bminlib.frames import floor_of_middle
from bminlib.problem import CountingProblem
from bminlib.supply import Supply, supply

if TYPE_CHECKING:
    from flint import arb


@dataclass(frozen=True, slots=True)
class Segment:
    """Softmax without post-normalisation: h = v_s + share (v_t - v_s), share = c/(a + c) at m = 0.

    yhat = offset + (c gap + m g filler_gap)/(a + c + g m), a = e^(a_s - a_t), g = e^(a_f - a_t).
    length: |v_t - v_s| as attention sees the values.
    """

    score_ratio: arb
    gap: arb
    offset: arb
    filler_ratio: arb
    filler_gap: arb
    length: arb
    kind: Literal["segment"] = "segment"

    def position(self, c: arb) -> arb:
        """The share of the segment, from 0 at v_s to 1 at v_t."""
        return c / (self.score_ratio + c)

    def yhat(self, c: arb, m: arb) -> arb:
        """The output."""
        above = c * self.gap + m * self.filler_ratio * self.filler_gap
        return self.offset + above / (self.score_ratio + c + self.filler_ratio * m)


@dataclass(frozen=True, slots=True)
class Arc:
    """Post-normalisation: the counts lie on a circle at theta = atan(kappa (c - c0)).

    yhat = radius sin(theta + phi) + offset at m = 0; kappa is None in the limit of a step.
    filler_size: |u_f|/|u_t|, how far a filler moves the state beside a target, 0 at the optimum.
    """

    kappa: arb | None
    c0: arb
    phi: arb
    radius: arb
    offset: arb
    filler_size: arb
    kind: Literal["arc"] = "arc"

    def position(self, c: arb) -> arb:
        """theta, in radians from the nearest point of the line that is projected."""
        from flint import arb

        x = c - self.c0
        if self.kappa is not None:
            return (self.kappa * x).atan()
        quarter: arb = arb.pi() / 2
        return quarter if x > 0 else -quarter if x < 0 else arb(0)

    def yhat(self, c: arb, _m: arb) -> arb:
        """The output at m = 0."""
        return self.radius * (self.position(c) + self.phi).sin() + self.offset


@dataclass(frozen=True, slots=True)
class Ray:
    """Linear attention without post-normalisation: h = h_0 + c step, yhat = offset + slope c."""

    slope: arb
    offset: arb
    filler_slope: arb
    length: arb
    kind: Literal["line"] = "line"

    def position(self, c: arb) -> arb:
        """In steps of a target."""
        return c

    def yhat(self, c: arb, m: arb) -> arb:
        """The output."""
        return self.offset + self.slope * c + self.filler_slope * m


Shape: TypeAlias = Segment | Arc | Ray


def optimal_shape(bound: Bound) -> Shape:
    """The shape that reaches B_min, at the current precision, for a regression with L >= 2.

    A bare pre placement beyond its end gets the shape of least largest error at m = 0.
    Raises DomainError for L = 1, and where no shape exists. Source: theorems fractional.demand,
    circular.lattice, linear.rounded.
    """
    problem = bound.problem
    if problem.L == 1:
        raise DomainError(
            "L=1: yhat = 1/2 serves both counts, so they may lie anywhere; take L >= 2"
        )
    if bound.value is None and bound.theorem != "pre.bare.horizon":
        raise DomainError(f"no weights count, so there is nothing to draw: {bound.reason}")
    if problem.norm == "post":
        return _optimal_arc(problem)
    if problem.attention == "linear":
        return _optimal_ray(bound)
    return _least_error_segment(problem) if bound.value is None else _optimal_segment(bound)


def least_error(L: int, a: arb) -> arb:
    """The least possible largest error |yhat - c| over counts 0..L at m = 0, at score ratio a.

    The error is concave in c, so the best read-out has it at -t for 0 and L and at t in between:
    t = max over k of k(L-k)/(2(a+k)), whose peak over real k is at sqrt(a(a+L)) - a.
    """
    from flint import arb

    peak = floor_of_middle((a * (a + L)).sqrt() - a)
    rows = [min(max(k, 0), L) for k in (peak, peak + 1)]
    first, second = (arb(k * (L - k)) / (2 * (a + k)) for k in rows)
    return first.max(second)


def least_eps_ratio(problem: CountingProblem) -> arb | None:
    """The greatest a = 1/eps that bare scores attain, e^(2 tau d); None where norms set it."""
    from flint import ctx

    score_range = supply(problem).score_range if problem.norm != "post" else None
    return None if score_range is None else score_range.ball(ctx.prec).exp()


def _optimal_segment(bound: Bound) -> Segment:
    from flint import arb

    problem, has, B = bound.problem, supply(bound.problem), _value_ball(bound)
    a, gap = _ratio_and_gap(bound, has)
    touch = bound.active[0]
    side = 1 if touch.side == "+" else -1
    offset = touch.c + arb(side) / 2 - gap * touch.c / (a + touch.c)
    length = 2 * arb(problem.d).sqrt() if problem.affine == "bare" else gap / B
    return Segment(a, gap, offset, arb(1), arb(0), length)


def _ratio_and_gap(bound: Bound, has: Supply) -> tuple[arb, arb]:
    """(a, D) of the optimum."""
    from flint import arb, ctx

    problem = bound.problem
    L = problem.L
    two_ratios = problem.two_points and problem.affine == "bare"
    if L > 3 and not two_ratios:
        return arb(extremal.least_score_ratio(L)), arb(extremal.least_gap(L))
    gap = _value_ball(bound) ** has.power * has.capacity.ball(ctx.prec)
    if has.score_range is not None:
        reach = has.score_range.ball(ctx.prec)
    elif has.score_rate is not None:
        reach = gap * has.score_rate.ball(ctx.prec)
    else:
        raise TypeError("softmax scores have a range or a rate")
    if L == 2:
        return (-reach).exp(), gap
    free_at_three = L == 3 and not two_ratios and reach > arb(3).log() / 2
    return (arb(3).sqrt() if free_at_three else reach.exp()), gap


def _least_error_segment(problem: CountingProblem) -> Segment:
    """yhat(0) = -t, yhat(L) = L - t."""
    from flint import arb

    a = least_eps_ratio(problem)
    if a is None:
        raise TypeError("only bare scores have a least eps")
    error, L = least_error(problem.L, a), problem.L
    return Segment(a, a + L, -error, arb(1), arb(0), 2 * arb(problem.d).sqrt())


def _optimal_arc(problem: CountingProblem) -> Arc:
    """c0 = L/2, phi = 0; (kappa W)^-2 = L^2/(L-1)^2 - L^2/(4 W^2), 0 up to L = 4."""
    from flint import arb

    L, square = problem.L, extremal.least_radius_squared(problem.L)
    flatness = Fraction(L * L, (L - 1) ** 2) - L * L / (4 * square)
    radius, middle = _ball(square).sqrt(), arb(L) / 2
    kappa = 1 / (radius * _ball(flatness).sqrt()) if flatness else None
    return Arc(kappa, middle, arb(0), radius, middle, arb(0))


def _optimal_ray(bound: Bound) -> Ray:
    from flint import arb

    slope = _ball(Fraction(extremal.linear_slope(bound.problem.L)))
    return Ray(slope, arb(1) / 2, arb(0), slope / _value_ball(bound))


def _value_ball(bound: Bound) -> arb:
    from flint import ctx

    if bound.value is None:
        raise TypeError("an infeasible bound has no value")
    return bound.value.ball(ctx.prec)


def _ball(number: Fraction) -> arb:
    from flint import arb, fmpq

    return arb(fmpq(*number.as_integer_ratio()))

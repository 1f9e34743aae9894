"""Optimality systems: Newton's method at any precision, and Krawczyk's proof of the root in balls.

Minimise an objective under constraints that all hold with equality: with multipliers l,
grad objective + sum l_i grad g_i = 0 and g_i = 0. z = (v, l).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from bminlib.errors import UndecidedError
from bminlib.solve.curves import Parts

if TYPE_CHECKING:
    from flint import arb

Model = Callable[[Sequence[Any]], Parts]

_STEPS, _INFLATIONS = 60, 12


class Root(NamedTuple):
    """Balls that hold the only root near them."""

    v: list[arb]
    multipliers: list[arb]


class System(NamedTuple):
    """An objective and its active constraints, g <= 0 each; `equations` says what they are."""

    objective: Model
    constraints: Sequence[Model]
    equations: str

    def residual(self, z: Sequence[Any], n: int) -> tuple[list[Any], list[list[Any]]]:
        """(F, its Jacobian) at z, whose first n entries are v."""
        v, multipliers = z[:n], z[n:]
        goal = self.objective(v)
        parts = [constraint(v) for constraint in self.constraints]
        pull = list(goal.gradient)
        corner = [[0] * n for _ in range(n)]
        for weight, part in zip((1, *multipliers), (goal, *parts), strict=True):
            if part is not goal:
                pull = [x + weight * g for x, g in zip(pull, part.gradient, strict=True)]
            for (i, j), bend in part.hessian.items():
                corner[i][j] += weight * bend
                if i != j:
                    corner[j][i] += weight * bend
        borders = [part.gradient for part in parts]
        rows = [row + [g[i] for g in borders] for i, row in enumerate(corner)]
        rows += [[*g, *(0 for _ in parts)] for g in borders]
        return pull + [part.value for part in parts], rows


def newton(system: System, v: Sequence[arb], multipliers: Sequence[arb] | None) -> Root:
    """A root by Newton's method from v at the current precision, without proof.

    Raises UndecidedError, with the equations and the precision, where it does not converge.
    """
    from flint import arb, ctx

    n = len(v)
    z = [x.mid() for x in (*v, *(multipliers or _least_squares(system, v)))]
    near, far = arb(2) ** (-ctx.prec // 2), arb(2) ** ctx.prec
    for _ in range(_STEPS):
        z, size = _step(system, z, n)
        if size < near:
            z, _ = _step(system, z, n)  # for the second half of the digits
            return Root(z[:n], z[n:])
        if not size < far:
            break
    raise _failure(system, f"Newton's method did not converge in {_STEPS} steps")


def _step(system: System, z: list[arb], n: int) -> tuple[list[arb], arb]:
    """(z after a Newton step, the step's size against 1 + |z|)."""
    from flint import arb_mat

    values, rows = system.residual(z, n)
    try:
        step = arb_mat(rows).solve(arb_mat([[x] for x in values]))
    except ZeroDivisionError as error:
        raise _failure(system, "the Jacobian is singular") from error
    sizes = (abs(step[i, 0]).upper() / (1 + abs(x)) for i, x in enumerate(z))
    return [(x - step[i, 0]).mid() for i, x in enumerate(z)], max(sizes)


def krawczyk(system: System, near: Root) -> Root:
    """The root near `near`, enclosed and proved to be the only one in a box around it.

    Raises UndecidedError, with the equations and the precision, where the proof fails.
    """
    from flint import arb, arb_mat, ctx

    z, n = [*near.v, *near.multipliers], len(near.v)
    values, rows = system.residual(z, n)
    try:
        inverse = arb_mat(rows).inv().mid()
    except ZeroDivisionError as error:
        raise _failure(system, "the Jacobian is singular") from error
    shift = inverse * arb_mat([[x] for x in values])
    unit = arb_mat([[int(i == j) for j in range(len(z))] for i in range(len(z))])
    least = arb(2) ** (-2 * ctx.prec)  # a radius of 0 leaves no interior
    radii = [abs(shift[i, 0]).upper() * 2 + least for i in range(len(z))]
    for _ in range(_INFLATIONS):
        box = [x + arb(0, r) for x, r in zip(z, radii, strict=True)]
        jacobian = arb_mat(system.residual(box, n)[1])
        spread = (unit - inverse * jacobian) * arb_mat([[arb(0, r)] for r in radii])
        image = [x - shift[i, 0] + spread[i, 0] for i, x in enumerate(z)]
        if all(b.contains_interior(k) for b, k in zip(box, image, strict=True)):
            return Root(image[:n], image[n:])
        radii = [4 * max(r, abs(k - x).upper()) for r, k, x in zip(radii, image, z, strict=True)]
    raise _failure(system, "Krawczyk's operator does not map a box into itself")


def curvature_sign(system: System, root: Root) -> int | None:
    """1 for a strict minimum along the one free direction (or none is free), -1 for a maximum.

    The determinant of the Jacobian has the sign (-1)^constraints there. None where it is open.
    """
    from flint import arb_mat

    z, n = [*root.v, *root.multipliers], len(root.v)
    determinant = arb_mat(system.residual(z, n)[1]).det() * (-1) ** len(root.multipliers)
    if determinant > 0:
        return 1
    return -1 if determinant < 0 else None


def _least_squares(system: System, v: Sequence[arb]) -> list[arb]:
    """Multipliers that fit the gradients at v best."""
    from flint import arb_mat

    goal = system.objective(v)
    gradients = arb_mat([constraint(v).gradient for constraint in system.constraints])
    right = -(gradients * arb_mat([[g] for g in goal.gradient]))
    try:
        fit = (gradients * gradients.transpose()).solve(right)
    except ZeroDivisionError as error:
        raise _failure(system, "the constraints' gradients are dependent") from error
    return [fit[i, 0] for i in range(len(system.constraints))]


def _failure(system: System, reason: str) -> UndecidedError:
    from flint import ctx

    return UndecidedError(f"{system.equations}: {reason} at {ctx.prec} bits of precision")

"""Exchange: solve the optimality system of the active counts, move them to the extremes, repeat.

What comes out is proved: the root is enclosed and unique, its multipliers are positive, it is a
minimum along its free direction, and every other count lies strictly inside or is an exact tie.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from bminlib.errors import UndecidedError
from bminlib.powers import short_integer
from bminlib.solve.curves import Curve, Parts
from bminlib.solve.lattice import error_at, lattice_turn, turn_is_proved
from bminlib.solve.optimality import Model, Root, System, curvature_sign, krawczyk, newton
from bminlib.solve.rationals import simplest_in

if TYPE_CHECKING:
    from flint import arb

_ROUNDS = 60


class OutsideError(UndecidedError):
    """At the root, a count beside the active ones is proved not to be counted."""


class Row(NamedTuple):
    """An active count: yhat = c + side/2, side 1 or -1; yhat = c where side is 0."""

    c: int
    side: int


class Optimum(NamedTuple):
    """A proved root, the rows that its multipliers belong to, and ties: rows that touch too."""

    root: Root
    rows: tuple[Row, ...]
    ties: tuple[Row, ...]
    bits: int


class Task(NamedTuple):
    """A curve up to L and constraints besides its counts."""

    curve: Curve
    L: int
    extra: tuple[Model, ...] = ()
    name: str = ""

    def system(self, rows: Sequence[Row]) -> System:
        """The optimality system in which these counts are active."""
        from flint import fmpq

        eps = fmpq(1, self.L)
        constraints = (*(_row_model(self, row) for row in rows), *self.extra)
        counts = [(short_integer(row.c), _SIDES[row.side]) for row in rows]
        touched = ", ".join(f"yhat({c}) = {c}{side}" for c, side in counts)
        also = f", {self.name}" if self.name else ""
        return System(lambda v: self.curve.objective(v, eps), constraints, touched + also)


_SIDES = {1: " + 1/2", -1: " - 1/2", 0: ""}


def settle(
    task: Task, rows: Sequence[Row], v: Sequence[arb], bits: int, coarse_bits: int
) -> Optimum:
    """The proved optimum that the exchange leads to from `rows` and v.

    Raises UndecidedError where a step fails at this precision.
    """
    from flint import ctx

    with ctx.workprec(min(bits, coarse_bits)):
        rows, near = _exchanged(task, tuple(rows), v)
    with ctx.workprec(bits):
        system = task.system(rows)
        root = krawczyk(system, newton(system, near.v, near.multipliers))
        _check_signs(system, root, rows)
        return Optimum(root, rows, _ties(task, system, root, rows), bits)


def _exchanged(task: Task, rows: tuple[Row, ...], v: Sequence[arb]) -> tuple[tuple[Row, ...], Root]:
    """Rows that stay where they are, and the root of their system."""
    near = newton(task.system(rows), v, None)
    for _ in range(_ROUNDS):
        moved = _moved(task, rows, near.v)
        if moved == rows:
            return rows, near
        rows = moved
        near = newton(task.system(rows), near.v, near.multipliers)
    raise UndecidedError(
        f"the exchange of active counts did not end: {task.system(rows).equations}"
    )


def _moved(task: Task, rows: tuple[Row, ...], v: Sequence[arb]) -> tuple[Row, ...]:
    """The rows with each turn at the extreme count next to it, unless that is no better."""
    from flint import arb, ctx

    moved = list(rows)
    for place, side in turning(task, rows):
        old = rows[place].c
        new = lattice_turn(task.curve, v, task.L, old, side)
        gain = side * (error_at(task.curve, v, new, task.L) - error_at(task.curve, v, old, task.L))
        if gain.mid() > arb(2) ** (-ctx.prec // 2):
            moved[place] = Row(new, side)
    return tuple(moved)


def turning(task: Task, rows: Sequence[Row]) -> list[tuple[int, int]]:
    """(place in rows, side) of the row at each turn of the curve, those that have one."""
    found = []
    after = 0
    for side in task.curve.turns:
        ends = (0,) if len(task.curve.turns) > 1 and side == 1 else (task.L,) if side == -1 else ()
        for place in range(after, len(rows)):
            if rows[place].side == side and rows[place].c not in ends:
                found.append((place, side))
                after = place + 1
                break
    return found


def _check_signs(system: System, root: Root, rows: Sequence[Row]) -> None:
    """Raises UndecidedError unless the root is a minimum with multipliers of the right sign."""
    from flint import ctx

    signed = [m for m, row in zip(root.multipliers, rows, strict=False) if row.side]
    signed += root.multipliers[len(rows) :]
    if not all(multiplier > 0 for multiplier in signed):
        reason = "a multiplier is not proved positive"
    elif len(root.v) - len(root.multipliers) > 1 or curvature_sign(system, root) != 1:
        reason = "the root is not proved to be a minimum"
    else:
        return
    raise UndecidedError(f"{system.equations}: {reason} at {ctx.prec} bits of precision")


def _ties(task: Task, system: System, root: Root, rows: Sequence[Row]) -> tuple[Row, ...]:
    """Rows beside the active ones that touch exactly; UndecidedError if any count is outside."""
    from flint import ctx

    if all(row.side == 0 for row in rows):  # two counts at L = 1, or a line
        return ()
    turns = turning(task, rows)
    curve, v, L = task.curve, root.v, task.L
    pinned = all(turn_is_proved(curve, v, L, rows[place].c, side) for place, side in turns)
    places = {0, L, *(rows[place].c for place, _ in turns)}
    beside = [Row(c, side) for c in sorted(places) for side in (1, -1)]
    beside = [row for row in beside if row not in rows and Row(row.c, 0) not in rows]
    open_rows = [row for row in beside if not 2 * row.side * error_at(curve, v, row.c, L) < 1]
    if pinned and not open_rows and len(turns) == len(curve.turns):
        return ()
    if any(2 * row.side * error_at(curve, v, row.c, L) > 1 for row in open_rows):
        raise OutsideError(f"{system.equations}: another count lies outside")
    exact = _exact_root(system, root) if curve.rational and not task.extra else None
    if exact is None:
        raise UndecidedError(
            f"{system.equations}: a count is not proved inside at {ctx.prec} bits of precision"
        )
    return _exact_ties(task, exact, rows, turns)


def _exact_root(system: System, root: Root) -> list[Any] | None:
    """v in rationals, where the root is rational: the system has no other root in the balls."""
    z = simplest_in([*root.v, *root.multipliers])
    values, _ = system.residual(z, len(root.v))
    return z[: len(root.v)] if all(value == 0 for value in values) else None


def _exact_ties(
    task: Task, v: list[Any], rows: Sequence[Row], turns: Sequence[tuple[int, int]]
) -> tuple[Row, ...]:
    """The same in rational arithmetic, where a tie is an equality."""
    places = {0, task.L}
    for place, _ in turns:
        places.update(k for k in range(rows[place].c - 1, rows[place].c + 2) if 0 <= k <= task.L)
    errors = {c: error_at(task.curve, v, c, task.L) for c in places}
    peaks_hold = all(
        side * errors[rows[place].c] >= side * errors[c]
        for place, side in turns
        for c in places
        if abs(c - rows[place].c) == 1
    )
    if not peaks_hold or any(2 * abs(e) > 1 for e in errors.values()):
        raise OutsideError(f"{task.system(rows).equations}: another count lies outside")
    touching = (Row(c, 1 if e > 0 else -1) for c, e in sorted(errors.items()) if 2 * abs(e) == 1)
    return tuple(row for row in touching if row not in rows)


def _row_model(task: Task, row: Row) -> Model:
    """side e(c) - 1/2, or e(c)."""
    from flint import fmpq

    y, eps = fmpq(row.c, task.L), fmpq(1, task.L)
    side, half = row.side or 1, fmpq(1 if row.side else 0, 2)

    def model(v: Sequence[Any]) -> Parts:
        value, gradient, hessian = task.curve.error(v, y, eps)
        if side == 1:
            return Parts(value - half, gradient, hessian)
        bends = {place: -bend for place, bend in hessian.items()}
        return Parts(-value - half, [-g for g in gradient], bends)

    return model

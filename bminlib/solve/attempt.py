"""One attempt at one precision: which curve a placement has, and which of its budgets binds.

Fillers never bind. With the key of a target and the value of the read-out token they leave yhat
between its value at (c, 0) and the chord from (0, 0) to (L, 0); after post-normalisation v_f = -r,
and in linear attention a value that the read-out does not see, leave yhat as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from bminlib.demand import Touch
from bminlib.errors import UndecidedError
from bminlib.powers import short_integer
from bminlib.problem import CountingProblem
from bminlib.solve.coarse import Guess, coarse
from bminlib.solve.curves import Arc, Line, Parts, Share, ShareAt
from bminlib.solve.exchange import Optimum, OutsideError, Row, Task, settle
from bminlib.solve.solver import Solution
from bminlib.supply import supply

if TYPE_CHECKING:
    from flint import arb

_VANISHING = 1e-5  # the coarse start's alpha, where the score ratio tends to 0


class Attempt:
    """The problem at a working precision; the exchange runs at `coarse_bits`."""

    def __init__(self, problem: CountingProblem, bits: int, coarse_bits: int) -> None:
        """Budgets in balls at `bits`."""
        self._problem, self._L = problem, problem.L
        self._bits, self._coarse_bits = bits, min(bits, coarse_bits)
        has = supply(problem)
        self._reach, self._power = has.capacity.ball(bits), has.power
        rate, span = has.score_rate, has.score_range
        self._rate = None if rate is None else rate.ball(bits)
        self._span = None if span is None else span.ball(bits)

    def solution(self) -> Solution:
        """The solution; raises UndecidedError where this precision does not decide."""
        p = self._problem
        exact = p.exactness == "exact"
        if p.L == 1 and not exact:
            return self._constant()
        if p.norm == "post":
            return self._arc(exact)
        if p.attention == "linear":
            return self._line(exact)
        if exact:
            return self._exact_share()
        return self._points() if p.two_points and p.affine == "bare" else self._share()

    def _constant(self) -> Solution:
        """yhat = 1/2 for both counts, from a read-out of norm 0."""
        from flint import arb

        touches = (Touch(0, "+"), Touch(1, "-"))
        return Solution(self._problem, arb(0), active=touches, equations="yhat = 1/2")

    def _line(self, exact: bool) -> Solution:
        """A line's errors are extreme at its ends."""
        if self._problem.two_points and self._problem.affine == "bare":
            return self._none("a filler's score can't vanish, so it moves yhat as a target does")
        rows = [Row(0, 0 if exact else 1), Row(self._L, 0 if exact else -1)]
        task = Task(Line(), self._L)
        found = self._settled(task, rows, [0, 0])
        return self._of(task, found, 1 + found.root.v[1] / self._L)

    def _arc(self, exact: bool) -> Solution:
        """An arc, or the step that arcs tend to where a step serves all counts."""
        if self._problem.two_points and self._L > 1:
            return self._none(f"z has 2 values < L + 1 = {short_integer(self._L + 1)} counts")
        if exact and self._L > 2:
            return self._none("yhat - c turns twice at most, so it vanishes at 3 counts at most")
        if self._L <= 4:  # two values, each for two counts, and one count between them
            return self._step(exact)
        guess = coarse(Arc(_array_root), self._L)
        task = Task(Arc(_ball_root), self._L)
        found = self._settled(task, _rows(guess), guess.v)
        square = task.curve.objective(found.root.v, self._eps()).value
        return self._of(task, found, (square * self._L**3).sqrt())

    def _step(self, exact: bool) -> Solution:
        """yhat = b - W below the step and b + W above it."""
        from flint import arb

        L = self._L
        radius = arb(L if exact else L - 1) / 2
        inner = (Touch(1, "-"), Touch(L - 1, "+")) if L > 2 else ()
        touches = () if exact else (Touch(0, "+"), *inner, Touch(L, "-"))
        equations = "b - W = yhat(0), b + W = yhat(L), in the limit of a step"
        return Solution(self._problem, self._norm(radius), None, touches, equations, self._bits)

    def _exact_share(self) -> Solution:
        """Softmax, yhat = c: only L = 1, at the least score ratio."""
        if self._L > 1:
            return self._none("yhat - c is strictly concave, so it vanishes at 2 counts at most")
        return self._both([Row(0, 0), Row(1, 0)], [0, 1, 0], -1)

    def _share(self) -> Solution:
        """Softmax after rounding: the gap binds, or the scores, or both."""
        task, guess = Task(Share(), self._L), coarse(Share(), self._L)
        if guess.v[2] < _VANISHING:
            return self._both(_pair(_rows(guess)), guess.v, -1)
        found = self._settled(task, _rows(guess), guess.v)
        gap, log_ratio = self._gap(found), self._log_ratio(found)
        if _less(abs(log_ratio), self._allowed(gap)):
            return self._of(task, found, gap)
        side = 1 if log_ratio > 0 else -1
        if side > 0:
            bound = self._by_scores()
            if bound is not None:
                return bound
        return self._both(_pair(found.rows), found.root.v, side)

    def _by_scores(self) -> Solution | None:
        """The least score ratio, where it costs more than its gap or is out of reach."""
        task, guess = Task(Share("ratio"), self._L), coarse(Share("ratio"), self._L)
        found = self._settled(task, _rows(guess), guess.v)
        log_ratio = self._log_ratio(found)
        if self._rate is None:
            if _less(log_ratio, self._allowed(log_ratio)):
                return None
            needed, most = log_ratio.str(12), self._allowed(log_ratio).str(12)
            return self._none(f"least a_s - a_t = {needed} > {most}, the most that scores allow")
        amount = log_ratio / self._rate
        return self._of(task, found, amount) if _less(self._gap(found), amount) else None

    def _both(self, rows: list[Row], v: Sequence[Any], side: int) -> Solution:
        """Two counts, and scores as far apart as the norms allow: a_s - a_t = side times that."""
        from flint import arb

        task = self._at_scores(side)
        gap = arb(v[2]) * self._L**2 + arb(v[1]) * self._L
        alpha = (side * self._allowed(gap)).exp() / self._L**2
        found = self._settled(task, rows, [*v[:2], alpha])
        return self._of(task, found, self._gap(found))

    def _points(self) -> Solution:
        """Softmax with two-valued keys: a_s - a_t is 0, or as great as it gets either way."""
        from flint import arb, fmpq

        span = self._span if self._span is not None else arb(0)
        answers = [self._point(ratio) for ratio in ((-span).exp(), fmpq(1), span.exp())]
        known = [answer for answer in answers if answer is not None]
        if not known:
            return self._none(
                f"no gap counts at a_s - a_t = 0 or +-{span.str(12)}, the only scores"
            )
        return self._of(*reduce(lambda x, y: y if _less(y[2], x[2]) else x, known))

    def _point(self, ratio: Any) -> tuple[Task, Optimum, Any] | None:
        """The least gap at one score ratio; None where no gap leaves any room to count."""
        task = Task(ShareAt(ratio / self._L**2), self._L)
        rows = [Row(self._L // 2, 1), Row(self._L, -1)]
        try:
            found = self._settled(task, rows, [0, 1])
        except OutsideError:
            return None
        if Row(0, -1) in found.ties:  # a single gap and offset, none that counts strictly
            return None
        return task, found, ratio + found.root.v[1] * self._L

    def _at_scores(self, side: int) -> Task:
        """Shares whose score difference is side times the greatest."""
        L, rate = self._L, 0 if self._rate is None else self._rate
        span = 0 if self._span is None else self._span

        def model(v: Sequence[Any]) -> Parts:
            """side (a - e^(side (rate D + span)))/L^2."""
            reach = (side * (rate * (v[2] * L + v[1]) * L + span)).exp()
            slope = rate * reach
            bend = -side * rate * slope
            hessian = {(1, 1): bend, (1, 2): bend * L, (2, 2): bend * L * L}
            return Parts(side * (v[2] - reach / L**2), [0, -slope / L, side - slope], hessian)

        sign = "" if side > 0 else "-"
        return Task(Share(), L, (model,), f"a_s - a_t = {sign}(the most that the norms allow)")

    def _settled(self, task: Task, rows: Sequence[Row], v: Sequence[Any]) -> Optimum:
        from flint import arb

        return settle(task, rows, [arb(x) for x in v], self._bits, self._coarse_bits)

    def _gap(self, found: Optimum) -> arb:
        """D = (alpha L + delta) L."""
        _, delta, alpha = found.root.v
        return (alpha * self._L + delta) * self._L

    def _log_ratio(self, found: Optimum) -> arb:
        return (found.root.v[2] * self._L**2).log()

    def _allowed(self, gap: arb) -> arb:
        """The most that |a_s - a_t| can be where the norms supply this gap."""
        if self._rate is not None:
            return self._rate * gap
        if self._span is not None:
            return self._span
        raise TypeError("only softmax attention has scores that matter")

    def _eps(self) -> Any:
        from flint import fmpq

        return fmpq(1, self._L)

    def _norm(self, amount: arb) -> arb:
        """The norm at which the budget supplies this amount."""
        return (amount / self._reach).root(self._power) if self._power > 1 else amount / self._reach

    def _of(self, task: Task, found: Optimum, amount: arb) -> Solution:
        touching = sorted(row for row in (*found.rows, *found.ties) if row.side)
        touches = tuple(Touch(row.c, "+" if row.side > 0 else "-") for row in touching)
        equations = task.system(found.rows).equations
        return Solution(self._problem, self._norm(amount), None, touches, equations, found.bits)

    def _none(self, reason: str) -> Solution:
        return Solution(self._problem, None, reason, bits=self._bits)


def _rows(guess: Guess) -> list[Row]:
    return [Row(c, side) for c, side, _ in guess.rows]


def _pair(rows: Sequence[Row]) -> list[Row]:
    """The two counts that force a gap: yhat is high at one, and low at least two further on."""
    low = max(row for row in rows if row.side < 0)
    before = [row.c for row in rows if row.side > 0 and row.c <= low.c - 2]
    return [Row(max(before, default=low.c - 2), 1), low]


def _less(x: arb, y: arb) -> bool:
    if x < y:
        return True
    if x > y:
        return False
    raise UndecidedError(f"{x.str(20)} and {y.str(20)} are not told apart")


def _array_root(x: Any) -> Any:
    import numpy as np

    return np.sqrt(x)


def _ball_root(x: Any) -> Any:
    return x.sqrt()

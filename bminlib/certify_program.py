"""The small linear programs of a certificate's search, by a simplex tableau with cuts.

For a few arcs at once (the corners of a box) with points u_k(c) on the unit circle, it looks for
weights n on the counts, summing to 0 and with N = sum n_c c - sum |n_c|/2 = 1, that make
max_k |sum n_c u_k(c)| + sum |n_c| rho_c small. Lengths are cut by tangents: primal simplex from the
weights on 0 and L alone, then dual simplex after each cut. Nothing here has to be right: weights
that are wrong close no box.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np

Array: TypeAlias = "np.ndarray"

_MAX_CUTS, _MAX_PIVOTS = 40, 2000
_OPTIMAL, _PIVOT, _SAME = 1e-12, 1e-9, 1e-13


def best_weights(points: Array, rho: Array, enough: float) -> tuple[Array, float]:
    """(weights, value) of the best weights found; stops once the value is `enough` or can't be.

    points: shape (corners, L + 1, 2). rho: shape (L + 1,). The weights have shape (L + 1,).
    """
    import numpy as np

    L = len(rho) - 1
    weights = np.zeros(L + 1)
    weights[[0, L]] = -1 / (L - 1), 1 / (L - 1)
    found, value = weights, float("inf")
    sums, lengths = _sums(points, weights)
    worst = int(lengths.argmax())
    tableau = _Tableau(rho, points[worst] @ sums[worst] / max(lengths[worst], 1e-300))
    going = tableau.primal()
    while going and (solution := tableau.solution()) is not None:
        weights, longest = solution
        sums, lengths = _sums(points, weights)
        worst, rest = int(lengths.argmax()), float(abs(weights) @ rho)
        if lengths[worst] + rest < value:
            found, value = weights, float(lengths[worst]) + rest
        done = lengths[worst] <= max(longest, 0.0) * (1 + _SAME)
        if value <= enough or longest + rest > enough > 0 or done:
            break
        going = tableau.cut(points[worst] @ sums[worst] / lengths[worst])
    return found, value


def _sums(points: Array, weights: Array) -> tuple[Array, Array]:
    """(sum n_c u_k(c), its length) for each corner k."""
    import numpy as np

    sums = weights @ points
    return sums, np.hypot(sums[:, 0], sums[:, 1])


class _Tableau:
    """Columns: weights above 0, below 0, the length, a slack a cut; the last one is the right side.

    Rows: the sum of the weights, N, then the cuts, each as length - <direction, sum> >= 0.
    """

    def __init__(self, rho: Array, projection: Array) -> None:
        import numpy as np

        L, n = len(rho) - 1, len(rho)
        self._n, self._cuts = n, 0
        self._rows = np.zeros((_MAX_CUTS + 2, 2 * n + _MAX_CUTS + 2))
        self._given = self._rows.copy()
        c, heads = np.arange(n), self._given[:2]
        heads[0, :n], heads[0, n : 2 * n] = 1, -1
        heads[1, :n], heads[1, n : 2 * n], heads[1, -1] = c - 0.5, -c - 0.5, 1
        self._basis = [L, n]
        self._rows[:2] = np.linalg.solve(heads[:, self._basis], heads)
        self._costs = np.zeros(self._rows.shape[1])
        self._costs[:n] = self._costs[n : 2 * n] = rho
        self._costs[2 * n] = 1
        self._rows[2] = self._cut_row(projection)
        self._basis.append(2 * n)
        for row, column in zip(self._rows, list(self._basis), strict=False):
            self._costs -= self._costs[column] * row

    def primal(self) -> bool:
        """Pivot until optimal; False if that fails."""
        import numpy as np

        for count in range(2 * _MAX_PIVOTS):
            costs = self._costs[:-1]
            bland = count > _MAX_PIVOTS
            column = int((costs < -_OPTIMAL).argmax() if bland else costs.argmin())
            if costs[column] > -_OPTIMAL:
                return True
            rows = self._rows[: len(self._basis)]
            usable = rows[:, column] > _PIVOT
            if not usable.any():
                return False
            ratios = np.full(len(rows), np.inf)
            ratios[usable] = np.maximum(rows[usable, -1], 0) / rows[usable, column]
            self._pivot(int(ratios.argmin()), column)
        return False

    def cut(self, projection: Array) -> bool:
        """Add a cut and pivot until optimal again; False if that fails."""
        import numpy as np

        if self._cuts == _MAX_CUTS:
            return False
        self._rows[len(self._basis)] = -self._cut_row(projection)
        self._basis.append(2 * self._n + self._cuts)
        for _ in range(_MAX_PIVOTS):
            rows = self._rows[: len(self._basis)]
            row = int(rows[:, -1].argmin())
            if rows[row, -1] > -_SAME:
                return True
            usable = rows[row, :-1] < -_PIVOT
            if not usable.any():
                return False
            ratios = np.full(usable.shape, np.inf)
            ratios[usable] = np.maximum(self._costs[:-1][usable], 0) / -rows[row, :-1][usable]
            self._pivot(row, int(ratios.argmin()))
        return False

    def solution(self) -> tuple[Array, float] | None:
        """The weights, and the length that the cuts allow them, free of the pivots' errors."""
        import numpy as np

        n, given = self._n, self._given[: len(self._basis)]
        values = np.zeros(self._rows.shape[1])
        try:
            values[self._basis] = np.linalg.solve(given[:, self._basis], given[:, -1])
        except np.linalg.LinAlgError:
            return None
        return values[:n] - values[n : 2 * n], float(values[2 * n])

    def _cut_row(self, projection: Array) -> Array:
        """length - <projection, weights> - slack = 0, in terms of what is not in the basis."""
        n, given = self._n, self._given[self._cuts + 2]
        given[:n], given[n : 2 * n], given[2 * n] = -projection, projection, 1
        self._cuts += 1
        given[2 * n + self._cuts] = -1
        row: Array = given.copy()
        for known, column in zip(self._rows, list(self._basis), strict=False):
            row -= row[column] * known
        return row

    def _pivot(self, row: int, column: int) -> None:
        import numpy as np

        rows = self._rows[: len(self._basis)]
        rows[row] /= rows[row, column]
        factors = rows[:, column].copy()
        factors[row] = 0
        rows -= np.outer(factors, rows[row])
        self._costs -= self._costs[column] * rows[row]
        self._basis[row] = column

"""The forward pass of a read-out with m = 0, as an error curve e(c) = yhat(c) - c over its shape.

The curves are scaled so that nothing cancels and every parameter has a limit as L grows: y = c/L
and eps = 1/L. They take floats, numpy arrays (of y), balls and rationals alike. Parameters v:

- Line (linear attention): yhat = A + s c with v = (A, sigma), s = 1 + sigma eps.
- Share (softmax, no post-normalisation): yhat = A + D c/(a + c), c/(a + c) being the attention
  that targets get; v = (A, delta, alpha), a = alpha L^2, D = a + delta L.
- Arc (post-normalisation): yhat = b + (s z + t)/sqrt(1 + q z^2), z = c - c0, whose radius W has
  W^2 = s^2/q + t^2; v = (b - c0 + t, t eps, sigma, c0 eps, K), s = 1 + sigma eps, q = K eps^3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

Gradient = list[Any]
Hessian = dict[tuple[int, int], Any]  # (i, j) with i <= j, zeros left out


class Parts(NamedTuple):
    """A number with its first and second derivatives in v."""

    value: Any
    gradient: Gradient
    hessian: Hessian


class Curve(Protocol):
    """An error curve and what its least amount minimises."""

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters."""

    @property
    def turns(self) -> tuple[int, ...]:
        """The sides of its extremes in c, in order: 1 a peak, -1 a valley."""

    @property
    def rational(self) -> bool:
        """Whether rational parameters give rational errors."""

    def start(self) -> list[float]:
        """Parameters close to the line yhat = c, which every count allows."""

    def error(self, v: Any, y: Any, eps: Any) -> Parts:
        """e at y."""

    def slope(self, v: Any, y: Any, eps: Any) -> tuple[Any, Any]:
        """e' and e'' in y."""

    def objective(self, v: Any, eps: Any) -> Parts:
        """What is to be least."""


class Line:
    """Linear attention; the least slope."""

    names = ("A", "sigma")
    turns = ()
    rational = True

    def start(self) -> list[float]:
        """A point inside."""
        return [0.0, 0.0]

    def error(self, v: Any, y: Any, eps: Any) -> Parts:
        """e at y."""
        del eps
        return Parts(v[0] + v[1] * y, [1, y], {})

    def slope(self, v: Any, y: Any, eps: Any) -> tuple[Any, Any]:
        """e' and e'' in y."""
        del y, eps
        return v[1], 0 * v[1]

    def objective(self, v: Any, eps: Any) -> Parts:
        """What is to be least."""
        del eps
        return Parts(v[1], [0, 1], {})


class Share:
    """Softmax attention without post-normalisation; the least gap D or the least score ratio a.

    e'' = -2 a D/(a + c)^3 < 0: the curve rises, then falls.
    """

    names = ("A", "delta", "alpha")
    turns = (1,)
    rational = True

    def __init__(self, least: str = "gap") -> None:
        """A curve at that choice."""
        self._least = least

    def start(self) -> list[float]:
        """A point inside."""
        return [0.0, 1.0, 4.0]

    def error(self, v: Any, y: Any, eps: Any) -> Parts:
        """e at y."""
        A, delta, alpha = v
        mass = alpha + y * eps
        share = y / mass
        rise = share * (delta - y)
        bend = rise / mass
        hessian = {(1, 2): -share / mass, (2, 2): 2 * bend / mass}
        return Parts(A + rise, [1, share, -bend], hessian)

    def slope(self, v: Any, y: Any, eps: Any) -> tuple[Any, Any]:
        """e' and e'' in y."""
        _, delta, alpha = v
        mass = alpha + y * eps
        first = (alpha * (delta - 2 * y) - y * y * eps) / (mass * mass)
        return first, -2 * alpha * (alpha + delta * eps) / (mass * mass * mass)

    def objective(self, v: Any, eps: Any) -> Parts:
        """What is to be least."""
        if self._least == "gap":
            return Parts(v[2] + v[1] * eps, [0, eps, 1], {})
        return Parts(v[2], [0, 0, 1], {})


class ShareAt:
    """Softmax attention at a given score ratio alpha L^2; v = (A, delta)."""

    names = ("A", "delta")
    turns = (1,)

    def __init__(self, alpha: Any) -> None:
        """A curve at that choice."""
        from flint import arb

        self._alpha, self._share = alpha, Share()
        self.rational = not isinstance(alpha, arb)

    def start(self) -> list[float]:
        """A point inside."""
        return [0.0, 1.0]

    def error(self, v: Any, y: Any, eps: Any) -> Parts:
        """e at y."""
        value, gradient, _ = self._share.error((*v, self._alpha), y, eps)
        return Parts(value, gradient[:2], {})

    def slope(self, v: Any, y: Any, eps: Any) -> tuple[Any, Any]:
        """e' and e'' in y."""
        return self._share.slope((*v, self._alpha), y, eps)

    def objective(self, v: Any, eps: Any) -> Parts:
        """What is to be least."""
        return Parts(self._alpha + v[1] * eps, [0, eps], {})


class Arc:
    """Post-normalisation; the least W^2 eps^3.

    e' has the sign of (s - t q z) - (1 + q z^2)^(3/2), a line less a strictly convex function: the
    curve falls, rises, and falls.
    """

    names = ("beta", "T", "sigma", "gamma", "K")
    turns = (-1, 1)
    rational = False

    def __init__(self, root: Callable[[Any], Any]) -> None:
        """A curve at that choice."""
        self._root = root

    def start(self) -> list[float]:
        """A point inside."""
        return [0.0, 0.0, 0.0, 0.5, 1.0]

    def error(self, v: Any, y: Any, eps: Any) -> Parts:
        """e at y."""
        beta, T, sigma, gamma, K = v
        z, s = y - gamma, 1 + sigma * eps
        z2 = z * z
        R2 = 1 + K * eps * z2
        R = self._root(R2)
        R3, head, steep = R2 * R, s * z + T, s - T * K * eps * z
        R5 = R3 * R2
        fall = K * z2 / (1 + R)  # (R - 1)/eps
        value = beta + (z * (sigma - fall) - T * fall) / R
        g_K = -head * z2 / (2 * R3)
        g_gamma = (fall * (R2 + R + 1) - sigma + T * K * z) / R3
        bend = 3 * steep / (2 * R5)
        hessian = {
            (1, 3): K * z / R3,
            (1, 4): -z2 / (2 * R3),
            (2, 3): -1 / R3,
            (2, 4): -eps * z * z2 / (2 * R3),
            (3, 3): -T * K / R3 - 2 * K * z * bend,
            (3, 4): T * z / R3 + z2 * bend,
            (4, 4): 3 * eps * head * z2 * z2 / (4 * R5),
        }
        return Parts(value, [1, -fall / R, z / R, g_gamma, g_K], hessian)

    def slope(self, v: Any, y: Any, eps: Any) -> tuple[Any, Any]:
        """e' and e'' in y."""
        parts = self.error(v, y, eps)
        return -parts.gradient[3], parts.hessian[3, 3]

    def objective(self, v: Any, eps: Any) -> Parts:
        """What is to be least."""
        _, T, sigma, _, K = v
        s = 1 + sigma * eps
        hessian = {
            (1, 1): 2 * eps,
            (2, 2): 2 * eps * eps / K,
            (2, 4): -2 * s * eps / (K * K),
            (4, 4): 2 * s * s / (K * K * K),
        }
        value = s * s / K + eps * T * T
        return Parts(value, [0, 2 * eps * T, 2 * s * eps / K, 0, -s * s / (K * K)], hessian)

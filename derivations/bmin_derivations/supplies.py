"""What vectors of norm at most B supply, as formulas in d, tau and the spread of the normaliser.

`spread` is the largest entry of a normalised vector: sqrt(d-1) for layer, sqrt(d) for rms.
"""

from typing import Any

import sympy


def gap_none() -> Any:
    """Largest gap per B^2 without normalisation."""
    return sympy.Integer(2)


def gap_bare(d: Any) -> Any:
    """Largest gap per B, bare pre."""
    return 2 * sympy.sqrt(d)


def gap_learned(spread: Any) -> Any:
    """Largest gap per B^2, learned pre."""
    return 2 * spread


def range_bare(tau: Any, d: Any) -> Any:
    """Largest difference of two scores, bare pre."""
    return 2 * tau * d


def scores_none(tau: Any) -> Any:
    """Largest difference of two scores per B^2 without normalisation."""
    return 2 * tau


def scores_learned(tau: Any, spread: Any) -> Any:
    """Largest difference of two scores per B^2, learned pre."""
    return 2 * tau * spread * (1 + spread)


def slope_none(tau: Any) -> Any:
    """Largest slope of linear attention per B^4 without normalisation."""
    return tau


def slope_bare(tau: Any, d: Any) -> Any:
    """Largest slope of linear attention per B, bare pre."""
    return tau * d ** sympy.Rational(3, 2)


def slope_learned(tau: Any, spread: Any) -> Any:
    """Largest slope of linear attention per B^4, learned pre."""
    return tau * (1 + spread) ** 3


def radius_bare(d: Any) -> Any:
    """Largest radius per B, bare post."""
    return sympy.sqrt(d)


def radius_learned(spread: Any) -> Any:
    """Largest radius per B^2, learned post."""
    return spread

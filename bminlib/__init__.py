"""What it costs an attention layer to count: the exact least norm bound B_min(L).

>>> from bminlib import CountingProblem, b_min
>>> b_min(CountingProblem(norm="post", L=1024, d=64)).decimal(20)
'724.60618543096577250'
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bminlib.bounds import Asymptote as Asymptote
    from bminlib.bounds import Bound as Bound
    from bminlib.bounds import b_min as b_min
    from bminlib.demand import Touch as Touch
    from bminlib.errors import DomainError as DomainError
    from bminlib.errors import InfeasibleError as InfeasibleError
    from bminlib.errors import UndecidedError as UndecidedError
    from bminlib.horizon import max_length as max_length
    from bminlib.problem import CountingProblem as CountingProblem

__version__ = "0.1.0"

_HOMES = {
    "Asymptote": "bounds",
    "Bound": "bounds",
    "CountingProblem": "problem",
    "DomainError": "errors",
    "InfeasibleError": "errors",
    "Touch": "demand",
    "UndecidedError": "errors",
    "b_min": "bounds",
    "max_length": "horizon",
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for, so that no user pays for the others."""
    if name not in _HOMES:
        raise AttributeError(f"module 'bminlib' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"bminlib.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)

"""What it costs an attention layer to count: the exact least norm bound B_min(L).

>>> from bminlib import CountingProblem, b_min
>>> b_min(CountingProblem(norm="post", L=1024, d=64)).decimal(20)
"""

from bminlib.bounds import Asymptote, Bound, b_min
from bminlib.demand import Touch
from bminlib.errors import DomainError, InfeasibleError, UndecidedError
from bminlib.horizon import max_length
from bminlib.problem import CountingProblem

__all__ = [
    "Asymptote",
    "Bound",
    "CountingProblem",
    "DomainError",
    "InfeasibleError",
    "Touch",
    "UndecidedError",
    "b_min",
    "max_length",
]

__version__ = "0.1.0"

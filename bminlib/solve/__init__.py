"""B_min a second time: by root-finding on the forward pass, none of the closed formulas in it.

>>> from bminlib import CountingProblem
>>> from bminlib.solve import solve
>>> solve(CountingProblem(norm="post", L=1024, d=64)).decimal(20)
'724.60618543096577250'
"""

from bminlib.solve.solver import Solution, digits_agreed, solve

__all__ = ["Solution", "digits_agreed", "solve"]

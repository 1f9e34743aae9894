"""Speed of the root-finding solver and of certificates, as ratios measured side by side in one run.

    pip install cvxpy clarabel scipy
    python benchmarks/solver_speed.py

The rivals get the best shape for nothing and only fit the read-out: a linear program for HiGHS
(softmax, none, at the best score ratio), a cone program for Clarabel (post, at the best arc). The
solver finds the shape as well, and proves its value.
"""

import math
import statistics
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog

from bminlib import CountingProblem, b_min
from bminlib.certify import certificate_text, certify
from bminlib.checker import check
from bminlib.solve import solve

RUNS = 9
LENGTH, DIMENSION = 16384, 64


def seconds(call: Callable[[], object]) -> float:
    """Median wall time, after one warm-up."""
    call()
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def problem(L: int, norm: str, affine: str | None = None) -> CountingProblem:
    return CountingProblem(norm=norm, affine=affine, L=L, d=DIMENSION)


def highs() -> float:
    """B_min of none: the least D with yhat = A + D c/(a + c) within 1/2 of c, at the best a."""
    c = np.arange(LENGTH + 1.0)
    a = (LENGTH - 1) ** 2 // 4
    rows = np.stack([np.ones(LENGTH + 1), c / (a + c)], 1)
    limits = np.concatenate([c + 0.5, 0.5 - c])
    free = [(None, None)] * 2
    found = linprog([0, 1], np.concatenate([rows, -rows]), limits, bounds=free, method="highs")
    return math.sqrt(found.fun / 2)


def clarabel() -> float:
    """B_min of post: the least |p| with yhat = b + <p, u(c)> within 1/2 of c, on the best arc."""
    import cvxpy

    c = np.arange(LENGTH + 1)
    radius = float(b_min(problem(LENGTH, "post")).enclosure(17)) * math.sqrt(DIMENSION)
    x = math.tan(math.asin((LENGTH - 1) / (2 * radius))) * (2 * c / LENGTH - 1)
    u = np.stack([x, np.ones(LENGTH + 1)], 1) / np.hypot(x, 1)[:, None]
    p, b = cvxpy.Variable(2), cvxpy.Variable()
    inside = cvxpy.abs(u @ p + b - c) <= 0.5
    program = cvxpy.Problem(cvxpy.Minimize(cvxpy.norm(p)), [inside])
    return float(program.solve(cvxpy.CLARABEL)) / math.sqrt(DIMENSION)


def against(name: str, rival: Callable[[], float], norm: str) -> None:
    """Time and right digits of a rival and of the solver."""
    one = problem(LENGTH, norm)
    try:
        value = rival()
    except ImportError as error:
        print(f"{name}: not installed ({error})")
        return
    true = float(b_min(one).enclosure(17))
    found = solve(one, 15).value
    proved = int(found.rel_accuracy_bits() * math.log10(2)) if found is not None else 0
    right = -math.log10(max(abs(value / true - 1), 2.0**-53))
    ours, theirs = seconds(lambda: solve(one, 15)), seconds(rival)
    print(f"{norm}, L = {LENGTH}: solver {ours * 1e3:.1f} ms, {proved} digits proved; ", end="")
    print(f"{name} {theirs * 1e3:.0f} ms, {right:.1f} digits right")
    report(f"{name} / solver", theirs / ours, "at least", 10)


def growth() -> None:
    for norm, affine in (("post", None), ("none", None), ("pre", "learned")):
        times = [
            seconds(lambda L=L, n=norm, a=affine: solve(problem(L, n, a), 50))
            for L in (10**3, 10**9)
        ]
        name = " ".join(filter(None, (norm, affine)))
        report(f"solve {name}, 50 digits, L = 10^9 / 10^3", times[1] / times[0], "at most", 3)


def certificates() -> None:
    for L, goal in ((32, 20), (64, 60)):
        start = time.perf_counter()
        record = certify(problem(L, "post"), Fraction(1, 10**6), "search")
        taken = time.perf_counter() - start
        data = certificate_text(record).encode()
        boxes = sum(isinstance(item, dict) for item in record["proof"]["tree"])
        report(f"certify --by search, post, L = {L}, gap 1e-6, seconds", taken, "at most", goal)
        report(f"  {boxes} boxes; bytes", len(data), "at most", 100_000)
        report("  seconds of its check", seconds(lambda data=data: check(data)), "at most", 1)


def report(what: str, ratio: float, kind: str, goal: float) -> None:
    print(f"{what}: {ratio:.4g} (goal: {kind} {goal})", flush=True)


if __name__ == "__main__":
    against("scipy's HiGHS", highs, "none")
    against("cvxpy + Clarabel", clarabel, "post")
    growth()
    certificates()

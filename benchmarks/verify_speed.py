"""How fast `verify` proves, against one plain numpy forward pass over the same pairs.

Run `python benchmarks/verify_speed.py`: ratios come from one run on one machine. Exits with 1 where
a target is missed: 2 forward passes at L = 1024, 2 s at L = 16384, memory flat in L.
"""

import sys
import time
import tracemalloc

import numpy as np

from bminlib import CountingProblem
from bminlib.verify import verify
from bminlib.witness import witness

D = 8
PLACEMENTS = (
    ("softmax", "none", None),
    ("softmax", "pre", "learned"),
    ("softmax", "post", "bare"),
    ("softmax", "post", "learned"),
    ("linear", "none", None),
)


def main():
    missed = [check() for check in (against_forward, long_witness, flat_memory)]
    return 1 if any(missed) else 0


def against_forward():
    """All pairs at L = 1024: seconds of verify over seconds of a forward pass."""
    missed = False
    for attention, norm, affine in PLACEMENTS:
        problem = CountingProblem(L=1024, d=D, attention=attention, norm=norm, affine=affine)
        weights = witness(problem)
        pass_seconds = best(lambda weights=weights: forward(weights))
        verify_seconds = best(lambda weights=weights: proved(weights))
        ratio = verify_seconds / pass_seconds
        missed |= ratio > 2
        name = " ".join(filter(None, (attention, norm, affine)))
        print(
            f"L = 1024, {name}: 525825 pairs proved in {1e3 * verify_seconds:.1f} ms, "
            f"one forward pass {1e3 * pass_seconds:.1f} ms, ratio {ratio:.3f} (target 2)"
        )
    return missed


def long_witness():
    """A post witness at L = 16384."""
    weights = witness(CountingProblem(L=16384, d=D, norm="post"))
    seconds = best(lambda: proved(weights))
    print(f"L = 16384, softmax post bare: 134242305 pairs proved in {seconds:.3f} s (target 2 s)")
    return seconds > 2


def flat_memory():
    """Peak memory of verify at two lengths."""
    peaks = []
    for L in (16384, 131072):
        weights = witness(CountingProblem(L=L, d=D, norm="post"))
        tracemalloc.start()
        proved(weights)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    ratio = peaks[1] / peaks[0]
    print(f"peak memory at L = 131072 over that at L = 16384: {ratio:.3f} (target 1.1)")
    return ratio > 1.1


def proved(weights):
    found = verify(weights)
    if found.verdict != "proved":
        raise SystemExit(f"the witness is {found.verdict}: {found}")


def forward(weights):
    """The layer in plain numpy at every pair: attention, normaliser (no eps), read-out."""
    problem, at = weights.problem, weights.vectors
    pairs = np.array(np.triu_indices(problem.L + 1))
    c, m = pairs[0], pairs[1] - pairs[0]

    def normalise(x):
        x = x - x.mean(axis=-1, keepdims=True)
        z = x / np.sqrt((x * x).mean(axis=-1, keepdims=True))
        return at["gamma"] * z + at["beta"] if problem.affine == "learned" else z

    pre = normalise if problem.norm == "pre" else np.asarray
    keys = np.stack([pre(at[name]) for name in ("k_s", "k_t", "k_f")])
    values = np.stack([pre(at[name]) for name in ("v_s", "v_t", "v_f")])
    scores = keys @ pre(at["q"]) * float(problem.score_scale.ball(64))
    softmax = problem.attention == "softmax"
    shares = np.exp(scores - scores.max()) if softmax else scores
    weighted = np.stack([np.ones_like(c), c, m], axis=-1) * shares  # (pairs, 3)
    if softmax:
        weighted = weighted / weighted.sum(axis=-1, keepdims=True)
    h = at["r"] + weighted @ values  # (pairs, d)
    z = normalise(h) if problem.norm == "post" else h
    return np.abs(z @ at["w"] + weights.b - c).max()


def best(run, times=5):
    """The least seconds of a few runs, the first not counted."""
    run()
    seconds = []
    for _ in range(times):
        began = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - began)
    return min(seconds)


if __name__ == "__main__":
    sys.exit(main())

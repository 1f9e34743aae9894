"""The verifier proves every witness, and never weights whose norms lie below B_min."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from layer_oracle import PLACEMENTS

from bminlib import CountingProblem, DomainError, b_min
from bminlib.verify import verify
from bminlib.witness import witness

COMBINATIONS = [(a, *p) for a in ("softmax", "linear") for p in PLACEMENTS]
NAMES = ["-".join(str(part) for part in c if part) for c in COMBINATIONS]
READOUTS = ("regression", "classification")


def problems(combination, readout, dimensions, lengths):
    """The feasible problems among those that have an answer at all."""
    attention, norm, affine, normalizer = combination
    fields = {"attention": attention, "norm": norm, "affine": affine, "normalizer": normalizer}
    for d in dimensions:
        for L in lengths:
            try:
                problem = CountingProblem(**fields, readout=readout, d=d, L=L)
            except DomainError:
                continue
            if b_min(problem).feasible:
                yield problem


def shrunk(weights):
    """The same weights with every vector shrunk to 99 % of B_min or less."""
    least = Fraction(b_min(weights.problem).decimal(20, "down"))
    above = Fraction(weights.largest_norm().upper().str(20, radius=False)) * Fraction(1001, 1000)
    factor = min(Fraction(1), least / above) * Fraction(99, 100)
    times = np.vectorize(lambda entry: Fraction(entry) * factor, otypes=[object])
    return replace(weights, vectors={name: times(x) for name, x in weights.vectors.items()})


def check(combination, readout, dimensions, lengths):
    found = list(problems(combination, readout, dimensions, lengths))
    assert found
    for problem in found:
        weights = witness(problem)
        proof = verify(weights)
        assert proof.verdict == "proved", problem
        assert proof.pairs == (problem.L + 1) * (problem.L + 2) // 2
        assert proof.margin.value > 0
        if readout == "regression" and problem.L > 1:
            assert 1 <= float(proof.ratio.mid()) <= 1 + 1e-6, problem
            below = verify(shrunk(weights))
            assert below.verdict == "refuted", problem
            assert below.ratio < 1


@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("combination", COMBINATIONS, ids=NAMES)
def test_witnesses_are_proved(combination, readout):
    check(combination, readout, (1, 2, 3, 5), (1, 2, 3, 4, 5, 10, 11, 20, 50))


@pytest.mark.slow
@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("combination", COMBINATIONS, ids=NAMES)
def test_longer_witnesses_are_proved(combination, readout):
    check(combination, readout, (1, 2, 3, 4, 8, 64), (*range(1, 13), 50, 100, 1000))

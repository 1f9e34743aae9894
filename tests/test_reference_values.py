"""Every reference value, to all its digits.

data/reference_values.csv was found by multistart optimisation of the true forward pass, polished on
the active set to 40 digits: b_min of regression after rounding, empty where nothing counts.
"""

import csv
from collections import defaultdict
from pathlib import Path

import pytest
from flint import arb, ctx

from bminlib import CountingProblem, b_min

DATA = Path(__file__).parent / "data" / "reference_values.csv"
PLACEMENT = ("attention", "norm", "affine", "normalizer", "tau")


def read_rows():
    with DATA.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    groups = defaultdict(list)
    for row in rows:
        groups["-".join(filter(None, (row[name] for name in PLACEMENT)))].append(row)
    return dict(groups)


GROUPS = read_rows()


def problem_of(row):
    text = {name: row[name] for name in PLACEMENT if row[name]}
    return CountingProblem(d=int(row["d"]), L=int(row["L"]), **text)


def agrees(row, scale=1):
    """Whether b_min, times `scale`, lies within a unit of the row's last digit."""
    bound, digits = b_min(problem_of(row)), int(row["digits"])
    if not bound.feasible or not row["b_min"]:
        return bound.feasible == bool(row["b_min"])
    with ctx.workprec(4 * digits + 64):
        reference = arb(row["b_min"])
        if reference == 0:
            return bound.value.decimal(1) == "0"
        error = abs(bound.enclosure(digits + 10) * scale / reference - 1)
        return bool(error < arb(10) ** (1 - digits))


@pytest.mark.parametrize("placement", GROUPS)
def test_reference_values(placement):
    wrong = [row for row in GROUPS[placement] if not agrees(row)]
    assert not wrong


def test_every_row_is_read():
    assert sum(len(rows) for rows in GROUPS.values()) == 336
    assert {len(rows) for rows in GROUPS.values()} == {14}


@pytest.mark.parametrize("shift", [1, -1])
def test_a_change_in_the_last_digit_but_one_is_noticed(shift):
    with ctx.workprec(300):
        scale = 1 + shift * arb(10) ** -38
        rows = [row for rows in GROUPS.values() for row in rows if float(row["b_min"])]
        assert not [row for row in rows if agrees(row, scale)]

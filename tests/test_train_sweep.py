"""The README's sweep trains what the README shows."""

import csv
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("jax")
pytest.importorskip("optax")

README = (Path(__file__).parents[1] / "README.md").read_text()
ROW = re.compile(
    r"^(post \w+, \w+)  +(plain|plain T=1|least)  +(\d+)  +(-?\d+\.\d+)  +(\S+) \.\. ", re.MULTILINE
)


def bmin(*arguments: str) -> str:
    command = [sys.executable, "-m", "bmin", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def slopes(text: str) -> dict[tuple[str, str, str], float]:
    return {found[:3]: float(found[3]) for found in ROW.findall(text)}


@pytest.mark.slow
def test_the_default_sweep(tmp_path: Path) -> None:
    shown, trained = slopes(README), slopes(bmin("train", "--out", str(tmp_path)))
    assert len(shown) == 10
    assert trained.keys() == shown.keys()
    for key, slope in shown.items():  # other machines round elsewhere, and training amplifies it
        assert trained[key] == pytest.approx(slope, abs=0.01 if key[1] == "least" else 0.15)
    with (tmp_path / "runs.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 160
    assert {row["counts"] for row in rows} == {"true"}
    ratios = [float(row["ratio"]) for row in rows if row["readout"] == "regression"]
    assert min(ratios) >= 1
    least = [float(row["ratio"]) for row in rows if row["ratio"] and row["mode"] == "least"]
    assert len(least) == 32
    assert max(least) < 1.02
    assert "phi" in bmin("compare", str(tmp_path))

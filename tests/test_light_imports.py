"""A call does not load what it does not need: `python -X importtime` lists what is loaded."""

import re
import subprocess
import sys

import pytest
from conftest import environment

HEAVY = {"numpy", "sympy", "mpmath", "scipy", "matplotlib", "jax", "rich", "flint"}


def loaded_by(*arguments):
    """(top-level packages loaded, output) of a Python process whose output is piped."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments],
        capture_output=True,
        env=environment(),
        timeout=30,
        check=True,
        text=True,
    )
    names = re.findall(r"^import time:.*\|\s+([\w.]+)$", done.stderr, re.MULTILINE)
    return {name.partition(".")[0] for name in names}, done.stdout


def test_the_list_of_imports_is_complete():
    """The check can fail: rich and flint are seen where they are loaded."""
    packages, _ = loaded_by("-c", "import bminlib.bounds, rich.text, flint")
    assert {"bminlib", "rich", "flint"} <= packages


@pytest.mark.parametrize("style", ["table", "json"])
def test_a_rational_power_needs_no_heavy_package(style):
    packages, out = loaded_by(
        *("-m", "bmin", "compute", "--norm", "post", "--L", "1024", "--format", style)
    )
    assert "724.606185430966" in out
    assert "bminlib" in packages
    assert packages & HEAVY == set()


def test_the_comparison_needs_flint_only():
    packages, out = loaded_by("-m", "bmin", "compute", "--L", "2,3,1024")
    assert out.count("\n") > 18
    assert packages & HEAVY <= {"flint"}


@pytest.mark.parametrize("arguments", ["--help", "compute --L 0"])
def test_help_and_refusals_need_no_heavy_package(arguments):
    code = f"from bmin.app import run; run({arguments.split()!r})"
    packages, _ = loaded_by("-c", code)
    assert packages & HEAVY == set()


def test_importing_the_library_is_light():
    packages, _ = loaded_by("-c", "import bminlib; bminlib.CountingProblem(L=4).score_scale")
    assert "bminlib" in packages
    assert packages & HEAVY == set()

"""Speed of bmin and bminlib, as ratios measured side by side in one run.

    python benchmarks/speed.py

Whole commands run in turn with what they are compared to, and the median of the paired ratios is
printed; functions are timed by timeit's best of five. PARI/GP joins in where `gp` is installed.
"""

import os
import pty
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import timeit
from collections.abc import Callable
from pathlib import Path

import flint
import mpmath

from bminlib.extremal import least_radius_squared
from bminlib.powers import rational_power

RUNS = 21
EMPTY = "import typer\napp = typer.Typer()\n@app.command()\ndef main(): pass\napp()\n"
GP = r"""default(realprecision, 50);
row(L,k)=(L-1)^2*k*(L+1-2*k)^2/(4*(L^2-(2*L-1)*k));
W(L)={my(k=L*(L+1)\(2*(2*L-1)));sqrt(max(row(L,k),row(L,k+1)))};
gettime(); for(i=1,10^6,Str(W(1024))); print(gettime()/1000.);
"""


def seconds(command: list[str], terminal: bool = False) -> float:
    """Wall time of one run, its output read and dropped; on a pseudo-terminal if asked."""
    start = time.perf_counter()
    if terminal:
        pty.spawn(command, lambda fd: os.read(fd, 4096))
    else:
        subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return time.perf_counter() - start


def paired(command: list[str], other: list[str], terminal: bool = False) -> float:
    """Median of command/other over runs in turn, after one warm-up each."""
    pairs = [(seconds(command, terminal), seconds(other)) for _ in range(RUNS + 1)]
    return statistics.median(a / b for a, b in pairs[1:])


def microseconds(call: Callable[[], object], number: int) -> float:
    return min(timeit.repeat(call, number=number, repeat=5)) / number * 1e6


def processes() -> None:
    bmin = [str(Path(sys.executable).with_name("bmin")), "compute"]
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "empty.py")
        script.write_text(EMPTY)
        empty = [sys.executable, str(script)]
        one = [*bmin, "--norm", "post", "--L", "1024"]
        report("bmin compute, piped / empty Typer command", paired(one, empty), 1.2)
        with open(os.devnull, "w") as quiet:
            kept = os.dup(1)
            os.dup2(quiet.fileno(), 1)
            ratio = paired(one, empty, terminal=True)
            os.dup2(kept, 1)
        report("bmin compute, on a terminal / empty Typer command", ratio, 1.8)
    for norm in ("none", "post"):
        call = [*bmin, "--norm", norm, "--L"]
        ratio = paired([*call, "10^18"], [*call, "10^3"])
        report(f"bmin compute --norm {norm}, L = 10^18 / L = 10^3", ratio, 1.1)


def radius(L: int, digits: int) -> str:
    return rational_power(least_radius_squared(L), 2).decimal(digits)


def in_process() -> None:
    squared = least_radius_squared(1024)
    p, q = squared.as_integer_ratio()
    root = rational_power(squared, 2)
    mpmath.mp.dps = 50
    fraction = mpmath.mpf(p) / q
    ours = microseconds(lambda: radius(1024, 50), 20000)
    gp = shutil.which("gp")
    if gp:
        text = subprocess.run([gp, "-q"], input=GP, capture_output=True, text=True, check=True)
        report("50 digits of W_1024 from L / PARI/GP", ours / float(text.stdout), 3)
    digits = microseconds(lambda: root.decimal(50), 20000)
    theirs = microseconds(lambda: (mpmath.mpf(p) / q) ** 0.5, 20000)
    report("50 digits of (p/q)^(1/2) / mpmath's (p/q)**0.5", digits / theirs, 1.2)
    sqrt = microseconds(lambda: fraction**0.5, 20000)
    print(f"  (mpmath's root of a quotient formed before takes {sqrt / theirs:.2f} of that)")
    with flint.ctx.workprec(33240):
        flint_text = microseconds(
            lambda: flint.arb(flint.fmpq(p, q)).sqrt().str(10000, radius=False), 50
        )
    long = microseconds(lambda: root.decimal(10000), 50)
    report("10,000 digits / python-flint's root and its decimals", long / flint_text, 2)


def report(what: str, ratio: float, goal: float) -> None:
    print(f"{what}: {ratio:.2f} (goal: at most {goal})", flush=True)


if __name__ == "__main__":
    processes()
    in_process()

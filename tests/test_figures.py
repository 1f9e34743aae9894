"""Figures: the same bytes on every run, the drawing that was stored, and whole files or none.

The stored pictures in tests/data/figures are small; `python tests/test_figures.py` draws them anew.
They are compared as grey blocks of 4 x 4 pixels, so that fonts may differ by a pixel. A drawing of
other numbers has to fail that comparison.
"""

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

from bmin.app import run
from bminlib import CountingProblem, DomainError
from bminlib.curves import curve, reach
from bminlib.figure_geometry import SIZE as GEOMETRY_SIZE
from bminlib.figure_geometry import geometry_drawing, title_of
from bminlib.figure_measured import measured_drawing
from bminlib.figure_rates import SIZE, rates_drawing
from bminlib.figures import check_target, render, save, spread
from bminlib.geometry import geometry
from bminlib.measured import measure
from bminlib.runs_csv import read_runs
from bminlib.whole_files import write_whole

STORED = Path(__file__).parent / "data" / "figures"
DPI, BLOCK = 40, 4
MEAN, WORST = 0.008, 0.25  # of a grey value from 0 to 1; matplotlib 3.8 to 3.11: 0.005, 0.21
PLACES = [
    {},
    {"norm": "pre"},
    {"norm": "pre", "affine": "learned"},
    {"norm": "post"},
    {"norm": "post", "affine": "learned"},
    {"attention": "linear"},
]
RUNS = "L,largest_norm,seed\n8,1.6,0\n8,1.7,1\n16,4.4,0\n16,4.6,1\n32,12,0\n32,14,1\n"


def rates(d=64):
    problems = [CountingProblem(L=1, d=d, **place) for place in PLACES]
    last = reach(problems)
    return rates_drawing([curve(problem, last) for problem in problems], f"$d$ = {d}"), SIZE


def shown(L, **place):
    found = geometry(CountingProblem(L=L, **place))
    return geometry_drawing(found, title_of(found)), GEOMETRY_SIZE


def measured(text=RUNS):
    path = STORED / "runs.csv.tmp"
    path.write_text(text)
    try:
        runs = read_runs(path, {"norm": "post", "affine": "bare", "d": 8})
    finally:
        path.unlink()
    return measured_drawing(measure(runs.runs), "runs.csv"), SIZE


FIGURES = {
    "rates": (rates, lambda: rates(5)),
    "arc": (lambda: shown(64, norm="post"), lambda: shown(20, norm="post")),
    "segment": (lambda: shown(64), lambda: shown(8)),
    "line": (
        lambda: shown(16, attention="linear"),
        lambda: shown(16, attention="linear", readout="classification"),
    ),
    "horizon": (
        lambda: shown(111, norm="pre", d=16),
        lambda: shown(200, norm="pre", d=16),
    ),
    "classes": (
        lambda: shown(16, norm="post", readout="classification"),
        lambda: shown(16, readout="classification"),
    ),
    "measured": (measured, lambda: measured(RUNS.replace("14", "40"))),
}


def grey(png):
    """A picture as the means of its blocks."""
    from matplotlib.image import imread

    pixels = imread(io.BytesIO(png))[..., :3].mean(axis=2)
    height, width = (n - n % BLOCK for n in pixels.shape)
    blocks = pixels[:height, :width].reshape(height // BLOCK, BLOCK, width // BLOCK, BLOCK)
    return blocks.mean(axis=(1, 3))


def differs(png, name):
    stored = grey((STORED / f"{name}.png").read_bytes())
    drawn = grey(png)
    if stored.shape != drawn.shape:
        return True
    distance = np.abs(stored - drawn)
    return bool(distance.mean() > MEAN or distance.max() > WORST)


@pytest.mark.parametrize("name", FIGURES)
def test_the_drawing_is_the_stored_one(name):
    drawing, size = FIGURES[name][0]()
    assert not differs(render(drawing, size, "png", DPI), name)


@pytest.mark.parametrize("name", FIGURES)
def test_other_numbers_make_another_picture(name):
    drawing, size = FIGURES[name][1]()
    assert differs(render(drawing, size, "png", DPI), name)


SCRIPT = """
import sys
from test_figures import rates, shown
from bminlib.figures import render
for drawing, size in (rates(), shown(64, norm="post")):
    for kind in ("svg", "pdf", "png"):
        sys.stdout.buffer.write(render(drawing, size, kind))
assert not [name for name in sys.modules if name.startswith("matplotlib.pyplot")]
"""


def bytes_of(seed, folder):
    """All formats, drawn in a process of its own beside a user's own style."""
    folder.mkdir()
    style = folder / "matplotlibrc"
    style.write_text(f"lines.linewidth: {seed}\nfont.size: 3{seed}\nsvg.hashsalt: {seed}\n")
    environment = os.environ | {
        "PYTHONHASHSEED": seed,
        "MATPLOTLIBRC": str(style),
        "PYTHONPATH": str(Path(__file__).parent),
        "SOURCE_DATE_EPOCH": seed,
    }
    return subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, check=True, env=environment, cwd=folder
    ).stdout


@pytest.mark.slow
def test_figures_are_the_same_bytes_on_every_run(tmp_path):
    first, second = (bytes_of(seed, tmp_path / seed) for seed in ("1", "2"))
    assert len(first) > 100_000
    assert first == second


def test_no_date_is_written():
    drawing, size = shown(8, norm="post")
    svg = render(drawing, size, "svg").decode()
    assert "<dc:date>" not in svg
    assert not re.search(r"20\d\d-\d\d-\d\d", svg)
    assert b"CreationDate" not in render(drawing, size, "pdf")


def test_a_svg_needs_no_fonts():
    drawing, size = shown(8, norm="post")
    assert "<text" not in render(drawing, size, "svg").decode()


def nearest_heights(heights, gap):
    """The same as `spread`, by a general solver."""
    rows = [{"type": "ineq", "fun": lambda x: np.diff(x) - gap}]
    return minimize(lambda x: ((x - heights) ** 2).sum(), heights, constraints=rows, tol=1e-12).x


@pytest.mark.parametrize(
    "heights", [[0, 1, 2], [0, 30, 60], [0, 1, 2, 40, 41, 80], [5, 5, 5, 5], [0, 9.9, 10, 30]]
)
def test_labels_are_moved_as_little_as_possible(heights):
    np.testing.assert_allclose(
        spread(heights, 10), nearest_heights(np.array(heights, float), 10), atol=1e-4
    )


@pytest.mark.parametrize("name", ["x.gif", "x", "x.svg.txt", ""])
def test_other_formats_are_refused(name):
    with pytest.raises(DomainError, match=r"must end in \.svg, \.pdf, \.png"):
        check_target(name)


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "x.svg"
    path.write_bytes(b"old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(DomainError, match="no space left on device"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_places_that_are_no_files_are_refused(tmp_path):
    (tmp_path / "x.svg").mkdir()
    with pytest.raises(DomainError, match="no regular file"):
        write_whole(tmp_path / "x.svg", b"")
    with pytest.raises(DomainError, match="can't be written"):
        write_whole(tmp_path / "nowhere" / "x.svg", b"")


MAGIC = {"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}


@pytest.mark.parametrize("kind", MAGIC)
def test_rates_draws_into_a_file(kind, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["rates", "--plot", f"x.{kind}", "--norm", "post"]) == 0
    assert (tmp_path / f"x.{kind}").read_bytes().startswith(MAGIC[kind])
    assert "wrote" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [["rates", "--norm", "none"], ["geometry", "--norm", "none", "--L", "8"]],
    ids=["rates", "geometry"],
)
def test_the_default_file_is_named_after_the_command(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run([*arguments, "--plot"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == [f"{arguments[0]}.svg"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["rates", "--readout", "regression"],
        ["geometry", "--norm", "post", "--affine", "bare", "--L", "16"],
        [
            "geometry",
            "--norm",
            "post",
            "--affine",
            "bare",
            "--L",
            "16",
            "--readout",
            "classification",
        ],
    ],
    ids=["rates", "errors", "margins"],
)
def test_the_terminal_plot_is_text(arguments, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run([*arguments, "--plot", "-"]) == 0
    plot = capsys.readouterr().out
    assert "\x1b" not in plot
    assert plot.count("A") + plot.count("B") > 10
    assert not list(tmp_path.iterdir())


def test_the_terminal_plot_is_ascii_where_it_must(tmp_path):
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    arguments = ["rates", "--readout", "regression", "--norm", "post", "--plot", "-"]
    command = [sys.executable, "-m", "bmin", *arguments]
    done = subprocess.run(command, capture_output=True, check=True, env=environment, cwd=tmp_path)
    assert done.stdout.isascii()
    assert b"+----" in done.stdout


def test_names_from_elsewhere_are_no_mathtext(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a$b_c^.csv").write_text("L,largest_norm,mode\n8,2,x$\n16,5,x$\n")
    model = ["--norm", "post", "--affine", "bare", "--d", "8"]
    assert run(["rates", "--data", "a$b_c^.csv", *model, "--plot", "x.png"]) == 0


def test_drawing_is_the_only_reason_to_load_matplotlib():
    modules = ("figures", "figure_rates", "figure_geometry", "figure_measured")
    script = "import sys, " + ", ".join(f"bminlib.{name}" for name in modules)
    command = [sys.executable, "-c", f"{script}; print(*sys.modules)"]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert not {"matplotlib", "numpy", "sympy", "flint"} & set(loaded)


def test_save_writes_what_render_gives(tmp_path):
    drawing, size = shown(8, norm="post")
    save(drawing, size, tmp_path / "x.SVG")
    assert (tmp_path / "x.SVG").read_bytes() == render(drawing, size, "svg")


if __name__ == "__main__":
    STORED.mkdir(parents=True, exist_ok=True)
    for figure, (drawn, _) in FIGURES.items():
        (STORED / f"{figure}.png").write_bytes(render(*drawn(), "png", DPI))

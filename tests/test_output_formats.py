"""The same rows as JSON, CSV, markdown, LaTeX, plain text and a rich table.

Oracles: values by mpmath at 60 digits from `exact`, or from the equation at L = 3; rounding by the
standard library's decimal module.
"""

import contextlib
import csv
import decimal
import fcntl
import io
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import termios
import threading
import time

import mpmath
import pytest
import sympy
from conftest import command_line, environment

PROBLEM = ["attention", "norm", "affine", "normalizer", "weights", "readout", "exactness"]
VALUE = ["feasible", "reason", "b_min", "lower", "upper", "exact", "method"]
DETAILS = ["attained", "active", "regime", "theorem", "stored_numbers"]
NAMES = [*PROBLEM, "d", "tau", "L", *VALUE, *DETAILS]
CHOICES = {
    "attention": {"softmax", "linear"},
    "norm": {"none", "pre", "post"},
    "affine": {None, "bare", "learned"},
    "normalizer": {None, "layer", "rms"},
    "weights": {"free"},
    "readout": {"regression", "classification"},
    "exactness": {"rounded", "exact"},
    "method": {None, "closed form", "root"},
    "regime": {None, "readout", "scores", "both"},
}
TEXTS = ["tau", "L", "theorem", "stored_numbers"]
OPTIONAL_TEXTS = ["reason", "b_min", "lower", "upper", "exact"]
CALLS = [
    "--L 1:6,1000 --d 3,64",
    "--L 1:9,243:245 --d 23 --normalizer rms --digits 3",
    "--L 2:12 --d 2 --tau 1/sqrt(2) --digits 1",
    "--L 2:7 --tau 0.04 --digits 30",
    "--L 1:4 --d 5 --exact",
    "--L 1:4 --readout classification",
    "--L 2:5 --attention linear --tau unscaled --digits 20",
]
every_call = pytest.mark.parametrize("options", [call.split() for call in CALLS], ids=CALLS)


@every_call
def test_json_names_and_types(compute, options):
    for row in compute(*options):
        assert list(row)[: len(NAMES)] == NAMES
        for name, allowed in CHOICES.items():
            assert row[name] in allowed
        for name in TEXTS:
            assert isinstance(row[name], str)
        for name in OPTIONAL_TEXTS:
            assert isinstance(row[name], str | None)
        assert type(row["d"]) is int
        assert type(row["feasible"]) is type(row["attained"]) is bool
        assert int(row["L"]) >= 1
        for touch in row["active"]:
            assert list(touch) == ["c", "side"]
            assert touch["side"] in "+-"
            assert 0 <= int(touch["c"]) <= int(row["L"])


@every_call
def test_json_is_null_exactly_where_there_is_no_value(compute, options):
    for row in compute(*options):
        values = [row[name] for name in ("b_min", "lower", "upper", "method")]
        if row["feasible"]:
            assert None not in values
            assert row["reason"] is None
            assert (row["exact"] is None) == (row["method"] == "root")
        else:
            assert values == [None] * 4
            assert (row["exact"], row["attained"], row["active"]) == (None, False, [])
            assert re.search(r"[<>=]", row["reason"])


def value_of(row):
    """B_min to 60 digits by mpmath: from `exact`, or from its equation x = D(exp(rate x))."""
    tau = mpmath.mpf(sympy.sympify(row["tau"]).evalf(70))
    if row["exact"] is not None:
        return mpmath.mpf(sympy.sympify(row["exact"]).evalf(70))
    assert (row["method"], row["L"]) == ("root", "3")
    entry = mpmath.sqrt(row["d"] - (row["normalizer"] == "layer"))
    rate, capacity = (tau, 2) if row["norm"] == "none" else (tau * (1 + entry), 2 * entry)

    def residual(x):
        a = mpmath.exp(rate * x)
        return (a + 4 + 3 / a) / 2 - x

    return mpmath.sqrt(mpmath.findroot(residual, (3.5, 4)) / capacity)


def rounded(value, digits, rounding):
    context = decimal.Context(prec=digits, rounding=rounding)
    return context.create_decimal(mpmath.nstr(value, mpmath.mp.dps - 10, strip_zeros=False))


@every_call
def test_decimals_are_correctly_rounded_and_bracket_the_value(compute, options):
    """No value here but a terminating one lies within 1e-55 of a rounding boundary."""
    digits = int(options[options.index("--digits") + 1]) if "--digits" in options else 15
    with mpmath.workdps(70):
        for row in compute(*options):
            if not row["feasible"]:
                continue
            value = value_of(row)
            found = [decimal.Decimal(row[name]) for name in ("b_min", "lower", "upper")]
            modes = (decimal.ROUND_HALF_EVEN, decimal.ROUND_FLOOR, decimal.ROUND_CEILING)
            assert found == [rounded(value, digits, mode) for mode in modes]


def test_exact_agrees_with_the_value_where_a_term_is_too_small_to_print(compute):
    options = "--norm pre --affine bare --L 2 --d 2^60 --digits 30"
    (row,) = compute(*options.split())
    assert row["lower"] == "4.65661287307739257812500000000e-10"  # 2^-31, and a bit above
    assert row["b_min"] == row["lower"]
    assert row["upper"] == "4.65661287307739257812500000001e-10"


@pytest.mark.parametrize("length", ["10^1000", "10^5000"])
def test_long_numbers_are_whole_in_json(compute, length):
    exponent = int(length[3:])
    for row in compute("--L", length, "--d", "8"):
        assert row["L"] == "1" + "0" * exponent
        assert row["stored_numbers"] == "9"
        if row["feasible"] and row["active"]:
            assert row["active"][-1] == {"c": row["L"], "side": "-"}


@pytest.mark.parametrize("readout", ["regression", "classification"])
def test_dimensions_of_5000_digits_are_answered(run_bmin, readout):
    for style in ("json", "csv", "table", "markdown"):
        answer = run_bmin(
            *f"compute --norm post --L 5 --d 10^5000 --readout {readout} --format {style}".split()
        )
        assert (answer.code, answer.err) == (0, "")
        assert "1" + "0" * 40 in answer.out or "10^5000" in answer.out


def test_exact_is_null_where_an_integer_in_it_has_over_4000_digits(compute):
    for row in compute("--L", "10^1000,10^1900,10^2100,10^5000", "--attention", "softmax"):
        lengths = [len(number) for number in re.findall(r"\d+", row["exact"] or "")]
        assert max(lengths, default=0) <= 4000
        if row["norm"] == "none":  # sqrt of a fraction with about 2 log10(L) digits
            assert (row["exact"] is None) == (len(row["L"]) > 2001)


class TooSlowError(Exception):
    pass


@contextlib.contextmanager
def cpu_limit(seconds):
    """Interrupt what takes more processor time, so that a hang fails instead of hanging."""

    def stop(*_):
        raise TooSlowError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@pytest.mark.parametrize("length", ["10^300", "10^1000"])
@pytest.mark.parametrize("placement", ["none", "pre learned", "post bare", "post learned"])
def test_sympy_parses_whatever_exact_is_printed(compute, placement, length):
    norm, *affine = placement.split()
    options = ["--affine", *affine] if affine else []
    (row,) = compute("--norm", norm, *options, "--L", length, "--digits", "20")
    if row["exact"] is not None:
        with cpu_limit(1), mpmath.workdps(40):
            value = mpmath.mpf(sympy.sympify(row["exact"]).evalf(40))
            nearest = rounded(value, 20, decimal.ROUND_HALF_EVEN)
        assert nearest == decimal.Decimal(row["b_min"])


def csv_cell(value):
    """What CSV holds for a JSON value."""
    if value is None:
        return ""
    if isinstance(value, list):
        return " ".join(touch["c"] + touch["side"] for touch in value)
    return str(value).lower() if isinstance(value, bool) else str(value)


@every_call
def test_csv_has_the_columns_and_cells_of_json(run_bmin, compute, options):
    text = run_bmin("compute", *options, "--format", "csv").out
    expected = [{k: csv_cell(v) for k, v in row.items()} for row in compute(*options)]
    assert list(csv.DictReader(io.StringIO(text))) == expected


@every_call
def test_markdown_is_one_pipe_table(run_bmin, compute, options):
    answer = run_bmin("compute", *options, "--format", "markdown")
    head, rule, *rows = [re.split(r"(?<!\\)\|", line) for line in answer.out.splitlines()]
    assert all(re.fullmatch(r" :?-{3,}:? ", cell) for cell in rule[1:-1])
    assert {len(row) for row in (head, rule, *rows)} == {len(head)}
    place = [cell.strip() for cell in head].index("B_min")
    assert [row[place].strip() for row in rows] == [
        row["b_min"] or "infeasible" for row in compute(*options)
    ]


@every_call
def test_latex_is_one_booktabs_tabular(run_bmin, compute, options):
    lines = run_bmin("compute", *options, "--format", "latex").out.splitlines()
    rows = compute(*options)
    assert re.fullmatch(r"\\begin\{tabular\}\{[lrc]+\}", lines[0])
    assert lines[1] == r"\toprule"
    assert lines[3] == r"\midrule"
    assert lines[-2:] == [r"\bottomrule", r"\end{tabular}"]
    body = lines[4:-2]
    assert len(body) == len(rows)
    for line in (lines[2], *body):
        assert line.endswith(r" \\")
        assert line.count("&") == len(lines[0].partition("}{")[2]) - 2
        assert line.count("$") % 2 == 0
        assert line.count("{") == line.count("}")
        assert not re.search(r"[%#_^~]", re.sub(r"\$[^$]*\$", "", line))
    for line, row in zip(body, rows, strict=True):
        shown = row["b_min"] and re.sub(r"e([+-]\d+)", "", row["b_min"])
        assert (shown or "infeasible") in line


@pytest.mark.parametrize(
    "arguments",
    [
        "compute --norm none --L 1234567890123456789012345",
        "compute --norm pre --affine bare --L 2 --d 2^60",
        "compute --norm none --L 10^30,10^400",
        "horizon --d 10000",
        "horizon --d 3,5 --tau 1/sqrt(5)",
    ],
)
def test_latex_numbers_are_typeset(run_bmin, arguments):
    """In math mode `1.2e+24` reads as e plus 24, and `10^30` as 10 cubed and a 0."""
    text = run_bmin(*arguments.split(), "--format", "latex").out
    assert not re.search(r"\de[+-]?\d", text)
    assert not re.search(r"\^\d\d", text)


def has_booktabs():
    found = shutil.which("pdflatex") and shutil.which("kpsewhich")
    return (
        found
        and not subprocess.run(
            ["kpsewhich", "booktabs.sty"], capture_output=True, check=False
        ).returncode
    )


@pytest.mark.skipif(not has_booktabs(), reason="needs pdflatex with booktabs")
def test_latex_compiles(run_bmin, tmp_path):
    tables = [run_bmin("compute", *call.split(), "--format", "latex").out for call in CALLS]
    tables.append(run_bmin("horizon", "--d", "3:8", "--format", "latex").out)
    preamble = "\\documentclass{article}\\usepackage{booktabs}"
    body = "\n\n".join([preamble, r"\begin{document}", *tables, r"\end{document}"])
    (tmp_path / "tables.tex").write_text(body)
    arguments = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "tables.tex"]
    done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]


@every_call
def test_plain_text_has_a_line_a_row(run_bmin, compute, options):
    answer = run_bmin("compute", *options)
    lines = answer.out.splitlines()
    rule = next(i for i, line in enumerate(lines) if line and set(line) <= set("- "))
    rows = compute(*options)
    assert len(lines[rule + 1 :]) == len(rows)
    for line, row in zip(lines[rule + 1 :], rows, strict=True):
        assert f"{row['attention']}, {row['norm']}" in line
        assert f" {row['L']} " in line
        assert f" {row['b_min'] or 'infeasible'}" in line
        assert (row["reason"] or "") in line


JSON_CALL = ("compute", "--L", "4", "--d", "23", "--tau", "1/sqrt(5)", "--format", "json")
ENVIRONMENTS = [
    {"FORCE_COLOR": "1", "PYTHONIOENCODING": "ascii", "COLUMNS": "40"},
    {"NO_COLOR": "1", "PYTHONIOENCODING": "latin-1"},
    {"FORCE_COLOR": "1", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
]


@pytest.mark.parametrize("changes", ENVIRONMENTS, ids=",".join)
def test_json_is_pure_whatever_the_environment(spawn_bmin, run_bmin, changes):
    answer = spawn_bmin(*JSON_CALL, **changes)
    assert (answer.code, answer.err) == (0, "")
    assert json.loads(answer.out) == run_bmin(*JSON_CALL).records
    assert answer.out.isascii()
    assert "\x1b" not in answer.out


@pytest.mark.parametrize("style", ["table", "markdown", "csv"])
def test_a_pipe_is_unwrapped_and_uncoloured(spawn_bmin, run_bmin, style):
    arguments = ("compute", "--L", "4,10^40", "--format", style)
    changes = {"FORCE_COLOR": "1", "COLUMNS": "40", "PYTHONIOENCODING": "ascii"}
    assert spawn_bmin(*arguments, **changes) == run_bmin(*arguments)


class Terminal:
    """A pseudo-terminal of a given width, and what a process wrote on it."""

    def __init__(self, columns):
        self.ours, self.theirs = pty.openpty()
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        self.raw = b""

    def read(self, until=None, seconds=20):
        """Read until that text shows, or until the other end is closed."""
        deadline = time.monotonic() + seconds
        while until is None or until not in self.raw:
            ready, _, _ = select.select([self.ours], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"the terminal stayed silent after {self.raw[-200:]}"
            try:
                piece = os.read(self.ours, 65536)
            except OSError:  # Linux: the other end is closed
                return
            if not piece:
                return
            self.raw += piece

    @property
    def text(self):
        """What a person sees, line by line."""
        plain = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", self.raw)
        return plain.decode().replace("\r\n", "\n")


@contextlib.contextmanager
def on_terminal(*arguments, columns=100, **streams):
    """`bmin` on a new pseudo-terminal: (process, terminal)."""
    terminal = Terminal(columns)
    pipes = {"stdin": terminal.theirs, "stdout": terminal.theirs, "stderr": terminal.theirs}
    with subprocess.Popen(
        command_line(*arguments), env=environment(), **(pipes | streams)
    ) as process:
        os.close(terminal.theirs)
        try:
            yield process, terminal
        finally:
            process.kill()
            os.close(terminal.ours)


def test_a_terminal_gets_a_rich_table(run_bmin):
    arguments = ("compute", "--norm", "post", "--L", "4,1024")
    with on_terminal(*arguments) as (process, terminal):
        terminal.read()
        assert process.wait(10) == 0
    assert b"\x1b[1m" in terminal.raw
    assert "\u2500" * 20 in terminal.text
    assert "counting" not in terminal.text
    for line in run_bmin(*arguments).out.splitlines()[4:]:
        assert all(word in terminal.text for word in line.split())


@pytest.mark.parametrize("columns", [60, 40])
def test_a_narrow_terminal_cuts_no_number_silently(columns):
    """Whole, or folded within its column, or cut with an ellipsis: never just shorter."""
    arguments = ("compute", "--norm", "post", "--affine", "bare", "--L", "1024")
    with on_terminal(*arguments, columns=columns) as (_, terminal):
        terminal.read()
    lines = terminal.text.splitlines()
    head = next(line for line in lines if "B_min " in line and ":" not in line)
    start = head.index("B_min")
    end = start + re.match(r"B_min *", head[start:]).end()
    cell = "".join(line[start:end].strip() for line in lines[lines.index(head) + 2 :])
    assert cell == "724.606185430966" or "\u2026" in cell
    assert "1024" in terminal.text


def test_head_gets_its_line_and_no_traceback():
    words = command_line(*["compute", "--L", "1:700", "--norm", "post", "--format", "csv"])
    done = subprocess.run(
        ["bash", "-c", '"$@" | head -1; exit "${PIPESTATUS[0]}"', "bash", *words],
        capture_output=True,
        env=environment(),
        timeout=30,
        check=False,
    )
    assert done.returncode == 0
    assert done.stdout.startswith(b"attention,norm,affine")
    assert done.stdout.count(b"\n") == 1
    assert done.stderr == b""


@pytest.mark.parametrize(("redirection", "code"), [(">&-", 1), (">/dev/full", 1)])
def test_an_output_that_takes_nothing_is_one_sentence(redirection, code):
    done = subprocess.run(
        ["bash", "-c", f'"$@" {redirection}', "bash", *command_line("compute", "--L", "4")],
        capture_output=True,
        env=environment(),
        timeout=30,
        check=False,
    )
    assert done.returncode == code
    assert done.stderr.startswith(b"bmin: ")
    assert done.stderr.count(b"\n") == 1


def test_ctrl_c_stops_a_long_list_cleanly():
    arguments = ("compute", "--norm", "none", "--L", "1:90000")
    with on_terminal(*arguments, stdout=subprocess.PIPE) as (process, terminal):
        terminal.read(until=b"counting")
        process.send_signal(signal.SIGINT)
        # CPython drops an interrupt that comes in a weakref's callback; one presses again then.
        again = threading.Timer(3, process.send_signal, (signal.SIGINT,))
        again.start()
        terminal.read()
        again.cancel()
        out, _ = process.communicate(timeout=10)
        # CPython exits by the signal itself if it came inside an exec; a shell says 130 of both.
        assert process.returncode in (130, -signal.SIGINT)
    assert out == b""
    assert "Traceback" not in terminal.text
    assert terminal.text.rstrip().endswith("bmin: interrupted; nothing was written")
    assert terminal.raw.rfind(b"\x1b[?25h") > terminal.raw.rfind(b"\x1b[?25l")  # cursor is back


def test_no_progress_bar_on_a_pipe(run_bmin):
    assert run_bmin("compute", "--norm", "post", "--affine", "bare", "--L", "1:300").err == ""

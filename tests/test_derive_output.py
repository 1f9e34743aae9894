"""Promise: a derivation reads well in a terminal, in markdown, and as LaTeX that compiles."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from bmin_derivations.catalogue import THEOREMS, theorem
from bmin_derivations.prose import latex_prose, markdown_prose
from bmin_derivations.render import derivation, listing
from bminlib import DomainError

IDS = [entry.id for entry in THEOREMS]
PAGES = ["none", "post.epsilon"]
LATEX = shutil.which("pdflatex")


def test_the_list_has_every_theorem_with_its_source() -> None:
    rows = listing()
    assert [row[0] for row in rows] == IDS
    assert ("post.bare", theorem("post.bare").title, "abstract, claim 4") in rows


@pytest.mark.parametrize("name", PAGES)
def test_a_terminal_page_shows_statement_steps_and_what_is_left(name: str) -> None:
    page = derivation(name)
    entry = theorem(name)
    assert page.isascii()
    assert " ".join(page.split()).startswith(f"{name}: {entry.title}")
    for heading in ("Source: ", "Statement", "Symbols", "Steps", "Checked by machine: "):
        assert heading in page
    assert "Left to the reader: " in page
    steps = re.findall(r"^  (\d+)\. ", page.split("\nSteps\n")[1], re.MULTILINE)
    assert [int(step) for step in steps] == list(range(1, len(entry.steps()) + 1))
    assert page.count("\n        proved: ") == len(entry.steps())
    prose = [line for line in page.splitlines() if not line.startswith(" " * 8)]
    assert max(map(len, prose)) <= 88


@pytest.mark.parametrize("name", PAGES)
def test_a_markdown_page_has_a_display_for_every_claim(name: str) -> None:
    page = derivation(name, "markdown")
    entry = theorem(name)
    assert page.startswith(f"## `{name}` ")
    assert page.count("$$") == 2 * (len(entry.parts) + len(entry.steps()))
    assert page.count("*proved*: ") == len(entry.steps())


def _is_balanced(page: str) -> bool:
    bare = re.sub(r"\\[{}\\]", "", page)
    depth = 0
    for brace in re.findall(r"[{}]", bare):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0


@pytest.mark.parametrize("name", PAGES)
def test_a_latex_page_is_a_whole_document_of_article_and_amsmath(name: str) -> None:
    page = derivation(name, "latex")
    assert page.startswith("\\documentclass{article}\n\\usepackage{amsmath}\n")
    assert page.count("\\usepackage") == 1
    assert page.rstrip().endswith("\\end{document}")
    assert page.isascii()
    assert _is_balanced(page)
    begun = re.findall(r"\\begin\{(\w+\*?)\}", page)
    assert sorted(begun) == sorted(re.findall(r"\\end\{(\w+\*?)\}", page))


def _compiles(name: str, folder: Path) -> None:
    (folder / "page.tex").write_text(derivation(name, "latex"), encoding="ascii")
    command = [str(LATEX), "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout[-1500:]
    assert (folder / "page.pdf").stat().st_size > 1000


@pytest.mark.skipif(LATEX is None, reason="no TeX on this machine")
def test_a_latex_page_compiles_as_it_stands(tmp_path: Path) -> None:
    _compiles("fractional.demand", tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(LATEX is None, reason="no TeX on this machine")
@pytest.mark.parametrize("name", IDS)
def test_every_latex_page_compiles_as_it_stands(name: str, tmp_path: Path) -> None:
    _compiles(name, tmp_path)


def test_prose_is_made_fit_for_its_page() -> None:
    text = "D_L <= 50% of |x|^2 & a* {tau} -> e^(2 tau d) # ~ \\"
    assert latex_prose(text) == (
        "D\\textsubscript{L} $\\leq$ 50\\% of $|$x$|$\\textsuperscript{2} \\& a$*$ \\{$\\tau$\\} "
        "$\\to$ e\\textsuperscript{2 $\\tau$ d} \\# \\textasciitilde{} \\textbackslash{}"
    )
    assert markdown_prose("a*b_c <d> |e|") == "a\\*b\\_c \\<d\\> \\|e\\|"


@pytest.mark.parametrize(
    ("name", "style", "words"),
    [
        ("posts", "text", "'posts': there is no theorem of this id; take one of trivial, "),
        ("none", "html", "format 'html': a derivation is shown as text, markdown, latex"),
    ],
)
def test_what_is_not_there_gets_one_sentence(name: str, style: str, words: str) -> None:
    with pytest.raises(DomainError, match=re.escape(words)):
        derivation(name, style)

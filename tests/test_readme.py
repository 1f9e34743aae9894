"""The README's commands print what the README shows."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).parents[1] / "README.md").read_text()
CONSOLE = re.findall(r"```console\n\$ (bmin [^\n]*)\n(.*?)```", README, re.DOTALL)
SHELL = "\n".join(re.findall(r"```sh\n(bmin .*?)```", README, re.DOTALL))
ASKED = re.findall(r"^(bmin [^#\n]*)", SHELL, re.MULTILINE)
SNIPPET = re.search(r"```python\n(.*?)```", README, re.DOTALL)[1]


def run(command: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "bmin", *shlex.split(command)[1:]]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("command", "output"), CONSOLE)
def test_console_blocks_are_real(command: str, output: str) -> None:
    assert run(command).stdout == output


def test_examples_are_answered_one_after_the_other(tmp_path: Path) -> None:
    assert len(ASKED) > 5
    for command in ASKED:
        answer = run(command, tmp_path)
        assert answer.returncode == 0, (command, answer.stderr)
        assert answer.stdout


def test_python_snippet_runs() -> None:
    command = [sys.executable, "-c", SNIPPET]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    decimal, ball = answer.stdout.splitlines()
    assert decimal == "4719297634115.557533026244403787502872666 post.learned"
    assert ball.startswith("[4719297634115.5575330262444037875028726")

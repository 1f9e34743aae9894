"""Two ways to run the command: in process, and as a process of its own."""

import json
import os
import subprocess
import sys
from typing import NamedTuple

import pytest
from hypothesis import settings

from bmin.app import run

settings.register_profile("shared", deadline=None)  # other people's load is no failure of ours
settings.load_profile("shared")

SCRUBBED = {
    *("FORCE_COLOR", "NO_COLOR", "COLUMNS", "LINES", "LC_ALL"),
    *("PYTHONIOENCODING", "PYTHONUTF8", "PYTHONUNBUFFERED"),
}


class Answer(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def records(self):
        return json.loads(self.out)


def command_line(*arguments):
    """The command as a process runs it."""
    return [sys.executable, "-m", "bmin", *arguments]


def environment(**changes):
    """This process's environment without what colours, wraps or encodes, then `changes`."""
    kept = {name: value for name, value in os.environ.items() if name not in SCRUBBED}
    return kept | {"TERM": "xterm-256color"} | changes


@pytest.fixture
def run_bmin(capsys):
    """`bmin` in this process: arguments in, (code, out, err) out."""

    def call(*arguments):
        capsys.readouterr()
        code = run(list(arguments))
        return Answer(code, *capsys.readouterr())

    return call


@pytest.fixture
def compute(run_bmin):
    """The JSON records of `bmin compute`, which has to answer."""

    def call(*arguments):
        answer = run_bmin("compute", *arguments, "--format", "json")
        assert answer.err == ""
        assert answer.code in (0, 1)
        return answer.records

    return call


@pytest.fixture
def spawn_bmin():
    """`python -m bmin` in a process of its own with pipes; costs a quarter of a second."""

    def call(*arguments, timeout=20, **changes):
        done = subprocess.run(
            command_line(*arguments),
            capture_output=True,
            env=environment(**changes),
            timeout=timeout,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())

    return call

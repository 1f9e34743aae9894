"""Sentences with a little mathematics in ASCII, made fit for terminals, markdown and LaTeX."""

from __future__ import annotations

import re
import textwrap

_WIDTH = 88
_GREEK = re.compile(
    "alpha|beta|gamma|delta|epsilon|eta|theta|kappa|mu|nu|rho|sigma|tau|phi|chi", re.ASCII
)
_RAISED = r"\^(\([^()]*(?:\([^()]*\)[^()]*)*\)|-?\w+)"
_TOKENS = re.compile(
    r"(?P<relation><=|>=|->|\+-|-\+|<|>)"
    rf"|(?P<power>{_RAISED})"
    r"|(?P<index>_(?:\w+|\([^()]*\)))"
    r"|(?P<word>[A-Za-z]+(?![A-Za-z.]))"
    r"|(?P<special>[\\{}$&#%~|*])"
)
_RELATIONS = {
    "<=": r"\leq",
    ">=": r"\geq",
    "->": r"\to",
    "+-": r"\pm",
    "-+": r"\mp",
    "<": "<",
    ">": ">",
}
_SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "|": "$|$", "*": "$*$"}


def wrapped(text: str, indent: int, hanging: int | None = None) -> list[str]:
    """Lines of at most 88 characters (a formula without spaces may be longer)."""
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent if hanging is None else hanging),
        break_long_words=False,
        break_on_hyphens=False,
    )


def markdown_prose(text: str) -> str:
    """The text with markdown's own marks escaped."""
    return re.sub(r"([\\`*_|<>#])", r"\\\1", text)


def latex_prose(text: str) -> str:
    """The text in LaTeX: relations, powers, indices and Greek names set as mathematics."""
    return _TOKENS.sub(_latex_token, text)


def latex_names(text: str) -> str:
    """Dotted names in LaTeX, where an underscore is only an underscore."""
    return text.replace("_", r"\_")


def _latex_token(match: re.Match[str]) -> str:
    token = match.group()
    if match["relation"]:
        return f"${_RELATIONS[token]}$"
    if match["power"]:
        inner = token[2:-1] if token[1] == "(" else token[1:]
        return rf"\textsuperscript{{{latex_prose(inner)}}}"
    if match["index"]:
        inner = token[2:-1] if token[1] == "(" else token[1:]
        return rf"\textsubscript{{{latex_prose(inner)}}}"
    if match["word"]:
        if token == "sqrt":
            return r"$\surd$"
        return rf"$\{token}$" if _GREEK.fullmatch(token) else token
    return _SPECIAL.get(token, f"\\{token}")

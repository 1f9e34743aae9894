"""Derivations as text for a terminal, as markdown, and as LaTeX that compiles as it stands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

import sympy

from bmin_derivations.catalogue import THEOREMS, theorem
from bmin_derivations.decide import decide
from bmin_derivations.prose import latex_names, latex_prose, markdown_prose, wrapped
from bmin_derivations.records import Part, Step, Theorem
from bmin_derivations.symbols import LATEX_NAMES, MEANINGS
from bminlib.errors import DomainError, shown

Style = Literal["text", "markdown", "latex"]

_SIGNS = {
    sympy.Equality: ("=", "="),
    sympy.GreaterThan: (">=", r"\geq"),
    sympy.StrictGreaterThan: (">", ">"),
    sympy.LessThan: ("<=", r"\leq"),
    sympy.StrictLessThan: ("<", "<"),
}
CHECKED = (
    "Checked by machine: the claim of each step, under the hypotheses beside it, and each instance "
    "of the statement."
)
_LONG_LATEX = 90


def listing() -> list[tuple[str, str, str]]:
    """(id, title, source) of every theorem, in the catalogue's order."""
    return [(entry.id, entry.title, entry.source) for entry in THEOREMS]


def derivation(name: str, style: Style = "text") -> str:
    """One theorem with its steps, each decided now; raises DomainError for an unknown id or style.

    latex: a whole document in article with amsmath.
    """
    if style not in get_args(Style):
        raise DomainError(
            f"format {shown(style)}: a derivation is shown as {', '.join(get_args(Style))}; "
            "pick one of these"
        )
    renderers: dict[str, Callable[[Theorem], str]] = {
        "text": _text,
        "markdown": _markdown,
        "latex": _latex,
    }
    return renderers[style](theorem(name))


def _text(entry: Theorem) -> str:
    lines = [*wrapped(f"{entry.id}: {entry.title}", 0), "", *wrapped(f"Source: {entry.source}.", 0)]
    lines += ["", "Statement"]
    for number, part in enumerate(entry.parts, 1):
        lines += wrapped(f"{number}. {_plain(part.statement)}", 2, 5)
        lines += wrapped(_where(part, _plain), 5)
        lines += wrapped(_tested_by(part), 5)
    lines += ["", "Symbols", *wrapped("; ".join(_meanings(entry)) + ".", 2), "", "Steps"]
    for number, step in enumerate(entry.steps(), 1):
        decision = decide(step)
        lines += wrapped(f"{number}. {step.sentence}", 2, 5)
        lines += wrapped(_plain(step.claim), 8)
        lines += [line for text in _conditions(step, _plain) for line in wrapped(text, 8)]
        lines += wrapped(f"{decision.verdict}: {decision.how}", 8)
    return "\n".join([*lines, "", *_closing(entry, lambda text: "\n".join(wrapped(text, 0)))])


def _markdown(entry: Theorem) -> str:
    lines = [f"## `{entry.id}` {markdown_prose(entry.title)}", "", f"Source: {entry.source}.", ""]
    for part in entry.parts:
        lines += [f"$${_tex(part.statement)}$$", ""]
        lines += [_where(part, _inline), ""]
        lines += [markdown_prose(_tested_by(part)), ""]
    lines += ["Symbols: " + markdown_prose("; ".join(_meanings(entry))) + ".", "", "### Steps", ""]
    for number, step in enumerate(entry.steps(), 1):
        decision = decide(step)
        lines += [
            f"{number}. {markdown_prose(step.sentence)}",
            "",
            f"   $${_tex(step.claim)}$$",
            "",
        ]
        for text in _conditions(step, _inline):
            lines += [f"   {text}", ""]
        lines += [f"   *{decision.verdict}*: {markdown_prose(decision.how)}.", ""]
    return "\n".join([*lines, *_closing(entry, markdown_prose)])


def _latex(entry: Theorem) -> str:
    lines = [
        r"\documentclass{article}",
        r"\usepackage{amsmath}",
        r"\setlength{\emergencystretch}{5em}",
        r"\begin{document}",
        rf"\section*{{{latex_prose(entry.title)}}}",
        rf"\texttt{{{entry.id}}}. Source: {latex_prose(entry.source)}.",
        r"\subsection*{Statement}",
        r"\begin{enumerate}",
    ]
    for part in entry.parts:
        where = _where(part, _inline)
        lines += [r"\item " + where, *_display(part.statement), latex_prose(_tested_by(part))]
    lines += [r"\end{enumerate}", "Symbols: " + latex_prose("; ".join(_meanings(entry))) + "."]
    lines += [r"\subsection*{Steps}", r"\begin{enumerate}"]
    for step in entry.steps():
        decision = decide(step)
        lines += [r"\item " + latex_prose(step.sentence), *_display(step.claim)]
        lines += _conditions(step, _inline)
        lines += [rf"\emph{{{decision.verdict}}}: {latex_prose(decision.how)}."]
    lines += [r"\end{enumerate}"]
    closing = _closing(entry, latex_prose, latex_names)
    return "\n".join([*lines, *closing, r"\end{document}", ""])


def _closing(
    entry: Theorem, prose: Callable[[str], str], names: Callable[[str], str] | None = None
) -> list[str]:
    lines = [prose(CHECKED), "", prose(f"Left to the reader: {entry.reader}")]
    if entry.uses:
        lines += ["", (names or prose)(f"Uses: {', '.join(entry.uses)}.")]
    if entry.justifies:
        lines += ["", (names or prose)(f"Justifies: {', '.join(entry.justifies)}.")]
    return lines


def _conditions(step: Step, show: Callable[[Any], str]) -> list[str]:
    given = ["Given " + ", ".join(map(show, step.given)) + "."] if step.given else []
    cases = ["In each case: " + "; ".join(map(show, step.cases)) + "."] if step.cases else []
    return given + cases


def _inline(relation: Any) -> str:
    return f"${_tex(relation)}$"


def _where(part: Part, show: Callable[[Any], str]) -> str:
    return "where " + ", ".join(map(show, part.hypotheses)) + ":" if part.hypotheses else "always:"


def _tested_by(part: Part) -> str:
    count = len(part.instances)
    plural = "s" if count > 1 else ""
    return f"({count} instance{plural}, compared with: {part.oracle})"


def _meanings(entry: Theorem) -> list[str]:
    """What the symbols of the statement stand for, in alphabetical order."""
    met = set().union(
        *(part.statement.free_symbols for part in entry.parts),
        *(relation.free_symbols for part in entry.parts for relation in part.hypotheses),
    )
    return [f"{symbol}: {MEANINGS[symbol.name]}" for symbol in sorted(met, key=str)]


def _plain(relation: Any) -> str:
    sign = _SIGNS[type(relation)][0]
    return f"{sympy.sstr(relation.lhs)} {sign} {sympy.sstr(relation.rhs)}"


def _tex(relation: Any) -> str:
    sign = _SIGNS[type(relation)][1]
    return f"{_formula(relation.lhs)} {sign} {_formula(relation.rhs)}"


def _formula(expression: Any) -> str:
    names = {
        symbol: LATEX_NAMES[symbol.name]
        for symbol in expression.free_symbols
        if symbol.name in LATEX_NAMES
    }
    return str(sympy.latex(expression, symbol_names=names))


def _display(relation: Any) -> list[str]:
    """A display; long sides get lines of their own, long sums several."""
    if len(_tex(relation)) <= _LONG_LATEX:
        return [rf"\[{_tex(relation)}\]"]
    sign = _SIGNS[type(relation)][1]
    lines = [
        *_pieces(relation.lhs),
        *(f"{sign} {x}" if not i else x for i, x in enumerate(_pieces(relation.rhs))),
    ]
    body = " \\\\\n".join(rf"&\quad {line}" for line in lines)
    return [r"\begin{align*}", body, r"\end{align*}"]


def _pieces(expression: Any) -> list[str]:
    """A sum in pieces of a few terms, a product with a long sum for its last factor likewise."""
    if isinstance(expression, sympy.Mul) and len(_formula(expression)) > _LONG_LATEX:
        *factors, last = expression.as_ordered_factors()
        if factors and isinstance(last, sympy.Add):
            front = _formula(sympy.Mul(*factors, evaluate=False))
            return [rf"{front} \bigl(", *_pieces(last), r"\bigr)"]
    if not isinstance(expression, sympy.Add) or len(_formula(expression)) <= _LONG_LATEX:
        return [_formula(expression)]
    pieces = [""]
    for term in expression.as_ordered_terms():
        text = _formula(term)
        joined = text if text.startswith("-") or not any(pieces) else f"+ {text}"
        if len(pieces[-1]) + len(joined) > _LONG_LATEX and pieces[-1]:
            pieces.append(joined)
        else:
            pieces[-1] = f"{pieces[-1]} {joined}".strip()
    return pieces

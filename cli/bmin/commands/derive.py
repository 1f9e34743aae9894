"""`bmin derive`: the theorems, and each one's derivation to read."""

from typing import Annotated, Literal

import typer

from bmin import output
from bmin.output import Sheet


def command(
    name: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="A theorem; the list if left out.")
    ] = None,
    style: Annotated[
        Literal["text", "latex", "markdown"], typer.Option("--format", help="How it is written.")
    ] = "text",
) -> int:
    """Print the list of theorems with their sources, or the derivation of one, step by step.

    The LaTeX compiles as it stands.
    """
    from bmin_derivations.render import derivation, listing

    if name is not None:
        output.write(derivation(name, style))
    elif style == "latex":
        rows = [[f"\\texttt{{{row[0]}}}", *row[1:]] for row in map(_escaped, listing())]
        output.write(output.latex_text(("theorem", "what it says", "source"), rows, "lll"))
    else:
        heads = ("theorem", "what it says", "source")
        sheet = Sheet("Theorems; `bmin derive ID` derives one", heads, listing(), folds=heads[1])
        output.write_sheet(sheet, "markdown" if style == "markdown" else "table")
    return 0


def _escaped(row: tuple[str, str, str]) -> list[str]:
    return [cell.replace("_", r"\_").replace("^", r"\^{}") for cell in row]

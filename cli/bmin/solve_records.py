"""What `bmin compute --method solve` shows beside a closed form: the solver's own value."""

from typing import Any, NamedTuple

from bmin.output import latex_number
from bminlib import Bound
from bminlib.decimals import MAX_DIGITS
from bminlib.errors import UndecidedError
from bminlib.solve import Solution, digits_agreed, solve


class Solved(NamedTuple):
    """The solver's answer to the problem of a bound; no `found` for a classification read-out.

    text: its value to `digits` digits, None where infeasible. agreed: how many of them it is
    proved to share with the closed form, None where one of them is infeasible or both are 0.
    """

    found: Solution | None = None
    text: str | None = None
    agreed: int | None = None
    agrees: bool = True

    def record(self) -> dict[str, Any]:
        """The columns of docs/output.md."""
        return {
            "solved": self.text,
            "digits_agreed": self.agreed,
            "equations": (self.found.equations or None) if self.found else None,
            "solve_reason": self.found.reason if self.found else None,
        }

    def cells(self) -> list[str]:
        """Value and digits agreed for a table."""
        missing = "infeasible" if self.found else "-"
        return [self.text or missing, "-" if self.agreed is None else str(self.agreed)]

    def latex_cells(self) -> list[str]:
        """The same for LaTeX."""
        number = latex_number(self.text) if self.text else self.cells()[0].replace("-", "--")
        return [number, "--" if self.agreed is None else f"${self.agreed}$"]


def solved(bound: Bound, digits: int) -> Solved:
    """Solve the problem of `bound` by root-finding; raises UndecidedError where nothing is proved.

    A classification read-out has no equation to solve.
    """
    if bound.problem.readout == "classification":
        return Solved()
    found = solve(bound.problem, min(digits + 2, MAX_DIGITS))
    if found.value is None or bound.value is None:
        agrees = found.value is None and bound.value is None
        return Solved(found, None if found.value is None else _text(found, digits), None, agrees)
    closed = bound.enclosure(digits + 3)
    if found.value == 0 and closed == 0:
        return Solved(found, "0")
    agreed = digits_agreed(found.value, closed, digits)
    return Solved(found, _text(found, digits), agreed, agreed == digits)


def _text(found: Solution, digits: int) -> str:
    """The value to `digits` digits, or one more where a ball can't tell up from down: a tie."""
    try:
        return found.decimal(digits)
    except UndecidedError:
        return found.decimal(digits + 1)

"""The rows of `bmin rates`: the fitted law of each placement beside the theorem's."""

from collections.abc import Sequence
from typing import Any

from bmin import output
from bmin.bound_rows import placement_text, size_text
from bmin.output import Format, Sheet
from bmin.records import exact_text, problem_record
from bminlib.decimals import integer_text
from bminlib.extrapolation import Estimate
from bminlib.rates import DIGITS, Rate

_TABLE_DIGITS = 16
_SLOPE_DIGITS = 20
_VAGUE = 0.1
_LONGEST_LATEX = 80
_BIASED = "line L=4..32 (biased)"
_HEADS = (
    "placement",
    "read-out",
    "d",
    "p",
    "C",
    "r",
    "digits",
    "theorem",
    "C L^p",
    _BIASED,
    "regime",
)
_RIGHT = frozenset({"d", "digits"})
_LATEX_HEADS = ("placement", "read-out", "$d$", "$p$", "$C$", "$r$", "digits", "theorem")
_TITLE = (
    "B_min ~ C L^p (1 + r/L + ...), found from exact values alone; digits: agreed with the theorem"
)


def show_rates(rates: Sequence[Rate], style: Format, slopes: bool = False) -> int:
    """Print a row a placement, then perhaps its local slopes; 0, for an end is an answer too."""
    if style in ("json", "csv"):
        records = [rate_record(rate) for rate in rates]
        flat = [record | {"local_slopes": _slope_cell(record)} for record in records]
        output.write(output.json_text(records) if style == "json" else output.csv_text(flat))
    elif style == "latex":
        output.write(output.latex_text(_LATEX_HEADS, map(_latex_cells, rates), "llrlllrl"))
    else:
        sheet = Sheet(_TITLE, _HEADS, [_cells(rate) for rate in rates], _RIGHT, "regime", _BIASED)
        output.write_sheet(sheet, style)
        if slopes:
            output.write("")
            output.write_sheet(_slope_sheet(rates), style)
    return 0


def rate_record(rate: Rate) -> dict[str, Any]:
    """A fit under the names of docs/output.md."""
    problem = problem_record(rate.problem)
    names = ("attention", "norm", "affine", "normalizer", "weights", "readout", "d", "tau")
    law = rate.law
    return {
        **{name: problem[name] for name in names},
        **_estimate("exponent", rate.exponent),
        **_estimate("constant", rate.constant),
        "theorem_exponent": str(law.exponent) if law else None,
        "theorem_constant": exact_text(law.constant.text) if law else None,
        "digits_agreed": rate.digits_agreed,
        "theorem": rate.theorem,
        "regime": rate.regime,
        **_estimate("next_ratio", rate.next_ratio),
        "theorem_next_ratio": None if not law or law.next_ratio is None else str(law.next_ratio),
        "least_squares_exponent": rate.small and f"{rate.small.slope:.6f}",
        "least_squares_error": rate.small and f"{rate.small.slope_error:.6f}",
        "scores_bind_up_to": _length(rate.window.scores and rate.window.scores[1]),
        "largest_L": _length(rate.window.ends),
        "local_slopes": [
            {
                "L": integer_text(at.L),
                "to": integer_text(at.to),
                "slope": at.slope.texts(_SLOPE_DIGITS)[0],
            }
            for at in rate.slopes
        ],
    }


def _estimate(name: str, estimate: Estimate | None) -> dict[str, str | None]:
    value, error = estimate.texts(DIGITS) if estimate else (None, None)
    return {name: value, f"{name}_error": error}


def _length(length: int | None) -> str | None:
    return None if length is None else integer_text(length)


def _slope_cell(record: dict[str, Any]) -> str:
    return " ".join(f"{at['L']}:{at['slope']}" for at in record["local_slopes"])


def _slope_sheet(rates: Sequence[Rate]) -> Sheet:
    """Local slopes with a row a length and a column a placement with a curve."""
    grown = [rate for rate in rates if rate.small is not None]
    several = len({rate.problem.d for rate in grown}) > 1
    names = [
        placement_text(rate.problem) + (f", d = {size_text(rate.problem.d)}" if several else "")
        for rate in grown
    ]
    known = [{at.L: at.slope.texts(_SLOPE_DIGITS)[0] for at in rate.slopes} for rate in grown]
    lengths = sorted({L for column in known for L in column})
    cells = [[integer_text(L), *(column.get(L, "") for column in known)] for L in lengths]
    return Sheet(
        "Local slopes: from L to the next length of the same column",
        ["L", *names],
        cells,
        frozenset({"L"}),
    )


def _cells(rate: Rate) -> list[str]:
    digits = rate.digits_agreed
    return [
        placement_text(rate.problem),
        rate.problem.readout,
        size_text(rate.problem.d),
        _number(rate.exponent),
        _number(rate.constant),
        _number(rate.next_ratio),
        "-" if digits is None else str(digits),
        rate.theorem,
        _law_text(rate),
        _line_text(rate),
        rate.regime or "",
    ]


def _number(estimate: Estimate | None) -> str:
    """The number, unless its error leaves nothing of it."""
    value, error = estimate.texts(_TABLE_DIGITS) if estimate else ("-", "0")
    return "-" if float(error) > _VAGUE else value


def _law_text(rate: Rate) -> str:
    if rate.law is None:
        return "-"
    constant, exponent = rate.law.constant.text or "", rate.law.exponent
    if not exponent or constant == "0":
        return constant
    power = (
        "L" if exponent == 1 else f"L^({exponent})" if exponent.denominator > 1 else f"L^{exponent}"
    )
    return f"{power} {constant}" if constant.startswith("(") else f"{constant} {power}"


def _line_text(rate: Rate) -> str:
    """The least-squares slope at small L, its standard error, and its distance from the truth."""
    if rate.small is None or rate.small.slope_error is None:
        return "-"
    text = f"{rate.small.slope:.3f} +- {rate.small.slope_error:.3f}"
    return (
        text if rate.law is None else f"{text}, off by {rate.small.slope - rate.law.exponent:+.3f}"
    )


def _latex_cells(rate: Rate) -> list[str]:
    from sympy import latex, sympify

    numbers = [_number(e) for e in (rate.exponent, rate.constant, rate.next_ratio)]
    law = "--"
    text = rate.law.constant.text if rate.law else None
    if rate.law is not None and text and len(text) <= _LONGEST_LATEX:
        constant = latex(sympify(text))
        power = latex(sympify(f"L**({rate.law.exponent})"))
        law = f"${constant}$" if power == "1" or constant == "0" else rf"${constant}\,{power}$"
    digits = rate.digits_agreed
    return [
        placement_text(rate.problem),
        rate.problem.readout,
        output.latex_number(size_text(rate.problem.d)),
        *("--" if number == "-" else output.latex_number(number) for number in numbers),
        "--" if digits is None else f"${digits}$",
        law,
    ]

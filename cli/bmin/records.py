"""One row of output: the stable names of JSON and CSV, documented in docs/output.md."""

from typing import Any

from bminlib import Bound, CountingProblem
from bminlib.decimals import integer_text, is_too_long


def problem_record(problem: CountingProblem) -> dict[str, Any]:
    """The problem under its JSON names; L is text, for it can outgrow a double."""
    return {
        "attention": problem.attention,
        "norm": problem.norm,
        "affine": problem.affine,
        "normalizer": problem.normalizer,
        "weights": problem.weights,
        "readout": problem.readout,
        "exactness": problem.exactness,
        "d": problem.d,
        "tau": problem.score_scale.text,
        "L": integer_text(problem.L),
    }


def bound_record(bound: Bound, digits: int) -> dict[str, Any]:
    """A bound with `digits` significant digits, under the names of docs/output.md."""
    known = bound.feasible
    return problem_record(bound.problem) | {
        "feasible": known,
        "reason": bound.reason,
        "b_min": bound.decimal(digits) if known else None,
        "lower": bound.decimal(digits, "down") if known else None,
        "upper": bound.decimal(digits, "up") if known else None,
        "exact": exact_text(bound.text),
        "method": bound.method,
        "attained": bound.attained,
        "active": [{"c": integer_text(at.c), "side": at.side} for at in bound.active],
        "regime": bound.regime,
        "theorem": bound.theorem,
        "stored_numbers": integer_text(bound.stored_numbers),
        **_asymptote_record(bound, digits),
    }


def exact_text(text: str | None) -> str | None:
    """`text`, or None where a number in it is too long to be read."""
    return None if text is None or is_too_long(text) else text


def _asymptote_record(bound: Bound, digits: int) -> dict[str, str | None]:
    asymptote = bound.asymptote
    if asymptote is None:
        return {"asymptote": None, "asymptote_ratio": None}
    factor = {"0": "", "1": "*L"}.get(str(asymptote.exponent), f"*L**({asymptote.exponent})")
    constant = asymptote.constant.text
    return {
        "asymptote": None if constant is None else constant + factor,
        "asymptote_ratio": asymptote.ratio.decimal(digits),
    }

"""Certificates: files that prove lower <= B_min <= upper to anyone who runs the checker.

The upper half holds explicit weights that count. The lower half holds multipliers: of the theorem's
own inequalities, or of those that a search finds without it. docs/certificate.md has the format.
"""

from __future__ import annotations

import json
import os
import re
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bminlib import extremal
from bminlib.bounds import Bound, b_min
from bminlib.certify_limits import checked_gap, decimal_in_file, number_text, refuse, tau_text
from bminlib.decimals import integer_text, root_digits
from bminlib.errors import UndecidedError
from bminlib.problem import CountingProblem
from bminlib.solve.rationals import as_fraction
from bminlib.supply import supply

if TYPE_CHECKING:
    from flint import arb

    from bminlib.weights import Weights

Argument = Literal["theorem", "search"]

KIND, VERSION = "bminlib/certificate", 1
DEFAULT_GAP = Fraction(1, 10**9)
_CHOICES = ("attention", "norm", "affine", "normalizer", "weights", "readout", "exactness")
_SPARE_BITS = 128
_START = re.compile(rb'\s*\{\s*"kind"\s*:\s*"bminlib/certificate"')


def certify(
    problem: CountingProblem, gap: Fraction = DEFAULT_GAP, by: Argument = "theorem"
) -> dict[str, Any]:
    """A certificate of B_min, the JSON object of docs/certificate.md, checked before it is given.

    lower <= B_min <= upper with upper/lower - 1 <= gap; lower "0" and upper <= gap where B_min is
    0; both None where nothing counts. by: "theorem", or "search" without any theorem.
    Raises DomainError for what can't be certified, and UndecidedError where the search or the
    checker fails.
    """
    from flint import ctx

    gap = checked_gap(gap, by)
    refuse(problem, by)
    with ctx.workprec(_SPARE_BITS + 8 * _digits(gap) + 8 * problem.L.bit_length()):
        return _certificate(problem, gap, by)


def _certificate(problem: CountingProblem, gap: Fraction, by: Argument) -> dict[str, Any]:
    lower, weights = _two_sides(problem, b_min(problem), gap)
    record = {
        "kind": KIND,
        "version": VERSION,
        "problem": problem_record(problem),
        "by": by,
        "gap": _decimal(gap, "down", 6),
        "lower": lower,
        "upper": None if weights is None else _longest(weights, gap),
        "proof": _proof(problem, lower, float(gap), by),
        "weights": None if weights is None else _weights_record(weights),
    }
    _prove(record)
    return record


def certificate_text(record: dict[str, Any]) -> str:
    """The certificate as a JSON text, one part a line."""
    parts = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in record.items())
    return "{\n" + ",\n".join(parts) + "\n}\n"


def save_certificate(record: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Write the certificate whole or not at all; raises DomainError where that can't be done."""
    from bminlib.whole_files import write_whole

    write_whole(Path(path), certificate_text(record).encode())


def is_certificate(data: bytes) -> bool:
    """Whether a file's content names itself a certificate, by its `kind` or, if cut off, its start.

    This says nothing about whether it proves anything.
    """
    if _START.match(data):
        return True
    try:
        record = json.loads(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(record, dict) and record.get("kind") == KIND


def problem_record(problem: CountingProblem) -> dict[str, Any]:
    """The problem under its JSON names, with tau as the checker reads it."""
    record: dict[str, Any] = {name: getattr(problem, name) for name in _CHOICES}
    return record | {"d": problem.d, "tau": tau_text(problem), "L": integer_text(problem.L)}


def _two_sides(
    problem: CountingProblem, bound: Bound, gap: Fraction
) -> tuple[str | None, Weights | None]:
    """(lower, weights whose largest norm is upper) within the gap."""
    from flint import arb, ctx, fmpq

    from bminlib.witness import witness

    if bound.value is None:
        return None, None
    if problem.readout == "classification" or problem.L == 1:
        return "0", witness(problem, gap / 2, norm=gap / 2)
    share = fmpq(*(1 / (1 + gap / 2)).as_integer_ratio())
    below = as_fraction(arb(bound.value.ball(ctx.prec) * share).lower())
    return _decimal(below, "down", _digits(gap)), witness(problem, gap / 4)


def _digits(gap: Fraction) -> int:
    """Significant digits whose rounding costs less than a tenth of the gap."""
    return len(str(int(1 / gap))) + 2


def _decimal(number: Fraction, rounding: Literal["down", "up"], digits: int) -> str:
    text, exponent = root_digits(*number.as_integer_ratio(), 1, digits, rounding)
    return decimal_in_file(text.rstrip("0") or "0", exponent)


def _longest(weights: Weights, gap: Fraction) -> str:
    """The largest norm, rounded up."""
    rows = (row for x in weights.vectors.values() for row in x.reshape(-1, x.shape[-1]).tolist())
    square = max(sum(Fraction(entry) ** 2 for entry in row) for row in rows)
    return decimal_in_file(*root_digits(*square.as_integer_ratio(), 2, _digits(gap), "up"))


def _weights_record(weights: Weights) -> dict[str, Any]:
    """Every entry as the text of an exact rational."""
    arrays = {name: _exact_texts(array.tolist()) for name, array in weights.arrays().items()}
    return {"b": arrays.pop("b"), "vectors": arrays}


def _exact_texts(entry: Any) -> Any:
    if isinstance(entry, list):
        return [_exact_texts(part) for part in entry]
    return number_text(Fraction(entry))


def _proof(problem: CountingProblem, lower: str | None, gap: float, by: Argument) -> dict[str, Any]:
    """The checker's `proof` that nothing of norm <= lower counts."""
    if lower == "0" or (problem.attention == "linear" and problem.norm != "post"):
        return {}
    if problem.norm == "post":
        if lower is None:
            return {}
        if by == "theorem":
            return {"k": extremal.circular_active(problem.L)}
        from bminlib.certify_shapes import shape_proof

        return shape_proof(problem.L, float(_amount(problem, lower)), gap)
    from bminlib.certify_ratios import exact_boxes, ratio_boxes

    if problem.exactness == "exact":
        return {"boxes": exact_boxes()}
    amount = None if lower is None else _amount(problem, lower)
    points = problem.two_points and problem.affine == "bare" and problem.L > 2
    boxes = ratio_boxes(
        problem.L, amount, _scores(problem, amount), points=points, search=by == "search"
    )
    return {"boxes": boxes}


def _amount(problem: CountingProblem, lower: str) -> arb:
    """The gap or radius that norms up to `lower` supply."""
    from flint import arb, ctx, fmpq

    has = supply(problem)
    B = arb(fmpq(*Fraction(lower).as_integer_ratio()))
    return arb(has.capacity.ball(ctx.prec) * B**has.power)


def _scores(problem: CountingProblem, amount: arb | None) -> arb:
    """The greatest |a_s - a_t| at that amount."""
    from flint import arb, ctx

    has = supply(problem)
    if has.score_range is not None:
        return has.score_range.ball(ctx.prec)
    if amount is None or has.score_rate is None:
        return arb("inf")
    return arb(has.score_rate.ball(ctx.prec) * amount)


def _prove(record: dict[str, Any]) -> None:
    from bminlib.checker import NotProvedError, check

    try:
        check(certificate_text(record).encode())
    except NotProvedError as error:
        raise UndecidedError(f"the checker did not accept the certificate: {error}") from error

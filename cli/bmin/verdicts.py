"""What `bmin witness` and `bmin verify` print of a verification."""

from fractions import Fraction
from typing import Any

from bmin import output
from bmin.bound_rows import placement_text
from bmin.progress import bar
from bmin.records import problem_record
from bminlib import CountingProblem, b_min
from bminlib.balls import ball_text
from bminlib.files import load_weights, save_weights
from bminlib.files_json import to_json_text
from bminlib.verify import Verification, verify
from bminlib.weights import Weights
from bminlib.witness import witness


def write_witness(
    problem: CountingProblem, options: dict[str, Fraction], out: str | None, style: str
) -> int:
    """Make, prove and write weights; 0 if they were proved, 1 and nothing written if not."""
    weights = witness(problem, options.pop("slack"), **options)
    found = _verified(weights, None)
    proved = found.verdict == "proved"
    if proved and out is None:
        output.write(to_json_text(weights))
        return 0
    if proved and out is not None:
        save_weights(weights, out)
    report(weights, found, style, out if proved else None)
    return 0 if proved else 1


def verify_file(path: str, length: int | None, style: str) -> int:
    """Verify the weights in a file; 0 if they are proved to count, 1 if not."""
    weights = load_weights(path)
    found = _verified(weights, length)
    report(weights, found, style, None)
    return 0 if found.verdict == "proved" else 1


def report(weights: Weights, found: Verification, style: str, written: str | None) -> None:
    """Print a verification as lines for a person, or as one JSON object."""
    record = _record(weights, found) | ({"file": written} if written else {})
    if style == "json":
        output.write(output.json_text([record]))
    else:
        output.write("\n".join(_lines(weights, found, written)))


def _verified(weights: Weights, length: int | None) -> Verification:
    with bar("verifying") as update:
        return verify(weights, length, update)


def _record(weights: Weights, found: Verification) -> dict[str, Any]:
    failure, margin = found.failure, found.margin
    return problem_record(found.problem) | {
        "ln_eps": str(weights.ln_eps),
        "verdict": found.verdict,
        "pairs": str(found.pairs),
        "largest_norm": ball_text(found.largest_norm),
        "b_min": _least(found.problem),
        "ratio": None if found.ratio is None else ball_text(found.ratio),
        "margin": None if margin is None else ball_text(margin.value, 6),
        "margin_at": None if margin is None else {"c": str(margin.c), "m": str(margin.m)},
        "failure": None if failure is None else _failure_record(failure),
        "reason": found.reason,
        "method": list(found.method),
        "seconds": round(found.seconds, 3),
    }


def _failure_record(failure: Any) -> dict[str, Any]:
    return {
        "c": str(failure.c),
        "m": str(failure.m),
        "yhat": ball_text(failure.yhat),
        "tie": failure.tie,
    }


def _least(problem: CountingProblem) -> str | None:
    bound = b_min(problem)
    return bound.decimal() if bound.feasible else None


def _lines(weights: Weights, found: Verification, written: str | None) -> list[str]:
    record = _record(weights, found)
    eps = f", ln_eps = {weights.ln_eps}" if weights.ln_eps else ""
    size = f"L = {record['L']}, d = {record['d']}, tau = {record['tau']}{eps}"
    pairs = f"{record['pairs']} pairs (c, m) with c + m <= {record['L']}"
    lines = [
        f"{placement_text(found.problem)}, {found.problem.readout}, {size}",
        f"{found.verdict}: {_finding(record, pairs)}",
        f"largest norm  {record['largest_norm']}  ({_longest(weights)})",
        f"B_min         {record['b_min'] or 'infeasible'}{_beside(record, bool(weights.ln_eps))}",
    ]
    if record["margin"]:
        at = record["margin_at"]
        lines.append(f"margin        {record['margin']}  at c = {at['c']}, m = {at['m']}")
    lines += [f"by            {fact}" for fact in record["method"]]
    lines.append(f"seconds       {record['seconds']}")
    return [*lines, f"written to    {written}"] if written else lines


def _finding(record: dict[str, Any], pairs: str) -> str:
    if record["verdict"] == "proved":
        return f"all {pairs} count"
    if record["verdict"] == "undecided":
        return str(record["reason"])
    failure = record["failure"]
    tie = ", a tie" if failure["tie"] else ""
    return f"c = {failure['c']}, m = {failure['m']} is read as {failure['yhat']}{tie}"


def _beside(record: dict[str, Any], has_eps: bool) -> str:
    ratio = f"  (largest norm = {record['ratio']} B_min)" if record["ratio"] else ""
    return (
        f" at ln_eps = 0; at this ln_eps only the largest norm bounds it{ratio}"
        if has_eps
        else ratio
    )


def _longest(weights: Weights) -> str:
    """The names of the vectors whose norms may be the largest."""
    norms, largest = weights.norms(), weights.largest_norm()
    return ", ".join(name for name, norm in norms.items() if norm.overlaps(largest))

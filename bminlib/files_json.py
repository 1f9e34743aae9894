"""Weights as JSON text, exact, and the description of a problem that every format carries."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from bminlib.decimals import integer_from_text, integer_text
from bminlib.errors import DomainError, shown
from bminlib.problem import CountingProblem
from bminlib.weights import Weights

if TYPE_CHECKING:
    import numpy as np

KIND = "bminlib/weights"
VERSION = 1
_CHOICES = ("attention", "norm", "affine", "normalizer", "weights", "readout", "exactness")
_HEAD_KEYS = {"kind", "version", "problem", "ln_eps"}
_EXACT = re.compile(r"-?[0-9]{1,20000}(?:/[0-9]{1,20000})?")


def to_json_text(weights: Weights) -> str:
    """The weights as JSON: Fractions as "p/q" strings, float64 as the shortest equal decimal."""
    vectors = {name: _written(array) for name, array in weights.vectors.items()}
    return json.dumps(head(weights) | {"vectors": vectors, "b": _written(weights.b)}, indent=1)


def from_json_text(text: str | bytes) -> Weights:
    """The weights that `to_json_text` wrote; raises DomainError for any other text."""
    record = _object(strict_json(text), "the file")
    vectors = _object(record.get("vectors"), "vectors")
    problem, ln_eps = read_head({k: v for k, v in record.items() if k not in ("vectors", "b")})
    if "b" not in record:
        raise DomainError("b is missing: the file must give it beside vectors; add b")
    arrays = {name: _read_array(name, values) for name, values in vectors.items()}
    return Weights(problem, arrays, _read_array("b", record["b"]), ln_eps)


def head(weights: Weights) -> dict[str, Any]:
    """What a file says besides the numbers: its kind, and the problem under its JSON names."""
    problem = weights.problem
    record: dict[str, Any] = {name: getattr(problem, name) for name in _CHOICES}
    record |= {"d": problem.d, "tau": _tau_text(problem), "L": integer_text(problem.L)}
    CountingProblem(**record | {"L": problem.L})  # a text that can't be read back is refused here
    return {
        "kind": KIND,
        "version": VERSION,
        "problem": record,
        "ln_eps": str(weights.ln_eps),
    }


def read_head(record: dict[str, Any]) -> tuple[CountingProblem, Fraction]:
    """(problem, ln_eps) from what `head` wrote; raises DomainError for anything else."""
    if record.get("kind") != KIND or record.get("version") != VERSION:
        raise DomainError(
            f"kind {shown(record.get('kind'))}, version {shown(record.get('version'))}: only "
            f"{KIND!r}, version {VERSION}, can be read; write the file with bminlib"
        )
    unknown = sorted(set(record) - _HEAD_KEYS)
    if unknown:
        raise DomainError(f"unknown key {shown(unknown[0])}: the file has no such part; remove it")
    return _read_problem(_object(record.get("problem"), "problem")), _read_eps(record)


def strict_json(text: str | bytes) -> Any:
    """The JSON value of `text` without duplicate keys, NaN or infinity; raises DomainError."""
    try:
        return json.loads(
            text,
            object_pairs_hook=_unique,
            parse_constant=_refuse_constant,
            parse_int=_read_integer,
        )
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        reason = f"not JSON, {error}" if isinstance(error, ValueError) else str(error)
        raise DomainError(f"the text is {reason}; write the file anew") from error
    except RecursionError as error:
        raise DomainError("the JSON is nested too deeply; write the file anew") from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise DomainError(f"the key {shown(twice)} occurs twice: keep one of the two")
    return record


def _refuse_constant(name: str) -> None:
    raise DomainError(f"the entry {name}: every number must be finite; replace it")


def _read_integer(text: str) -> int:
    if len(text) > 20000:
        raise DomainError("an integer of over 20000 digits: write fewer")
    return -integer_from_text(text[1:]) if text.startswith("-") else integer_from_text(text)


def _object(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DomainError(f"{what}: must be a JSON object, not {shown(value)}; write it anew")
    return value


def _read_problem(record: dict[str, Any]) -> CountingProblem:
    expected = {*_CHOICES, "d", "tau", "L"}
    if set(record) != expected:
        wrong = sorted(set(record) ^ expected)[0]
        raise DomainError(
            f"problem: the key {shown(wrong)} is missing or unknown; "
            f"give exactly {', '.join(sorted(expected))}"
        )
    L, tau = record["L"], record["tau"]
    if isinstance(L, str) and re.fullmatch(r"[0-9]{1,1000000}", L):
        L = integer_from_text(L)
    if not isinstance(tau, str):
        raise DomainError(f"tau={shown(tau)}: must be text such as '1/8' or '1/sqrt(5)'; quote it")
    return CountingProblem(**record | {"L": L})


def _read_eps(record: dict[str, Any]) -> Fraction:
    return Fraction(_read_number("ln_eps", record.get("ln_eps")))


def _tau_text(problem: CountingProblem) -> str:
    """tau as `parse_tau` reads it, without a name that depends on d."""
    if isinstance(problem.tau, str) and problem.tau not in ("scaled", "unscaled"):
        return problem.tau
    return problem.score_scale.text


def _written(array: np.ndarray) -> Any:
    """Nested lists of floats, or of "p/q" strings."""
    if array.dtype != object:
        return array.tolist()
    if array.ndim == 0:
        return _exact_text(array.item())
    return [_written(part) for part in array] if array.ndim > 1 else list(map(_exact_text, array))


def _exact_text(number: Fraction) -> str:
    above, below = map(integer_text, number.as_integer_ratio())
    return above if below == "1" else f"{above}/{below}"


def _read_array(name: str, values: Any) -> Any:
    """Numbers in lists nested at most twice; `Weights` checks the shape."""
    if not isinstance(values, list):
        return _read_number(name, values)
    return [
        [_read_number(name, entry) for entry in row]
        if isinstance(row, list)
        else _read_number(name, row)
        for row in values
    ]


def _read_number(name: str, entry: Any) -> int | float | Fraction:
    if isinstance(entry, int | float) and not isinstance(entry, bool):
        return entry
    if isinstance(entry, str) and _EXACT.fullmatch(entry):
        above, _, below = entry.lstrip("-").partition("/")
        denominator = integer_from_text(below or "1")
        if denominator:
            size = Fraction(integer_from_text(above), denominator)
            return -size if entry.startswith("-") else size
    raise DomainError(
        f"{name} has the entry {shown(entry)}: every entry must be a number or text such as "
        "'-3/8'; write it that way"
    )

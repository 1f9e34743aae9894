"""The trainable vectors of one counting layer: shapes checked, entries exact or float64."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from bminlib.entries import as_array, as_fractions, check_finite, float64_array
from bminlib.errors import DomainError, shown
from bminlib.problem import CountingProblem

if TYPE_CHECKING:
    import numpy as np
    from flint import arb

_ATTENTION_NAMES = ("q", "k_s", "k_t", "k_f", "v_s", "v_t", "v_f", "r")
_NORM_BITS = 128


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """Numbers for every trainable vector of the layer that `problem` describes.

    vectors: one read-only array of shape (d,) for each of `vector_names(problem)`; W, one row a
    count, has shape (L + 1, d). b: shape (), or (L + 1,) beside W. Array-likes are taken and
    copied. Entries are float64 everywhere (each one an exact dyadic rational), or, as soon as one
    of them is a Fraction or an integer beyond 2^53, Fractions everywhere (dtype object).
    ln_eps: the eps inside the normaliser's sqrt(|Ph|^2/d + eps), exact; 0 where there is none.
    Raises DomainError for a missing or unknown name, a wrong shape, or an entry that is no finite
    real number.
    """

    problem: CountingProblem
    vectors: Mapping[str, np.ndarray]
    b: np.ndarray
    ln_eps: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ln_eps", check_ln_eps(self.problem, self.ln_eps))
        if not isinstance(self.vectors, Mapping):
            raise DomainError(
                f"vectors={shown(self.vectors)}: must map names to arrays; give a dict of them"
            )
        check_names(self.problem, self.vectors)
        given = {name: self.vectors[name] for name in vector_names(self.problem)} | {"b": self.b}
        arrays = {name: as_array(name, values) for name, values in given.items()}
        for name, array in arrays.items():
            _check_shape(self.problem, name, array)
            check_finite(name, array)
        exact = any(array.dtype == object for array in arrays.values())
        typed = {name: as_fractions(x) if exact else x for name, x in arrays.items()}
        for array in typed.values():
            array.flags.writeable = False
        object.__setattr__(self, "b", typed.pop("b"))
        object.__setattr__(self, "vectors", MappingProxyType(typed))

    @property
    def is_exact(self) -> bool:
        """Whether the entries are Fractions; float64 otherwise."""
        return bool(self.b.dtype == object)

    def arrays(self) -> dict[str, np.ndarray]:
        """The vectors and b by name, in the order of `vector_names`."""
        return {**self.vectors, "b": self.b}

    def to_float64(self) -> Weights:
        """The same numbers as float64; raises DomainError where one of them is no float64."""
        floats = {name: float64_array(name, array) for name, array in self.arrays().items()}
        return Weights(self.problem, floats, floats.pop("b"), self.ln_eps)

    def norms(self, bits: int = _NORM_BITS) -> dict[str, arb]:
        """Balls that hold the Euclidean norm of each vector (of W: its longest row)."""
        from flint import ctx

        with ctx.workprec(bits):
            return {name: _longest_row(array) for name, array in self.vectors.items()}

    def largest_norm(self, bits: int = _NORM_BITS) -> arb:
        """A ball that holds the largest norm of any vector: the B that these weights need."""
        from flint import ctx

        with ctx.workprec(bits):
            return _greatest(list(self.norms(bits).values()))


def exact_weights(
    problem: CountingProblem,
    vectors: Mapping[str, Sequence[Any]],
    b: Any,
    ln_eps: Fraction = Fraction(0),
) -> Weights:
    """Exact weights from Fractions in lists."""
    import numpy as np

    arrays = {name: np.array(entries, dtype=object) for name, entries in vectors.items()}
    return Weights(problem, arrays, np.array(b, dtype=object), ln_eps)


def short_weights(weights: Weights) -> Weights:
    """The same numbers in float64 where that holds every one of them, unchanged elsewhere."""
    try:
        return weights.to_float64()
    except DomainError:
        return weights


def vector_names(problem: CountingProblem) -> tuple[str, ...]:
    """The names of the trainable vectors that the placement of `problem` has."""
    affine = ("gamma", "beta") if problem.affine == "learned" else ()
    readout = "W" if problem.readout == "classification" else "w"
    return (*_ATTENTION_NAMES, *affine, readout)


def vector_shape(problem: CountingProblem, name: str) -> tuple[int, ...]:
    """The shape of the array called `name`: (d,), or one row or entry a count beside W."""
    rows = (problem.L + 1,) if problem.readout == "classification" else ()
    if name == "b":
        return rows
    return (*rows, problem.d) if name == "W" else (problem.d,)


def check_ln_eps(problem: CountingProblem, ln_eps: object) -> Fraction:
    """`ln_eps` as a Fraction >= 0; raises DomainError for anything else, or without normaliser."""
    if isinstance(ln_eps, bool) or not isinstance(ln_eps, int | Fraction) or ln_eps < 0:
        raise DomainError(
            f"ln_eps={shown(ln_eps)}: the eps of the normaliser must be an exact number >= 0; "
            "give an int or a Fraction such as Fraction('1e-5')"
        )
    if ln_eps and problem.norm == "none":
        raise DomainError(
            f"ln_eps={ln_eps}: norm none has no normaliser to put eps in; "
            "leave ln_eps out, or take norm pre or post"
        )
    return Fraction(ln_eps)


def check_names(problem: CountingProblem, given: Iterable[str]) -> None:
    """Raises DomainError unless `given` holds the names of `vector_names`, in any order."""
    names, given = vector_names(problem), set(given)
    missing = [name for name in names if name not in given]
    unknown = sorted(given - set(names), key=str)
    if missing or unknown:
        wrong = [f"{', '.join(missing)} missing"] if missing else []
        wrong += [f"{', '.join(map(shown, unknown[:3]))} unknown"] if unknown else []
        raise DomainError(
            f"{' and '.join(wrong)}: the vectors of {_placement(problem)} are "
            f"{', '.join(names)}; give exactly these, and b"
        )


def _placement(problem: CountingProblem) -> str:
    affine = f" {problem.affine}" if problem.affine else ""
    return f"norm {problem.norm}{affine} with a {problem.readout} read-out"


def _check_shape(problem: CountingProblem, name: str, array: np.ndarray) -> None:
    expected = vector_shape(problem, name)
    if array.shape != expected:
        raise DomainError(
            f"{name}: its shape is {array.shape}, but must be {expected} at d = {problem.d}, "
            f"L = {problem.L}; give an array of that shape"
        )


def _longest_row(array: np.ndarray) -> arb:
    """The norm of a vector, or of the longest row, at the current precision."""
    return _greatest([_norm(row) for row in array.reshape(-1, array.shape[-1])])


def _norm(row: np.ndarray) -> arb:
    from flint import arb

    return sum((to_ball(entry) ** 2 for entry in row), arb(0)).sqrt()


def _greatest(balls: list[arb]) -> arb:
    greatest = balls[0]
    for ball in balls[1:]:
        greatest = greatest.max(ball)
    return greatest


def to_ball(number: Fraction | float) -> arb:
    """A ball that holds `number`, at the current precision."""
    from flint import arb, fmpq

    if isinstance(number, Fraction):
        return arb(fmpq(number.numerator, number.denominator))
    return arb(float(number))

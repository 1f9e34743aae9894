"""The layer in exact numbers, reduced to what a read-out can see of it.

With x = (1, c, m) for the read-out token, the targets and the fillers, and powers e^(E_j), a row w
of the read-out gives

    <w, z> = offset + sum_j x_j e^(E_j) alpha_j / g(c, m),

where g = sum_j x_j e^(E_j) n_j (none and pre) or g = |sum_j x_j e^(E_j) X_j| (post, with eps of the
normaliser as one more coordinate of X_j). E = (a_s, a_t, a_f), n = (1, 1, 1) for softmax attention;
E = (0, 0, 0), n = (1, 0, 0) for linear attention, whose scores stand in alpha_j and X_j.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bminlib.errors import DomainError
from bminlib.problem import CountingProblem
from bminlib.surds import Exponentials, Surd, exponentials, rational, root, surd

if TYPE_CHECKING:
    from flint import fmpq

    from bminlib.weights import Weights

Vector = list[Any]  # of fmpq
_KINDS = ("s", "t", "f")


@dataclass(frozen=True, slots=True)
class Mixture:
    """A vector: the sum of surd times rational vector over its parts, whose surds differ."""

    parts: tuple[tuple[Surd, Vector], ...]

    def __add__(self, other: Mixture) -> Mixture:
        united = dict(self.parts)
        for share, vector in other.parts:
            known = united.get(share)
            united[share] = [x + y for x, y in zip(known, vector, strict=True)] if known else vector
        return Mixture(tuple(united.items()))

    def times(self, factor: Surd) -> Mixture:
        """The product with a number."""
        return Mixture(tuple((factor * share, vector) for share, vector in self.parts))

    def dot(self, other: Mixture) -> Surd:
        """The scalar product."""
        total = Surd()
        for share, vector in self.parts:
            for other_share, other_vector in other.parts:
                total += (share * other_share).times(dot(vector, other_vector))
        return total


@dataclass(frozen=True, slots=True, eq=False)
class ExactLayer:
    """The reduction of one layer; see the module's formula.

    d: the dimension. powers: the e^(E_j). readers: four vectors whose scalar products with a row w
    are alpha_s, alpha_t, alpha_f and the offset. masses: n. gram: the 3 x 3 scalar products
    <X_i, X_j>, and pair_powers: the nine e^(E_i + E_j); None unless post.
    """

    d: int
    powers: Exponentials
    readers: tuple[Mixture, Mixture, Mixture, Mixture]
    masses: tuple[int, int, int]
    gram: tuple[tuple[Surd, ...], ...] | None
    pair_powers: Exponentials | None

    @property
    def fillers_matter(self) -> bool:
        """False where the layer provably gives the same for every m."""
        return self.gram is None or bool(self.gram[2][2])

    def read(self, row: Vector) -> tuple[Surd, Surd, Surd, Surd]:
        """alpha_s, alpha_t, alpha_f and the offset for a row of the read-out."""
        row_mixture = _whole(row)
        s, t, f, offset = (reader.dot(row_mixture) for reader in self.readers)
        return s, t, f, offset


def reduce_weights(weights: Weights) -> ExactLayer:
    """The exact reduction of `weights`; raises DomainError where pre-normalisation divides by 0."""
    problem, eps = weights.problem, rational(weights.ln_eps)
    vectors = {name: _rationals(x) for name, x in weights.vectors.items() if x.ndim == 1}
    attending = {name: _attending(problem, vectors, name, eps) for name in ("q", *_pairs("kv"))}
    scores = _scores(problem, attending)
    linear = problem.attention == "linear"
    states = _states(vectors["r"], [attending[f"v_{kind}"] for kind in _KINDS], scores, linear)
    masses = (1, 0, 0) if linear else (1, 1, 1)
    exponents = [Surd()] * 3 if linear else scores
    powers = exponentials(exponents)
    if problem.norm != "post":
        return ExactLayer(problem.d, powers, _recentred(states, masses), masses, None, None)
    pairs = exponentials([x + y for x in exponents for y in exponents])
    states = [_centred(problem, state) for state in states]
    readers = _normalised_readers(problem, vectors, states)
    gram = _gram(states, masses, eps * problem.d)
    return ExactLayer(problem.d, powers, readers, masses, gram, pairs)


def dot(x: Vector, y: Vector) -> fmpq:
    """The scalar product of two rational vectors."""
    from flint import fmpq

    return sum((a * b for a, b in zip(x, y, strict=True)), fmpq(0))


def _pairs(letters: str) -> list[str]:
    return [f"{letter}_{kind}" for letter in letters for kind in _KINDS]


def _rationals(array: Any) -> Vector:
    return [rational(entry) for entry in array.tolist()]


def _whole(vector: Vector) -> Mixture:
    return Mixture(((surd(1), vector),))


def _attending(
    problem: CountingProblem, vectors: dict[str, Vector], name: str, eps: fmpq
) -> Mixture:
    """q, k_j or v_j as attention sees it."""
    vector = vectors[name]
    if problem.norm != "pre":
        return _whole(vector)
    (centred,) = (vector for _, vector in _centred(problem, _whole(vector)).parts)
    square = dot(centred, centred) / problem.d + eps
    if not square:
        raise DomainError(_no_spread(problem, f"{name} has", "give it spread"))
    factor = root(1 / square)
    if problem.affine == "bare":
        return Mixture(((factor, centred),))
    return Mixture(((factor, _product(vectors["gamma"], centred)), (surd(1), vectors["beta"])))


def _no_spread(problem: CountingProblem, subject: str, remedy: str) -> str:
    """The sentence that refuses to normalise a vector without spread."""
    layer = problem.normalizer == "layer"
    fault = "equal entries only" if layer else "zeros only"
    name = "LayerNorm" if layer else "RMSNorm"
    return f"{subject} {fault}: {name} would divide by 0; {remedy}, or take ln_eps > 0"


def no_spread_at(problem: CountingProblem, c: int, m: int) -> DomainError:
    """The error for a state h without spread at (c, m)."""
    subject = f"at (c, m) = ({c}, {m}) the state h has"
    return DomainError(_no_spread(problem, subject, "change the weights"))


def _product(x: Vector, y: Vector) -> Vector:
    return [a * b for a, b in zip(x, y, strict=True)]


def _centred(problem: CountingProblem, mixture: Mixture) -> Mixture:
    """P applied: the mean taken off for LayerNorm, nothing for RMSNorm."""
    from flint import fmpq

    if problem.normalizer == "rms":
        return mixture
    parts = []
    for share, vector in mixture.parts:
        mean = sum(vector, fmpq(0)) / problem.d
        parts.append((share, [x - mean for x in vector]))
    return Mixture(tuple(parts))


def _scores(problem: CountingProblem, attending: dict[str, Mixture]) -> list[Surd]:
    """a_j = tau <q, k_j>; tau is the square root of a rational number."""
    tau = root(rational(problem.score_scale.power(2).radicand))
    return [tau * attending["q"].dot(attending[f"k_{kind}"]) for kind in _KINDS]


def _states(r: Vector, values: list[Mixture], scores: list[Surd], linear: bool) -> list[Mixture]:
    """The vectors U_j with h = sum_j x_j e^(E_j) U_j / sum_j x_j e^(E_j) n_j."""
    residual = _whole(r)
    if not linear:
        return [residual + value for value in values]
    s, t, f = (value.times(score) for value, score in zip(values, scores, strict=True))
    return [residual + s, t, f]


def _recentred(
    states: list[Mixture], masses: tuple[int, int, int]
) -> tuple[Mixture, Mixture, Mixture, Mixture]:
    """Readers for z = h = U_s + sum_j x_j e^(E_j) (U_j - n_j U_s) / g."""
    first = states[0]
    minus = first.times(surd(-1))
    t, f = (u + minus if n else u for u, n in zip(states[1:], masses[1:], strict=True))
    return Mixture(()), t, f, first


def _normalised_readers(
    problem: CountingProblem, vectors: dict[str, Vector], states: list[Mixture]
) -> tuple[Mixture, Mixture, Mixture, Mixture]:
    """Readers for z = sqrt(d) gamma * X / |X| + beta."""
    from flint import fmpq

    factor = root(fmpq(problem.d))
    if problem.affine == "bare":
        s, t, f = (state.times(factor) for state in states)
        return s, t, f, Mixture(())
    gamma = vectors["gamma"]
    s, t, f = (
        Mixture(tuple((factor * share, _product(gamma, x)) for share, x in state.parts))
        for state in states
    )
    return s, t, f, _whole(vectors["beta"])


def _gram(
    states: Sequence[Mixture], masses: tuple[int, int, int], eps: fmpq
) -> tuple[tuple[Surd, ...], ...]:
    """<X_i, X_j>, with sqrt(d ln_eps) n_j as one more coordinate of X_j; `eps` is d ln_eps."""
    return tuple(
        tuple(u.dot(v) + surd(eps * n * k) for v, k in zip(states, masses, strict=True))
        for u, n in zip(states, masses, strict=True)
    )

"""The counting problem: which layer counts, how it is read, and up to which length."""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

from bminlib.errors import DomainError, shown
from bminlib.powers import RationalPower, rational_power

Attention = Literal["softmax", "linear"]
Norm = Literal["none", "pre", "post"]
Affine = Literal["bare", "learned"]
Normalizer = Literal["layer", "rms"]
Readout = Literal["regression", "classification"]
Weights = Literal["free", "tied"]
Exactness = Literal["rounded", "exact"]

_RATIONAL = r"\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?"
_QUOTIENT = (  # rational or root, then perhaps over a number or a root
    rf"(?P<r1>sqrt\()?(?P<n1>{_RATIONAL})(?:/(?P<d1>{_RATIONAL}))?(?(r1)\))"
    rf"(?:/(?P<r2>sqrt\()?(?P<n2>{_RATIONAL})(?(r2)\)))?"
)
_MAX_TAU_CHARACTERS = 4000


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CountingProblem:
    """Counting targets among up to L tokens with one attention head of dimension d.

    L: greatest sequence length, an integer >= 1. d: model dimension, an integer >= 1 (>= 2 under
    LayerNorm). tau: the factor of the attention scores, exact: "scaled" (1/sqrt(d)), "unscaled"
    (1), an int, a Fraction, or text such as "0.1", "1/3", "1/sqrt(5)". affine and normalizer
    belong to norm pre and post, where None stands for "bare" and "layer".
    exactness "rounded": |yhat - c| < 1/2; "exact": yhat = c (regression only).
    Raises DomainError, one sentence with value, rule and remedy.
    """

    L: int
    attention: Attention = "softmax"
    norm: Norm = "none"
    affine: Affine | None = None
    normalizer: Normalizer | None = None
    readout: Readout = "regression"
    weights: Weights = "free"
    d: int = 64
    tau: Fraction | int | str = "scaled"
    exactness: Exactness = "rounded"

    def __post_init__(self) -> None:
        _set(self, "L", _positive_integer("L", self.L, "length", "1024"))
        _set(self, "d", _positive_integer("d", self.d, "dimension", "64"))
        _check_choices(self)
        parse_tau(self.tau, self.d)
        if self.norm == "none":
            _refuse_norm_parts(self)
        else:
            _set(self, "affine", self.affine or "bare")
            _set(self, "normalizer", self.normalizer or "layer")
        _check_normalizer_dimension(self)
        _check_readout(self)

    def __repr__(self) -> str:
        given = ((name, getattr(self, name)) for name in self.__match_args__ or self.__slots__)
        return f"CountingProblem({', '.join(f'{name}={shown(value)}' for name, value in given)})"

    @property
    def score_scale(self) -> RationalPower:
        """tau as an exact number."""
        return parse_tau(self.tau, self.d)

    @property
    def spread_squared(self) -> int:
        """Squared largest entry of a normalised vector: d - 1 for layer, d for rms."""
        return self.d - 1 if self.normalizer == "layer" else self.d

    @property
    def two_points(self) -> bool:
        """Whether the bare normaliser has two values only: layer at d = 2, rms at d = 1."""
        return self.norm != "none" and self.spread_squared == 1


def parse_tau(tau: object, d: int) -> RationalPower:
    """The exact score factor that `tau` names; raises DomainError for anything but a number > 0."""
    if tau == "scaled":
        return rational_power(Fraction(1, d), 2)
    if tau == "unscaled":
        return rational_power(1)
    if isinstance(tau, str):
        return _parse_number(tau)
    if isinstance(tau, int | Fraction) and not isinstance(tau, bool):
        return rational_power(_positive(Fraction(tau), tau))
    raise _tau_error(tau)


def _parse_number(text: str) -> RationalPower:
    short = len(text) <= _MAX_TAU_CHARACTERS
    match = re.fullmatch(_QUOTIENT, text.strip(), re.ASCII) if short else None
    if match is None or (match["d1"] and Fraction(match["d1"]) == 0):
        raise _tau_error(text)
    if match["n2"] and not (match["r1"] or match["r2"]):  # 1/3/5
        raise _tau_error(text)
    first = _positive(Fraction(match["n1"]) / Fraction(match["d1"] or 1), text)
    value = rational_power(first, 2 if match["r1"] else 1)
    if match["n2"]:
        value /= rational_power(_positive(Fraction(match["n2"]), text), 2 if match["r2"] else 1)
    return value


def _positive(number: Fraction, given: object) -> Fraction:
    if number <= 0:
        raise _tau_error(given)
    return number


def _tau_error(tau: object) -> DomainError:
    return DomainError(
        f"tau={shown(tau)}: tau must be an exact number > 0; "
        "write scaled, unscaled, a decimal such as 0.1, a fraction such as 1/3, or 1/sqrt(5)"
    )


def _set(problem: CountingProblem, name: str, value: object) -> None:
    object.__setattr__(problem, name, value)


def _positive_integer(name: str, value: object, meaning: str, example: str) -> int:
    try:
        number = 0 if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = 0
    if number >= 1:
        return number
    raise DomainError(
        f"{name}={shown(value)}: the {meaning} must be an integer >= 1; "
        f"give a whole number such as {example}"
    )


def _check_choices(problem: CountingProblem) -> None:
    if problem.weights == "tied":
        raise DomainError("weights='tied': tied weights are not supported yet; use weights='free'")
    choices = {
        "attention": Attention,
        "norm": Norm,
        "affine": Affine,
        "normalizer": Normalizer,
        "readout": Readout,
        "weights": Weights,
        "exactness": Exactness,
    }
    for name, kind in choices.items():
        given = getattr(problem, name)
        optional = name in ("affine", "normalizer") and given is None
        if not optional and given not in get_args(kind):
            allowed = ", ".join(get_args(kind))
            raise DomainError(f"{name}={shown(given)}: must be one of {allowed}; pick one of these")


def _refuse_norm_parts(problem: CountingProblem) -> None:
    for name in ("affine", "normalizer"):
        given = getattr(problem, name)
        if given is not None:
            raise DomainError(
                f"{name}={given!r}: norm none has no {name}; leave it out, or take norm pre or post"
            )


def _check_normalizer_dimension(problem: CountingProblem) -> None:
    if problem.normalizer == "layer" and problem.d == 1:
        raise DomainError(
            "d=1: LayerNorm needs d >= 2, for the variance of one entry is always 0; "
            "raise d, or take normalizer rms"
        )


def _check_readout(problem: CountingProblem) -> None:
    if problem.readout != "classification":
        return
    if problem.exactness == "exact":
        raise DomainError(
            "exactness='exact': a classification read-out has no yhat to be exact; "
            "take exactness 'rounded', or readout 'regression'"
        )
    least = _least_classification_dimension(problem)
    if problem.d < least:
        raise DomainError(
            f"d={problem.d}: classification is known from d = {least} on for "
            f"{problem.attention} attention with norm {problem.norm}; raise d to {least}"
        )


def _least_classification_dimension(problem: CountingProblem) -> int:
    """Least d at which scores proportional to 2jc - j^2 exist. Source: classification.bounded."""
    plane = 1 if problem.attention == "linear" and problem.norm != "post" else 2
    if problem.norm == "none":
        return plane
    if problem.attention == "linear" and problem.norm == "pre" and problem.affine == "bare":
        plane = 2  # the filler's score must vanish, so its key needs a direction of its own
    return plane + 1 if problem.normalizer == "layer" else plane

"""Which problems a call asks for: what is left out is compared."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from bminlib import CountingProblem
from bminlib.errors import DomainError
from bminlib.problem import Affine, Attention, Norm

MAX_ROWS = 200_000
_NORMS: tuple[Norm, ...] = ("none", "pre", "post")
_AFFINES: tuple[Affine, ...] = ("bare", "learned")


class Placement(NamedTuple):
    """One curve of the comparison."""

    attention: Attention
    norm: Norm
    affine: Affine | None


def placements(
    attention: Attention | None, norm: Norm | None, affine: Affine | None
) -> list[Placement]:
    """The placements that the options leave open, in the order of the paper's comparison.

    Where `none` is one of several it keeps its row without the affine that the others take.
    """
    if norm == "none":
        return [Placement(attention or "softmax", norm, affine)]
    found = []
    for one_attention, one_norm in _attention_and_norm(attention, norm):
        affines = (None,) if one_norm == "none" else (affine,) if affine else _AFFINES
        found += [Placement(one_attention, one_norm, one) for one in affines]
    return found


def problems(
    where: list[Placement], dimensions: list[int], lengths: list[int], **options: Any
) -> Iterator[CountingProblem]:
    """Every problem, by placement, then d, then L; `options` are further fields of the problem.

    Raises DomainError for more than MAX_ROWS of them.
    """
    rows = len(where) * len(dimensions) * len(lengths)
    if rows > MAX_ROWS:
        raise DomainError(
            f"{rows} rows: at most {MAX_ROWS} go into one call; name fewer lengths or dimensions"
        )
    for place in where:
        fields = dict(options)
        if place.norm == "none" and len(where) > 1:
            fields["normalizer"] = None
        for d in dimensions:
            for length in lengths:
                yield CountingProblem(L=length, d=d, **place._asdict(), **fields)


def _attention_and_norm(
    attention: Attention | None, norm: Norm | None
) -> list[tuple[Attention, Norm]]:
    if norm:
        return [(attention or "softmax", norm)]
    compared: list[tuple[Attention, Norm]] = [(attention or "softmax", one) for one in _NORMS]
    return compared if attention else [*compared, ("linear", "none")]

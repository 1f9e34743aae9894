"""The problems of a comparison of both read-outs."""

import sys
from collections.abc import Iterator, Mapping

from bmin.placements import Placement, problems
from bminlib import CountingProblem
from bminlib.errors import DomainError
from bminlib.problem import Readout


def both_readouts(
    where: list[Placement],
    dimensions: list[int],
    readout: Readout | None,
    fields: Mapping[str, object],
) -> Iterator[CountingProblem]:
    """The problems of a read-out, or of regression and then of classification; L plays no part.

    Where both are compared, a classification that is not known at some d is left out with a word.
    """
    if readout is not None:
        yield from problems(where, dimensions, [1], readout=readout, **fields)
        return
    yield from problems(where, dimensions, [1], readout="regression", **fields)
    for place in where:
        own = {**fields, "normalizer": None} if place.norm == "none" and len(where) > 1 else fields
        for dimension in dimensions:
            try:
                yield from problems([place], [dimension], [1], readout="classification", **own)
            except DomainError as error:
                sys.stderr.write(f"bmin: a row is left out: {error}\n")

"""`bmin horizon`: how far a placement can count at all."""

from bmin.grammar import whole_numbers
from bmin.horizon_rows import show_horizons
from bmin.options import (
    AffineOption,
    AttentionOption,
    DimensionsOption,
    ExactOption,
    FormatOption,
    NormalizerOption,
    NormOption,
    TauOption,
)
from bmin.placements import placements, problems
from bmin.progress import tracked


def command(
    d: DimensionsOption = "64",
    norm: NormOption = None,
    affine: AffineOption = None,
    normalizer: NormalizerOption = None,
    attention: AttentionOption = None,
    tau: TauOption = "scaled",
    exact: ExactOption = False,
    style: FormatOption = "table",
) -> int:
    """Print the largest L that a placement counts to with any weights (bare pre unless named)."""
    if norm is None and attention is None:
        norm, affine = "pre", affine or "bare"
    found = problems(
        placements(attention, norm, affine),
        whole_numbers(d, "--d"),
        [1],
        normalizer=normalizer,
        tau=tau,
        exactness="exact" if exact else "rounded",
    )
    return show_horizons(tracked(found), style)

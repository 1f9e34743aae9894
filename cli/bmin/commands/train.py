"""`bmin train`: trains the layer from scratch, and compares its norms with B_min."""

from typing import Annotated, Literal

import typer

from bmin.grammar import one_number, rational, whole_numbers
from bmin.options import (
    AffineOption,
    AttentionOption,
    DimensionOption,
    FormatOption,
    NormalizerOption,
    TauOption,
)
from bmin.placements import placements, problems
from bminlib.problem import Norm


def command(
    lengths: Annotated[
        str, typer.Option("--L", metavar="LENGTHS", help="Greatest lengths, each a run of its own.")
    ] = "8:64:x2",
    norm: Annotated[Norm, typer.Option(help="Placement of the normaliser.")] = "post",
    affine: AffineOption = None,
    normalizer: NormalizerOption = None,
    attention: AttentionOption = None,
    readout: Annotated[
        Literal["regression", "classification", "both"], typer.Option(help="How counts are read.")
    ] = "both",
    mode: Annotated[
        Literal["plain", "least", "both"],
        typer.Option(help="As people train, or with norms held as small as they can be."),
    ] = "both",
    temperature: Annotated[
        Literal["annealed", "1", "both"],
        typer.Option(help="Of the cross-entropy in mode plain: falling, 1, or both in turn."),
    ] = "both",
    d: DimensionOption = "8",
    tau: TauOption = "scaled",
    seeds: Annotated[str, typer.Option(metavar="N", help="Runs of each kind.")] = "4",
    out: Annotated[str, typer.Option(metavar="DIRECTORY", help="Where runs are kept.")] = "runs",
    steps: Annotated[
        str | None, typer.Option(metavar="N", help="Steps of a run at most (by its kind).")
    ] = None,
    radius: Annotated[
        str, typer.Option(metavar="B", help="Ball of a classification in mode least.")
    ] = "1",
    sample: Annotated[
        str | None,
        typer.Option("--lengths", metavar="LENGTHS", help="Sequence lengths to train on (all)."),
    ] = None,
    batch: Annotated[
        str | None, typer.Option(metavar="N", help="Pairs (c, m) drawn at each step (all).")
    ] = None,
    jobs: Annotated[
        str | None, typer.Option(metavar="N", help="Processes at a time (one a processor).")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="A dask scheduler: tcp://host:8786.")
    ] = None,
    style: FormatOption = "table",
) -> int:
    """Train the layer and keep runs.csv, the weights of every run and figure.svg in --out.

    Only what is missing in --out is trained. A run counts where its weights are proved to. Exit
    code 0: some run of this call counts; 1: none does; 130: interrupted, what is finished is kept.
    """
    from bmin.train_runs import Where, wanted_runs
    from bmin.train_runs import train as run
    from bminlib.train.settings import Settings

    where = placements(attention or "softmax", norm, affine)
    fields = {"normalizer": normalizer, "tau": tau}
    readouts = ("regression", "classification") if readout == "both" else (readout,)
    found = [
        problem
        for one in readouts
        for problem in problems(
            where, [one_number(d, "--d", "8")], whole_numbers(lengths, "--L"), readout=one, **fields
        )
    ]
    settings = Settings(
        steps=None if steps is None else one_number(steps, "--steps", "20000"),
        radius=rational(radius, "--radius"),
        lengths=None if sample is None else tuple(whole_numbers(sample, "--lengths")),
        batch=None if batch is None else one_number(batch, "--batch", "256"),
    )
    wanted = wanted_runs(found, mode, temperature, one_number(seeds, "--seeds", "4"))
    place = Where(None if jobs is None else one_number(jobs, "--jobs", "2"), scheduler)
    return run(wanted, out, settings, place, style)

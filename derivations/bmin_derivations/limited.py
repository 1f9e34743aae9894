"""Symbolic work in a process of its own, so that it ends in time whatever the formula is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bmin_derivations.claim_proof import Beyond, beyond
from bmin_derivations.formula import Node
from bmin_derivations.records import Verdict
from bminlib import CountingProblem

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

SECONDS = 30.0


def beyond_in_time(
    root: Node, kind: str, problem: CountingProblem, start: int, seconds: float = SECONDS
) -> Beyond:
    """`claim_proof.beyond`, undecided where it takes longer than `seconds` or dies."""
    import multiprocessing

    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    worker = context.Process(target=_work, args=(sender, root, kind, problem, start), daemon=True)
    worker.start()
    sender.close()
    try:
        if receiver.poll(seconds):
            found = receiver.recv()
            if isinstance(found, Beyond):
                return found
        reason = f"no proof or limit was found within {seconds:.0f} s"
    except EOFError:
        reason = "the proof attempt ended without an answer"
    finally:
        worker.kill()
        worker.join()
    return Beyond(Verdict.UNDECIDED, reason, None)


def _work(sender: Connection, root: Node, kind: str, problem: CountingProblem, start: int) -> None:
    sender.send(beyond(root, kind, problem, start))

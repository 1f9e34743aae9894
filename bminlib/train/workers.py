"""What runs in another process: a batch, and the way back for its reports."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from bminlib.train.batch import Batch, Look, Trained, one_thread, train

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.queues import Queue

STOP = "stop"
_reports: list[Queue[tuple[int, Look]]] = []  # of this process, which has one


def prepare(reports: Queue[tuple[int, Look]], lifeline: Connection) -> None:
    """Make ready a process that lives until the far end of `lifeline` is closed."""
    one_thread()
    reports.cancel_join_thread()  # reports that nobody reads must not keep it alive
    _reports[:] = [reports]
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()


def train_here(number: int, batch: Batch) -> tuple[Trained, ...]:
    """Train a batch in a process that `prepare` made ready."""
    return train(batch, lambda look: _reports[0].put((number, look)))


def train_on_cluster(number: int, batch: Batch, topic: str) -> tuple[Trained, ...]:
    """Train a batch on a dask worker."""
    from distributed import get_worker

    worker = get_worker()
    return train(batch, lambda look: worker.log_event(topic, [number, *look]))


def _end_with(lifeline: Connection) -> None:
    try:
        lifeline.recv()
    except EOFError:
        os._exit(1)

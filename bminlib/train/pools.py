"""Where batches are trained: local processes, or a dask.distributed cluster."""

from __future__ import annotations

import os
import queue as queues
import signal
import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from bminlib.errors import DomainError
from bminlib.train import workers
from bminlib.train.batch import Batch, Look, Trained

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.queues import Queue

_CONNECT_SECONDS = 10


class Pool(Protocol):
    """A `concurrent.futures` executor with a way back for reports."""

    def submit(self, number: int, batch: Batch) -> Future[tuple[Trained, ...]]:
        """Train a batch; its reports carry `number`."""

    def reports(self) -> Iterator[tuple[int, Look]]:
        """What has been reported since the last call."""

    def lost(self, error: BaseException) -> bool:
        """Whether a batch failed with its worker, so that it is to be tried again."""

    def revive(self) -> None:
        """Make the pool fit for work after workers were lost."""

    def close(self) -> None:
        """End at once, batches that are being trained included."""


class LocalPool:
    """Processes of this machine, each with one thread."""

    def __init__(self, jobs: int) -> None:
        """`jobs` processes, which start with the first batch."""
        self._jobs = jobs
        self._open()

    def submit(self, number: int, batch: Batch) -> Future[tuple[Trained, ...]]:
        """Train a batch in a process."""
        with _uninterrupted():
            return self._executor.submit(workers.train_here, number, batch)

    def reports(self) -> Iterator[tuple[int, Look]]:
        """What has been reported since the last call."""
        while True:
            try:
                yield self._reports.get_nowait()
            except queues.Empty:
                return

    def lost(self, error: BaseException) -> bool:
        """A process that dies takes the others with it."""
        return isinstance(error, BrokenProcessPool)

    def revive(self) -> None:
        """New processes."""
        self.close()
        self._open()

    def close(self) -> None:
        """End the processes: each lives as long as this end of its lifeline is open."""
        self._lifeline.close()
        self._executor.shutdown(wait=True, cancel_futures=True)
        self._reports.close()

    def _open(self) -> None:
        from multiprocessing import get_context

        context = get_context("spawn")  # jax has threads, which a fork would break
        self._reports: Queue[tuple[int, Look]] = context.Queue()
        far_end: Connection
        far_end, self._lifeline = context.Pipe(duplex=False)
        self._executor: Executor = ProcessPoolExecutor(
            self._jobs, context, workers.prepare, (self._reports, far_end)
        )


class ClusterPool:
    """The workers of a dask.distributed scheduler, which tries again elsewhere what dies."""

    def __init__(self, address: str) -> None:
        """Connect to a scheduler; raises DomainError where none answers."""
        try:
            import distributed
        except ImportError as error:
            raise DomainError(
                "distributed missing: a cluster needs it; run pip install 'bminlib[cluster]'"
            ) from error
        connect: Any = distributed.Client
        try:
            self._client = connect(address, timeout=_CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise DomainError(
                f"{address}: no dask scheduler answers there; start one with `dask scheduler`, "
                "or leave the scheduler out"
            ) from error
        self._address = address
        self._topic = f"bmin-{uuid.uuid4().hex}"
        self._received: queues.SimpleQueue[tuple[int, Look]] = queues.SimpleQueue()
        self._client.subscribe_topic(self._topic, self._receive)
        self._executor: Executor = self._client.get_executor()

    def submit(self, number: int, batch: Batch) -> Future[tuple[Trained, ...]]:
        """Train a batch on a worker."""
        return self._executor.submit(workers.train_on_cluster, number, batch, self._topic)

    def reports(self) -> Iterator[tuple[int, Look]]:
        """What has been reported since the last call."""
        while not self._received.empty():
            yield self._received.get()

    def lost(self, error: BaseException) -> bool:
        """Only after several workers died of the same batch."""
        from distributed import KilledWorker

        return isinstance(error, KilledWorker)

    def revive(self) -> None:
        """Workers come and go without us."""

    def close(self) -> None:
        """Cancel what waits or runs, and leave the cluster as it is."""
        self._client.log_event(self._topic, workers.STOP)
        self._executor.shutdown(wait=False)  # of dask: cancels
        self._client.close()

    def _receive(self, event: tuple[Any, Any]) -> None:
        message = event[1]
        if message != workers.STOP:
            number, *look = message
            self._received.put((number, Look(*look)))


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Processes started here leave Ctrl-C to this one."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def default_jobs() -> int:
    """How many processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1

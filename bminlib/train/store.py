"""A directory of runs: runs.csv, settings.json and weights/, each file whole at any moment."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING
from urllib.parse import quote

from bminlib.errors import DomainError
from bminlib.files import load_weights, save_weights
from bminlib.train.experiments import Experiment
from bminlib.train.outcomes import Outcome, weights_of
from bminlib.train.settings import Settings
from bminlib.train.table import in_order, read_table, tau_text, write_table
from bminlib.whole_files import read_regular, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bminlib.train.batch import Arrays, Trained
    from bminlib.weights import Weights

TABLE, SETTINGS, WEIGHTS, FIGURE = "runs.csv", "settings.json", "weights", "figure.svg"
_KIND = {"kind": "bminlib/runs", "version": 1}
_HEAD = json.dumps(_KIND, indent=1).removesuffix("\n}").encode()
_MAX_SETTINGS_BYTES = 1 << 22


class Store:
    """The finished runs of a directory; a run is finished when it has a row and its weights."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Read what is there; raises DomainError for a directory that is no `bmin train`'s."""
        self.path = Path(path)
        if self.path.exists() and not self.path.is_dir():
            raise DomainError(f"{path}: is no directory; choose another one")
        self._rows = {row.experiment.key: row for row in read_table(self.path / TABLE)}

    @property
    def outcomes(self) -> list[Outcome]:
        """The rows, in the order of runs.csv."""
        return in_order(self._rows.values())

    def finished(self, experiment: Experiment) -> bool:
        """Whether the run has its row and its weights."""
        return experiment.key in self._rows and self.has_weights(experiment)

    def has_weights(self, experiment: Experiment) -> bool:
        """Whether the run's file of weights is there."""
        return self.file(experiment).is_file()

    def file(self, experiment: Experiment) -> Path:
        """Where the weights of a run are."""
        at = experiment.problem
        tau = "" if at.tau == "scaled" else f"tau-{quote(tau_text(at), safe='')}"
        parts = (at.norm, at.affine, at.normalizer, at.attention, f"d{at.d}", tau)
        run = (at.readout, experiment.mode.replace(" ", "-"), f"L{at.L}", f"seed{experiment.seed}")
        return self.path / WEIGHTS / f"{'_'.join(filter(None, (*parts, *run)))}.json"

    def weights(self, experiment: Experiment) -> Weights:
        """The weights of a run; raises DomainError where the file isn't there, or isn't its own."""
        path = self.file(experiment)
        weights = load_weights(path)
        stated = Experiment(weights.problem, experiment.mode, experiment.seed)
        if stated.key != experiment.key:
            raise DomainError(f"{path}: holds the weights of another run; delete it and train anew")
        return weights

    def arrays(self, experiment: Experiment) -> Arrays:
        """The weights of a run as float64 arrays by name."""
        return self.weights(experiment).to_float64().arrays()

    def add(self, trained: Iterable[Trained], wanted: set[tuple[object, ...]]) -> None:
        """Write the weights of a batch, then the rows of those of its runs that were asked for."""
        for one in trained:
            weights = weights_of(one.outcome.experiment, one.arrays)
            save_weights(weights, self.file(one.outcome.experiment))
        rows = {one.outcome.experiment.key: one.outcome for one in trained}
        self._rows |= {key: row for key, row in rows.items() if key in wanted}
        write_table(self.path / TABLE, self._rows.values())

    @contextmanager
    def opened(self, settings: Settings) -> Iterator[None]:
        """The directory made ready for runs of these settings, and held against other processes.

        Raises DomainError where it can't be written to, is held, or has runs of other settings.
        """
        self._settings()
        try:
            (self.path / WEIGHTS).mkdir(parents=True, exist_ok=True)
            lock = (self.path / ".lock").open("a")
        except OSError as error:
            cause = (error.strerror or str(error)).lower()
            raise DomainError(f"{self.path}: can't be written, {cause}; choose another") from error
        with lock:
            _hold(lock, self.path)
            self._agree(settings)
            self._rows = {row.experiment.key: row for row in read_table(self.path / TABLE)}
            yield

    def _settings(self) -> bytes:
        """What the file of settings holds, nothing where it is missing; refuses any other file."""
        path = self.path / SETTINGS
        try:
            found = read_regular(path, _MAX_SETTINGS_BYTES, "choose another directory")
        except FileNotFoundError:
            return b""
        except OSError as error:
            cause = (error.strerror or str(error)).lower()
            raise DomainError(f"{path}: can't be read, {cause}; choose another") from error
        if not found.startswith(_HEAD):
            raise DomainError(f"{path}: is not of bmin train; choose another directory")
        return found

    def _agree(self, settings: Settings) -> None:
        path, found = self.path / SETTINGS, self._settings()
        stated = json.dumps(_KIND | settings.record(), indent=1) + "\n"
        if not self._rows and not any((self.path / WEIGHTS).iterdir()):
            write_whole(path, stated.encode())
        elif not found:
            raise DomainError(
                f"{path}: is missing, so nothing says how the runs there were trained; "
                "choose another directory"
            )
        elif found != stated.encode():
            raise DomainError(
                f"{path}: the runs there were trained with other settings; "
                "give the same ones, or choose another directory"
            )


def _hold(lock: IO[str], path: Path) -> None:
    """Lock the file until it is closed, where the system can."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise DomainError(
            f"{path}: another process trains into it; wait for it, or choose another directory"
        ) from error

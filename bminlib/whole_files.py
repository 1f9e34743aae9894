"""Files that are written whole or not at all, and read only where they are regular."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from bminlib.errors import DomainError


def read_regular(path: Path, most: int, remedy: str) -> bytes:
    """The first `most` bytes of a regular file; raises OSError as `open` does.

    Raises DomainError, with the remedy, for any other kind: opening a pipe waits for its writer.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise DomainError(f"{path}: is no regular file; {remedy}")
    with path.open("rb") as file:
        return file.read(most)


def write_whole(path: Path, data: bytes) -> None:
    """Put `data` at `path` in one step, by way of a file beside it.

    A file that is there is left as it was if anything fails. Raises DomainError for a place that
    can't be written to.
    """
    if path.exists() and not path.is_file():
        raise DomainError(f"{path}: is no regular file; choose another name")
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        cause = (error.strerror or str(error)).lower()
        raise DomainError(f"{path}: can't be written, {cause}; choose another") from error
    finally:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            beside.unlink()

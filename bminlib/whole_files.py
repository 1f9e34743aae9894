"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from bminlib.errors import DomainError


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

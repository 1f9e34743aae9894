"""Weights in files: .json (exact), .npz and .safetensors (float64), written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from bminlib import files_binary, files_json
from bminlib.errors import DomainError
from bminlib.weights import Weights
from bminlib.whole_files import read_regular, write_whole

MAX_BYTES = {".json": 1 << 24, ".npz": 1 << 28, ".safetensors": 1 << 28}


def save_weights(weights: Weights, path: str | os.PathLike[str]) -> None:
    """Write the weights and their problem to `path`, in the format that its suffix names.

    A file that is there is replaced in one step, and is left as it was if anything fails.
    Raises DomainError for another suffix, for numbers that the format can't hold exactly, for a
    file beyond MAX_BYTES, and for a place that can't be written to.
    """
    target = Path(path)
    suffix = _suffix(target)
    data = _encoded(weights, suffix)
    if len(data) > MAX_BYTES[suffix]:
        raise DomainError(_too_long(target, suffix))
    write_whole(target, data)


def load_weights(path: str | os.PathLike[str]) -> Weights:
    """The weights in a file that `save_weights` wrote, or one laid out like it.

    Raises DomainError for a file that is missing, too long (MAX_BYTES), truncated or malformed, or
    whose vectors don't fit its problem. Nothing in a file is ever executed.
    """
    source = Path(path)
    suffix = _suffix(source)
    try:
        data = _read(source, suffix)
    except OSError as error:
        cause = (error.strerror or str(error)).lower()
        raise DomainError(f"{source}: can't be read, {cause}; name another") from error
    try:
        return _decoded(data, suffix)
    except DomainError as error:
        raise DomainError(f"{source}: {error}") from error


def _suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in MAX_BYTES:
        raise DomainError(f"{path}: the name must end in {', '.join(MAX_BYTES)}; pick one of these")
    return suffix


def _encoded(weights: Weights, suffix: str) -> bytes:
    if suffix == ".json":
        return (files_json.to_json_text(weights) + "\n").encode()
    if suffix == ".npz":
        return files_binary.to_npz(weights)
    return files_binary.to_safetensors(weights)


def _decoded(data: bytes, suffix: str) -> Weights:
    if suffix == ".json":
        return files_json.from_json_text(data)
    if suffix == ".npz":
        return files_binary.from_npz(data, MAX_BYTES[suffix])
    return files_binary.from_safetensors(data)


def _read(path: Path, suffix: str) -> bytes:
    """All of a regular file within its limit."""
    limit = MAX_BYTES[suffix]
    data = read_regular(path, limit + 1, "name a file of weights")
    if len(data) > limit:
        raise DomainError(_too_long(path, suffix))
    return data


def _too_long(path: Path, suffix: str) -> str:
    return (
        f"{path}: is over {MAX_BYTES[suffix] >> 20} MiB, the most that a {suffix} file may have; "
        "take a smaller L or d"
    )

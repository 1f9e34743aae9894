"""Weights as bytes of .npz and .safetensors files: float64 arrays beside the problem as JSON."""

from __future__ import annotations

import io
import json
import math
import zipfile
import zlib
from collections.abc import Callable, Iterable
from typing import IO, TYPE_CHECKING, Any

from bminlib.errors import DomainError, shown
from bminlib.files_json import head, read_head, strict_json
from bminlib.weights import Weights, check_names, vector_names, vector_shape

if TYPE_CHECKING:
    import numpy as np

PROBLEM = "problem"  # the .npz member and .safetensors metadata key that hold the JSON text
_LENGTH_BYTES = 8
_FLOATS = {"F64": "<f8", "F32": "<f4", "F16": "<f2"}
_MAX_MEMBERS = 64
_MAX_TEXT_BYTES = 1 << 23


def to_npz(weights: Weights) -> bytes:
    """A zip of one .npy a vector and `problem`, a JSON text; raises DomainError beyond 53 bits."""
    import numpy as np

    file = io.BytesIO()
    members: dict[str, Any] = dict(weights.to_float64().arrays())
    members[PROBLEM] = np.array(json.dumps(head(weights)))
    np.savez(file, **members)
    return file.getvalue()


def from_npz(data: bytes, limit: int) -> Weights:
    """The weights of `to_npz`; its members may unpack to `limit` bytes together.

    Raises DomainError for any other bytes.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check_members(archive, limit)
            names = [name.removesuffix(".npy") for name in archive.namelist()]
            text = _member_text(archive)
            names.remove(PROBLEM)
            return _weights(text, names, lambda name, shape: _member(archive, name, shape))
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError) as error:
        if isinstance(error, DomainError):
            raise
        raise DomainError(f"is no whole .npz file ({error}); write it anew") from error


def to_safetensors(weights: Weights) -> bytes:
    """One F64 tensor a vector, the problem in the metadata; raises DomainError beyond 53 bits."""
    from safetensors.numpy import save

    return save(weights.to_float64().arrays(), {PROBLEM: json.dumps(head(weights))})


def from_safetensors(data: bytes) -> Weights:
    """The weights of `to_safetensors`, or F32, F16 and BF16 tensors with the same metadata.

    Raises DomainError for any other bytes.
    """
    from safetensors import SafetensorError, deserialize

    text = _problem_text(data)
    try:
        tensors = dict(deserialize(data))  # type: ignore[no-untyped-call]
    except SafetensorError as error:
        raise DomainError(f"is no whole .safetensors file ({error}); write it anew") from error
    return _weights(text, tensors, lambda name, _: _tensor(name, tensors[name]))


def _weights(
    text: str | bytes, names: Iterable[str], array: Callable[[str, tuple[int, ...]], np.ndarray]
) -> Weights:
    """Weights from a head and a way to get the array of a name at its expected shape."""
    head_record = strict_json(text)
    if not isinstance(head_record, dict):
        raise DomainError(f"{PROBLEM}: must be a JSON object; write the file with bminlib")
    problem, ln_eps = read_head(head_record)
    given = set(names)
    if "b" not in given:
        raise DomainError("b is missing: the file must give it beside the vectors; add b")
    check_names(problem, given - {"b"})
    arrays = {n: array(n, vector_shape(problem, n)) for n in (*vector_names(problem), "b")}
    return Weights(problem, arrays, arrays.pop("b"), ln_eps)


def _check_members(archive: zipfile.ZipFile, limit: int) -> None:
    members = archive.infolist()
    if len(members) > _MAX_MEMBERS or len({m.filename for m in members}) < len(members):
        raise DomainError(f"has a member twice or over {_MAX_MEMBERS} of them; write it anew")
    if sum(member.file_size for member in members) > limit:
        raise DomainError(f"unpacks to over {limit >> 20} MiB, the most allowed; write it anew")


def _npy_header(file: IO[bytes], name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """(shape, column-major, dtype) of an .npy file, which is then at its data."""
    from numpy.lib import format as npy

    version = npy.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise DomainError(f"{name}: is an .npy of unknown version {version}; write it anew")
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    return read(file)


def _member_text(archive: zipfile.ZipFile) -> str:
    """The 0-dimensional text array called `problem`."""
    import numpy as np

    if f"{PROBLEM}.npy" not in archive.namelist():
        raise DomainError(f"has no {PROBLEM}: add the JSON text that describes it, as bminlib does")
    with archive.open(f"{PROBLEM}.npy") as file:
        shape, _, dtype = _npy_header(file, PROBLEM)
        if shape or dtype.kind != "U" or dtype.itemsize > _MAX_TEXT_BYTES:
            raise DomainError(f"{PROBLEM}: must be one text of at most 2 million characters")
        return str(np.frombuffer(_exactly(file, dtype.itemsize, PROBLEM), dtype)[0])


def _member(archive: zipfile.ZipFile, name: str, expected: tuple[int, ...]) -> np.ndarray:
    """The float array called `name`, whose size is checked before it is read."""
    import numpy as np

    with archive.open(f"{name}.npy") as file:
        shape, column_major, dtype = _npy_header(file, name)
        if shape != expected or dtype.kind != "f" or dtype.itemsize > 8:
            raise DomainError(
                f"{name}: is {dtype} of shape {shape}, but must be float64 of shape {expected}; "
                "write it that way"
            )
        data = _exactly(file, math.prod(shape) * dtype.itemsize, name)
        return np.frombuffer(data, dtype).reshape(shape, order="F" if column_major else "C")


def _exactly(file: IO[bytes], size: int, name: str) -> bytes:
    data = file.read(size)
    if len(data) < size or file.read(1):
        raise DomainError(f"{name}: is truncated or too long; write the file anew")
    return data


def _problem_text(data: bytes) -> str:
    """The JSON text in the metadata of a .safetensors file; its header is checked for doubles."""
    size = int.from_bytes(data[:_LENGTH_BYTES], "little")
    header = strict_json(data[_LENGTH_BYTES : _LENGTH_BYTES + min(size, _MAX_TEXT_BYTES)])
    metadata = header.get("__metadata__") if isinstance(header, dict) else None
    text = metadata.get(PROBLEM) if isinstance(metadata, dict) else None
    if not isinstance(text, str):
        raise DomainError(
            f"has no {PROBLEM} in its metadata: add the JSON text about it, as bminlib does"
        )
    return text


def _tensor(name: str, tensor: dict[str, Any]) -> np.ndarray:
    import numpy as np

    kind, shape, data = tensor["dtype"], tensor["shape"], tensor["data"]
    if kind == "BF16":  # the upper half of a float32
        wide = np.frombuffer(data, "<u2").astype("<u4") << 16
        return wide.view("<f4").reshape(shape)
    if kind not in _FLOATS:
        raise DomainError(
            f"{name}: is of type {shown(kind)}, but must be one of BF16, {', '.join(_FLOATS)}; "
            "convert it"
        )
    return np.frombuffer(data, _FLOATS[kind]).reshape(shape)

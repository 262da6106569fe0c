"""The file that a synopsis is kept in: a zip archive, read without ever running what is in it.

    header.json   {"format": "indistinct synopsis", "version": 1, "kind": "cut" or "covariance",
                   what the kind needs besides, "sha256": of all that and of the bytes of the numbers}
    numbers.npy   the numbers, whole, as NumPy writes arrays (no pickled objects)

Versions and kinds are only ever added. One that is not known is refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indistinct.errors import InvalidParameter

__all__ = ["load", "save", "unreadable"]

_FORMAT = "indistinct synopsis"
_VERSION = 1
_LONGEST_HEADER = 1 << 30
_DAMAGE = (
    OSError,
    KeyError,
    ValueError,
    TypeError,
    EOFError,
    MemoryError,
    RecursionError,
    RuntimeError,  # an encrypted member, or a compression that is not known
    OverflowError,
    zlib.error,
    zipfile.BadZipFile,
)


def save(path: str | Path, kind: str, facts: Mapping[str, object], numbers: NDArray[Any]) -> None:
    """Writes the file whole, or not at all."""
    whole = np.ascontiguousarray(numbers, dtype=numbers.dtype.newbyteorder("<"))
    header = {"format": _FORMAT, "version": _VERSION, "kind": kind, **facts}
    header["sha256"] = _sum_of(header, whole)
    target = Path(path)
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with zipfile.ZipFile(beside, "w") as archive:
            archive.writestr("header.json", json.dumps(header))
            with archive.open("numbers.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, whole, allow_pickle=False)
        beside.replace(target)
    except OSError as error:
        raise InvalidParameter("the file", str(path), "be one that can be written") from error
    finally:
        beside.unlink(missing_ok=True)


def load(path: str | Path, kind: str, dtype: np.dtype[Any]) -> tuple[dict[str, Any], NDArray[Any]]:
    """The header and the numbers, whose sum is checked."""
    try:
        with zipfile.ZipFile(path) as archive:
            if archive.getinfo("header.json").file_size > _LONGEST_HEADER:
                raise unreadable(path)
            header = json.loads(archive.read("header.json"))
            _check(path, header, kind)
            with archive.open("numbers.npy") as member:
                numbers = np.lib.format.read_array(member, allow_pickle=False)
    except FileNotFoundError:
        raise InvalidParameter("the file", str(path), "exist") from None
    except InvalidParameter:
        raise
    except _DAMAGE:
        raise unreadable(path) from None
    told = header.pop("sha256", None)
    if numbers.ndim != 2 or numbers.dtype != dtype or _sum_of(header, numbers) != told:
        raise unreadable(path)
    return header, np.ascontiguousarray(numbers)


def unreadable(path: str | Path) -> InvalidParameter:
    """A file that is not what it should be."""
    return InvalidParameter("the file", str(path), "be an undamaged synopsis", instead="Only save() writes those.")


def _check(path: str | Path, header: object, kind: str) -> None:
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise unreadable(path)
    if header.get("version") != _VERSION:
        raise InvalidParameter(
            "the version of the file", header.get("version"), f"be {_VERSION}", instead="A newer release may read it."
        )
    if header.get("kind") != kind:
        raise InvalidParameter("the kind of the synopsis", header.get("kind"), f"be {kind!r}")


def _sum_of(header: Mapping[str, object], numbers: NDArray[Any]) -> str:
    total = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    total.update(np.ascontiguousarray(numbers).reshape(-1).view(np.uint8).data)
    return total.hexdigest()

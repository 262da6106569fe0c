"""Where random bits come from: the operating system, in blocks, and nothing that could be seeded.

Every random choice of the package is made from the words of a `BitSource`. The only source that is not a test's is
`SYSTEM`, the operating system's generator (`getrandom` or its like, through `os.urandom`). Small requests are served
from a block that belongs to one thread; it is forgotten in a child process, so no two processes ever see the same word.
"""

from __future__ import annotations

import os
import threading
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["SYSTEM", "BitSource", "SystemBits", "Words", "process_era"]

Words = NDArray[np.uint64]

_BLOCK = 1024
_forks = [0]


def _forked() -> None:
    _forks[0] += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def process_era() -> tuple[int, int]:
    """What changes when a process forks: randomness drawn in another era must not be used.

    Forks that Python does not see are noticed by the process's number.
    """
    return _forks[0], os.getpid()


class BitSource(Protocol):
    """A source of independent uniform words of 64 bits."""

    def words(self, count: int) -> Words:
        """So many fresh words; no word is ever given twice."""
        ...


class SystemBits:
    """The operating system's cryptographic generator; safe in threads and after fork.

    >>> SYSTEM.words(3).shape
    (3,)
    """

    __slots__ = ("_local",)

    def __init__(self) -> None:
        self._local = threading.local()

    def words(self, count: int) -> Words:
        """So many fresh words."""
        if count > _BLOCK // 4:
            return _fresh(count)
        now = process_era()
        era, left = getattr(self._local, "block", _NOTHING)
        if len(left) < count or era != now:
            left = _fresh(_BLOCK)
        self._local.block = now, left[count:]
        return left[:count]

    def __reduce__(self) -> str:
        return "SYSTEM"


def _fresh(count: int) -> Words:
    return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


_NOTHING: Final[tuple[tuple[int, int], Words]] = ((-1, -1), np.zeros(0, dtype=np.uint64))
SYSTEM: Final = SystemBits()

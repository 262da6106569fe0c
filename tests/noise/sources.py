"""Sources of bits that only tests have: repeatable ones, and ones that say what they are told to."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np

from indistinct.noise.bits import Words


class RepeatableBits:
    """SHAKE-256 of a seed and a counter."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._calls = 0

    def words(self, count: int) -> Words:
        self._calls += 1
        text = f"{self._seed}/{self._calls}".encode()
        return np.frombuffer(hashlib.shake_256(text).digest(8 * count), dtype=np.uint64)


class Scripted:
    """The given words, and nothing beyond them."""

    def __init__(self, words: Iterable[int]) -> None:
        self._left = list(words)

    def words(self, count: int) -> Words:
        assert count <= len(self._left), "the script has no more words"
        given, self._left = self._left[:count], self._left[count:]
        return np.array(given, dtype=np.uint64)

    @property
    def spent(self) -> bool:
        return not self._left

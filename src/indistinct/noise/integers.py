"""Whole numbers below n, all equally likely, for any n."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from indistinct.errors import InvalidParameter
from indistinct.noise.ahead import Ahead
from indistinct.noise.bits import SYSTEM, BitSource, Words
from indistinct.noise.draws import Drawn, Shape, accepted, many, one
from indistinct.noise.table import Integers
from indistinct.numbers import read_number

__all__ = ["UniformBelow", "below"]

_MOST_BITS = 1 << 20


@dataclass(frozen=True, slots=True, init=False)
class UniformBelow:
    """0, 1, ..., n - 1, each with probability exactly 1 / n.

    Arrays are of 64-bit integers for n up to 2^63, and of Python's whole numbers beyond.

    >>> bool(UniformBelow(6).draws(100).max() <= 5)
    True
    >>> 0 <= UniformBelow(10**30).draw() < 10**30
    True
    """

    n: int
    _ahead: Ahead[int] = field(repr=False, compare=False)

    def __init__(self, n: object) -> None:
        number = read_number("n", n)
        if number.denominator != 1 or not 1 <= number < 2**_MOST_BITS:
            raise InvalidParameter("n", n, f"be a whole number from 1 to 2^{_MOST_BITS}")
        object.__setattr__(self, "n", int(number))
        object.__setattr__(self, "_ahead", Ahead())

    def draw(self, source: BitSource = SYSTEM) -> int:
        """One number; enormous ones are not drawn ahead."""
        return one(self._block, self._ahead, source) if self.n <= 2**64 else int(self._block(1, source)[0])

    def draws(self, shape: Shape, source: BitSource = SYSTEM) -> Drawn:
        """An array of independent ones."""
        return many(shape, self._block, source)

    def _block(self, count: int, source: BitSource) -> Drawn:
        return below(self.n, count, source) if self.n <= 2**63 else _large(self.n, count, source)


def below(n: int, count: int, source: BitSource) -> Integers:
    """Uniform numbers below n <= 2^63.

    The top bits of a word are accepted if they are below n; below 2^32, the word is multiplied by n instead (Lemire
    2019, Theorem 4.1), which hardly ever rejects. Either way each value has the same number of accepted words, so
    rejections say nothing about it.
    """
    bits = (n - 1).bit_length()
    if n < 2**32 and n & (n - 1):
        found = accepted(count, lambda missing: _multiplied(n, source.words(missing)))
    elif n == 1:
        found = np.zeros(count, dtype=np.int64)
    else:
        found = accepted(count, lambda missing: _masked(n, bits, source.words(missing)))
    return found


def _multiplied(n: int, words: Words) -> Integers:
    """floor(word n / 2^64) where word n mod 2^64 is at least 2^64 mod n."""
    factor, half = np.uint64(n), np.uint64(32)
    product = (((words & np.uint64(2**32 - 1)) * factor) >> half) + (words >> half) * factor
    product >>= half
    kept = words * factor >= np.uint64(2**64 % n)
    result = product.view(np.int64)
    return result if kept.all() else result[kept]


def _masked(n: int, bits: int, words: Words) -> Integers:
    top = (words >> np.uint64(64 - bits)).view(np.int64)
    return top if n == 1 << bits else top[top < n]


def _large(n: int, count: int, source: BitSource) -> Drawn:
    found = np.empty(count, dtype=object)
    bits = (n - 1).bit_length()
    size = -(-bits // 64)
    for at in range(count):
        value = n
        while value >= n:
            value = int.from_bytes(source.words(size).tobytes(), "little") >> (64 * size - bits)
        found[at] = value
    return found

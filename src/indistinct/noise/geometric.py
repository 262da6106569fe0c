r"""Geometric noise on 0, 1, 2, ..., of any scale: its digits are independent.

With q = e^(-1/scale) and G = 2^k H + D, 0 <= D < 2^k, the weight q^G is q^(2^k H) q^D: H is geometric of scale
scale / 2^k, D is geometric and bounded by 2^k, and they are independent. So are the digits of D. Each digit is one word
and one small table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

import numpy as np

from indistinct.noise.ahead import Ahead
from indistinct.noise.bits import SYSTEM, BitSource
from indistinct.noise.decay import BoundedLaw, GeometricLaw
from indistinct.noise.draws import Drawn, Shape, many, one, table_of
from indistinct.noise.scale import Scale, read_scale
from indistinct.noise.table import Integers, Table

__all__ = ["LARGEST_TABLE", "WIDE", "Digits", "Geometric", "digits_of", "is_wide", "joined", "low_digits"]

LARGEST_TABLE = 2**11
"""The largest scale whose table is used whole."""

WIDE = 2.0**54
"""Draws of larger scales are given as Python's whole numbers."""

_HIGH = 1024  # the largest scale of the highest digit
_DIGIT = 10  # bits of each lower digit


@dataclass(frozen=True, slots=True)
class Digits:
    """The tables of a number's digits: those of its low bits, lowest first, and of what is above them."""

    low: tuple[tuple[Table, int], ...]
    shift: int
    high: Table | None

    def draw(self, count: int, source: BitSource) -> tuple[Integers, Integers]:
        """The number above the low bits, and the low bits."""
        low = np.zeros(count, dtype=np.int64)
        for table, place in self.low:
            low |= table.draw(count, source)[0] << place
        high = self.high.draw(count, source)[0] if self.high else np.zeros_like(low)
        return high, low


@lru_cache(maxsize=64)
def digits_of(scale: Scale) -> Digits:
    """The digits of a geometric number."""
    shift = max(math.ceil(math.log2(float(scale) / _HIGH)), 0) if float(scale) > LARGEST_TABLE else 0
    return Digits(low_digits(scale, shift), shift, table_of(GeometricLaw(scale.times(_power(-shift)))))


def low_digits(scale: Scale, bits: int) -> tuple[tuple[Table, int], ...]:
    """The digits of a geometric number below 2^bits."""
    return tuple(
        (table_of(BoundedLaw(scale.times(_power(-place)), 2 ** min(_DIGIT, bits - place))), place)
        for place in range(0, bits, _DIGIT)
    )


def joined(high: Integers, low: Integers, shift: int, *, wide: bool) -> Drawn:
    """2^shift high + low; as Python's whole numbers where asked, or where 63 bits do not suffice."""
    if wide or (shift and len(high) and int(high.max()) >= 1 << (62 - shift)):
        number: Drawn = (high.astype(object) << shift) + low.astype(object)
        return number
    return (high << shift) + low if shift else high


@dataclass(frozen=True, slots=True, init=False)
class Geometric:
    """Noise x = 0, 1, 2, ... of law proportional to `e^(-x / scale)`, exactly.

    The scale is a number or a `Scale`, from 2^-40 to 2^60. Arrays are of 64-bit integers up to scale 2^54, where one
    draw in 2^369 needs more and makes the array one of Python's whole numbers, as it is for all larger scales.

    >>> noise = Geometric(10).draws(1000)
    >>> noise.dtype, bool(noise.min() >= 0)
    (dtype('int64'), True)
    """

    scale: Scale
    _ahead: Ahead[int] = field(repr=False, compare=False)

    def __init__(self, scale: object) -> None:
        object.__setattr__(self, "scale", read_scale("scale", scale))
        object.__setattr__(self, "_ahead", Ahead())

    def draw(self, source: BitSource = SYSTEM) -> int:
        """One draw."""
        return one(self._block, self._ahead, source)

    def draws(self, shape: Shape, source: BitSource = SYSTEM) -> Drawn:
        """An array of independent ones."""
        return many(shape, self._block, source)

    def _block(self, count: int, source: BitSource) -> Drawn:
        digits = digits_of(self.scale)
        high, low = digits.draw(count, source)
        return joined(high, low, digits.shift, wide=is_wide(self.scale))


def is_wide(scale: Scale) -> bool:
    """Whether draws of such a scale are given as Python's whole numbers."""
    return float(scale) > WIDE


def _power(exponent: int) -> Fraction:
    return Fraction(2) ** exponent

r"""Survival functions in fixed point: powers, products and tails with errors that are known.

Numbers of [0, 1] are whole numbers in units of 2^-B. Tables need 2^63 S(i) to within a few units at tens of thousands
of places; a ball for each would take a tenth of a second, while chains of multiplications with B = 192 lose so little
that one enclosure at the end serves them all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from indistinct.noise.bits import Words
from indistinct.noise.table import BITS, Integers
from indistinct.noise.uniform import ends
from indistinct.numbers import balls

__all__ = ["CHAIN_BITS", "periodic_thresholds", "powers"]

CHAIN_BITS = 192

_ROW = 256

_HALF = np.uint64(32)
_LOW = np.uint64(2**32 - 1)


def powers(base: Callable[[], balls.arb], count: int, bits: int = CHAIN_BITS) -> list[int]:
    """Lower ends of 2^bits base^i for i < count: each is below the truth by at most 2 i.

    Each step multiplies by a lower end that is at most 1 below and rounds down: with factors below 1 the errors add.

    >>> powers(lambda: balls.ball(-1).exp(), 3, bits=8)  # 256, 94.2, 34.6
    [256, 94, 34]
    """
    factor, _ = ends(base, bits)
    chain, value = [], 1 << bits
    for _ in range(count):
        chain.append(value)
        value = value * factor >> bits
    return chain


def periodic_thresholds(period: Sequence[int], fall: Callable[[int], balls.arb], periods: int) -> tuple[Integers, int]:
    """2^63 F_j fall(k) for the numbers F_j of one period and k = 0, 1, ..., periods at least; fall(k) = fall(1)^k.

    F is given by lower ends in units of 2^-192, off by less than 2^100. The products are made of two factors, cut to
    64 and 63 bits, one unit each at most, and are cut themselves: with the chains' own errors less than 3 units in all,
    hence the width 4.
    """
    at_once = max(_ROW // len(period), 1)
    near = [power * value >> CHAIN_BITS for power in powers(lambda: fall(1), at_once) for value in period]
    far = powers(lambda: fall(at_once), periods // at_once + 1)
    rows = np.array([min(value >> (CHAIN_BITS - 64), 2**64 - 1) for value in far], dtype=np.uint64)[:, None]
    columns = np.array([value >> (CHAIN_BITS - BITS) for value in near], dtype=np.uint64)[None, :]
    return _high_product(rows, columns).view(np.int64).ravel(), 4


def _high_product(a: Words, b: Words) -> Words:
    """floor(a b / 2^64) of words."""
    a_high, a_low, b_high, b_low = a >> _HALF, a & _LOW, b >> _HALF, b & _LOW
    middle = a_high * b_low + ((a_low * b_low) >> _HALF)
    other = a_low * b_high + (middle & _LOW)
    product: Words = a_high * b_high + (middle >> _HALF) + (other >> _HALF)
    return product

r"""The tails of the Gaussian weights e^(-x^2 / (2 sigma^2)), in fixed point with a proven error.

The weights follow from w_(x+1) = w_x r_x and r_(x+1) = r_x q^2, with q = e^(-1 / (2 sigma^2)), r_0 = q. In units of
2^-B, rounded down: r_x is below the truth by at most 3 (x + 1), each step adding at most 3; hence w_x by at most
2 (x + 1)^2, and a sum of n of them by at most (n + 2)^3. What is left beyond the last weight is bounded by a geometric
series.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

import numpy as np

from indistinct.noise.scale import Scale
from indistinct.noise.table import BITS, Integers
from indistinct.noise.uniform import ends

__all__ = ["GaussianLaw"]

_GUARD = 48
_BEYOND = 8  # the last weight is below 2^-(bits + 8)


@dataclass(frozen=True, slots=True)
class GaussianLaw:
    r"""The law with P(M >= i) = T_i / (centre + T_1) for i >= 1, T_i the sum of the weights from i on.

    With centre 1/2 it is the magnitude of discrete Gaussian noise; with centre 1, the weights from 0 on.
    """

    variance: Scale
    centre: Fraction

    def survival(self, i: int, bits: int) -> tuple[int, int]:
        """Around 2^bits T_i / (centre + T_1)."""
        tails, error = _tails(self.variance, bits)
        total = self._total(tails, bits)
        tail = tails[i - 1] if i <= len(tails) else 0
        return (tail << bits) // (total + error), ((tail + error) << bits) // total + 1

    def thresholds(self) -> tuple[Integers, int]:
        """For T <= C, (T + e) / C - T / (C + e) is at most 2 (e + e) / C; rounding down adds a unit."""
        tails, error = _tails(self.variance, BITS)
        total = self._total(tails, BITS)
        most = total + error
        return np.array([(tail << BITS) // most for tail in tails], dtype=np.int64), 2 + (4 * error << BITS) // total

    def _total(self, tails: list[int], bits: int) -> int:
        return int(self.centre * 2 ** (bits + _GUARD)) + tails[0]


@lru_cache(maxsize=4)
def _tails(variance: Scale, bits: int) -> tuple[list[int], int]:
    """Lower ends of 2^B T_1, 2^B T_2, ..., and by how much at most they are too low, all later ones included."""
    size = bits + _GUARD
    ratio, _ = ends(lambda: variance.decay(Fraction(1, 2)), size)
    square, _ = ends(lambda: variance.decay(1), size)
    weight, least = 1 << size, 1 << (_GUARD - _BEYOND)
    weights = []
    while weight >= least:
        weight = weight * ratio >> size
        ratio = ratio * square >> size
        weights.append(weight)
    count = len(weights)
    last, steepness = weight + 2 * (count + 1) ** 2, ratio + 3 * (count + 1)
    rest = last * steepness // ((1 << size) - steepness) + 1
    return list(accumulate(reversed(weights)))[::-1], (count + 2) ** 3 + rest

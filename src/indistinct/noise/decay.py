r"""Laws of geometric decay, with q = e^(-1/scale): by survival function and by thresholds for a table.

geometric   P(M >= i) = q^i
laplace     P(|X| >= i) = 2 q^i / (1 + q), the magnitude of discrete Laplace noise
bounded     P(M >= i) = (q^i - q^n) / (1 - q^n) for i < n: a geometric number known to be below n
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from indistinct.noise.fixed import CHAIN_BITS, periodic_thresholds, powers
from indistinct.noise.scale import Scale
from indistinct.noise.table import BITS, CUT, Integers
from indistinct.noise.uniform import ends
from indistinct.numbers import balls

__all__ = ["DEPTH", "BoundedLaw", "GeometricLaw", "LaplaceLaw"]

DEPTH = (BITS - CUT.bit_length() + 2) * math.log(2)
"""So many scales away, less than CUT words of 2^63 are left."""


@dataclass(frozen=True, slots=True)
class GeometricLaw:
    """The geometric law on 0, 1, 2, ..."""

    scale: Scale

    def survival(self, i: int, bits: int) -> tuple[int, int]:
        """Around 2^bits q^i."""
        return ends(lambda: self.scale.decay(i), bits)

    def thresholds(self) -> tuple[Integers, int]:
        """q q^(i - 1), as products."""
        return _products(self.scale, ends(lambda: self.scale.decay(1), CHAIN_BITS)[0])


@dataclass(frozen=True, slots=True)
class LaplaceLaw:
    """The magnitude of discrete Laplace noise."""

    scale: Scale

    def survival(self, i: int, bits: int) -> tuple[int, int]:
        """Around 2^bits 2 q^i / (1 + q)."""
        return ends(lambda: 2 * self.scale.decay(i) / (1 + self.scale.decay(1)), bits)

    def thresholds(self) -> tuple[Integers, int]:
        """2 q / (1 + q) q^(i - 1), as products."""
        return _products(self.scale, self.survival(1, CHAIN_BITS)[0])


@dataclass(frozen=True, slots=True)
class BoundedLaw:
    """The geometric law on 0, ..., bound - 1."""

    scale: Scale
    bound: int

    def survival(self, i: int, bits: int) -> tuple[int, int]:
        """Around 2^bits (q^i - q^n) / (1 - q^n); nothing reaches n."""
        if i >= self.bound:
            return 0, 0
        return ends(lambda: self.scale.decay(i) * self._short(self.bound - i) / self._short(self.bound), bits)

    def thresholds(self) -> tuple[Integers, int]:
        """Differences of powers: the chain is off by at most 2 i units of 2^-192, the quotient by at most 1 of 2^-63.

        The divisor is at least 2^-61 (the scale is at most 2^60), and fewer than 2^20 powers are used.
        """
        count = min(self.bound, math.ceil(DEPTH * float(self.scale)) + 2)
        chain = powers(lambda: self.scale.decay(1), count)
        _, last = ends(lambda: self.scale.decay(self.bound), CHAIN_BITS)
        _, divisor = ends(lambda: self._short(self.bound), CHAIN_BITS)
        lower = [max((value - last << BITS) // divisor, 0) for value in chain[1:]]
        return np.array(lower, dtype=np.int64), 2

    def _short(self, steps: int) -> balls.arb:
        """1 - q^steps, without cancellation."""
        return -(-balls.ball(steps) / self.scale.ball()).expm1()


def _products(scale: Scale, first: int) -> tuple[Integers, int]:
    """first q^i, i = 0, 1, ..., as far as CUT."""
    return periodic_thresholds([first], scale.decay, math.ceil(DEPTH * float(scale)))

r"""A loss on many points of a lattice: a density cut into cells, bounded from one side.

With some thousands of points the transform is evaluated in two steps, within blocks and then over blocks, which
is a product of matrices: e^(i y h (B a + b)) = e^(i y h B a) e^(i y h b).

The masses are bounds themselves, from above or from below, and need not add up to one. The rounding of K is covered
by a margin in the same direction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from indistinct.composition.losses.lattices import LossLattice
from indistinct.composition.losses.law import UNIT, Complexes, Cumulants, Doubt, Floats, bound_by_spread

__all__ = ["GridLoss"]

_STEEPEST = 1e5
_MANY = 512
_LARGEST_CIRCLE = 1 << 22
_EVEN = 1e-6


@dataclass(frozen=True, eq=False)
class GridLoss:
    """The losses offset + spacing * (0, 1, ...), the logs of their masses, and a margin of K.

    The margin is above 0 for a law that bounds another from above, and below 0 from below.
    """

    lattice: LossLattice
    log_masses: Floats
    disclosed: Fraction
    margin: float

    @cached_property
    def losses(self) -> Floats:
        """The lattice points."""
        return np.asarray(float(self.lattice.offset) + self.lattice.spacing * np.arange(self.log_masses.size))

    @cached_property
    def largest(self) -> float:
        """The last point with any mass."""
        last = int(np.flatnonzero(self.log_masses > -math.inf)[-1])
        value = self.lattice.offset + last * self.lattice.exact_spacing
        return math.nextafter(float(value), math.inf)

    @cached_property
    def steepest(self) -> float:
        return min(60 / self.lattice.spacing, _STEEPEST)

    @property
    def smoothness(self) -> float:
        return 0.0

    @property
    def size(self) -> int:
        """What a node costs, in units of one exponential."""
        return 2 + self.log_masses.size // 64

    def doubt(self, tilt: float) -> Doubt:
        """K's part beyond the margin is that of the tilt; e^r is a sum of positive terms on the circle."""
        reach = tilt * float(np.max(np.abs(self.losses)))
        return Doubt(
            4 * reach * UNIT, 0.0, 8 * UNIT, 0.0, (128 + 4 * reach + 4 * math.sqrt(self.log_masses.size)) * UNIT
        )

    def cumulants(self, tilt: float) -> Cumulants:
        exponents = self.log_masses + tilt * self.losses
        top = float(np.max(exponents))
        weights = np.exp(exponents - top)
        total = float(np.sum(weights))
        mean = float(np.sum(weights * self.losses)) / total
        variance = float(np.sum(weights * (self.losses - mean) ** 2)) / total
        return Cumulants(top + math.log(total) + self.margin, mean, variance)

    def log_ratio(self, tilt: float, y: Floats) -> Complexes:
        exponents = self.log_masses + tilt * self.losses
        weights = np.exp(exponents - np.max(exponents))
        weights /= np.sum(weights)
        relevant = np.flatnonzero(weights > 1e-30)
        first, last = int(relevant[0]), int(relevant[-1])
        kept = weights[first : last + 1]
        centre = round(float(np.sum(kept * np.arange(kept.size))))
        summed = self._around_the_circle(kept, centre, y)
        if summed is None:
            summed = self._in_blocks(kept, centre, y)
        at = float(self.lattice.offset + (first + centre) * self.lattice.exact_spacing)
        with np.errstate(divide="ignore"):
            modulus = np.log(np.maximum(np.abs(summed), 1e-300))
        return np.asarray(modulus + 1j * (np.angle(summed) + y * at))

    def _around_the_circle(self, kept: Floats, centre: int, y: Floats) -> Complexes | None:
        """By one fast transform, where many frequencies are asked for that all divide the circle evenly."""
        if y.size < _MANY:
            return None
        step = float(np.min(np.diff(y)))
        places = np.rint(y / step)
        around = round(2 * math.pi / (self.lattice.spacing * step))
        even = abs(around * self.lattice.spacing * step - 2 * math.pi) < _EVEN / around
        if not even or around > _LARGEST_CIRCLE or float(np.max(np.abs(y - places * step))) > _EVEN * step:
            return None
        folded = np.zeros(around)
        np.add.at(folded, (np.arange(kept.size) - centre) % around, kept)
        whole = np.fft.fft(folded)
        return np.asarray(np.conj(whole[places.astype(np.int64) % around]))

    def _in_blocks(self, kept: Floats, centre: int, y: Floats) -> Complexes:
        block = max(1, math.isqrt(kept.size))
        rows = -(-kept.size // block)
        table = np.zeros(rows * block)
        table[: kept.size] = kept
        # Only the place on the circle matters, and it is known exactly: phases stay small.
        angle = y * self.lattice.spacing
        inner = np.exp(1j * np.outer(angle, np.arange(block)))
        outer = np.exp(1j * np.outer(angle, block * np.arange(rows) - centre))
        within = table.reshape(rows, block).T
        blocks = (inner.real @ within) + 1j * (inner.imag @ within)
        return np.asarray(np.sum(outer * blocks, axis=1))

    def log_bound(self, tilt: float, centres: Floats, reach: float) -> Floats:
        return bound_by_spread(self, tilt, centres, reach)

"""The loss of the Gaussian mechanism: itself Gaussian, of mean mu^2/2 and variance mu^2."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from indistinct.composition.losses.law import UNIT, Complexes, Cumulants, Doubt, Floats

__all__ = ["GaussianLoss"]


@dataclass(frozen=True, slots=True)
class GaussianLoss:
    """N(0, 1) against N(mu, 1), mu the sensitivity over sigma; exact in any dimension (l2 sensitivity).

    M(z) = e^(mu^2 (z^2 + z) / 2). Composition adds mu^2.
    """

    mu: float

    @property
    def disclosed(self) -> Fraction:
        return Fraction(0)

    @property
    def largest(self) -> float:
        return math.inf

    @property
    def steepest(self) -> float:
        return math.inf

    @property
    def smoothness(self) -> float:
        return self.mu**2 * (1 - 4 * UNIT)

    @property
    def size(self) -> int:
        return 1

    def cumulants(self, tilt: float) -> Cumulants:
        square = self.mu**2
        return Cumulants(square * (tilt * tilt + tilt) / 2, square * (tilt + 0.5), square)

    def doubt(self, tilt: float) -> Doubt:
        return Doubt(16 * UNIT * self.cumulants(tilt).value, 0.0, 16 * UNIT, 0.0)

    def log_ratio(self, tilt: float, y: Floats) -> Complexes:
        return np.asarray(self.mu**2 * (-y * y / 2 + 1j * y * (tilt + 0.5)))

    def log_bound(self, tilt: float, centres: Floats, reach: float) -> Floats:  # noqa: ARG002  # the same at all tilts
        nearest = np.maximum(np.abs(centres) - reach, 0)
        return np.asarray(-self.smoothness * nearest**2 / 2)

"""A loss with finitely many values: staircase noise, k-ary responses, a user's discrete pair."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from indistinct.composition.losses.lattices import LossLattice
from indistinct.composition.losses.law import UNIT, Complexes, Cumulants, Floats, bound_by_spread, log1p

__all__ = ["AtomsLoss"]

_BLOCK = 1 << 18
_NEGLIGIBLE = 1e-25


@dataclass(frozen=True, eq=False)
class AtomsLoss:
    """Finite losses with their probabilities under the null law, given that the loss is finite."""

    losses: Floats
    log_probabilities: Floats
    disclosed: Fraction = Fraction(0)
    unbounded_from: float = math.inf
    """Finite where the atoms are the part of an infinite law that matters at tilts up to here."""
    lattice: LossLattice | None = None

    @classmethod
    def of(
        cls,
        atoms: Sequence[tuple[float, float]],
        disclosed: Fraction = Fraction(0),
        lattice: LossLattice | None = None,
    ) -> AtomsLoss:
        """From (loss, probability) pairs, of which the `disclosed` part of one is missing."""
        possible = [(loss, mass / (1 - float(disclosed))) for loss, mass in atoms if mass > 0]
        return cls(
            np.array([loss for loss, _ in possible]), np.log([mass for _, mass in possible]), disclosed, lattice=lattice
        )

    @cached_property
    def largest(self) -> float:
        if math.isfinite(self.unbounded_from):
            return math.inf
        largest = float(np.max(self.losses))
        return largest + abs(largest) * 4 * UNIT

    @cached_property
    def steepest(self) -> float:
        """Where the largest loss outweighs the next by e^60."""
        if math.isfinite(self.unbounded_from):
            return self.unbounded_from
        distinct = np.unique(self.losses)
        return 60.0 / float(distinct[-1] - distinct[-2]) if distinct.size > 1 else 1e3

    @property
    def smoothness(self) -> float:
        return 0.0

    @property
    def size(self) -> int:
        return int(self.losses.size)

    @property
    def additive(self) -> bool:
        return True

    @cached_property
    def accuracy(self) -> float:
        return float(64 + 4 * np.log2(self.losses.size + 1)) * UNIT

    def cumulants(self, tilt: float) -> Cumulants:
        weights, value = self._tilted(tilt)
        mean = float(np.sum(weights * self.losses))
        variance = float(np.sum(weights * (self.losses - mean) ** 2))
        if np.max(np.abs(tilt * self.losses)) < 1:
            # log of sum p e^(t l) by what exceeds one: nothing cancels then.
            excess = float(np.sum(np.exp(self.log_probabilities) * np.expm1(tilt * self.losses)))
            value = math.log1p(excess)
        return Cumulants(value, mean, variance)

    def log_ratio(self, tilt: float, y: Floats) -> Complexes:
        weights, _ = self._tilted(tilt)
        centre = float(np.sum(weights * self.losses))
        relevant = weights > _NEGLIGIBLE
        away, weights = self.losses[relevant] - centre, weights[relevant]
        result = np.empty(y.size, dtype=complex)
        rows = max(1, _BLOCK // away.size)
        for first in range(0, y.size, rows):
            turns = np.expm1(1j * np.outer(y[first : first + rows], away))
            result[first : first + rows] = log1p(turns @ weights)
        return np.asarray(result + 1j * y * centre)

    def log_bound(self, tilt: float, centres: Floats, reach: float) -> Floats:
        return bound_by_spread(self, tilt, centres, reach)

    def _tilted(self, tilt: float) -> tuple[Floats, float]:
        """The tilted law, and K(tilt)."""
        exponents = self.log_probabilities + tilt * self.losses
        top = float(np.max(exponents))
        shifted = np.exp(exponents - top)
        total = float(np.sum(shifted))
        return shifted / total, top + math.log(total)

"""A loss with finitely many values: staircase noise, k-ary responses, a user's discrete pair."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from indistinct.composition.losses.lattices import LossLattice
from indistinct.composition.losses.law import UNIT, Complexes, Cumulants, Doubt, Floats, bound_by_spread
from indistinct.composition.losses.sums import Tilted
from indistinct.composition.nodes import distinct

__all__ = ["AtomsLoss"]

_STEEPEST = 1e6


@dataclass(frozen=True, eq=False)
class AtomsLoss:
    """Finite losses, less a `shift`, with their probabilities under the null law, given that the loss is finite.

    Losses and shift are right to 4 units in the last place, probabilities to a relative `rounding`, except that of
    the loss 0, whose error may be as large absolutely.
    """

    losses: Floats
    log_probabilities: Floats
    disclosed: Fraction = Fraction(0)
    unbounded_from: float = math.inf
    """Finite where the atoms are the part of an infinite law that matters at tilts up to here."""
    lattice: LossLattice | None = None
    balanced: bool = False
    """Whether E e^-l = 1 exactly, l before the shift: laws of which neither makes possible what the other does not."""
    shift: float = 0.0
    rounding: float = 16 * UNIT
    _latest: dict[float, Tilted] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(
        cls,
        atoms: Sequence[tuple[float, float]],
        disclosed: Fraction = Fraction(0),
        lattice: LossLattice | None = None,
        *,
        balanced: bool = False,
    ) -> AtomsLoss:
        """From (loss, probability) pairs, of which the `disclosed` part of one is missing."""
        possible = [(loss, mass / float(1 - disclosed)) for loss, mass in atoms if mass > 0]
        return cls(
            np.array([loss for loss, _ in possible]),
            np.log([mass for _, mass in possible]),
            disclosed,
            lattice=lattice,
            balanced=balanced,
        )

    @cached_property
    def largest(self) -> float:
        if math.isfinite(self.unbounded_from):
            return math.inf
        largest = float(np.max(self.losses)) + self.shift
        return largest + (abs(largest) + 2 * abs(self.shift)) * 8 * UNIT

    @cached_property
    def steepest(self) -> float:
        """Where the largest loss outweighs the next by e^60."""
        if math.isfinite(self.unbounded_from):
            return self.unbounded_from
        levels = distinct(self.losses)
        return min(60.0 / float(levels[-1] - levels[-2]), _STEEPEST) if levels.size > 1 else 1e3

    @property
    def smoothness(self) -> float:
        return 0.0

    @property
    def size(self) -> int:
        return int(self.losses.size)

    def cumulants(self, tilt: float) -> Cumulants:
        found = self._tilted(tilt).cumulants
        return Cumulants(found.value + tilt * self.shift, found.mean + self.shift, found.variance)

    def doubt(self, tilt: float) -> Doubt:
        found, moved = self._tilted(tilt).doubt, 8 * UNIT * abs(self.shift)
        return found._replace(value=found.value + tilt * moved, slope=found.slope + moved)

    def log_ratio(self, tilt: float, y: Floats) -> Complexes:
        return self._tilted(tilt).log_ratio(y) + 1j * y * self.shift

    def log_bound(self, tilt: float, centres: Floats, reach: float) -> Floats:
        return bound_by_spread(self, tilt, centres, reach)

    def _tilted(self, tilt: float) -> Tilted:
        """The tilted law; the latest is kept, for it is asked for again and again."""
        found = self._latest.get(tilt)
        if found is None:
            found = Tilted(self.losses, self.log_probabilities, tilt, self.balanced, self.rounding)
            self._latest.clear()
            self._latest[tilt] = found
        return found

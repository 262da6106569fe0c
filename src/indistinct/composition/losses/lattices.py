"""Losses on a common lattice: offset + spacing * integers, both exact."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from indistinct.composition.losses.law import LossLaw
from indistinct.numbers import Epsilon
from indistinct.numbers.logarithm import enclosure

__all__ = ["LossLattice", "common_lattice"]

_FINEST = 100_000
_LEAST = 1e-300


@dataclass(frozen=True, slots=True)
class LossLattice:
    """The losses offset + spacing * k, k whole."""

    exact_spacing: Fraction
    offset: Fraction

    @property
    def spacing(self) -> float:
        """The spacing as a float."""
        return float(self.exact_spacing)

    def gap_above(self, epsilon: Epsilon) -> float:
        """How far the first lattice point above epsilon is from it; exact but for one rounding."""
        away = (enclosure(epsilon)[0] - self.offset) / self.exact_spacing
        return max(float((math.floor(away) + 1 - away) * self.exact_spacing), _LEAST)


def common_lattice(laws: Iterable[tuple[LossLaw, int]]) -> LossLattice | None:
    """The coarsest lattice of the summed losses, if each has one and none is far finer than another."""
    lattices = []
    for law, times in laws:
        lattice = getattr(law, "lattice", None)
        if lattice is None:
            return None
        lattices.append((lattice, times))
    if not lattices:
        return None
    spacings = [lattice.exact_spacing for lattice, _ in lattices]
    denominator = math.lcm(*(spacing.denominator for spacing in spacings))
    common = Fraction(math.gcd(*(int(spacing * denominator) for spacing in spacings)), denominator)
    if max(spacings) / common > _FINEST:
        return None
    return LossLattice(common, sum((lattice.offset * times for lattice, times in lattices), Fraction(0)))

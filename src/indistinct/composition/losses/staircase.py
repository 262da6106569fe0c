"""The losses of staircase noise and of k-ary randomised response: +epsilon, 0 and -epsilon."""

from __future__ import annotations

import math
from fractions import Fraction

from indistinct.composition.losses.atoms import AtomsLoss
from indistinct.composition.losses.lattices import LossLattice
from indistinct.numbers import Epsilon
from indistinct.numbers.logarithm import bracket_of

__all__ = ["staircase_loss", "three_way_loss"]


def three_way_loss(exact_epsilon: Epsilon, certain: float) -> AtomsLoss:
    """+epsilon with probability p, -epsilon with p e^-epsilon, 0 otherwise; `certain` is p, right to 4 units."""
    epsilon = bracket_of(exact_epsilon).upper
    back = certain * math.exp(-epsilon)
    lattice = LossLattice(exact_epsilon, Fraction(0)) if isinstance(exact_epsilon, Fraction) else None
    atoms = [(epsilon, certain), (0.0, max(1 - certain - back, 0.0)), (-epsilon, back)]
    return AtomsLoss.of(atoms, lattice=lattice, balanced=True)


def staircase_loss(epsilon: Epsilon, gamma: float) -> AtomsLoss:
    """Staircase noise of parameter gamma (Geng and Viswanath 2012), shifted by the whole sensitivity.

    Half of the noise lies where the shift costs +epsilon; between 0 and the sensitivity D the density is a on
    (0, gamma D) and a e^-epsilon beyond, and the shifted one its mirror image.
    """
    level = bracket_of(epsilon).upper
    unit = -math.expm1(-level) / (2 * (gamma + math.exp(-level) * (1 - gamma)))  # a D
    step = min(gamma, 1 - gamma)
    return three_way_loss(epsilon, 0.5 + unit * step)

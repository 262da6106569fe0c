r"""The loss of the discrete Gaussian mechanism on one number, and on vectors of one changed coordinate.

P is proportional to e^(-x^2 / (2 sigma^2)) on the integers and Q is P moved by the sensitivity D: the loss at x is
(D^2 - 2 x D) / (2 sigma^2). Tilted by t the law is centred on -t D; Q itself is the tilt -1, centred on D, and on a
Poisson sample the two change places: then the centre is as far as D + t D. So the points lie symmetrically around
D / 2, 12 sigma beyond the centre at every tilt up to `steepest`, either way: what is left out is below 1e-31 of M,
for P, for Q and for their mixtures, which is far below the rounding that the law states. All of it together has a
probability below 1e-380 under P as under Q.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from indistinct.composition.losses.atoms import AtomsLoss
from indistinct.composition.losses.lattices import LossLattice

__all__ = ["discrete_gaussian_loss"]


def discrete_gaussian_loss(sensitivity: int, exact_sigma: Fraction) -> AtomsLoss:
    """The loss law, symmetric in direction."""
    sigma = float(exact_sigma)
    steepest = 30 * sigma / sensitivity + 60
    reach = math.ceil(12 * sigma + (steepest + 1) * sensitivity)
    x = np.arange(-reach, reach + sensitivity + 1, dtype=float)
    logs = -x * x * float(1 / (2 * exact_sigma**2))
    losses = (sensitivity - 2 * x) * float(sensitivity / (2 * exact_sigma**2))
    lattice = LossLattice(sensitivity / exact_sigma**2, Fraction(sensitivity**2) / (2 * exact_sigma**2))
    normalised = logs - math.log(float(np.sum(np.exp(logs))))
    return AtomsLoss(losses, normalised, unbounded_from=steepest, lattice=lattice, balanced=True)

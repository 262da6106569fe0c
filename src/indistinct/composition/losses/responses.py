r"""The summed loss of any number of randomised responses, equal or not, as one law.

M(t + i y) / M(t) is the product of cosh((t + 1/2 + i y) e) / cosh((t + 1/2) e), to the powers n, and each factor
is cos(y e) + i T sin(y e) with T = tanh((t + 1/2) e): its modulus and its phase come out without cancellation.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property

import numpy as np

from indistinct.composition.lattice import Lattice
from indistinct.composition.losses.lattices import LossLattice
from indistinct.composition.losses.law import UNIT, Complexes, Cumulants, Floats
from indistinct.composition.responses import Responses

__all__ = ["ResponsesLoss"]

_BLOCK = 64
_ENOUGH = 60.0


class ResponsesLoss:
    """Randomised responses: (epsilon, 0) black boxes, geometric noise, pure mechanisms of any kind."""

    def __init__(self, responses: Responses) -> None:
        self.responses = responses
        self._e = responses.epsilons
        self._n = responses.times

    @property
    def disclosed(self) -> Fraction:
        return Fraction(0)

    @property
    def largest(self) -> float:
        return float(np.sum(self._e * self._n)) * (1 + 1e-12)

    @cached_property
    def lattice(self) -> LossLattice | None:
        """Twice the common spacing of the epsilons, if there is one."""
        lattice = Lattice.common(self.responses)
        if lattice is None or not isinstance(lattice.spacing, Fraction):
            return None
        return LossLattice(2 * lattice.spacing, -lattice.top * lattice.spacing)

    @property
    def steepest(self) -> float:
        return self.responses.steepest

    @property
    def smoothness(self) -> float:
        return 0.0

    @property
    def size(self) -> int:
        return len(self.responses.groups)

    @property
    def additive(self) -> bool:
        return False

    @property
    def accuracy(self) -> float:
        return 64 * UNIT

    def cumulants(self, tilt: float) -> Cumulants:
        x = (tilt + 0.5) * self._e
        tangents = np.tanh(x)
        falls = 1 / np.cosh(np.minimum(x, 350.0)) ** 2
        return Cumulants(
            self.responses.cumulant(tilt),
            float(np.sum(self._n * self._e * tangents)),
            float(np.sum(self._n * self._e**2 * falls)),
        )

    def log_ratio(self, tilt: float, y: Floats) -> Complexes:
        tangents = np.tanh((tilt + 0.5) * self._e)
        falls = 1 / np.cosh(np.minimum((tilt + 0.5) * self._e, 350.0)) ** 2
        result = np.empty(y.size, dtype=complex)
        for i, frequency in enumerate(y.tolist()):
            angles = frequency * self._e
            sines = np.sin(angles)
            modulus = np.sum(self._n * np.log1p(-falls * sines * sines)) / 2
            result[i] = complex(modulus, np.sum(self._n * np.arctan2(tangents * sines, np.cos(angles))))
        return result

    def log_bound(self, tilt: float, centres: Floats, reach: float) -> Floats:
        """log |cos + i T sin| <= -(1 - T^2) sin^2 / 2; each sine moves by at most e times the reach.

        Taken group by group, the strongest first, and no further than is of use.
        """
        strengths = self._n / (2 * np.cosh(np.minimum((tilt + 0.5) * self._e, 350.0)) ** 2) * (1 - 1e-9)
        order = np.argsort(-strengths)
        bound = np.zeros(centres.size)
        open_ = np.arange(centres.size)
        for first in range(0, order.size, _BLOCK):
            block = order[first : first + _BLOCK]
            angles = np.outer(centres[open_], self._e[block])
            margin = self._e[block] * reach + 1e-15 * np.abs(angles) + 1e-14
            bound[open_] -= np.maximum(np.abs(np.sin(angles)) - margin, 0) ** 2 @ strengths[block]
            open_ = open_[bound[open_] > -_ENOUGH]
            if not open_.size:
                break
        return bound

    def __repr__(self) -> str:
        return f"ResponsesLoss({math.floor(self.responses.count):,} responses)"

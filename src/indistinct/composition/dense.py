r"""The composed delta of randomised responses on a coarse lattice, by convolving their tilted laws whole.

Each response of m steps adds two copies of the law so far, one of them shifted, weighted 1 - a and a:
all terms are positive, so every probability keeps a relative error of a few units per response. Tilted
to have its mean near eps, the law neither underflows where it matters nor loses accuracy in the tail.
For few responses, whose transform decays too slowly to be of use.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from indistinct.composition.lattice import Lattice
from indistinct.numbers import Epsilon
from indistinct.numbers.balls import arb, ball, precision
from indistinct.numbers.logarithm import ball_of

__all__ = ["DenseComposition"]

_UNIT = 2.0**-53
_LEAST_EXPONENT = 745.0  # e^-x is 0 beyond

Floats = NDArray[np.float64]


class DenseComposition:
    """delta(eps) of randomised responses on a lattice of few points; an evaluator (see `evaluators`)."""

    def __init__(self, lattice: Lattice) -> None:
        self.lattice = lattice
        self.responses = lattice.responses
        self._held: tuple[float, arb, Floats] | None = None

    @staticmethod
    def work(lattice: Lattice) -> int:
        """About how many additions one law takes."""
        return lattice.top * lattice.responses.count // 2

    def delta(self, epsilon: Epsilon) -> arb:
        """The ball of delta(epsilon)."""
        first = self.lattice.first_above(epsilon)
        if first > self.lattice.top:
            return ball(0)
        with precision(128):
            tilt, cumulant, law = self._tilted(float(ball_of(epsilon)))
            gap = self.lattice.loss(first) - ball_of(epsilon)
            losses = 2 * float(ball_of(self.lattice.spacing).mid()) * np.arange(self.lattice.top + 1 - first)
            kernel = np.exp(-tilt * losses) * -np.expm1(-(float(gap.mid()) + losses))
            total = ball(float(np.sum(law[first:] * kernel)))
            error = 1 + ball(self._relative_error(tilt))
            scale = (cumulant - ball(tilt) * self.lattice.loss(first)).exp()
            return scale * (total / error).union(total * error + 1e-300)

    def kept(self, epsilon: Epsilon) -> arb:
        """The ball of 1 - delta(epsilon)."""
        return 1 - self.delta(epsilon)

    def _relative_error(self, tilt: float) -> float:
        """Each response multiplies by weights that are right to a few units; exponents are rounded once."""
        odds = (2 * tilt + 1) * self.responses.epsilons
        return float(np.sum(self.responses.times * (8 + 4 * odds)) + 4 * _LEAST_EXPONENT + 64) * _UNIT

    def _tilted(self, epsilon: float) -> tuple[float, arb, Floats]:
        """A tilt with its mean near epsilon, K there, and the tilted law."""
        tilt = max(self.responses.tilt_to(epsilon), 0.0)
        if self._held is None or not self.responses.are_near(self._held[0], tilt):
            law = np.zeros(self.lattice.top + 1)
            law[0], size = 1.0, 1
            for group, m, e in zip(self.responses.groups, self.lattice.multiples, self.responses.epsilons, strict=True):
                odds = (2 * tilt + 1) * float(e)
                up, stay = 1 / (1 + math.exp(-odds)), math.exp(-odds) / (1 + math.exp(-odds))
                for _ in range(group.times):
                    grown = np.append(law[:size] * stay, np.zeros(m))
                    grown[m:] += up * law[:size]
                    size += m
                    law[:size] = grown
            self._held = tilt, self.responses.cumulant_ball(ball(tilt)), law
        return self._held

"""The integrand of the inversion formula at one tilt, and what its nodes say of delta (see `contour`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from indistinct.composition.losses.lattices import LossLattice
from indistinct.composition.losses.law import UNIT, Complexes, Cumulants, Floats
from indistinct.numbers import Epsilon
from indistinct.numbers.balls import arb, ball
from indistinct.numbers.logarithm import ball_of

__all__ = ["Alias", "Sheet"]

_LEAST = 1e-290
_LARGEST_EXPONENT = 700.0


@dataclass(frozen=True)
class Alias:
    """A Chernoff bound of what sampling folds in from one side: e^(rise - shift (eps + side T))."""

    shift: float
    rise: float

    def bound(self, epsilons: Floats, period: float, side: int) -> Floats:
        """Relative to e^(K(t) - t eps), the whole geometric series of m = 1, 2, ..."""
        step = self.shift * side * period
        if step <= 0:
            return np.full(epsilons.shape, math.inf)
        return np.asarray(np.exp(np.minimum(self.rise - self.shift * epsilons - step, 700.0)) / -math.expm1(-step))


@dataclass(frozen=True)
class Sheet:
    """Nodes z = t + i y with the logs of the transform there, what was left out, and what bounds the rest."""

    tilt: float
    smoothing: float
    period: float
    at_zero: Cumulants
    y: Floats
    weights: Floats
    logarithms: Complexes
    doubts: Floats
    """How far the logarithms may be from the truth, at each y."""
    left_out: float
    """At most what the nodes left out would add, relative to e^(K(t) - t eps)."""
    doubt: float
    """How far K(t) may be from the truth."""
    aliases: tuple[Alias, Alias]
    lattice: LossLattice | None

    def delta(self, epsilon: Epsilon) -> arb:
        """The ball of delta at an epsilon."""
        exact = ball_of(epsilon)
        lower, upper = self._relative(np.array([float(exact)]), [epsilon])
        around = ball(self.doubt).union(ball(-self.doubt))
        scale = (ball(self.at_zero.value) - ball(self.tilt) * exact + around).exp()
        return scale * ball(float(lower[0])).union(ball(float(upper[0])))

    def deltas(self, epsilons: Floats) -> tuple[Floats, Floats]:
        """Lower and upper ends of delta at epsilons that are exact as floats."""
        exact = [Fraction(epsilon) for epsilon in epsilons.tolist()] if self.lattice is not None else ()
        lower, upper = self._relative(epsilons, exact)
        scales = np.exp(self.at_zero.value - self.tilt * epsilons)
        doubt = np.expm1(self.doubt + 8 * UNIT * (1 + abs(self.at_zero.value) + self.tilt * epsilons))
        lower = np.where(scales > _LEAST, lower * scales * np.maximum(1 - doubt, 0.0), 0.0)
        return lower, np.minimum(np.maximum(upper * scales * (1 + doubt), _LEAST), 1.0)

    def _relative(self, epsilons: Floats, exact: Sequence[Epsilon]) -> tuple[Floats, Floats]:
        """Ends of delta, relative to e^(K(t) - t eps); `exact` are the same epsilons, where there is a lattice."""
        kernel, size = self._kernel(exact)
        turned = np.exp(self.logarithms[:, None] - 1j * np.outer(self.y, epsilons))
        values = self.weights @ (turned * kernel).real
        densities = self.weights @ turned.real
        phases = 16 + 4 * np.outer(self.y, np.abs(epsilons)) + 2 * self.y.size
        doubts = np.minimum(self.doubts[:, None] + UNIT * phases, _LARGEST_EXPONENT)
        errors = self.weights[:, None] * np.abs(turned) * np.expm1(doubts)
        value_errors = np.sum(size * errors, axis=0) * (1 + 1e-9) + self.left_out
        density_errors = np.sum(errors, axis=0) * (1 + 1e-9)
        right, left = self.aliases
        folded = right.bound(epsilons, self.period, 1) + left.bound(epsilons, self.period, -1)
        square = self.smoothing**2
        smoothed = math.exp(square / 8) * (square * (densities + density_errors) + self.left_out)
        lower = (values - value_errors - folded - smoothed) * (1 - 4 * UNIT)
        return np.maximum(lower, 0.0), np.maximum(values + value_errors, 0.0) * (1 + 4 * UNIT)

    def _kernel(self, epsilons: Sequence[Epsilon]) -> tuple[Complexes, Floats]:
        """The transform of (1 - e^(eps - l))_+, over all l or over the lattice, and what it is accurate relative to."""
        z = (self.tilt + 1j * self.y)[:, None]
        if self.lattice is None:
            kernel = np.asarray(1 / (z * (z + 1)), dtype=np.complex128)
            return kernel, np.asarray(np.abs(kernel))
        h = self.lattice.spacing
        gaps = np.array([self.lattice.gap_above(epsilon) for epsilon in epsilons])
        # 1 / (1 - A) - e^-gap / (1 - A e^-h), A = e^(-z h), over one denominator: nothing cancels at y = 0.
        fall = np.exp(-z * h)
        first, second = -np.expm1(-gaps), np.exp(-gaps) * -np.expm1(gaps - h)
        scale = h * np.exp(-z * gaps) / (np.expm1(-z * h) * np.expm1(-(z + 1) * h))
        size = np.abs(scale) * (first + np.abs(fall) * second)
        return np.asarray(scale * (first + fall * second)), np.asarray(size, dtype=np.float64)

"""The integrand of the inversion formula at one tilt, and what its nodes say of delta (see `contour`)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from indistinct.composition.losses.lattices import LossLattice
from indistinct.composition.losses.law import UNIT, Complexes, Cumulants, Floats
from indistinct.numbers.balls import arb, ball

__all__ = ["Alias", "Sheet"]

_LEAST = 1e-290


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
    noise: Floats
    left_out: float
    size: float
    aliases: tuple[Alias, Alias]
    accuracy: float
    lattice: LossLattice | None

    def delta(self, epsilon: float, exact: arb) -> arb:
        """The ball of delta at an epsilon."""
        lower, upper = self._relative(np.array([epsilon]))
        around = ball(self._doubt).union(ball(-self._doubt))
        scale = (ball(self.at_zero.value) - ball(self.tilt) * exact + around).exp()
        return scale * ball(float(lower[0])).union(ball(float(upper[0])))

    def deltas(self, epsilons: Floats) -> tuple[Floats, Floats]:
        """Lower and upper ends of delta at epsilons that are exact as floats."""
        lower, upper = self._relative(epsilons)
        exponents = self.at_zero.value - self.tilt * epsilons
        doubt = self._doubt + 8 * UNIT * (1 + abs(self.at_zero.value) + self.tilt * epsilons)
        scales = np.exp(exponents)
        lower = np.where(scales > _LEAST, lower * scales * (1 - doubt), 0.0)
        return lower, np.minimum(np.maximum(upper * scales * (1 + doubt + doubt * doubt), _LEAST), 1.0)

    @property
    def _doubt(self) -> float:
        """How far K(t) may be off."""
        return (self.accuracy + 4 * UNIT) * (2 + self.size)

    def _relative(self, epsilons: Floats) -> tuple[Floats, Floats]:
        """Ends of delta, relative to e^(K(t) - t eps)."""
        kernel = self._kernel(epsilons)
        turned = np.exp(self.logarithms[:, None] - 1j * np.outer(self.y, epsilons))
        values = self.weights @ (turned * kernel).real
        densities = self.weights @ turned.real
        phases = 1 + np.abs(self.logarithms)[:, None] + np.outer(self.y, np.abs(epsilons)) + math.log2(2 + self.y.size)
        noise = self.accuracy * self.noise[:, None]
        errors = self.weights[:, None] * (np.abs(turned) * (self.accuracy + 8 * UNIT) * phases + noise)
        value_errors = np.sum(np.abs(kernel) * errors, axis=0) + self.left_out + np.abs(values) * self._doubt
        density_errors = np.sum(errors, axis=0) + np.abs(densities) * self._doubt
        right, left = self.aliases
        folded = right.bound(epsilons, self.period, 1) + left.bound(epsilons, self.period, -1)
        square = self.smoothing**2
        smoothed = math.exp(square / 8) * (square * (densities + density_errors) + self.left_out)
        upper = (values + value_errors) * (1 + 4 * UNIT)
        return np.maximum(values - value_errors - folded - smoothed, 0.0), upper

    def _kernel(self, epsilons: Floats) -> Complexes:
        """The transform of (1 - e^(eps - l))_+, over all l or over the lattice; epsilons are taken exactly."""
        z = (self.tilt + 1j * self.y)[:, None]
        if self.lattice is None:
            return np.asarray(1 / (z * (z + 1)))
        h = self.lattice.spacing
        gaps = np.array([self.lattice.gap_above(epsilon) for epsilon in epsilons.tolist()])
        whole = 1 / -np.expm1(-z * h) - np.exp(-gaps) / -np.expm1(-(z + 1) * h)
        return np.asarray(h * np.exp(-z * gaps) * whole)

r"""The loss of a mechanism run on a Poisson sample: each record takes part with probability q, independently.

If the whole data give the pair (P, Q), P with the record, then the sample gives, for add/remove adjacency,
(1 - q) Q + q P against Q when the record is removed, and the two exchanged when it is added. With r = dP/dQ
the ratio is s = 1 - q + q r, and

    removing: M(z) = E_Q s^(z + 1),     adding: M(z) = E_Q s^(-z).

E_Q is a sum over a fixed quadrature of Q that the base law gives (`under`): exact for atoms; for Gaussian
noise the trapezoidal rule, whose error falls like e^(-2 pi a / h) for an integrand analytic within a of the real
axis, here a < pi sigma^2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from indistinct.composition.losses.law import UNIT, Complexes, Cumulants, Floats, bound_by_spread, log1p

__all__ = ["Quadrature", "SubsampledLoss", "gaussian_quadrature"]

_BLOCK = 1 << 18
_SMALL = 0.01
_FAR = 700.0
_NEGLIGIBLE = 1e-25


@dataclass(frozen=True, eq=False)
class Quadrature:
    """Points of the alternative law Q: log dP/dQ there, and the logs of their weights."""

    log_ratios: Floats
    log_weights: Floats
    accuracy: float
    steepest: float


@dataclass(frozen=True, eq=False)
class SubsampledLoss:
    """One direction of a Poisson-subsampled pair."""

    quadrature: Quadrature
    rate: float
    removing: bool

    @property
    def disclosed(self) -> Fraction:
        return Fraction(0)

    @cached_property
    def largest(self) -> float:
        if self.removing:
            return math.inf
        return -math.log1p(-self.rate) * (1 + 4 * UNIT) if self.rate < 1 else math.inf

    @property
    def steepest(self) -> float:
        return self.quadrature.steepest

    @property
    def smoothness(self) -> float:
        return 0.0

    @property
    def size(self) -> int:
        return int(self.quadrature.log_ratios.size)

    @property
    def additive(self) -> bool:
        return True

    @property
    def accuracy(self) -> float:
        return self.quadrature.accuracy

    @cached_property
    def _logs(self) -> Floats:
        """log s at the points."""
        r = self.quadrature.log_ratios
        with np.errstate(over="ignore"):
            direct = np.log1p(self.rate * np.expm1(np.minimum(r, 700.0)))
        beyond = math.log(self.rate) + r if self.rate > 0 else np.zeros_like(r)
        return np.asarray(np.where(r > 600, beyond, direct))

    @property
    def _sign(self) -> float:
        return 1.0 if self.removing else -1.0

    def _power(self, tilt: float) -> float:
        return tilt + 1 if self.removing else -tilt

    def cumulants(self, tilt: float) -> Cumulants:
        logs, power = self._logs, self._power(tilt)
        weights, log_total = self._tilted(tilt)
        mean = float(np.sum(weights * logs))
        variance = float(np.sum(weights * (logs - mean) ** 2))
        value = log_total
        if abs(value) < _SMALL:
            # E s = 1 exactly: subtracting the power times (s - 1) leaves the second-order part alone.
            near = self.quadrature.log_weights > -_FAR
            kept, w = logs[near], np.exp(self.quadrature.log_weights[near])
            value = math.log1p(float(np.sum(w * (np.expm1(power * kept) - power * np.expm1(kept)))))
        return Cumulants(value, self._sign * mean, variance)

    def _tilted(self, tilt: float) -> tuple[Floats, float]:
        """The tilted law of the points, and K(tilt)."""
        exponents = self.quadrature.log_weights + self._power(tilt) * self._logs
        top = float(np.max(exponents))
        shifted = np.exp(exponents - top)
        total = float(np.sum(shifted))
        return shifted / total, top + math.log(total)

    def log_ratio(self, tilt: float, y: Floats) -> Complexes:
        weights, _ = self._tilted(tilt)
        centre = float(np.sum(weights * self._logs))
        relevant = weights > _NEGLIGIBLE * np.max(weights)
        away, weights = self._logs[relevant] - centre, weights[relevant]
        result = np.empty(y.size, dtype=complex)
        rows = max(1, _BLOCK // away.size)
        for first in range(0, y.size, rows):
            turns = np.expm1(1j * self._sign * np.outer(y[first : first + rows], away))
            result[first : first + rows] = log1p(turns @ weights)
        return np.asarray(result + 1j * self._sign * y * centre)

    def log_bound(self, tilt: float, centres: Floats, reach: float) -> Floats:
        return bound_by_spread(self, tilt, centres, reach)


@lru_cache(maxsize=64)
def gaussian_quadrature(sigma: float) -> Quadrature:
    """Q = N(0, sigma^2) against P = N(1, sigma^2), by the trapezoidal rule.

    Tilted by t the integrand peaks at most t + 1 to the right of 0: the points reach that far and 9 sigma more.
    """
    steepest = 30 * sigma + 60
    step = min(sigma / 12, sigma * sigma / 4)
    x = np.arange(-12 * sigma, steepest + 1 + 12 * sigma, step)
    log_weights = math.log(step / (sigma * math.sqrt(2 * math.pi))) - x * x / (2 * sigma**2)
    return Quadrature((2 * x - 1) / (2 * sigma**2), log_weights, 256 * UNIT, steepest)

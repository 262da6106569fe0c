r"""The loss of Gaussian noise on a Poisson sample, as in private gradient descent.

Each record takes part with probability q. With Q = N(0, sigma^2), P = N(1, sigma^2), r = dP/dQ and
s(x) = 1 - q + q r(x), the pair is Q s against Q when a record is removed and the two exchanged when it is added:

    removing: M(z) = E_Q s^(z + 1),     adding: M(z) = E_Q s^(-z).

*Off the real axis.* At x + i sigma^2 theta the ratio is s_theta = 1 - q + q r e^(i theta), without zeros for
|theta| < pi. Moving the line of integration there multiplies the Gaussian by e^(sigma^2 theta^2 / 2), and a power
of imaginary part y by e^(-y arg s_theta). As arg s_theta is above 0 for 0 < theta < pi,

    |M(t + i y)| <= e^(sigma^2 theta^2 / 2) E_Q |s_theta|^p e^(-y arg s_theta),      p = t + 1 or -t,

whatever theta: the least of these over some theta falls with y, and so excludes all larger y at once.

*The trapezoidal rule.* With a step h its error is at most 2 e^(-2 pi a / h) / (1 - e^(-2 pi a / h)) times the largest
integral over the lines at distance a = sigma^2 theta. There |s_theta| <= s for a power p above 0, |s_theta| >=
s cos(theta / 2) for one below, and the imaginary part costs at most e^(|y| theta). So, relative to M(t),

    log error <= (|y| - 2 pi sigma^2 / h) theta + sigma^2 theta^2 / 2 + t log sec(theta / 2) + log 2.001

(the third term when adding), for every theta up to pi/2: h is made small enough for `_NEGLIGIBLE`. The same holds of
the integrals that bound |M|, without |y|, as they are integrals of analytic functions of the same growth.

*The ends.* The log of the integrand has a derivative between (c - x) / sigma^2 and -x / sigma^2, c = t + 1 when
removing and -t when adding; so the law lies between 0 and c but for tails lighter than Gaussian, cut at 12 sigma.
When adding, its only mode is x = -t q r / s.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from indistinct.composition.losses.law import UNIT, Complexes, Cumulants, Floats, log1p
from indistinct.composition.nodes import Integers

__all__ = ["SubsampledGaussianLoss"]

_WIDTH = 12.0
_NEGLIGIBLE = 44.0
_ANGLES = np.geomspace(1.2, 0.004, 8)
_ROWS = 256
_SMALL = 0.01
_RELEVANT = -80.0
_FREQUENCIES = np.concatenate([[0.0], np.geomspace(1e-6, 1e15, 337)])


class _Points(NamedTuple):
    """The points of a trapezoidal rule: log s there, log of the weight under Q, and q r / s."""

    logs: Floats
    log_weights: Floats
    shares: Floats


@dataclass(frozen=True)
class SubsampledGaussianLoss:
    """One direction of the pair, for noise of `sigma` times the sensitivity."""

    sigma: float
    rate: float
    removing: bool

    @property
    def disclosed(self) -> Fraction:
        return Fraction(0)

    @property
    def largest(self) -> float:
        return math.inf if self.removing else -math.log1p(-self.rate) * (1 + 4 * UNIT)

    @property
    def steepest(self) -> float:
        if self.removing:
            return 60 + 40 * self.sigma - 2 * self.sigma**2 * math.log(self.rate)
        return 60 / self.largest + 40 * self.sigma

    @property
    def smoothness(self) -> float:
        return 0.0

    @property
    def size(self) -> int:
        return 300

    @property
    def additive(self) -> bool:
        return True

    @property
    def accuracy(self) -> float:
        return 256 * UNIT

    def cumulants(self, tilt: float) -> Cumulants:
        points = _points(self, _rounded_up(tilt), 0.0)
        power, logs = self.power(tilt), points.logs
        weights, value = _tilted(points, power)
        mean = float(weights @ logs)
        away = logs - mean
        variance = float(weights @ (away * away))
        if abs(value) < _SMALL:
            # E s = 1 exactly: subtracting the power times (s - 1) leaves the second-order part alone.
            w = np.exp(points.log_weights)
            near = (points.log_weights > -700) & (np.abs(power * logs) < 600) & (logs < 600)
            kept = logs[near]
            value = math.log1p(float(w[near] @ (np.expm1(power * kept) - power * np.expm1(kept))))
        return Cumulants(value, self._sign * mean, variance)

    def log_ratio(self, tilt: float, y: Floats) -> Complexes:
        result = np.empty(y.size, dtype=complex)
        for first in range(0, y.size, _ROWS):
            some = y[first : first + _ROWS]
            points = _points(self, _rounded_up(tilt), _rounded_up(float(np.max(np.abs(some), initial=0.0))))
            weights, _ = _tilted(points, self.power(tilt))
            centre = float(weights @ points.logs)
            relevant = weights > math.exp(_RELEVANT) * np.max(weights)
            away, weights = points.logs[relevant] - centre, weights[relevant]
            turns = np.outer(some, self._sign * away)
            # e^(i a) - 1 = -2 sin^2(a / 2) + i sin a
            sines = np.sin(turns)
            turns *= 0.5
            np.sin(turns, out=turns)
            turns *= turns
            result[first : first + _ROWS] = log1p(-2 * (turns @ weights) + 1j * (sines @ weights))
            result[first : first + _ROWS] += 1j * self._sign * some * centre
        return result

    def log_bound(self, tilt: float, centres: Floats, reach: float) -> Floats:
        nearest = np.maximum(np.abs(centres) - reach, 0)
        below = np.searchsorted(_FREQUENCIES, nearest, side="right") - 1
        return _decay(self, tilt).at(below)

    @property
    def _sign(self) -> float:
        return 1.0 if self.removing else -1.0

    def power(self, tilt: float) -> float:
        """The power of s in M(tilt)."""
        return tilt + 1 if self.removing else -tilt


def _rounded_up(value: float) -> float:
    """To the next of a few values, so that points are used again."""
    return 2.0 ** math.ceil(math.log2(value)) if value > 0 else 0.0


def _tilted(points: _Points, power: float) -> tuple[Floats, float]:
    """The law tilted by s^power, and the log of its total."""
    exponents = points.log_weights + power * points.logs
    top = float(np.max(exponents))
    np.subtract(exponents, top, out=exponents)
    weights = np.exp(exponents, out=exponents)
    total = float(np.sum(weights))
    weights /= total
    return weights, top + math.log(total)


@lru_cache(maxsize=64)
def _points(law: SubsampledGaussianLoss, tilt: float, frequency: float) -> _Points:
    """Good for all tilts up to one and all frequencies up to one."""
    sigma, rate = law.sigma, law.rate
    step = _step(law, tilt, frequency)
    if law.removing:
        start, end = -_WIDTH * sigma, tilt + 1 + _WIDTH * sigma
    else:
        start, end = _mode(law, tilt) - _WIDTH * sigma, _WIDTH * sigma
    x = np.arange(math.floor(start / step), math.ceil(end / step) + 1) * step
    log_ratios = (2 * x - 1) / (2 * sigma**2)
    with np.errstate(over="ignore"):
        near = np.log1p(rate * np.expm1(np.minimum(log_ratios, 700.0)))
    logs = np.where(log_ratios > 600, math.log(rate) + log_ratios, near)
    shares = np.exp(np.minimum(math.log(rate) + log_ratios - logs, 0.0))
    return _Points(logs, math.log(step / (sigma * math.sqrt(2 * math.pi))) - x * x / (2 * sigma**2), shares)


def _mode(law: SubsampledGaussianLoss, tilt: float) -> float:
    """Not above the x at which x + t q r / s = 0, the mode when adding."""

    def share(x: float) -> float:
        ratio = law.rate * math.exp(min((2 * x - 1) / (2 * law.sigma**2), 700.0))
        return ratio / (1 - law.rate + ratio)

    low, high = -tilt, 0.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if middle + tilt * share(middle) < 0 else (low, middle)
    return low


def _step(law: SubsampledGaussianLoss, tilt: float, frequency: float) -> float:
    """The step at which the essay's bound, at the best of some angles, is `_NEGLIGIBLE`."""
    angles = np.linspace(0.02, math.pi / 2, 40)
    growth = law.sigma**2 * angles**2 / 2
    if not law.removing:
        growth = growth - tilt * np.log(np.cos(angles / 2))
    needed = float(np.min((_NEGLIGIBLE + 1 + growth) / angles)) + frequency
    return 2 * math.pi * law.sigma**2 / needed


class _Decay:
    """Upper bounds of log |M(t + i y) / M(t)| at all y from each of `_FREQUENCIES` on, computed when asked for.

    The error of a rule on the line of angle theta is that of the essay; as (1 + cos b) / (cos theta + cos b) is at
    most sec theta for every b, it is at most e^(-_NEGLIGIBLE + sigma^2 theta^2 / 2 + t log(sec theta) / 2) of M(t).
    """

    def __init__(self, law: SubsampledGaussianLoss, tilt: float) -> None:
        points = _points(law, _rounded_up(tilt), 0.0)
        power = law.power(tilt)
        self.found = np.full(_FREQUENCIES.size, math.nan)
        self._weights, _ = _tilted(points, power)
        self._lines = []
        shares = points.shares
        for angle in _ANGLES.tolist():
            # |s_theta| / s = sqrt(1 - 4 w (1 - w) sin^2(theta / 2)) and arg s_theta, w = q r / s
            square = math.sin(angle / 2) ** 2
            moduli = 0.5 * np.log1p(-4 * shares * (1 - shares) * square)
            growth = law.sigma**2 * angle**2 / 2
            error = math.exp(min(growth + (0 if law.removing else tilt * -math.log(math.cos(angle)) / 2), 400.0))
            arguments = np.arctan2(shares * math.sin(angle), 1 - 2 * shares * square)
            self._lines.append((growth + power * moduli, -arguments, error * math.exp(-_NEGLIGIBLE) + 1e-14))

    def at(self, indices: Integers) -> Floats:
        """The bounds from some of the frequencies on."""
        wanted = np.unique(indices)
        wanted = wanted[np.isnan(self.found[wanted])]
        if wanted.size:
            best = np.zeros(wanted.size)
            for fixed, turns, error in self._lines:
                exponents = np.outer(_FREQUENCIES[wanted], turns)
                exponents += fixed
                np.minimum(exponents, 300.0, out=exponents)
                ratios = np.expm1(exponents, out=exponents) @ self._weights
                np.minimum(best, np.log1p(np.maximum(ratios * (1 - 1e-12) + error, -1.0 + error)), out=best)
            self.found[wanted] = best
        return np.asarray(self.found[indices])


@lru_cache(maxsize=8)
def _decay(law: SubsampledGaussianLoss, tilt: float) -> _Decay:
    return _Decay(law, tilt)

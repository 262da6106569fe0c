"""Gaussian noise as a pair of densities on the line, for the few samples whose transform does not decay."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from indistinct.composition.losses.densities import LinePair, laid_out
from indistinct.composition.losses.law import Floats

__all__ = ["gaussian_line"]

_ACCURACY = 1e-13
"""That of erfc in floats, the rounding of its argument included, down to the least probability that is looked at."""


@dataclass(frozen=True)
class _GaussianDensity:
    centre: float
    sigma: float

    def logpdf(self, x: Floats) -> Floats:
        return np.asarray(-(((x - self.centre) / self.sigma) ** 2) / 2 - math.log(self.sigma * math.sqrt(2 * math.pi)))

    def cdf(self, x: Floats) -> Floats:
        return self.sf(2 * self.centre - x)

    def sf(self, x: Floats) -> Floats:
        away = (x - self.centre) / (self.sigma * math.sqrt(2))
        return np.array([math.erfc(value) / 2 for value in away.tolist()])


def gaussian_line(sigma: float) -> LinePair:
    """N(1, sigma^2) against N(0, sigma^2)."""
    null, alternative = _GaussianDensity(1.0, sigma), _GaussianDensity(0.0, sigma)
    everywhere = (-math.inf, math.inf)
    line = laid_out(null, alternative, (everywhere, everywhere), ())
    return LinePair(null, alternative, line, _ACCURACY, math.inf)

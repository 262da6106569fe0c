"""Laplace noise as a pair of densities on the line, for what its closed forms do not cover."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from indistinct.composition.losses.densities import LinePair, laid_out
from indistinct.composition.losses.law import Floats

__all__ = ["laplace_line"]

_ACCURACY = 5e-14
"""That of e^x in floats, down to the least probability that is looked at."""


@dataclass(frozen=True)
class _LaplaceDensity:
    """Scale 1, about a centre."""

    centre: float

    def logpdf(self, x: Floats) -> Floats:
        return np.asarray(-np.abs(x - self.centre) - np.log(2.0))

    def cdf(self, x: Floats) -> Floats:
        away = np.exp(-np.abs(x - self.centre)) / 2
        return np.asarray(np.where(x < self.centre, away, 1 - away))

    def sf(self, x: Floats) -> Floats:
        return self.cdf(2 * self.centre - x)


def laplace_line(epsilon: float) -> LinePair:
    """Noise of scale sensitivity / epsilon: the centres are epsilon scales apart."""
    null, alternative = _LaplaceDensity(0.0), _LaplaceDensity(epsilon)
    everywhere = (-np.inf, np.inf)
    return LinePair(null, alternative, laid_out(null, alternative, (everywhere, everywhere), ()), _ACCURACY, epsilon)

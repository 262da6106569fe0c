"""Gaussian noise (Dwork and Roth, appendix A)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from indistinct.composition.guarantees import GaussianDP
from indistinct.composition.planning.formulas import gaussian_sigmas
from indistinct.composition.planning.knob import Knob
from indistinct.mechanisms.parameters import read_positive

__all__ = ["Gaussian"]


@dataclass(frozen=True, slots=True, init=False)
class Gaussian:
    """Gaussian noise of standard deviation sigma on a vector of an l2 sensitivity.

    Composed exactly (Balle and Wang 2018), for any epsilon, where Theorem A.1 needs epsilon below 1.

    >>> from indistinct import Gaussian, compose
    >>> print(compose([Gaussian(sigma=1)]).delta(1))
    0.126936737507
    """

    knobs: ClassVar[tuple[Knob, ...]] = (
        Knob(
            "sigma",
            quiets=True,
            because="Gaussian noise of a larger sigma is that of a smaller one with independent noise added",
            formulas=gaussian_sigmas,
            at_deviation=lambda deviation, _: deviation,
        ),
    )

    sensitivity: Fraction
    sigma: Fraction

    def __init__(self, sensitivity: object = 1, sigma: object = 1) -> None:
        object.__setattr__(self, "sensitivity", read_positive("sensitivity", sensitivity))
        object.__setattr__(self, "sigma", read_positive("sigma", sigma))

    @property
    def variance(self) -> float:
        """The variance of the noise."""
        return float(self.sigma) ** 2

    @property
    def loss(self) -> GaussianDP:
        """(sensitivity / sigma)-Gaussian privacy, no more and no less."""
        return GaussianDP(self.sensitivity / self.sigma)

"""Discrete Gaussian noise (Canonne, Kamath and Steinke 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from indistinct.composition.guarantees import ZeroConcentratedDP
from indistinct.composition.losses import PrivacyLoss, discrete_gaussian_loss
from indistinct.errors import InvalidParameter
from indistinct.mechanisms.parameters import read_positive

__all__ = ["DiscreteGaussian"]

_LARGEST_SENSITIVITY = 10_000


@dataclass(frozen=True, slots=True, init=False)
class DiscreteGaussian:
    """Noise of law proportional to `e^(-x^2 / (2 sigma^2))` on a whole number.

    One number is composed by its exact loss. A vector with noise on every coordinate is *not* the same pair, and
    its l2 sensitivity says less: for `vector=True` the claim is sensitivity^2 / (2 sigma^2)-zCDP, which holds in any
    dimension (Theorem 4 there).

    >>> from indistinct import DiscreteGaussian, compose
    >>> print(f"{compose({DiscreteGaussian(sigma=10): 100}).epsilon('1e-6'):.9g}")
    4.88657075
    >>> DiscreteGaussian(sigma=10, vector=True).loss
    ZeroConcentratedDP('0.005')
    """

    sensitivity: Fraction
    sigma: Fraction
    vector: bool

    def __init__(self, sensitivity: object = 1, sigma: object = 1, *, vector: bool = False) -> None:
        width = read_positive("sensitivity", sensitivity)
        if not vector and (width.denominator != 1 or width > _LARGEST_SENSITIVITY):
            raise InvalidParameter(
                "sensitivity",
                sensitivity,
                f"be a whole number up to {_LARGEST_SENSITIVITY} for discrete Gaussian noise on one number",
                instead="For the l2 sensitivity of a vector of whole numbers, say vector=True.",
            )
        object.__setattr__(self, "sensitivity", width)
        object.__setattr__(self, "sigma", read_positive("sigma", sigma))
        object.__setattr__(self, "vector", bool(vector))

    @property
    def loss(self) -> PrivacyLoss | ZeroConcentratedDP:
        """The exact pair for one number, zCDP for a vector."""
        if self.vector:
            return ZeroConcentratedDP(self.sensitivity**2 / (2 * self.sigma**2))
        return PrivacyLoss.symmetric(discrete_gaussian_loss(int(self.sensitivity), self.sigma))

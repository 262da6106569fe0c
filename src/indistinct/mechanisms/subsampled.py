"""Mechanisms run on a Poisson sample of the records, as in private gradient descent."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from indistinct.composition.guarantees import GaussianDP, PureDP
from indistinct.composition.losses import Adjacency, PrivacyLoss, SubsampledLoss
from indistinct.errors import InvalidParameter
from indistinct.mechanisms.gaussian import Gaussian
from indistinct.numbers.reading import read_probability

__all__ = ["PoissonSubsampled"]

_LEAST_RATE = Fraction(1, 10**30)
_LARGEST_RATIO = 1000


@dataclass(frozen=True, slots=True, init=False)
class PoissonSubsampled:
    """Gaussian noise on a sample that takes each record with probability `rate`, independently.

    For databases that differ by adding or removing a record; it does not hold for replaced records, nor for
    batches of a fixed size.

    >>> from indistinct import Gaussian, PoissonSubsampled, compose
    >>> step = PoissonSubsampled(Gaussian(sigma="0.8"), rate="0.004")
    >>> print(f"{compose({step: 10_000}).epsilon('1e-6'):.6g}")
    4.02844
    """

    mechanism: Gaussian
    rate: Fraction

    def __init__(self, mechanism: object, rate: object) -> None:
        if not isinstance(mechanism, Gaussian):
            raise InvalidParameter("mechanism", mechanism, "be a Gaussian")
        share = read_probability("rate", rate)
        if min(share, 1 - share) != 0 and min(share, 1 - share) < _LEAST_RATE:
            raise InvalidParameter("rate", rate, "be 0, or 1, or no nearer to these than 1e-30")
        if mechanism.sigma < mechanism.sensitivity / _LARGEST_RATIO:
            raise InvalidParameter(
                "sigma",
                mechanism.sigma,
                f"be at least the sensitivity / {_LARGEST_RATIO} for a subsampled mechanism",
                instead="With less noise every record that is taken is all but given away.",
            )
        object.__setattr__(self, "mechanism", mechanism)
        object.__setattr__(self, "rate", share)

    @property
    def loss(self) -> GaussianDP | PureDP | PrivacyLoss:
        """The pair for a record removed, and the one for a record added; nothing at rate 0, all at rate 1."""
        if self.rate in (0, 1):
            return self.mechanism.loss if self.rate else PureDP(0)
        sigma = self.mechanism.sigma / self.mechanism.sensitivity
        removing, adding = (SubsampledLoss(sigma, self.rate, way) for way in (True, False))
        return PrivacyLoss(removing, adding, Adjacency.ADD_REMOVE)

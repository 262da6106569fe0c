"""Mechanisms run on a Poisson sample of the records, as in private gradient descent."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from indistinct.composition.losses import Adjacency, PrivacyLoss, SubsampledLoss
from indistinct.composition.losses.subsampled import gaussian_quadrature
from indistinct.composition.planning.knob import Knob
from indistinct.errors import InvalidParameter
from indistinct.mechanisms.gaussian import Gaussian
from indistinct.numbers.reading import read_probability

__all__ = ["PoissonSubsampled"]


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

    knobs: ClassVar[tuple[Knob, ...]]

    mechanism: Gaussian
    rate: Fraction

    def __init__(self, mechanism: object, rate: object) -> None:
        if not isinstance(mechanism, Gaussian):
            raise InvalidParameter("mechanism", mechanism, "be a Gaussian")
        object.__setattr__(self, "mechanism", mechanism)
        object.__setattr__(self, "rate", read_probability("rate", rate))

    @property
    def loss(self) -> PrivacyLoss:
        """The pair for a record removed, and the one for a record added."""
        if self.rate == 0:
            raise InvalidParameter("rate", self.rate, "be above 0")
        points = gaussian_quadrature(float(self.mechanism.sigma / self.mechanism.sensitivity))
        removing, adding = (SubsampledLoss(points, float(self.rate), way) for way in (True, False))
        return PrivacyLoss(removing, adding, Adjacency.ADD_REMOVE)


def _of_sigma(sigma: Fraction, rate: object, sensitivity: object = 1) -> PoissonSubsampled:
    return PoissonSubsampled(Gaussian(sensitivity, sigma), rate)


PoissonSubsampled.knobs = (
    Knob(
        "sigma",
        quiets=True,
        because="Gaussian noise of a larger sigma is that of a smaller one with independent noise added",
        least=Fraction(1, 20),
        build=_of_sigma,
        settled_by=frozenset({"mechanism"}),
    ),
    Knob(
        "rate",
        quiets=False,
        because="a sample at a smaller rate is a sample of a sample at a larger one, as far as one record can tell",
        least=Fraction(1, 10**12),
        most=Fraction(1),
    ),
)

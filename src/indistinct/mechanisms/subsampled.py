"""Mechanisms run on a Poisson sample of the records, as in private gradient descent."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from indistinct.composition.density_pair import DensityPair
from indistinct.composition.folding.lines import LaplaceLine, SampledLine
from indistinct.composition.guarantees import ApproximateDP, GaussianDP, Promise, PureDP
from indistinct.composition.losses import Adjacency, AtomsLoss, PrivacyLoss, SubsampledLoss
from indistinct.composition.losses.enclosed import EnclosedLoss
from indistinct.composition.losses.laplace_line import laplace_line
from indistinct.composition.losses.law import Curve
from indistinct.composition.losses.sampled import sampled_atoms, sampled_box, sampled_pair
from indistinct.composition.parts import Thing, loss_of
from indistinct.composition.planning.knob import Knob
from indistinct.errors import InvalidParameter
from indistinct.mechanisms.gaussian import Gaussian
from indistinct.mechanisms.laplace import Laplace
from indistinct.numbers.bracket import float_above
from indistinct.numbers.reading import read_probability
from indistinct.regions import DiscretePair

__all__ = ["PoissonSubsampled"]

_LEAST_RATE = Fraction(1, 10**30)
_LARGEST_RATIO = 1000
_KINDS = "be a mechanism or guarantee that has a pair of laws"


@dataclass(frozen=True, slots=True, init=False)
class PoissonSubsampled:
    """Any mechanism with a pair of laws, on a sample that takes each record with probability `rate`, independently.

    For databases that differ by adding or removing a record; it does not hold for replaced records, nor for
    batches of a fixed size. The null law of a pair of your own is the one *with* the record, and the pair
    must dominate the mechanism in that direction and, exchanged, in the other.

    Bounds in Renyi divergence (zCDP, `RenyiDP`, the exponential mechanism) name no pair to sample; an
    exponential mechanism may be sampled as the `PureDP` that it is.

    >>> from indistinct import Gaussian, PoissonSubsampled, PureDP, compose
    >>> step = PoissonSubsampled(Gaussian(sigma="0.8"), rate="0.004")
    >>> print(f"{compose({step: 10_000}).epsilon('1e-6'):.6g}")
    4.02844
    >>> print(f"{compose([PoissonSubsampled(PureDP(1), rate='0.01')]).epsilon(0):.6g}")  # ln(1 + rate (e - 1))
    0.0170369
    """

    knobs: ClassVar[tuple[Knob, ...]]

    mechanism: Thing
    rate: Fraction

    def __init__(self, mechanism: Any, rate: object) -> None:
        share = read_probability("rate", rate)
        if isinstance(mechanism, PoissonSubsampled):  # a sample of a sample
            mechanism, share = mechanism.mechanism, share * mechanism.rate
        if min(share, 1 - share) != 0 and min(share, 1 - share) < _LEAST_RATE:
            raise InvalidParameter("rate", rate, "be 0, or 1, or no nearer to these than 1e-30")
        object.__setattr__(self, "mechanism", mechanism)
        object.__setattr__(self, "rate", share)
        if not isinstance(mechanism, Thing):
            raise InvalidParameter("mechanism", mechanism, _KINDS)
        _check(mechanism, loss_of(mechanism))

    @property
    def loss(self) -> Promise | PrivacyLoss | EnclosedLoss | Curve:
        """The pair for a record removed, and the one for a record added."""
        if self.rate == 0:
            return PureDP(0)
        whole = loss_of(self.mechanism)
        return whole if self.rate == 1 else _sampled(self.mechanism, whole, self.rate)


def _check(mechanism: Thing, whole: object) -> None:
    """Refuses what says nothing of samples."""
    match whole:
        case PrivacyLoss(adjacency=Adjacency.REPLACE_ONE):
            raise InvalidParameter(
                "mechanism",
                mechanism,
                "hold for adding or removing a record",
                instead="Poisson sampling says nothing about replaced records, and this holds for those alone.",
            )
        case GaussianDP(mu) if mu > _LARGEST_RATIO:
            raise InvalidParameter(
                "mechanism",
                mechanism,
                f"have a sigma of at least the sensitivity / {_LARGEST_RATIO} to be subsampled",
                instead="With less noise every record that is taken is all but given away.",
            )
        case PureDP() | ApproximateDP() | GaussianDP() | PrivacyLoss() | EnclosedLoss():
            return
    raise InvalidParameter(
        "mechanism", mechanism, _KINDS, instead="A bound on Renyi divergence names none; a PureDP guarantee does."
    )


def _sampled(mechanism: Thing, whole: object, rate: Fraction) -> PrivacyLoss | EnclosedLoss:
    match mechanism:
        case DiscretePair():
            return sampled_pair(mechanism, rate)
        case DensityPair(pair=pair):
            return EnclosedLoss(pair.sampled(float(rate)), Adjacency.ADD_REMOVE)
        case Laplace():
            line = LaplaceLine(mechanism.epsilon)
            return EnclosedLoss(
                laplace_line(float_above(mechanism.epsilon)).sampled(float(rate)),
                Adjacency.ADD_REMOVE,
                (SampledLine(line, rate, back=False), SampledLine(line, rate, back=True)),
            )
    match whole:
        case PureDP() | ApproximateDP():
            return sampled_box(whole, rate)
        case GaussianDP(mu) if mu:
            removing, adding = (SubsampledLoss(1 / mu, rate, way) for way in (True, False))
            return PrivacyLoss(removing, adding, Adjacency.ADD_REMOVE)
        case GaussianDP():
            return sampled_box(PureDP(0), rate)
        case PrivacyLoss(forward=AtomsLoss() as law) if not law.disclosed:
            return sampled_atoms(law, rate)
    raise InvalidParameter("mechanism", mechanism, _KINDS)


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

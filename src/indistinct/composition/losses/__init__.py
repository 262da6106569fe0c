"""The laws of privacy losses: what the accountant must know of each kind of mechanism, one file a law."""

from indistinct.composition.losses.atoms import AtomsLoss
from indistinct.composition.losses.curves import BoundedRangeCurve, ConcentratedCurve, RenyiCurve
from indistinct.composition.losses.discrete_gaussian import discrete_gaussian_loss
from indistinct.composition.losses.gaussian import GaussianLoss
from indistinct.composition.losses.laplace import LaplaceLoss
from indistinct.composition.losses.law import Adjacency, Curve, LossLaw, PrivacyLoss
from indistinct.composition.losses.responses import ResponsesLoss
from indistinct.composition.losses.subsampled import SubsampledLoss

__all__ = [
    "Adjacency",
    "AtomsLoss",
    "BoundedRangeCurve",
    "ConcentratedCurve",
    "Curve",
    "GaussianLoss",
    "LaplaceLoss",
    "LossLaw",
    "PrivacyLoss",
    "RenyiCurve",
    "ResponsesLoss",
    "SubsampledLoss",
    "discrete_gaussian_loss",
]

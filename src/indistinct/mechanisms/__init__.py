"""Mechanisms, as the accountant sees them: their parameters and the loss that each answer costs."""

from indistinct.mechanisms.discrete_gaussian import DiscreteGaussian
from indistinct.mechanisms.exponential import ExponentialMechanism
from indistinct.mechanisms.gaussian import Gaussian
from indistinct.mechanisms.geometric import Geometric
from indistinct.mechanisms.laplace import Laplace
from indistinct.mechanisms.randomized_response import RandomizedResponse
from indistinct.mechanisms.sketches import CovarianceSketch, CutSketch
from indistinct.mechanisms.staircase import Staircase
from indistinct.mechanisms.subsampled import PoissonSubsampled

__all__ = [
    "CovarianceSketch",
    "CutSketch",
    "DiscreteGaussian",
    "ExponentialMechanism",
    "Gaussian",
    "Geometric",
    "Laplace",
    "PoissonSubsampled",
    "RandomizedResponse",
    "Staircase",
]

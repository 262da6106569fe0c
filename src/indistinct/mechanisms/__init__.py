"""Mechanisms: their parameters, the loss that each answer costs, and how they answer."""

from indistinct.mechanisms.discrete_gaussian import DiscreteGaussian
from indistinct.mechanisms.exponential import ExponentialMechanism
from indistinct.mechanisms.gaussian import Gaussian
from indistinct.mechanisms.geometric import Geometric
from indistinct.mechanisms.laplace import Laplace
from indistinct.mechanisms.randomized_response import RandomizedResponse
from indistinct.mechanisms.staircase import Staircase
from indistinct.mechanisms.subsampled import PoissonSubsampled

__all__ = [
    "DiscreteGaussian",
    "ExponentialMechanism",
    "Gaussian",
    "Geometric",
    "Laplace",
    "PoissonSubsampled",
    "RandomizedResponse",
    "Staircase",
]

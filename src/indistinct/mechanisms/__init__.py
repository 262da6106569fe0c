"""Mechanisms: their parameters, the loss that each answer costs, and how they answer."""

from indistinct.mechanisms.above_threshold import AboveThreshold
from indistinct.mechanisms.discrete_gaussian import DiscreteGaussian
from indistinct.mechanisms.exponential import ExponentialMechanism
from indistinct.mechanisms.gaussian import Gaussian
from indistinct.mechanisms.geometric import Geometric
from indistinct.mechanisms.laplace import Laplace
from indistinct.mechanisms.mwem import MWEM
from indistinct.mechanisms.noisy_max import NoisyMax
from indistinct.mechanisms.numeric_sparse import NumericSparse
from indistinct.mechanisms.permute_and_flip import PermuteAndFlip
from indistinct.mechanisms.randomized_response import RandomizedResponse
from indistinct.mechanisms.sketches import CovarianceSketch, CutSketch
from indistinct.mechanisms.sparse import Sparse
from indistinct.mechanisms.staircase import Staircase
from indistinct.mechanisms.subsampled import PoissonSubsampled

__all__ = [
    "MWEM",
    "AboveThreshold",
    "CovarianceSketch",
    "CutSketch",
    "DiscreteGaussian",
    "ExponentialMechanism",
    "Gaussian",
    "Geometric",
    "Laplace",
    "NoisyMax",
    "NumericSparse",
    "PermuteAndFlip",
    "PoissonSubsampled",
    "RandomizedResponse",
    "Sparse",
    "Staircase",
]

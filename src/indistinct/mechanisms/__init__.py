"""Mechanisms, as the accountant sees them: their parameters and the loss that each answer costs."""

from indistinct.mechanisms.gaussian import Gaussian
from indistinct.mechanisms.geometric import Geometric
from indistinct.mechanisms.laplace import Laplace
from indistinct.mechanisms.subsampled import PoissonSubsampled

__all__ = ["Gaussian", "Geometric", "Laplace", "PoissonSubsampled"]

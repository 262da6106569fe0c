"""Exact noise: whole numbers by certified inversion, and real noise that is only ever compared."""

from indistinct.noise.bernoulli import Bernoulli, Exponential, Logistic
from indistinct.noise.bits import SYSTEM, BitSource, SystemBits
from indistinct.noise.bounded_geometric import BoundedGeometric
from indistinct.noise.box import BoxNoise
from indistinct.noise.discrete_gaussian import DiscreteGaussian
from indistinct.noise.discrete_laplace import DiscreteLaplace
from indistinct.noise.geometric import Geometric
from indistinct.noise.integers import UniformBelow
from indistinct.noise.lazy import LazyNoise
from indistinct.noise.lazy_real import LazyReal
from indistinct.noise.rounded_gaussian import RoundedGaussian
from indistinct.noise.rounded_laplace import RoundedLaplace
from indistinct.noise.scale import Scale
from indistinct.noise.staircase import DiscreteStaircase
from indistinct.noise.stream import NoiseStream

__all__ = [
    "SYSTEM",
    "Bernoulli",
    "BitSource",
    "BoundedGeometric",
    "BoxNoise",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "DiscreteStaircase",
    "Exponential",
    "Geometric",
    "LazyNoise",
    "LazyReal",
    "Logistic",
    "NoiseStream",
    "RoundedGaussian",
    "RoundedLaplace",
    "Scale",
    "SystemBits",
    "UniformBelow",
]

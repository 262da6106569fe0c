"""Indistinct: answers questions about people without giving any of them away."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

_HOMES = {
    "ROW": "indistinct.queries.policy",
    "AboveThreshold": "indistinct.mechanisms",
    "ApproximateDP": "indistinct.composition",
    "Bracket": "indistinct.numbers",
    "CovarianceSketch": "indistinct.mechanisms",
    "CutSketch": "indistinct.mechanisms",
    "DensityPair": "indistinct.composition.density_pair",
    "DiscreteGaussian": "indistinct.mechanisms",
    "DiscretePair": "indistinct.regions",
    "ExponentialMechanism": "indistinct.mechanisms",
    "Gaussian": "indistinct.mechanisms",
    "GaussianDP": "indistinct.composition",
    "Geometric": "indistinct.mechanisms",
    "Laplace": "indistinct.mechanisms",
    "MWEM": "indistinct.mechanisms",
    "NoisyMax": "indistinct.mechanisms",
    "NumericSparse": "indistinct.mechanisms",
    "PermuteAndFlip": "indistinct.mechanisms",
    "PoissonSubsampled": "indistinct.mechanisms",
    "PrivacyProfile": "indistinct.composition",
    "PrivateDatabase": "indistinct.queries",
    "PureDP": "indistinct.composition",
    "Query": "indistinct.composition.planning",
    "QueryRefused": "indistinct.queries",
    "RandomizedResponse": "indistinct.mechanisms",
    "Region": "indistinct.regions",
    "RenyiDP": "indistinct.composition",
    "Sparse": "indistinct.mechanisms",
    "Staircase": "indistinct.mechanisms",
    "ZeroConcentratedDP": "indistinct.composition",
    "compose": "indistinct.composition",
    "connect": "indistinct.server.client",
    "how_many": "indistinct.composition.planning",
    "least_noise": "indistinct.composition.planning",
    "ln": "indistinct.numbers",
    "open": "indistinct.queries",
    "split": "indistinct.composition.planning",
}

__all__ = [
    "ROW",
    "AboveThreshold",
    "ApproximateDP",
    "Bracket",
    "CovarianceSketch",
    "CutSketch",
    "DensityPair",
    "DiscreteGaussian",
    "DiscretePair",
    "ExponentialMechanism",
    "Gaussian",
    "GaussianDP",
    "Geometric",
    "Laplace",
    "MWEM",
    "NoisyMax",
    "NumericSparse",
    "PermuteAndFlip",
    "PoissonSubsampled",
    "PrivacyProfile",
    "PrivateDatabase",
    "PureDP",
    "Query",
    "QueryRefused",
    "RandomizedResponse",
    "Region",
    "RenyiDP",
    "Sparse",
    "Staircase",
    "ZeroConcentratedDP",
    "compose",
    "connect",
    "how_many",
    "least_noise",
    "ln",
    "open",
    "split",
]

if TYPE_CHECKING:
    from indistinct.composition import (
        ApproximateDP,
        GaussianDP,
        PrivacyProfile,
        PureDP,
        RenyiDP,
        ZeroConcentratedDP,
        compose,
    )
    from indistinct.composition.density_pair import DensityPair
    from indistinct.composition.planning import Query, how_many, least_noise, split
    from indistinct.mechanisms import (
        MWEM,
        AboveThreshold,
        CovarianceSketch,
        CutSketch,
        DiscreteGaussian,
        ExponentialMechanism,
        Gaussian,
        Geometric,
        Laplace,
        NoisyMax,
        NumericSparse,
        PermuteAndFlip,
        PoissonSubsampled,
        RandomizedResponse,
        Sparse,
        Staircase,
    )
    from indistinct.numbers import Bracket, ln
    from indistinct.queries import PrivateDatabase, QueryRefused, open  # noqa: A004  # said as indistinct.open
    from indistinct.queries.policy import ROW
    from indistinct.regions import DiscretePair, Region
    from indistinct.server.client import connect


def __getattr__(name: str) -> object:
    """The public names, imported when first used: importing the package costs next to nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'indistinct' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])

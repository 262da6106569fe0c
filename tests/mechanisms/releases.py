"""What each mechanism that answers is tested with; a new one joins by getting a line here.

Laws are enumerated from the survival functions that the samplers invert, which tests/noise holds against definitions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indistinct import DiscreteGaussian, Gaussian, Geometric, Laplace, Staircase
from indistinct.noise import DiscreteGaussian as GaussianSampler
from indistinct.noise import (
    DiscreteLaplace,
    DiscreteStaircase,
    RoundedGaussian,
    RoundedLaplace,
)
from indistinct.noise.decay import LaplaceLaw
from indistinct.noise.gaussian_law import GaussianLaw
from indistinct.noise.staircase import StairLaw

BITS = 300
Reals = NDArray[np.float64]


@dataclass(frozen=True)
class Answering:
    """A mechanism coarse enough for its law to be written down, and how far neighbours are apart in steps."""

    mechanism: Any
    distance: int
    tight: bool
    """Whether the claim is what one coordinate that moves so far gives away, to all digits."""
    bolder: Callable[[Fraction], Any]
    """The same with noise that is so many times as wide, which claims what it is."""
    options: dict[str, bool]


def _of(mechanism: Any, distance: int, bolder: Callable[[Fraction], Any], *, tight: bool, **options: bool) -> Answering:
    return Answering(mechanism, distance, tight, bolder, options)


ANSWERING = {
    "Laplace": _of(Laplace(1, 4, granularity=1), 1, lambda f: Laplace(1, 4 * f, granularity=1), tight=False),
    "Laplace, several steps": _of(
        Laplace(3, 4, granularity=1), 3, lambda f: Laplace(3, 4 * f, granularity=1), tight=False
    ),
    "Laplace, off the lattice": _of(
        Laplace("1.2", 4, granularity=1), 2, lambda f: Laplace("1.2", 4 * f, granularity=1), tight=False
    ),
    "Gaussian": _of(Gaussian(1, 3, granularity=1), 1, lambda f: Gaussian(1, 3 * f, granularity=1), tight=False),
    "Gaussian, off the lattice": _of(
        Gaussian("2.5", 4, granularity="1/2"), 5, lambda f: Gaussian("2.5", 4 * f, granularity="1/2"), tight=False
    ),
    "Geometric": _of(Geometric(epsilon="0.5"), 1, lambda f: Geometric(epsilon=Fraction("0.5") / f), tight=True),
    "Geometric, several steps": _of(
        Geometric(4, epsilon=1), 4, lambda f: Geometric(4, epsilon=1 / Fraction(f)), tight=True
    ),
    "DiscreteGaussian": _of(DiscreteGaussian(2, 3), 2, lambda f: DiscreteGaussian(2, 3 * f), tight=True, disjoint=True),
    "Staircase": _of(
        Staircase("2.2", epsilon=1, gamma="0.4", granularity="1/4"),
        9,
        lambda f: Staircase("2.2", epsilon=1 / Fraction(f), gamma="0.4", granularity="1/4"),
        tight=False,
        disjoint=True,
    ),
    "Staircase on integers": _of(
        Staircase.on_integers(7, epsilon=1),
        7,
        lambda f: Staircase.on_integers(7, epsilon=1 / Fraction(f)),
        tight=True,
        disjoint=True,
    ),
}


def law_of(sampler: Any) -> Any:
    """The survival function of the magnitude that a sampler draws."""
    match sampler:
        case RoundedLaplace() | RoundedGaussian():
            return sampler.law
        case DiscreteLaplace():
            return LaplaceLaw(sampler.scale)
        case GaussianSampler():
            return GaussianLaw(sampler.variance, Fraction(1, 2))
        case DiscreteStaircase():
            return StairLaw(sampler.sensitivity, sampler.epsilon, sampler.step)
    raise AssertionError(f"the law of {sampler!r} is not known here")


def probabilities(sampler: Any, reach: int) -> list[Fraction]:
    """Of -reach, ..., reach, to some 80 digits."""
    law = law_of(sampler)
    tails = [Fraction(1), *(Fraction(law.survival(i, BITS)[0], 2**BITS) for i in range(1, reach + 2))]
    sides = [(tails[i] - tails[i + 1]) / 2 for i in range(1, reach + 1)]
    return [*reversed(sides), 1 - tails[1], *sides]


def pair(sampler: Any, distance: int, reach: int) -> tuple[list[Fraction], list[Fraction]]:
    """The law and itself moved, over the whole numbers from -reach to reach, what is beyond counted at the ends."""
    law, nothing = probabilities(sampler, reach + distance), Fraction(0)
    tail = (1 - sum(law, nothing)) / 2
    first, second = law[distance:-distance], law[: -2 * distance]
    first[0] += tail + sum(law[:distance], nothing)
    first[-1] += tail + sum(law[-distance:], nothing)
    second[0] += tail
    second[-1] += tail + sum(law[-2 * distance :], nothing)
    return first, second


def hockey_stick(first: list[Fraction], second: list[Fraction], odds: Fraction) -> Fraction:
    """The sum of what the first exceeds odds times the second by."""
    return sum((max(p - odds * q, Fraction(0)) for p, q in zip(first, second, strict=True)), Fraction(0))

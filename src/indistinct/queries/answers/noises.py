"""The noise of one number of an answer: its law, how large it gets, and how several are drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from indistinct.errors import InternalError
from indistinct.mechanisms import DiscreteGaussian, Gaussian, Geometric
from indistinct.noise import BoxNoise, RoundedGaussian, Scale

__all__ = ["Noise", "Side", "draws", "largest", "margin"]

_FAR = 45.0
"""So many scales beyond its largest weight, what is left of a law is below 2^-53 of it, whatever its degree."""


@dataclass(frozen=True, slots=True)
class Side:
    """One coordinate of noise in the shape of a box: the others' is drawn together with it.

    A unit may change each of the coordinates by its width, all of them at once, and epsilon is the whole price.
    """

    widths: tuple[int, ...]
    epsilon: Fraction
    place: int

    @property
    def noise(self) -> BoxNoise:
        """The sampler of all coordinates together."""
        return BoxNoise(self.widths, Scale(1, self.epsilon))

    @property
    def variance(self) -> float:
        """Of this coordinate: it is uniform from -m w, ..., m w, for a random m."""
        levels, chances = _levels(self.widths, self.epsilon)
        reach = levels * self.widths[self.place]
        return float(chances @ (reach * (reach + 1) / 3))

    def margin(self, level: Fraction) -> int:
        """The least a with P(|Z| > a) at most 1 - level; rounding errors of floats are added to the chance."""
        levels, chances = _levels(self.widths, self.epsilon)
        sides = 2 * levels * self.widths[self.place] + 1

        def exceeded(a: int) -> float:
            return float(chances @ np.maximum(0.0, 1 - (2 * a + 1) / sides)) * (1 + 1e-9) + 1e-14

        low, high = -1, 1
        while exceeded(high) > 1 - level:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if exceeded(middle) > 1 - level else (low, middle)
        return high


Noise = DiscreteGaussian | Geometric | Gaussian | Side
"""Of a number. Gaussian noise is rounded to whole numbers, which is post-processing of the real one."""


@lru_cache(256)
def _levels(widths: tuple[int, ...], epsilon: Fraction) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """m = 0, 1, 2, ... and their chances, in proportion to q^m prod_j (2 w_j m + 1)."""
    level = float(epsilon)
    levels = np.arange(math.ceil((len(widths) + _FAR + 12 * math.sqrt(len(widths))) / level) + 2, dtype=np.float64)
    logs = -level * levels
    for width in widths:
        logs += np.log1p(2.0 * width * levels)
    chances = np.exp(logs - logs.max())
    return levels, chances / chances.sum()


def draws(noises: Sequence[Noise], count: int) -> list[NDArray[np.int64]]:
    """Of each noise so many draws; the sides of a box come from the same vectors."""
    boxes: dict[tuple[tuple[int, ...], Fraction], NDArray[np.int64]] = {}
    found = []
    for noise in noises:
        match noise:
            case Side(widths=widths, epsilon=epsilon, place=place):
                if (widths, epsilon) not in boxes:
                    boxes[widths, epsilon] = noise.noise.draws(count)
                found.append(boxes[widths, epsilon][:, place])
            case Gaussian(sigma=sigma):
                found.append(RoundedGaussian(sigma).draws(count))
            case DiscreteGaussian() | Geometric():
                found.append(noise.noise.draws(count))
    return found


def margin(noise: Noise, level: Fraction) -> int:
    """How far the noise is at most from 0, with such a probability."""
    return _margin(noise, level)


@lru_cache(1024)
def _margin(noise: Noise, level: Fraction) -> int:
    match noise:
        case Side():
            return noise.margin(level)
        case Gaussian():
            return math.ceil(noise.interval(0.0, level)[1])
        case DiscreteGaussian() | Geometric():
            return int(noise.interval(0, level)[1])
    raise InternalError(f"There is no law of {noise!r}.")


def largest(parts: Sequence[tuple[Fraction, Noise]], level: Fraction) -> Fraction:
    r"""How far sum_i c_i Z_i is at most from 0, with such a probability.

    Either of two bounds: each noise within its own share of the failures; or, for independent Gaussian ones, continuous
    or discrete, e^(t X) has the expectation e^(t^2 sigma^2 / 2) at most (Canonne, Kamath and Steinke 2020), hence the
    sum exceeds x with probability 2 e^(-x^2 / (2 sum c_i^2 sigma_i^2)) at most; rounding adds half a step each.
    """
    if len(parts) == 1:
        return abs(parts[0][0]) * margin(parts[0][1], level)
    share = 1 - (1 - level) / len(parts)
    simple = sum((abs(factor) * margin(noise, share) for factor, noise in parts), Fraction(0))
    square, rounded = 0.0, Fraction(0)
    for factor, noise in parts:
        if not isinstance(noise, DiscreteGaussian | Gaussian):
            return simple
        square += float(factor * noise.sigma) ** 2
        rounded += abs(factor) / 2 if isinstance(noise, Gaussian) else 0
    together = Fraction(math.sqrt(2 * math.log(2 / float(1 - level)) * square) * (1 + 1e-9)) + rounded
    return min(simple, together)

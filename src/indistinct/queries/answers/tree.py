r"""Many quantiles of one column from one noisy tree of counts over the cells of its grid.

Level 0 of the tree holds the cells, each further level sums of four neighbours, up to a level of at most four nodes. A
unit puts a weight of at most s = R CELL_WEIGHT on the cells of a group, so that each level changes by at most s, in l1
and in l2: levels compose like questions. Every node gets noise of the same law.

The noisy nodes disagree; the estimates that agree and have the least variance (Hay, Rastogi, Miklau and Suciu 2010)
come from one pass up, in which each node's own number is averaged with the sum of its children, inversely to their
variances, and one pass down, which shares each difference among the children in proportion to theirs. This is linear,
so the weights of all noises in any prefix sum P_i, and its variance, are known beforehand. For large trees they are not
computed, but bounded by those of the few nodes that P_i and what is above it are made of: no estimate has less variance
than the best one.

With A_i(q) = P_i - q P_C, the exact quantile q lies in the cell i for which A_i(q) <= 0 <= A_(i+1)(q), without noise.
Such a statement about one i, which is not random, fails by noise with the probability that a weighted sum of noises is
beyond a bound, so all cells for which neither statement is beyond hold the quantile as surely as is wanted: no union
over cells is needed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from indistinct.mechanisms import DiscreteGaussian, Gaussian
from indistinct.queries.answers.noises import Noise, draws

__all__ = ["MOST_LEAVES", "Tree", "levels_of"]

MOST_LEAVES = 2**16
_MOST_WEIGHED = 2048
_FAN = 4

Numbers = NDArray[np.float64]


@lru_cache(64)
def levels_of(cells: int) -> tuple[int, ...]:
    """How many nodes each level has, from the cells on.

    >>> levels_of(100)
    (100, 25, 7, 2)
    """
    sizes = [cells]
    while sizes[-1] > _FAN:
        sizes.append(-(-sizes[-1] // _FAN))
    return tuple(sizes)


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree over so many cells, each of whose nodes gets this noise."""

    cells: int
    noise: Noise

    def prefixes(self, grids: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
        """For each grid of weights, estimates of what is below each cell, and of the whole; whole numbers."""
        exact = np.array(grids, dtype=np.float64).reshape(len(grids), self.cells)
        levels = []
        for size in levels_of(self.cells):
            (noise,) = draws([self.noise], len(grids) * size)
            levels.append(exact + noise.reshape(len(grids), size).astype(np.float64))
            exact = _summed(exact)
        return [tuple(int(each) for each in row) for row in np.rint(_prefixes(levels))]

    def chosen(self, prefix: Sequence[int], share: Fraction) -> int:
        """The cell in which the estimates pass a share of the whole; made monotone first."""
        told = np.array(prefix, dtype=np.float64)
        rising = (np.maximum.accumulate(told) + np.minimum.accumulate(told[::-1])[::-1]) / 2
        return int(np.clip(np.searchsorted(rising[1:], float(share) * rising[-1]), 0, self.cells - 1))

    def interval(self, prefix: Sequence[int], share: Fraction, level: Fraction) -> tuple[int, int]:
        """The first and the last cell that may hold the exact quantile; they are wrong as rarely as the level says."""
        told = np.array(prefix, dtype=np.float64)
        above = told - float(share) * told[-1]
        reach = self._reaches(share, float(1 - level) / 2) + 1  # estimates are rounded to whole numbers
        possible = (above[:-1] <= reach[:-1]) & (above[1:] >= -reach[1:])
        found = np.flatnonzero(possible)
        if not len(found):
            return 0, self.cells - 1
        return int(found[0]), int(found[-1])

    def rank_error(self, share: Fraction, level: Fraction, weight: int) -> float:
        """How many rows of such a weight each the estimates are off at most, at any one cell, with a probability."""
        return float(self._reaches(share, float(1 - level) / 2).max()) / weight

    def _reaches(self, share: Fraction, beta: float) -> Numbers:
        """For each i, a bound that the noise in A_i(share) exceeds with at most the probability beta.

        Gaussian noise: sigma_A sqrt(2 ln(1 / beta)). Geometric noise has no heavier moments than Laplace noise of its
        scale b, whose logarithm is at most 2 b^2 t^2 for b |t| <= 1 / sqrt(2); Chernoff's bound does the rest.
        """
        square, most = _squares(self.cells, float(share))
        odds = math.log(1 / beta)
        match self.noise:
            case DiscreteGaussian(sigma=sigma):
                bound = float(sigma) * np.sqrt(2 * odds * square)
            case Gaussian(sigma=sigma):
                # Rounding adds at most half of the sum of all weights' sizes.
                nodes = sum(levels_of(self.cells))
                bound = float(sigma) * np.sqrt(2 * odds * square) + np.sqrt(nodes * square) / 2
            case _:
                scale = float(1 / self.noise.epsilon)
                least = math.sqrt(2) * scale * most  # 1 / t is at least this
                inverse = np.maximum(scale * np.sqrt(2 * square / odds), least)
                bound = 2 * scale**2 * square / inverse + odds * inverse
        return np.asarray(bound * (1 + 1e-9))


def _summed(numbers: Numbers) -> Numbers:
    """Sums of four neighbours in each row; the last may have fewer."""
    starts = np.arange(0, numbers.shape[1], _FAN)
    return np.asarray(np.add.reduceat(numbers, starts, axis=1))


def _prefixes(levels: Sequence[Numbers]) -> Numbers:
    """The prefix sums of the estimates of least variance, for rows of noisy levels whose noises are alike."""
    estimates, variances = [levels[0]], [np.ones((1, levels[0].shape[1]))]
    for own in levels[1:]:
        spread = _summed(variances[-1])
        variance = spread / (1 + spread)
        estimates.append(variance * (own + _summed(estimates[-1]) / spread))
        variances.append(variance)
    agreed = estimates[-1]
    for place in range(len(levels) - 2, -1, -1):
        parent = np.arange(levels[place].shape[1]) // _FAN
        missing = (agreed - _summed(estimates[place])) / _summed(variances[place])
        agreed = estimates[place] + missing[:, parent] * variances[place]
    return np.concatenate([np.zeros((len(agreed), 1)), np.cumsum(agreed, axis=1)], axis=1)


def _squares(cells: int, share: float) -> tuple[Numbers, Numbers]:
    """For each i, at most the sum of the squares of all weights in A_i(share), and the largest weight."""
    if cells <= _MOST_WEIGHED:
        squares, crossed, whole, most = _weights(cells)
        square = np.maximum(squares - 2 * share * crossed + share**2 * whole, 0.0)
        return square, most + share * most[-1]
    sizes, place = levels_of(cells), np.arange(cells + 1)
    square = np.zeros(cells + 1)
    for level, size in enumerate(sizes):
        below, above = place // _FAN**level, -(-place // _FAN**level)
        top = level == len(sizes) - 1
        left, right = (below, size - above) if top else (below % _FAN, -above % _FAN)
        square += left * (1 - share) ** 2 + right * share**2
    return square, np.sqrt(square)


@lru_cache(16)
def _weights(cells: int) -> tuple[Numbers, Numbers, float, Numbers]:
    """Of the noises in each prefix sum: squares, products with those of the whole, squares of that, and the largest."""
    sizes = levels_of(cells)
    total = sum(sizes)
    levels, start = [], 0
    for size in sizes:
        level = np.zeros((total, size))
        level[start : start + size] = np.eye(size)
        levels.append(level)
        start += size
    found = _prefixes(levels)
    whole = found[:, -1:]
    return (found**2).sum(axis=0), (found * whole).sum(axis=0), float((whole**2).sum()), np.abs(found).max(axis=0)

"""Mechanisms that are not what they claim, each with the fault that it is known for; in plain NumPy.

Sparse vectors: Lyu, Su and Li, "Understanding the sparse vector technique for differential privacy" (2017), algorithms
3 to 6. Floating-point noise: Mironov (2012). Sums: Casacuberta, Shoemate, Vadhan and Wagaman (2022).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indistinct.noise import DiscreteLaplace

__all__ = ["BROKEN", "Broken", "classic_sigma", "floating_point_laplace", "rounded_laplace"]

Array = NDArray[np.float64]

RANDOM = np.random.default_rng()


def laplace(scale: float, shape: Any = None) -> Any:
    return RANDOM.laplace(0.0, scale, shape)


# Sparse vectors: queries of sensitivity 1 against the threshold 0. True is "above"; None follows the last answer.


def _cut(above: NDArray[np.bool_], count: int) -> list[tuple[bool, ...]]:
    """Of each row, the answers up to the count-th that is above."""
    reached = above.cumsum(axis=1) >= count
    ends = np.where(reached.any(axis=1), reached.argmax(axis=1) + 1, above.shape[1])
    return [tuple(row[:end]) for row, end in zip(above.tolist(), ends.tolist(), strict=True)]


def sparse_vector(
    queries: Sequence[float], runs: int, *, threshold: float, each: float, count: int
) -> list[tuple[bool, ...]]:
    """Which noisy queries are above the noisy threshold 0, up to the count-th that is."""
    noisy = np.asarray(queries) + (laplace(each, (runs, len(queries))) if each else 0)
    return _cut(noisy >= laplace(threshold, (runs, 1)), count)


def releasing(
    queries: Sequence[float], runs: int, *, threshold: float, each: float, anew: float
) -> list[tuple[object, ...]]:
    """The value of the first query above: with noise of its own, or the very value that was compared."""
    exact = np.asarray(queries)
    noisy = exact + laplace(each, (runs, len(exact)))
    above = noisy >= laplace(threshold, (runs, 1))
    first = np.where(above.any(axis=1), above.argmax(axis=1), len(exact))
    at = np.minimum(first, len(exact) - 1)
    values = np.round(exact[at] + laplace(anew, runs) if anew else noisy[np.arange(runs), at], 6)
    return [
        (False,) * place + ((value,) if place < len(exact) else ())
        for place, value in zip(first.tolist(), values.tolist(), strict=True)
    ]


# Others. What is not about floating point is rounded, so that the fault is the one that is named.


def noisy_max(scores: Sequence[float], runs: int, *, tells_value: bool) -> Array:
    """The winner by noise of scale 2 is private, its noisy score is not."""
    noisy = np.asarray(scores) + laplace(2, (runs, len(scores)))
    winner = noisy.argmax(axis=1).astype(np.float64)
    return np.stack([winner, np.round(noisy.max(axis=1), 6)], axis=1) if tells_value else winner


def rounded_laplace(value: Any, runs: int, *, scale: float) -> Array:
    """Noise on a number or a vector, rounded."""
    exact = np.asarray(value, dtype=np.float64)
    return np.asarray(np.round(exact + laplace(scale, (runs, *exact.shape)), 6))


def floating_point_laplace(count: float, runs: int) -> Array:
    """The scale is right, but which floats can come out depends on the count."""
    return np.asarray(count + laplace(1, runs))


def lattice_laplace(count: float, runs: int) -> Array:
    """Whole multiples of 2^-10, by the library's own noise."""
    return (DiscreteLaplace(2**10).draws(runs) + int(count * 2**10)) / 2**10


def clamped_sum(rows: Sequence[int], runs: int, *, floats: bool) -> Array:
    """Rows are clamped to [2^52, 2^52 + 1], so one row changes the sum by at most 1: but not the sum of floats."""
    clamped = [min(max(row, 2**52), 2**52 + 1) for row in rows]
    total: float = sum(clamped)
    if floats:
        total = 0.0
        for row in clamped:
            total += float(row)
    return np.asarray(int(total) - len(rows) * 2**52 + DiscreteLaplace(1).draws(runs))


def gaussian(count: float, runs: int, *, sigma: float) -> Array:
    """Gaussian noise, rounded."""
    return np.asarray(np.round(count + RANDOM.normal(0, sigma, runs), 6))


def classic_sigma(epsilon: float, delta: float) -> float:
    """Theorem A.1 of Dwork and Roth, which needs epsilon below 1."""
    return math.sqrt(2 * math.log(1.25 / delta)) / epsilon


@dataclass(frozen=True)
class Broken:
    """A mechanism with its fault and without, two neighbouring inputs, the claim, and how many answers suffice."""

    mechanism: Callable[[Any, int], Any]
    mended: Callable[[Any, int], Any]
    first: Any
    second: Any
    epsilon: object = 1
    delta: object = 0
    samples: int = 40_000


ONES, ZEROS = (1.0,) * 16, (0.0,) * 16
LARGE = 2**52
BROKEN = {
    "the value is reused": Broken(
        partial(releasing, threshold=1, each=1, anew=0),
        partial(releasing, threshold=1.5, each=3, anew=1.5),
        (-1.0,) * 6 + (0.0,),
        (0.0,) * 6 + (-1.0,),
        2,
        0,
        200_000,
    ),
    "noise not scaled by the count": Broken(
        partial(sparse_vector, threshold=4, each=4 / 3, count=12),
        partial(sparse_vector, threshold=2, each=48, count=12),
        (0.0,) * 12 + (1.0,) * 12,
        (1.0,) * 12 + (0.0,) * 12,
    ),
    "no query noise": Broken(
        partial(sparse_vector, threshold=2, each=0, count=9),
        partial(sparse_vector, threshold=2, each=8, count=2),
        (0.0, 1.0),
        (1.0, 0.0),
    ),
    "no cutoff": Broken(
        partial(sparse_vector, threshold=2, each=2, count=99),
        partial(sparse_vector, threshold=2, each=8, count=2),
        (0.0,) * 8 + (1.0,) * 8,
        (1.0,) * 8 + (0.0,) * 8,
    ),
    "noisy max with its value": Broken(
        partial(noisy_max, tells_value=True), partial(noisy_max, tells_value=False), (0.0,) * 8, (1.0,) * 8
    ),
    "1/epsilon for epsilon": Broken(
        partial(rounded_laplace, scale=0.5), partial(rounded_laplace, scale=2), 10.0, 11.0, "0.5"
    ),
    "l2 noise for l1": Broken(partial(rounded_laplace, scale=4), partial(rounded_laplace, scale=16), ZEROS, ONES),
    "floating-point Laplace": Broken(floating_point_laplace, lattice_laplace, 0.0, 1.0),
    "the order of a sum": Broken(
        partial(clamped_sum, floats=True),
        partial(clamped_sum, floats=False),
        (LARGE + 1,) * 8,
        (LARGE,) + (LARGE + 1,) * 7,
    ),
    "classic Gaussian at 10": Broken(
        partial(gaussian, sigma=classic_sigma(10, 0.1)), partial(gaussian, sigma=0.4), 0.0, 1.0, 10, "0.1", 4_000_000
    ),
}

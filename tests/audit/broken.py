"""Mechanisms that are not what they claim, each with the fault that it is known for; in plain NumPy.

Sparse vectors: Lyu, Su and Li, "Understanding the sparse vector technique for differential privacy" (2017), algorithms
3 to 6. Floating-point noise: Mironov (2012). Sums: Casacuberta, Shoemate, Vadhan and Wagaman (2022).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["BROKEN", "Broken", "classic_gaussian"]

Array = NDArray[np.float64]

RANDOM = np.random.default_rng()


def laplace(scale: float, shape: Any = None) -> Any:
    return RANDOM.laplace(0.0, scale, shape)


# Sparse vectors: queries of sensitivity 1 against the threshold 0. True is "above"; None follows the last answer.


def _cut(above: NDArray[np.bool_], count: int) -> list[tuple[bool, ...]]:
    """Of each row, the answers up to the count-th that is above."""
    stop = np.where((above.cumsum(axis=1) >= count).any(axis=1), (above.cumsum(axis=1) >= count).argmax(axis=1) + 1, above.shape[1])
    return [tuple(row[:end]) for row, end in zip(above.tolist(), stop.tolist(), strict=True)]


def value_reused(queries: Sequence[float], runs: int, epsilon: float = 1.0) -> list[tuple[object, ...]]:
    """Algorithm 3: where a query is above, the very value that was compared is released, and we stop."""
    noisy = np.asarray(queries) + laplace(4 / epsilon, (runs, len(queries)))
    above = noisy >= laplace(2 / epsilon, (runs, 1))
    first = np.where(above.any(axis=1), above.argmax(axis=1), len(queries))
    return [
        (*(False,) * at, *((value,) if at < len(queries) else ()))
        for at, value in zip(first.tolist(), noisy[np.arange(runs), np.minimum(first, len(queries) - 1)].tolist(), strict=True)
    ]


def not_scaled(queries: Sequence[float], runs: int, epsilon: float = 1.0, count: int = 12) -> list[tuple[bool, ...]]:
    """Algorithm 4: twelve may be above, but each query has the noise for one."""
    above = np.asarray(queries) + laplace(4 / (3 * epsilon), (runs, len(queries))) >= laplace(4 / epsilon, (runs, 1))
    return _cut(above, count)


def no_query_noise(queries: Sequence[float], runs: int, epsilon: float = 1.0) -> list[tuple[bool, ...]]:
    """Algorithm 5: only the threshold has noise."""
    above = np.asarray(queries) >= laplace(2 / epsilon, (runs, 1))
    return [tuple(row) for row in above.tolist()]


def no_cutoff(queries: Sequence[float], runs: int, epsilon: float = 1.0) -> list[tuple[bool, ...]]:
    """Algorithm 6: any number may be above."""
    above = np.asarray(queries) + laplace(2 / epsilon, (runs, len(queries))) >= laplace(2 / epsilon, (runs, 1))
    return [tuple(row) for row in above.tolist()]


def correct_sparse_vector(queries: Sequence[float], runs: int, epsilon: float = 1.0, count: int = 2) -> list[tuple[bool, ...]]:
    """Algorithm 1: half of epsilon for the threshold, half for the queries, whose noise grows with the count."""
    above = np.asarray(queries) + laplace(4 * count / epsilon, (runs, len(queries))) >= laplace(2 / epsilon, (runs, 1))
    return _cut(above, count)


# Others.


def noisy_max_with_its_value(scores: Sequence[float], runs: int, epsilon: float = 1.0) -> Array:
    """The winner is private, its noisy score is not."""
    noisy = np.asarray(scores) + laplace(2 / epsilon, (runs, len(scores)))
    return np.stack([noisy.argmax(axis=1), noisy.max(axis=1)], axis=1)


def epsilon_for_its_inverse(count: float, runs: int, epsilon: float = 0.5) -> Array:
    """The scale should be 1 / epsilon."""
    return count + np.round(laplace(epsilon, runs), 6)


def noise_for_the_other_norm(vector: Sequence[float], runs: int, epsilon: float = 1.0) -> Array:
    """All sixteen places may change by one, 16 in l1, while the noise is for 4, the l2 norm."""
    return np.round(np.asarray(vector) + laplace(4 / epsilon, (runs, 16)), 6)


def floating_point_laplace(count: float, runs: int, epsilon: float = 1.0) -> Array:
    """The scale is right, but which floats can come out depends on the count."""
    found: Array = count + laplace(1 / epsilon, runs)
    return found


def floating_point_sum(rows: Sequence[float], runs: int, epsilon: float = 1.0) -> Array:
    """Rows are clamped to [2^52, 2^52 + 1], so one row changes the sum by at most 1: but not the sum of floats."""
    total = 0.0
    for row in rows:
        total += min(max(row, 2.0**52), 2.0**52 + 1)
    return total - len(rows) * 2.0**52 + RANDOM.geometric(1 - math.exp(-epsilon), runs) - RANDOM.geometric(1 - math.exp(-epsilon), runs)


def classic_gaussian(epsilon: float, delta: float) -> Callable[[float, int], Array]:
    """Theorem A.1 of Dwork and Roth, which needs epsilon below 1."""
    sigma = math.sqrt(2 * math.log(1.25 / delta)) / epsilon

    def answer(count: float, runs: int) -> Array:
        return np.round(count + RANDOM.normal(0, sigma, runs), 6)

    return answer


@dataclass(frozen=True)
class Broken:
    """A mechanism, two neighbouring inputs, what it claims, and how many answers show that it is wrong."""

    mechanism: Callable[[Any, int], Any]
    first: Any
    second: Any
    epsilon: object = 1
    delta: object = 0
    samples: int = 40_000


ONES, ZEROS = (1.0,) * 16, (0.0,) * 16
BROKEN = {
    "the value is reused": Broken(value_reused, (-1.0,) * 12 + (1.0,), (0.0,) * 12 + (0.0,)),
    "noise not scaled by c": Broken(not_scaled, (0.0,) * 12 + (1.0,) * 12, (1.0,) * 12 + (0.0,) * 12),
    "no query noise": Broken(no_query_noise, (0.0, 1.0), (1.0, 0.0)),
    "no cutoff": Broken(no_cutoff, (0.0,) * 8 + (1.0,) * 8, (1.0,) * 8 + (0.0,) * 8),
    "noisy max with its value": Broken(noisy_max_with_its_value, (0.0,) * 8, (1.0,) * 8),
    "1/epsilon for epsilon": Broken(epsilon_for_its_inverse, 10.0, 11.0, "0.5"),
    "l2 noise for l1": Broken(noise_for_the_other_norm, ZEROS, ONES),
    "floating-point Laplace": Broken(floating_point_laplace, 0.0, 1.0),
    "the order of a sum": Broken(floating_point_sum, (2.0**52 + 1,) * 8, (2.0**52,) + (2.0**52 + 1,) * 7),
    "classic Gaussian at 10": Broken(classic_gaussian(10, 0.1), 0.0, 1.0, 10, "0.1", 8_000_000),
}

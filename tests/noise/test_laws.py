"""The law of every sampler at large scales, from the system's bits, by a bound that holds for any sample size.

Each sampler passes against its own law, and the same test rejects it when its scale is 5% or 20% off, either way.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import special

from indistinct.noise import (
    Bernoulli,
    BoundedGeometric,
    DiscreteGaussian,
    DiscreteLaplace,
    DiscreteStaircase,
    Exponential,
    Geometric,
    RoundedGaussian,
    RoundedLaplace,
    Scale,
    UniformBelow,
)
from indistinct.numbers import ln
from tests.noise.budget import band

SAMPLES = 400_000
SLACK = 1e-9  # for the floats of the distribution functions below

Reals = np.typing.NDArray[np.float64]
Law = Callable[[Reals], Reals]


def laplace(scale: float) -> Law:
    """P(X <= x)."""
    q = math.exp(-1 / scale)
    return lambda x: np.where(
        x >= 0, 1 - q * np.exp(-np.maximum(x, 0) / scale) / (1 + q), np.exp(np.minimum(x, 0) / scale) / (1 + q)
    )


def geometric(scale: float) -> Law:
    return lambda x: -np.expm1(-(x + 1) / scale)


def bounded(bound: float, scale: float) -> Law:
    return lambda x: np.expm1(-(x + 1) / scale) / math.expm1(-bound / scale)


def gaussian(sigma: float) -> Law:
    """The continuous law at x + 1/2, which for sigma above 1 is within e^(-2 pi^2 sigma^2) relatively per step."""
    return lambda x: np.asarray(special.ndtr((x + 0.5) / sigma), dtype=np.float64)


def rounded_laplace(scale: float) -> Law:
    """The continuous law at x + 1/2."""
    return lambda x: np.where(
        x >= 0, 1 - np.exp(-(np.maximum(x, 0) + 0.5) / scale) / 2, np.exp((np.minimum(x, -1) + 0.5) / scale) / 2
    )


def gaussian_sum(sigma: float) -> Law:
    """Summed from the definition."""
    reach = math.ceil(40 * sigma) + 2
    weights = np.exp(-(np.arange(-reach, reach + 1.0) ** 2) / (2 * sigma**2))
    sums = np.cumsum(weights) / weights.sum()
    return lambda x: np.asarray(sums[np.clip(x.astype(int) + reach, 0, 2 * reach)])


def staircase(width: int, epsilon: float, step: int) -> Law:
    """From the weights of one period, b^k for the k-th."""
    b = math.exp(-epsilon)
    period = step + b * (width - step)

    def sum_to(x: Reals) -> Reals:
        """The weights of 0, ..., x, for x at least 0."""
        whole, place = np.divmod(x + 1, width)
        part = np.minimum(place, step) + b * np.maximum(place - step, 0)
        sums: Reals = period * -np.expm1(-epsilon * whole) / (1 - b) + np.exp(-epsilon * whole) * part
        return sums

    half = period / (1 - b)
    total = 2 * half - 1

    def law(x: Reals) -> Reals:
        upper = (half - 1 + sum_to(np.maximum(x, 0))) / total
        return np.where(x >= 0, upper, (half - sum_to(np.maximum(-x - 1, 0))) / total)

    return law


def distance(drawn: np.typing.NDArray[np.generic], law: Law) -> float:
    """The largest difference of the empirical and the claimed distribution function, over all whole numbers."""
    values, counts = np.unique(drawn.astype(np.float64), return_counts=True)
    empirical = np.cumsum(counts) / len(drawn)
    before = np.concatenate([[0], empirical[:-1]])
    return float(max(np.abs(empirical - law(values)).max(), np.abs(before - law(values - 1)).max()))


Sampler = (
    DiscreteLaplace
    | Geometric
    | DiscreteGaussian
    | DiscreteStaircase
    | BoundedGeometric
    | UniformBelow
    | RoundedLaplace
    | RoundedGaussian
)
CASES: dict[str, tuple[Sampler, Callable[[float], Law]]] = {
    "laplace 2": (DiscreteLaplace(2), lambda f: laplace(2 * f)),
    "laplace 1000": (DiscreteLaplace(1000), lambda f: laplace(1000 * f)),
    "laplace ln 3": (DiscreteLaplace(Scale(4000, ln(3))), lambda f: laplace(4000 / math.log(3) * f)),
    "laplace 10^6": (DiscreteLaplace(10**6), lambda f: laplace(1e6 * f)),
    "laplace 2^40": (DiscreteLaplace(2**40), lambda f: laplace(2.0**40 * f)),
    "geometric 5000": (Geometric(5000), lambda f: geometric(5000 * f)),
    "geometric 2^50": (Geometric(2**50), lambda f: geometric(2.0**50 * f)),
    "bounded, table": (BoundedGeometric(1000, 700), lambda f: bounded(1000, 700 * f)),
    "bounded, tail": (BoundedGeometric(10**6, 3 * 10**5), lambda f: bounded(1e6, 3e5 * f)),
    "bounded, digits": (BoundedGeometric(10**6, 10**6 + 1), lambda f: bounded(1e6, (1e6 + 1) * f)),
    "gaussian 1": (DiscreteGaussian(1), lambda f: gaussian_sum(f)),
    "gaussian 1000": (DiscreteGaussian(1000), lambda f: gaussian_sum(1000 * f)),
    "gaussian 1281": (DiscreteGaussian(1281), lambda f: gaussian_sum(1281 * f)),
    "gaussian 10^6": (DiscreteGaussian(variance=10**12), lambda f: gaussian(1e6 * f)),
    "gaussian 2^40": (DiscreteGaussian(2**40), lambda f: gaussian(2.0**40 * f)),
    "rounded laplace 1": (RoundedLaplace(1), rounded_laplace),
    "rounded laplace 1280": (RoundedLaplace(1280), lambda f: rounded_laplace(1280 * f)),
    "rounded laplace ln 3": (RoundedLaplace(Scale(4000, ln(3))), lambda f: rounded_laplace(4000 / math.log(3) * f)),
    "rounded laplace 2^40": (RoundedLaplace(2**40), lambda f: rounded_laplace(2.0**40 * f)),
    "rounded gaussian 1": (RoundedGaussian(1), gaussian),
    "rounded gaussian 640": (RoundedGaussian(640), lambda f: gaussian(640 * f)),
    "rounded gaussian 641": (RoundedGaussian(641), lambda f: gaussian(641 * f)),
    "rounded gaussian 1280": (RoundedGaussian(1280), lambda f: gaussian(1280 * f)),
    "rounded gaussian 2049": (RoundedGaussian(2049), lambda f: gaussian(2049 * f)),
    "rounded gaussian 10^6": (RoundedGaussian(10**6), lambda f: gaussian(1e6 * f)),
    "rounded gaussian 2^40": (RoundedGaussian(2**40), lambda f: gaussian(2.0**40 * f)),
    "staircase, table": (DiscreteStaircase(100, "0.3", 30), lambda f: staircase(100, 0.3 / f, 30)),
    "staircase, periods": (DiscreteStaircase(10**6, 1, 400_000), lambda f: staircase(10**6, 1 / f, 400_000)),
    "staircase, digits": (DiscreteStaircase(3, "0.0001", 2), lambda f: staircase(3, 0.0001 / f, 2)),
}


@pytest.mark.parametrize("name", CASES)
def test_the_law_is_the_claimed_one_and_5_and_20_percent_off_are_seen(name: str) -> None:
    sampler, law = CASES[name]
    allowed = band(SAMPLES) + SLACK
    drawn = sampler.draws(SAMPLES)
    assert distance(drawn, law(1)) <= allowed
    for fault in (0.8, 1.25) if name.startswith("bounded") else (0.8, 0.95, 1.05, 1.25):
        assert distance(drawn, law(fault)) > allowed, fault


def test_python_integers_beyond_64_bits_have_the_same_law() -> None:
    for sampler, law in (
        (DiscreteLaplace(2**60), laplace(2.0**60)),
        (DiscreteGaussian(2**60), gaussian(2.0**60)),
        (DiscreteStaircase(2**59, "0.5", 2**58), staircase(2**59, 0.5, 2**58)),
        (Geometric(2**60), geometric(2.0**60)),
        (RoundedLaplace(2**60), rounded_laplace(2.0**60)),
        (RoundedGaussian(2**60), gaussian(2.0**60)),
    ):
        drawn = sampler.draws(40_000)
        assert drawn.dtype == object
        assert distance(drawn, law) <= band(40_000) + SLACK
        low = np.array([int(x) % 2**20 for x in drawn])
        assert distance(low, lambda x: (x + 1) / 2**20) <= band(40_000) + 2.0**-30


@pytest.mark.parametrize("scale", [10**6, 2**40])
def test_low_digits_are_as_uniform_as_they_should_be(scale: int) -> None:
    """The lowest digits of large noise are uniform up to a relative error of about 1024 / scale."""
    for sampler in (
        DiscreteLaplace(scale),
        DiscreteGaussian(scale),
        DiscreteStaircase(scale, 1, scale // 3),
        RoundedLaplace(scale),
        RoundedGaussian(scale),
    ):
        low = sampler.draws(SAMPLES) % 1000
        assert distance(low, lambda x: (x + 1) / 1000) <= band(SAMPLES) + 1001 / scale


@pytest.mark.parametrize("n", [2, 6, 1000, 2**32 - 5, 2**32 + 1, 2**62 + 1, 2**63])
def test_whole_numbers_below_n_are_uniform(n: int) -> None:
    drawn = UniformBelow(n).draws(SAMPLES)
    assert 0 <= drawn.min() <= drawn.max() < n
    assert distance(drawn, lambda x: np.clip((x + 1) / n, 0, 1)) <= band(SAMPLES) + SLACK
    assert (
        distance(drawn % 2, lambda x: np.where(x >= 1, 1, np.where(x >= 0, (n + 1) // 2 / n, 0)))
        <= band(SAMPLES) + SLACK
    )


def test_coins() -> None:
    for coin, probability in ((Bernoulli("0.3"), 0.3), (Bernoulli(Exponential(ln("2.5"))), 0.4)):
        allowed = band(SAMPLES)
        mean = coin.draws(SAMPLES).mean()
        assert abs(mean - probability) <= allowed
        assert abs(mean - 1.05 * probability) > allowed
        assert abs(mean - 0.95 * probability) > allowed


def test_scalars_have_the_law_of_arrays() -> None:
    sampler = DiscreteLaplace(50)
    drawn = np.array([sampler.draw() for _ in range(SAMPLES // 4)])
    assert distance(drawn, laplace(50)) <= band(len(drawn)) + SLACK
    assert distance(drawn, laplace(60)) > band(len(drawn))

"""Where stairs are best, against a search over all places; and what is released against the real law."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from indistinct import Geometric, PureDP, Staircase, compose, least_noise
from indistinct.errors import InvalidParameter
from indistinct.mechanisms.stairs import best_share, best_step
from tests.noise.budget import band
from tests.noise.test_laws import distance, staircase

Reals = np.typing.NDArray[np.float64]


def moments(epsilon: float, share: float, power: int) -> float:
    """E |Y|^power for sensitivity 1, stair by stair."""
    k = np.arange(4000 / epsilon / 40 + 60)
    fall = np.exp(-epsilon * k)
    integral = ((k + share) ** (power + 1) - k ** (power + 1)) / (power + 1)
    rest = ((k + 1) ** (power + 1) - (k + share) ** (power + 1)) / (power + 1) * math.exp(-epsilon)
    mass = share + math.exp(-epsilon) * (1 - share)
    return float(((integral + rest) * fall).sum() / (mass * fall.sum()))


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3", "8"])
@pytest.mark.parametrize("squared", [False, True])
def test_the_best_gamma_is_the_best_of_all(epsilon: str, squared: bool) -> None:
    level, power = float(epsilon), 2 if squared else 1
    best = float(best_share(Fraction(epsilon), squared=squared))
    grid = [moments(level, share, power) for share in np.linspace(0.0005, 0.9995, 2000)]
    least = moments(level, best, power)
    assert least <= min(grid) * (1 + 1e-9)
    assert least >= min(grid) * (1 - 1e-5)
    assert min(moments(level, best + off, power) for off in (-0.01, 0.01)) > least


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
def test_the_variance_is_the_integral(epsilon: str) -> None:
    for mechanism in (Staircase(3, epsilon=epsilon), Staircase.least_variance(3, epsilon=epsilon)):
        assert mechanism.variance == pytest.approx(9 * moments(float(epsilon), float(mechanism.gamma), 2), rel=1e-9)
    assert Staircase.least_variance(epsilon=epsilon).variance < Staircase(epsilon=epsilon).variance
    if epsilon == "3":
        assert Staircase(epsilon=epsilon).variance < 0.8 * 2 / 9  # Laplace noise has 2 / epsilon^2


@pytest.mark.parametrize("width", [1, 2, 7, 30])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
@pytest.mark.parametrize("squared", [False, True])
def test_the_best_step_is_the_best_of_all(width: int, epsilon: float, squared: bool) -> None:
    x = np.arange(60 * width / epsilon + 40 * width)
    costs = []
    for step in range(1, width + 1):
        weights = np.exp(-epsilon * (x // width + (x % width >= step)))
        weights[0] /= 2
        costs.append((weights * x ** (2 if squared else 1)).sum() / weights.sum())
    assert best_step(width, epsilon, squared=squared) == np.argmin(costs) + 1


def test_on_integers_gamma_is_the_step_itself() -> None:
    for width in (1, 2, 9, 1000):
        mechanism = Staircase.on_integers(width, epsilon=1)
        assert mechanism.noise.sensitivity == width
        assert Fraction(2 * mechanism.noise.step - 1, 2 * width) == mechanism.gamma
    one, geometric = Staircase.on_integers(1, epsilon="0.3"), Geometric(epsilon="0.3")
    assert compose({one: 20}).delta(1).upper == pytest.approx(compose({geometric: 20}).delta(1).upper, rel=1e-9)
    with pytest.raises(InvalidParameter, match="sensitivity"):
        Staircase.on_integers(10**7, epsilon=1)
    with pytest.raises(InvalidParameter, match="sensitivity"):
        Staircase.on_integers("1.5", epsilon=1)


def test_releases_have_the_law_of_the_stairs() -> None:
    mechanism = Staircase(2, epsilon="0.7", granularity="1/64")
    released = mechanism.release(np.full(300_000, 1.5), disjoint=True) - 1.5
    allowed = band(300_000) + 1e-9
    steps = np.round(released * 64)
    assert distance(steps, staircase(128, 0.7, mechanism.noise.step)) <= allowed
    for fault in (0.95, 1.05):
        assert distance(steps, staircase(128, 0.7 / fault, mechanism.noise.step)) > allowed


def test_least_noise_finds_the_epsilon_of_stairs() -> None:
    plan = least_noise(Staircase, times=20, epsilon=1, delta="1e-6")
    pure = least_noise(PureDP, times=20, epsilon=1, delta="1e-6")
    assert plan.value > pure.value  # they tell less than the worst of their epsilon
    assert compose({Staircase(epsilon=plan.value): 20}).delta(1).upper <= 1e-6
    assert compose({Staircase(epsilon=plan.value * Fraction(1001, 1000)): 20}).delta(1).lower > 1e-6


@pytest.mark.parametrize("gamma", [None, "0.3", "0.9"])
def test_stairs_of_a_larger_epsilon_tell_more(gamma: object) -> None:
    """Which is what their knob relies on: delta rises with epsilon, at every epsilon of the claim."""
    levels = [Fraction(k, 10) for k in range(1, 60, 4)]
    for at in ("0", "0.05", "0.5", "2"):
        found = [compose([Staircase(epsilon=level, gamma=gamma)]).delta(at) for level in levels]
        assert all(one.lower <= other.upper for one, other in pairwise(found))

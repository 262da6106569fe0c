"""The exponential mechanism is epsilon-private (Theorem 3.10), and what is known of it alone proves no loss."""

from __future__ import annotations

import math

import pytest

from indistinct import (
    ExponentialMechanism,
    Gaussian,
    NoisyMax,
    PureDP,
    ZeroConcentratedDP,
    compose,
    how_many,
    least_noise,
    ln,
)


def test_the_pure_epsilon_holds() -> None:
    one = compose([ExponentialMechanism(1)])
    assert (one.delta(1).upper, one.epsilon(0).upper) == (0, 1)
    assert one.epsilon(0).lower == 0
    many = compose({ExponentialMechanism("0.1"): 10, PureDP(ln(3)): 1})
    assert many.epsilon(0).upper == pytest.approx(1 + math.log(3), rel=1e-15)
    assert many.epsilon(0).lower == pytest.approx(math.log(3), rel=1e-15)
    assert many.delta("2.0986").upper > 0
    assert many.delta("2.0987").upper == 0


def test_the_best_of_two_is_private() -> None:
    assert compose(NoisyMax(1, k=2, noise="gumbel").parts).epsilon(0).upper <= 1


def test_ten_fit_and_the_largest_is_found() -> None:
    assert how_many(ExponentialMechanism("0.1"), epsilon=1, delta=0).times == 10
    plan = least_noise(ExponentialMechanism, epsilon=1, delta=0)
    assert 1 - 1e-6 <= plan.value <= 1


def test_a_lower_end_is_that_of_what_is_known() -> None:
    """epsilon(0) of zCDP is infinite for some mechanisms and 0 for others."""
    found = compose([ZeroConcentratedDP("0.1"), PureDP(1)]).epsilon(0)
    assert (found.lower, found.upper) == (1, math.inf)
    assert compose([ExponentialMechanism(1), Gaussian(1, 1)]).epsilon(0).lower == math.inf

"""Counts, histograms and linear queries: what is summed, and that the mechanism must be made for it."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from indistinct import DiscreteGaussian, Gaussian, Geometric, Laplace, RandomizedResponse, Staircase
from indistinct.errors import InvalidParameter
from indistinct.mechanisms.counting import count, histogram, linear

AGES = [31, 45, 62, 19, 45]
QUIET: list[Any] = [
    Laplace(epsilon=35),
    Geometric(epsilon=35),
    Gaussian(sigma="0.01"),
    DiscreteGaussian(sigma="0.13"),
    Staircase(epsilon=35),
    Staircase.on_integers(1, epsilon=35),
]


@pytest.mark.parametrize("mechanism", QUIET)
def test_counts_and_histograms_count(mechanism: Any) -> None:
    assert round(count(AGES, lambda age: age > 40, mechanism)) == 3
    found = histogram(AGES, [45, 19, 80], mechanism)
    assert list(found) == [45, 19, 80]
    assert [round(value) for value in found.values()] == [2, 1, 0]
    assert histogram(np.array(AGES), [45], mechanism).keys() == {45}
    assert {type(value) for value in found.values()} <= {int, float}


def test_linear_queries_sum_weights_of_0_to_1() -> None:
    quiet = Laplace(3, scale="1e-3")
    weights = [lambda age: age / 100, lambda age: age, lambda age: -age]
    assert linear(AGES, weights[0], quiet) == pytest.approx(2.02, abs=0.05)
    assert linear(AGES, weights, quiet) == pytest.approx([2.02, 5, 0], abs=0.05)
    assert linear(AGES, lambda _: math.inf, quiet) == pytest.approx(5, abs=0.05)
    assert linear([], weights[0], quiet) == pytest.approx(0, abs=0.05)
    with pytest.raises(InvalidParameter, match="every weight"):
        linear(AGES, lambda _: math.nan, quiet)


def test_sums_are_exact_in_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Floats are not: a billion and many tenths. Here each weight is a whole number of 2^-20."""
    released: list[Any] = []
    monkeypatch.setattr(Laplace, "release", lambda _, value: released.append(value))
    data = [0.1] * 1001 + [1.0] * 77 + [1 / 3] * 5
    for records in (data, data[::-1], sorted(data)):
        linear(records, lambda weight: weight, Laplace(scale=1))
    assert released[0] == released[1] == released[2]
    assert released[0] == sum(Fraction(round(weight * 2**20), 2**20) for weight in data)
    assert sum(data) != sum(data[::-1])


def test_the_mechanism_must_be_made_for_what_changes() -> None:
    weights = [lambda _: 1.0] * 4
    for mechanism, needed in ((Laplace("3.9", scale=1), "4"), (Gaussian("1.9", 1), "square root of 4")):
        with pytest.raises(InvalidParameter, match=needed):
            linear(AGES, weights, mechanism)
    assert linear(AGES, weights, Laplace(4, scale=1)).shape == (4,)
    assert linear(AGES, weights, Gaussian(2, 1)).shape == (4,)
    for single in (Staircase(epsilon=1), DiscreteGaussian()):
        with pytest.raises(InvalidParameter, match="the mechanism must"):
            linear(AGES, weights, single)
        with pytest.raises(InvalidParameter, match="several numbers"):
            histogram(AGES, [1, 2], single, replacing=True)
    with pytest.raises(InvalidParameter, match="real numbers"):
        linear(AGES, weights[0], Geometric(epsilon=1))
    for small in (Laplace("0.9", scale=1), Gaussian("0.9", 1), Staircase("0.9", epsilon=1)):
        with pytest.raises(InvalidParameter, match="sensitivity"):
            count(AGES, bool, small)
    with pytest.raises(InvalidParameter, match="at least 2"):
        histogram(AGES, [1, 2], Laplace(1, scale=1), replacing=True)
    assert histogram(AGES, [1, 2], Gaussian("1.4143", 1), replacing=True).keys() == {1, 2}
    wrong: Any = RandomizedResponse(1)
    with pytest.raises(InvalidParameter, match="additive"):
        count(AGES, bool, wrong)


def test_categories_are_given_and_different() -> None:
    wrong: list[Any] = [[], [1, 1], [[1]]]
    for bad in wrong:
        with pytest.raises(InvalidParameter, match="the categories"):
            histogram(AGES, bad, Geometric(epsilon=1))

"""Splitting a budget: in closed form where there is one, never worse than a grid, and within the budget."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from indistinct import Gaussian, Geometric, Laplace, PureDP, Query, compose, least_noise, split
from indistinct.composition.planning import Split
from indistinct.errors import InvalidParameter


def is_within(plan: Split) -> bool:
    parts = [compose({each.mechanism: each.query.times}) for each in plan.plans]
    return compose(parts).delta(plan.budget.epsilon).upper <= plan.budget.delta


def total_at(queries: Sequence[Query], ratio: float, epsilon: object, delta: float) -> float:
    """The total error where the second deviation is so many times the first: bisection on the composed delta."""
    low, high = 1.0, 1e6
    for _ in range(18):
        middle = math.sqrt(low * high)
        made = [
            compose({query.with_deviation(middle * share): query.times})
            for query, share in zip(queries, (1, ratio), strict=True)
        ]
        low, high = (low, middle) if compose(made).delta(epsilon).upper <= delta else (middle, high)
    shares = zip(queries, (1, ratio), strict=True)
    return sum(query.times * float(query.weight) * (high * share) ** 2 for query, share in shares)


def test_gaussian_noise_in_closed_form() -> None:
    queries = [
        Query(Gaussian, times=100),
        Query(Gaussian, sensitivity=4, times=20, weight="1/2"),
        Query(Gaussian, sensitivity="0.1", times=3, weight=7),
    ]
    sigma = float(least_noise(Gaussian, epsilon=1, delta="1e-6").value)
    plan = split(queries, epsilon=1, delta="1e-6")
    assert is_within(plan)
    # Cauchy and Schwarz: sum n w v >= (sum n s sqrt(w))^2 / mu^2, for all variances v with sum n s^2 / v = mu^2.
    least = sigma**2 * sum(q.times * float(q.sensitivity) * math.sqrt(q.weight) for q in queries) ** 2
    assert plan.total == pytest.approx(least, rel=1e-6)
    assert plan.total >= least * (1 - 1e-9)
    worst = split(queries, epsilon=1, delta="1e-6", minimise="worst")
    assert is_within(worst)
    assert worst.worst == pytest.approx(
        sigma**2 * sum(q.times * float(q.weight) * float(q.sensitivity) ** 2 for q in queries), rel=1e-6
    )
    assert worst.worst < plan.worst
    assert worst.total > plan.total


def test_no_worse_than_a_grid() -> None:
    queries = [Query(Geometric, times=100), Query(Gaussian, sensitivity=4, times=20, weight="1/2")]
    plan = split(queries, epsilon=1, delta="1e-6")
    assert is_within(plan)
    ratio = plan.plans[1].deviation / plan.plans[0].deviation
    around = [total_at(queries, ratio * way, 1, 1e-6) for way in (0.7, 0.85, 1.0, 1.18, 1.4)]
    assert min(around) >= plan.total * (1 - 1e-3)
    assert max(around) > plan.total * 1.02  # so that a plan which is off would be noticed


def test_mixed_noise_fits_and_beats_the_split_of_equal_errors() -> None:
    queries = [Query(Laplace, times=300), Query(Gaussian, sensitivity=3, times=50), Query(Laplace, times=10, weight=9)]
    total, worst = (
        split(queries, epsilon=2, delta="1e-8"),
        split(queries, epsilon=2, delta="1e-8", minimise="worst"),
    )
    assert is_within(total)
    assert is_within(worst)
    assert total.total < worst.total
    assert worst.worst < total.worst
    errors = [each.error for each in worst.plans]
    assert max(errors) == pytest.approx(min(errors), rel=1e-6)


def test_a_split_that_overspends_would_be_noticed() -> None:
    plan = split([Query(Gaussian, times=10)], epsilon=1, delta="1e-6")
    (each,) = plan.plans
    assert compose({Gaussian(sigma=each.mechanism.sigma * 99 / 100): 10}).delta(1).lower > 1e-6


def test_one_query_is_calibrated() -> None:
    plan = split([Query(Gaussian, sensitivity=3, times=7)], epsilon=1, delta="1e-6")
    least = least_noise(Gaussian, sensitivity=3, times=7, epsilon=1, delta="1e-6")
    assert plan.plans[0].deviation == pytest.approx(float(least.value), rel=1e-6)
    assert plan.spent.upper <= 1e-6
    assert "Gaussian" in str(plan)
    assert "<td>Gaussian</td>" in plan._repr_html_()


@pytest.mark.parametrize("kind", [Laplace, Gaussian, Geometric])
def test_mechanisms_of_a_deviation_have_it(kind: type) -> None:
    for deviation in (0.5, 3.0, 100.0):
        assert Query(kind, sensitivity=3).with_deviation(deviation).variance == pytest.approx(deviation**2, rel=1e-9)


def test_the_variance_of_geometric_noise_by_summing() -> None:
    noise = Geometric(2, epsilon="0.6")
    fall = math.exp(-0.3)
    unit = (1 - fall) / (1 + fall)
    assert noise.variance == pytest.approx(2 * math.fsum(unit * fall**x * x * x for x in range(1, 400)), rel=1e-12)


def test_bad_questions() -> None:
    with pytest.raises(InvalidParameter, match="mechanism must be a class of mechanisms that add noise"):
        Query(PureDP)
    with pytest.raises(InvalidParameter, match="weight must be above 0"):
        Query(Laplace, weight=0)
    with pytest.raises(InvalidParameter, match="sensitivity must be a whole number"):
        Query(Geometric, sensitivity="1/2")
    with pytest.raises(InvalidParameter, match="workload must be one or more"):
        split([], epsilon=1, delta="1e-6")
    with pytest.raises(InvalidParameter, match="minimise must be"):
        split([Query(Laplace)], epsilon=1, delta="1e-6", minimise="most")  # type: ignore[arg-type]  # refused

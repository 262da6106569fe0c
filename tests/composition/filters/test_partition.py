"""Parallel composition: the worst part counts, and replacing a record touches two."""

from __future__ import annotations

import math
from typing import Any

import pytest

from indistinct import ApproximateDP, PureDP
from indistinct.composition.filters import (
    BasicFilter,
    ConcentratedFilter,
    ConcentratedRule,
    Filter,
    GaussianFilter,
    Partition,
    RenyiRule,
    group_privacy,
)
from indistinct.composition.guarantees import GaussianDP, RenyiDP, ZeroConcentratedDP
from indistinct.errors import BudgetExceeded, InvalidParameter


def test_the_worst_part_is_claimed() -> None:
    parts = Partition({"a": BasicFilter("ln(3)", "1e-9"), "b": BasicFilter(1, "1e-6"), "c": BasicFilter(0, 0)})
    assert parts.claim == ApproximateDP("ln(3)", "1e-6")
    assert "worst claim" in parts.explain()
    assert Partition({1: GaussianFilter(1), 2: GaussianFilter("0.5")}).claim == GaussianDP(1)
    rules = [RenyiRule.of_divergence(8, 1), RenyiRule.of_divergence(4, 2)]
    assert Partition(dict(enumerate(Filter(rule) for rule in rules))).claim == RenyiDP(4, 2)


@pytest.mark.parametrize(
    ("filters", "claim"),
    [
        ([BasicFilter(1, 0), BasicFilter("0.5", 0)], ApproximateDP(2, 0)),
        ([BasicFilter("ln(2)", "1e-6")], ApproximateDP("ln(4)", "3e-6")),
        ([Filter(ConcentratedRule.of_rho("0.1"))], ZeroConcentratedDP("0.4")),
        ([GaussianFilter(1)], GaussianDP(2)),
    ],
)
def test_replacing_a_record_is_two_steps(filters: list[Filter], claim: object) -> None:
    parts = Partition(dict(enumerate(filters)), adjacency="replace-one")
    assert parts.claim == claim
    assert "group of two" in parts.explain()


def test_a_replaced_record_can_cost_twice() -> None:
    """Randomised counts of two parts, from (1, 0) to (0, 1): the loss is the sum of both, as claimed."""
    epsilon = 0.5
    p = math.exp(epsilon) / (1 + math.exp(epsilon))
    likeliest = math.log((p * p) / ((1 - p) * (1 - p)))
    claim = Partition({i: BasicFilter("0.5", 0) for i in range(2)}, adjacency="replace-one").claim
    assert isinstance(claim, ApproximateDP)
    assert likeliest == pytest.approx(float(claim.epsilon))


def test_claims_of_approximate_parts_cover_moving_between_them() -> None:
    """P -> M -> Q, first within (e1, d1), then within (e2, d2), is (e1 + e2, d1 + e^e1 d2) at the worst."""
    parts = Partition({1: BasicFilter(1, "1e-6"), 2: BasicFilter("0.4", "1e-5")}, adjacency="replace-one")
    claim = parts.claim
    assert isinstance(claim, ApproximateDP)
    assert claim == group_privacy(ApproximateDP(1, "1e-5"), 2)
    assert float(claim.epsilon) >= 1 + 0.4
    assert claim.delta >= max(1e-6 + math.e * 1e-5, 1e-5 + math.exp(0.4) * 1e-6)


def test_parts_are_charged_alone_or_together() -> None:
    parts = Partition({name: ConcentratedFilter(1, "1e-6") for name in "abc"})
    parts.charge("a", PureDP("0.01"))
    parts.charge_all(PureDP("0.02"))
    parts.charge_all(PureDP("0.03"), ["b", "c"])
    a, b, c = (parts.filters[name].spent.amount for name in "abc")
    assert a < b == c
    large = PureDP("0.21")
    assert parts.fits("a", large)
    assert not parts.fits("b", PureDP("0.22"))
    parts.charge("a", large)
    with pytest.raises(BudgetExceeded):
        parts.charge_all(large)
    assert parts.filters["b"].spent.amount == b


@pytest.mark.parametrize(
    "bad",
    [
        lambda: Partition({}),
        lambda: Partition({1: BasicFilter(1, 0)}, adjacency="neighbours"),  # type: ignore[arg-type]  # refused
        lambda: Partition({1: BasicFilter(1, 0), 2: GaussianFilter(1)}),
        lambda: Partition({1: BasicFilter(1, 0)}).charge(2, PureDP(1)),
        lambda: Partition({1: BasicFilter(1, 0)}).charge_all(PureDP(1), [1, 2]),
    ],
)
def test_bad_partitions_are_refused(bad: Any) -> None:
    with pytest.raises(InvalidParameter):
        bad()

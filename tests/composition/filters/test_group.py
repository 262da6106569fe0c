"""Group privacy, against the group itself: chains of databases whose laws are known."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest

from indistinct import ApproximateDP, PureDP
from indistinct.composition.conversions import delta_at
from indistinct.composition.filters import group_privacy
from indistinct.composition.guarantees import GaussianDP, Promise, RenyiDP, ZeroConcentratedDP
from indistinct.errors import InvalidParameter
from indistinct.regions import DiscretePair, hockey_stick, renyi_divergence


def chain(length: int) -> list[list[Fraction]]:
    """Laws on three outcomes, each next to the last within e^epsilon = 2 except for a delta of 1/100."""
    laws = [[Fraction(1, 64), Fraction(63, 64), Fraction(0)]]
    for _ in range(length):
        first, _, third = laws[-1]
        first, third = 2 * first, 2 * third + Fraction(1, 100)
        laws.append([first, 1 - first - third, third])
    return laws


@pytest.mark.parametrize("size", [2, 3, 4])
def test_delta_of_a_group_is_attained(size: int) -> None:
    laws = chain(size)
    steps = [DiscretePair(after, before) for before, after in pairwise(laws)]
    assert {hockey_stick(step, "ln(2)") for step in steps} == {Fraction(1, 100)}
    assert all(hockey_stick(step.swapped(), "ln(2)") == 0 for step in steps)
    group = group_privacy(ApproximateDP("ln(2)", "1/100"), size)
    assert isinstance(group, ApproximateDP)
    assert hockey_stick(DiscretePair(laws[-1], laws[0]), group.epsilon) == group.delta


def test_irrational_deltas_are_rounded_up() -> None:
    group = group_privacy(ApproximateDP("0.1", "1e-6"), 3)
    assert isinstance(group, ApproximateDP)
    assert group.epsilon == Fraction(3, 10)
    assert float(group.delta) == pytest.approx(3.3265736762433395e-06, rel=1e-15)
    assert group_privacy(ApproximateDP(0, "0.3"), 3) == ApproximateDP(0, "0.9")
    assert group_privacy(ApproximateDP(0, "0.3"), 4) == ApproximateDP(0, 1)
    assert group_privacy(ApproximateDP(50, "0.3"), 4) == ApproximateDP(200, 1)


@pytest.mark.parametrize("size", [2, 3, 5])
def test_gaussian_and_concentrated_groups(size: int) -> None:
    """Means 0, mu, 2 mu, ...: the ends are as far apart as said, in both currencies."""
    assert group_privacy(GaussianDP("0.2"), size) == GaussianDP(Fraction(size, 5))
    assert group_privacy(ZeroConcentratedDP("0.02"), size) == ZeroConcentratedDP(Fraction(size, 5) ** 2 / 2)


def test_renyi_groups_within_the_theorem() -> None:
    """The binary mechanism with odds 2^i, i = 0, ..., 4, as a chain of neighbours."""
    laws = [[Fraction(2**i, 2**i + 64), Fraction(64, 2**i + 64)] for i in range(5)]
    order = 8
    steps = [renyi_divergence(DiscretePair(a, b), order).upper for a, b in pairwise(laws)]
    steps += [renyi_divergence(DiscretePair(b, a), order).upper for a, b in pairwise(laws)]
    for size in (2, 3, 4):
        group = group_privacy(RenyiDP(order, Fraction(max(steps))), size)
        assert isinstance(group, RenyiDP)
        ends = DiscretePair(laws[size], laws[0])
        for pair in (ends, ends.swapped()):
            assert renyi_divergence(pair, group.order).lower <= group.epsilon
    with pytest.raises(InvalidParameter, match="at least 16"):
        group_privacy(RenyiDP(8, 1), 5)


def test_logarithms_stay_exact_while_they_are_short() -> None:
    assert group_privacy(PureDP("ln(3)"), 4) == PureDP("ln(81)")
    large = group_privacy(PureDP("ln(3)"), 10**6)
    assert isinstance(large, PureDP)
    assert isinstance(large.epsilon, Fraction)
    assert float(large.epsilon) == pytest.approx(1098612.2886681098, rel=1e-15)


@pytest.mark.parametrize(
    "guarantee", [PureDP(1), ApproximateDP(1, "1e-6"), ZeroConcentratedDP(1), GaussianDP(1), RenyiDP(2, 1)]
)
def test_a_group_of_one_is_the_guarantee(guarantee: Promise) -> None:
    assert group_privacy(guarantee, 1) == guarantee
    for size in (0, -1, "1.5", None):
        with pytest.raises(InvalidParameter):
            group_privacy(guarantee, size)


def test_larger_groups_are_promised_less() -> None:
    for guarantee in (PureDP("0.3"), ApproximateDP("0.3", "1e-6"), ZeroConcentratedDP("0.1"), GaussianDP("0.3")):
        deltas = [delta_at(group_privacy(guarantee, size), 1).upper for size in range(1, 6)]
        assert deltas == sorted(deltas)

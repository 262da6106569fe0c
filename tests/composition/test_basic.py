"""Basic composition: exact sums, rounded up where logarithms are summed, and its inverse."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings

from indistinct import ApproximateDP, PureDP, compose, ln
from indistinct.composition import basic_composition, basic_share
from indistinct.errors import InvalidParameter
from indistinct.numbers.logarithm import enclosure, sign_of_sum
from tests.composition.claims import Parts, mixtures, overclaims, real
from tests.exact import to_fraction


def test_rational_epsilons_and_deltas_add_up_exactly() -> None:
    parts = {ApproximateDP("0.1", "0.001"): 30, ApproximateDP("1/3", "1/7"): 2, ApproximateDP(2, 0): 1}
    total = basic_composition(parts)
    assert total == ApproximateDP(3 + Fraction(2, 3) + 2, Fraction(3, 100) + Fraction(2, 7))


def test_an_iterable_means_one_use_each() -> None:
    assert basic_composition([PureDP("0.1")] * 3) == ApproximateDP("0.3", 0)


def test_delta_stops_at_one() -> None:
    assert basic_composition({ApproximateDP(1, "0.4"): 3}) == ApproximateDP(3, 1)


def test_nothing_used_costs_nothing() -> None:
    assert basic_composition({ApproximateDP(1, "0.1"): 0}) == ApproximateDP(0, 0)


@given(mixtures())
def test_sums_of_logarithms_are_rounded_up_and_hardly(parts: Parts) -> None:
    total = basic_composition(parts)
    low, high = enclosure(total.epsilon)
    with mpmath.workdps(100):
        truth = to_fraction(mpmath.fsum(real(part.epsilon) * times for part, times in parts.items()))
    assert truth * (1 - Fraction(1, 10**95)) <= low == high <= truth * (1 + Fraction(1, 10**60))
    assert total.delta == min(1, sum(part.delta * times for part, times in parts.items()))


@settings(deadline=None, max_examples=50)
@given(mixtures())
def test_it_is_true(parts: Parts) -> None:
    total = basic_composition(parts)
    assert overclaims(parts, [(total.epsilon, total.delta)]) == []


@pytest.mark.parametrize("parts", [{PureDP("0.1"): 30}, {PureDP("0.1"): 3, PureDP("ln(3)"): 2}])
def test_without_slack_nothing_less_is_true(parts: dict[PureDP, int]) -> None:
    total = basic_composition(parts)
    slightly_less = enclosure(total.epsilon)[0] * (1 - Fraction(1, 10**9))
    assert compose(parts).delta(total.epsilon).upper == 0
    assert compose(parts).delta(slightly_less).lower > 0


@pytest.mark.parametrize("epsilon", ["3", "0.1", "1/7", 0])
@pytest.mark.parametrize("delta", ["0.03", 0, 1, "1e-300"])
@pytest.mark.parametrize("times", [1, 7, 30, 10**15])
def test_shares_add_up_to_the_whole(epsilon: object, delta: object, times: int) -> None:
    share = basic_share(epsilon, delta, times)
    assert basic_composition({share: times}) == ApproximateDP(epsilon, delta)


@pytest.mark.parametrize("times", [1, 2, 3, 10**6])
def test_shares_of_a_logarithm_never_exceed_it(times: int) -> None:
    share = basic_share("ln(3)", "1e-6", times)
    assert sign_of_sum((times, share.epsilon), (-1, ln(3))) <= 0
    more = enclosure(share.epsilon)[1] * (1 + Fraction(1, 10**60))
    assert sign_of_sum((times, more), (-1, ln(3))) > 0


def test_the_share_of_one_is_the_whole() -> None:
    assert basic_share("ln(3)", "0.5", 1) == ApproximateDP(ln(3), "0.5")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((-1, 0, 3), r"epsilon must lie in \[0, 1000000000\], but is -1\."),
        ((1, 1.5, 3), r"delta must lie in \[0, 1\], but is 1\.5\."),
        ((1, 0, 0), "times must be a whole number from 1 to 1000000000000000, but is 0"),
        ((1, 0, 2.5), "times must be a whole number"),
    ],
)
def test_bad_shares(arguments: tuple[object, object, object], sentence: str) -> None:
    with pytest.raises(InvalidParameter, match=sentence):
        basic_share(*arguments)


def test_bad_parts() -> None:
    with pytest.raises(InvalidParameter, match="things must hold at least one guarantee"):
        basic_composition([])
    with pytest.raises(InvalidParameter, match="a composed thing must be a guarantee such as"):
        basic_composition([0.1])  # type: ignore[list-item]
    with pytest.raises(InvalidParameter, match="times must be a whole number"):
        basic_composition({PureDP(1): -1})

"""Optimal composition as printed (KOV, Theorem 3.3): against exact fractions, and against `compose`."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indistinct import ApproximateDP, Bracket, PureDP, compose, ln
from indistinct.composition import (
    advanced_share,
    basic_share,
    closed_form_share,
    optimal_composition,
    optimal_share,
)
from indistinct.errors import InvalidParameter
from indistinct.numbers import Epsilon
from indistinct.numbers.bracket import float_below
from tests.composition.oracles import equal, faults, knot_delta

WIDTH = 1e-13


@pytest.mark.parametrize("ratio", [Fraction(3), Fraction(3, 2), Fraction(101, 100), Fraction(50)])
@pytest.mark.parametrize("own", [Fraction(0), Fraction(1, 10), Fraction(1, 10**9), Fraction(1)])
@pytest.mark.parametrize("times", range(9))
def test_the_levels_are_those_of_equations_5_and_6(ratio: Fraction, own: Fraction, times: int) -> None:
    levels = optimal_composition(ln(ratio), own, times)
    assert len(levels) == times // 2 + 1
    for i, level in enumerate(levels):
        assert faults(level.delta, knot_delta(ratio, own, times, i), WIDTH) == []
        assert level.epsilon == ln(ratio ** (times - 2 * i)).bracket


@pytest.mark.parametrize("times", [1, 2, 3, 10, 29, 60])
@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), Fraction(1, 10), Fraction(2)])
@pytest.mark.parametrize("own", [Fraction(0), Fraction(1, 1000)])
def test_the_levels_are_what_compose_says(epsilon: Fraction, own: Fraction, times: int) -> None:
    profile = compose({ApproximateDP(epsilon, own): times})
    for i, level in enumerate(optimal_composition(epsilon, own, times)):
        exact = (times - 2 * i) * epsilon
        assert exact in level.epsilon
        assert level.delta.relative_width <= WIDTH
        composed = profile.delta(exact)
        assert max(composed.lower, level.delta.lower) <= min(composed.upper, level.delta.upper)


@pytest.mark.parametrize("times", [200, 1000])
def test_levels_however_small_their_delta(times: int) -> None:
    epsilon = Fraction(1, 10)
    levels = optimal_composition(epsilon, 0, times)
    for i in (1, 2, 5, times // 4, times // 2):
        assert faults(levels[i].delta, equal(epsilon, times, (times - 2 * i) * epsilon), WIDTH) == []


def test_no_uses_and_no_privacy() -> None:
    (nothing,) = optimal_composition(1, "0.5", 0)
    assert nothing.epsilon.upper == nothing.delta.upper == 0
    assert {level.delta for level in optimal_composition(1, 1, 4)} == {Bracket(1.0, 1.0)}
    assert {level.delta.upper for level in optimal_composition(0, 0, 4)} == {0.0}


def test_too_many_levels_are_refused() -> None:
    with pytest.raises(InvalidParameter, match=r"times must be at most 2000000, .* compose answers any number"):
        optimal_composition(1, 0, 2_000_001)


def test_equation_6_alone_is_no_answer_where_delta_is_above_0() -> None:
    """The printed R(..., delta_i) leaves out equation (5): a fault that the comparison with exact sums sees."""
    ratio, own = Fraction(3), Fraction(1, 10)
    levels = optimal_composition(ln(ratio), own, 4)
    assert all(faults(level.delta, knot_delta(ratio, Fraction(0), 4, i), WIDTH) for i, level in enumerate(levels))


def test_the_reference_share() -> None:
    share = optimal_share(1, "1e-6", 1000)
    assert share.lower == pytest.approx(0.0074951001, rel=1e-8)
    assert share.relative_width <= WIDTH


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(8), ln(3)])
@pytest.mark.parametrize("delta", ["1e-100", "1e-6", "0.3"])
@pytest.mark.parametrize("times", [1, 2, 17, 40])
def test_a_share_fits_and_a_little_more_does_not(epsilon: Epsilon, delta: str, times: int) -> None:
    share = optimal_share(epsilon, delta, times)
    assert share.relative_width <= WIDTH
    doubt = 1 + Fraction(1, 10**40)
    assert equal(Fraction(share.lower), times, epsilon) <= Fraction(delta) * doubt
    assert equal(Fraction(share.upper), times, epsilon) * doubt >= Fraction(delta)


@settings(deadline=None, max_examples=15)
@given(
    st.fractions(Fraction(1, 100), 5, max_denominator=100),
    st.sampled_from(["1e-9", "0.001", "0.2"]),
    st.integers(1, 20_000),
    st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(99, 100)]),
)
def test_shares_and_totals_are_inverses(epsilon: Fraction, delta: str, times: int, part: Fraction) -> None:
    own = part * Fraction(delta) / times
    share = optimal_share(epsilon, delta, times, own)
    assert compose({ApproximateDP(share.lower, own): times}).delta(epsilon).upper <= Fraction(delta)
    more = Fraction(share.upper) * (1 + Fraction(1, 10**9))
    assert compose({ApproximateDP(more, own): times}).delta(epsilon).lower > Fraction(delta)
    total = compose({ApproximateDP(share.lower, own): times}).epsilon(delta)
    assert total.upper == pytest.approx(float(epsilon), rel=1e-9)


@pytest.mark.parametrize("times", [2, 100, 5000])
def test_no_other_theorem_gives_a_larger_share(times: int) -> None:
    share = optimal_share("0.9", "1e-6", times, Fraction(1, 2 * 10**6 * times))
    assert share.lower > float(basic_share("0.9", "1e-6", times).epsilon)
    assert share.lower > closed_form_share("0.9", "1e-6", times).epsilon.upper
    assert share.lower > advanced_share("0.9", Fraction(1, 2 * 10**6), times).upper


@pytest.mark.parametrize("times", [1, 7, 1000])
def test_without_delta_a_share_is_the_basic_one(times: int) -> None:
    share = optimal_share(1, 0, times)
    assert Fraction(1, times) in share
    assert share.relative_width <= WIDTH


def test_a_delta_of_one_allows_everything() -> None:
    assert optimal_share(1, 1, 5).lower == math.inf


def test_nothing_to_share() -> None:
    assert optimal_share(0, 0, 10) == Bracket(0.0, 0.0)
    one = optimal_share(0, "1e-6", 1)  # 1 - 2 / (1 + e^epsilon) = 1e-6
    assert one.upper == pytest.approx(2 * math.atanh(1e-6), rel=1e-12)


@pytest.mark.parametrize("delta", ["0.001", "0.003", "1e-6", "0.1"])
def test_one_mechanism_may_have_all_of_delta(delta: str) -> None:
    share = optimal_share(1, delta, 1, delta)
    assert 1 in share
    assert share.relative_width <= WIDTH


def test_each_delta_may_not_add_up_to_more() -> None:
    with pytest.raises(InvalidParameter, match=r"each_delta must compose to no more than delta, but is '0.02'"):
        optimal_share(1, "0.1", 10, "0.02")


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: optimal_composition(-1, 0, 3), r"epsilon must lie in \[0, 1000000000\], but is -1\."),
        (lambda: optimal_composition(1, 2, 3), r"delta must lie in \[0, 1\], but is 2\."),
        (lambda: optimal_composition(1, 0, 2.5), "times must be a whole number from 0 to"),
        (lambda: optimal_share(math.inf, 0, 3), "epsilon must be finite"),
        (lambda: optimal_share(1, -0.1, 3), r"delta must lie in \[0, 1\]"),
        (lambda: optimal_share(1, 0, 0), "times must be a whole number from 1 to"),
        (lambda: optimal_share(1, 0, 3, math.nan), "each_delta must be finite, but is nan"),
    ],
)
def test_bad_questions(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(InvalidParameter, match=sentence):
        call()


def test_a_share_by_the_wrong_side_of_the_sum_is_caught() -> None:
    """The other direction of the inverse would claim one float too much."""
    share = optimal_share(1, "1e-6", 100)
    above = Fraction(share.upper) * (1 + Fraction(1, 10**12))
    assert compose({PureDP(above): 100}).delta(1).lower > Fraction("1e-6")
    assert float_below(above) > share.lower

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indistinct.errors import InvalidParameter
from indistinct.numbers import NaturalLog, ln
from indistinct.regions import DiscretePair, Region, TradeOff
from tests.exact import to_fraction
from tests.regions.pairs import brute_delta, deltas, pairs, ratios


@given(pairs(), ratios)
def test_delta_is_the_best_of_all_sets(pair: DiscretePair, ratio: Fraction) -> None:
    profile = Region.of(pair).profile()
    null, alternative = brute_delta(pair, ratio), brute_delta(pair.swapped(), ratio)
    assert profile.delta_at_ratio(ratio, "null") == null
    assert profile.delta_at_ratio(ratio, "alternative") == alternative
    assert profile.delta_at_ratio(ratio) == max(null, alternative)
    assert profile.swapped().delta_at_ratio(ratio, "null") == alternative


@given(pairs(), st.fractions(Fraction(1, 8), 5, max_denominator=8))
def test_delta_at_an_irrational_ratio(pair: DiscretePair, epsilon: Fraction) -> None:
    profile = Region.of(pair).profile()
    with mpmath.workdps(50):
        ratio = to_fraction(mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator))
    for direction, law in (("null", pair), ("alternative", pair.swapped())):
        bracket = profile.delta(epsilon, direction)  # type: ignore[arg-type]  # the two literals
        truth = brute_delta(law, ratio)
        assert bracket.lower * (1 - 1e-14) <= truth <= bracket.upper * (1 + 1e-14)
        assert bracket.width <= 1e-15 * bracket.upper
        assert (truth == 0) == (bracket.upper == 0)


def test_delta_keeps_its_relative_accuracy() -> None:
    tiny = Fraction(1, 10**300)
    pair = DiscretePair([tiny, 1 - tiny], [tiny / 3, 1 - tiny / 3])
    bracket = Region.of(pair).profile().delta(1, "null")
    with mpmath.workdps(50):
        truth = to_fraction((1 - mpmath.e / 3) * mpmath.mpf(10) ** -300)
    assert bracket.lower <= float(truth) <= bracket.upper
    assert bracket.relative_width < 1e-15
    almost = Fraction("2.71828182845904523536028747135266249775724709369996")  # just above e
    nearly = DiscretePair([almost / 4, 1 - almost / 4], ["1/4", "3/4"])
    bracket = Region.of(nearly).profile().delta(1, "null")
    assert 0 < bracket.lower <= bracket.upper < 1e-50
    assert bracket.relative_width < 1e-15


@given(pairs(), deltas)
def test_the_least_epsilon(pair: DiscretePair, delta: Fraction) -> None:
    profile = Region.of(pair).profile()
    match profile.epsilon(delta):
        case NaturalLog(argument):
            assert argument > 1
            assert profile.delta_at_ratio(argument) == delta
            assert profile.delta_at_ratio(argument * Fraction(999, 1000)) > delta
            assert profile.is_within(ln(argument), delta)
        case Fraction():
            assert profile.delta_at_ratio(1) <= delta
        case _:
            assert profile.delta_at_ratio(10**9) > delta


@given(pairs(), deltas)
def test_the_least_ratio_in_one_direction(pair: DiscretePair, delta: Fraction) -> None:
    profile = Region.of(pair).profile()
    for direction, law in (("null", pair), ("alternative", pair.swapped())):
        ratio = profile.least_ratio(delta, direction)  # type: ignore[arg-type]  # the two literals
        if isinstance(ratio, Fraction):
            assert brute_delta(law, ratio) <= delta
            assert ratio == 0 or brute_delta(law, ratio * Fraction(999, 1000)) > delta
        else:
            assert brute_delta(law, Fraction(10**9)) > delta


@given(pairs())
def test_the_profile_is_convex_falling_and_lossless(pair: DiscretePair) -> None:
    profile = Region.of(pair).profile()
    values = [profile.delta_at_ratio(Fraction(i, 7), "null") for i in range(1, 70)]
    assert values == sorted(values, reverse=True)
    assert all(a + c >= 2 * b for a, b, c in zip(values, values[1:], values[2:], strict=False))
    assert Region.of_tangents(profile.knots).profile() == profile
    assert all(profile.delta_at_ratio(knot.ratio, "null") == knot.delta for knot in profile.knots)


@given(pairs(), st.fractions(0, 1, max_denominator=15))
def test_the_tradeoff_and_its_inverse(pair: DiscretePair, level: Fraction) -> None:
    tradeoff = Region.of(pair).tradeoff()
    missed = tradeoff(level)
    assert Region.of(pair).contains(missed, level)
    assert missed == 0 or not Region.of(pair).contains(missed * Fraction(999, 1000), level)
    assert tradeoff.inverse() == Region.of(pair.swapped()).tradeoff()
    assert tradeoff.inverse()(missed) <= level
    assert tradeoff.inverse().inverse() == tradeoff


def test_infinity_and_bad_input() -> None:
    profile = Region.of(DiscretePair([1, 0], ["1/2", "1/2"])).profile()
    assert profile.epsilon("1/4") == math.inf
    assert profile.epsilon("1/4", "null") == ln("3/2")
    assert profile.least_ratio("1/4", "alternative") == math.inf
    assert profile.delta(10**9).upper == 0.5
    with pytest.raises(InvalidParameter, match="ratio must be above 0"):
        profile.delta_at_ratio(0)
    with pytest.raises(InvalidParameter, match="epsilon must lie in"):
        profile.delta(-1)
    with pytest.raises(InvalidParameter, match="direction must be 'null', 'alternative' or 'both'"):
        profile.delta(1, "neither")  # type: ignore[arg-type]  # what is tested
    with pytest.raises(InvalidParameter, match=r"delta must be at least 0\.5, the pair's own delta at epsilon = 1"):
        profile.sufficient_ratio(1, "1/4")
    with pytest.raises(InvalidParameter, match="points must be the corners of a convex line"):
        TradeOff(((Fraction(1), Fraction(0)),))

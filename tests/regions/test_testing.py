from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indistinct.errors import InvalidParameter
from indistinct.numbers import ln
from indistinct.regions import DiscretePair, Errors, Region, errors_of, most_powerful_test, satisfies
from tests.regions.pairs import all_errors, brute_delta, deltas, pairs

SURVEY = DiscretePair({"yes": "3/4", "no": "1/4"}, {"yes": "1/4", "no": "3/4"})


@given(pairs(), st.data())
def test_a_randomised_test_is_an_average_of_deterministic_ones(pair: DiscretePair, data: st.DataObject) -> None:
    chances = {x: data.draw(st.fractions(0, 1, max_denominator=5)) for x in pair.outcomes}
    expected = Errors(
        1 - sum((q * chances[x] for x, q in zip(pair.outcomes, pair.alternative, strict=True)), Fraction(0)),
        sum((p * chances[x] for x, p in zip(pair.outcomes, pair.null, strict=True)), Fraction(0)),
    )
    assert errors_of(pair, chances) == expected
    assert Region.of(pair).contains(expected.missed_detection, expected.false_alarm)


@given(pairs(), st.fractions(1, 6, max_denominator=6), deltas)
def test_satisfies_is_both_conditions_of_theorem_2_1(pair: DiscretePair, ratio: Fraction, delta: Fraction) -> None:
    expected = all(
        errors.false_alarm + ratio * errors.missed_detection >= 1 - delta
        and ratio * errors.false_alarm + errors.missed_detection >= 1 - delta
        for errors in all_errors(pair)
    )
    assert satisfies(pair, ln(ratio), delta) == expected
    assert expected == (max(brute_delta(pair, ratio), brute_delta(pair.swapped(), ratio)) <= delta)


def test_satisfies_is_decided_where_floats_cannot() -> None:
    # 3 lies between the exponentials of these two, which differ in the last place only.
    assert not satisfies(SURVEY, 1.0986122886681096)
    assert satisfies(SURVEY, 1.0986122886681098)
    exact_delta = Fraction("0.0704295428852387")  # 3/4 - e/4 = 0.070429542885238690...
    assert satisfies(SURVEY, 1, exact_delta)
    assert not satisfies(SURVEY, 1, exact_delta - Fraction(1, 10**16))
    assert satisfies(SURVEY, 10**9)
    assert not satisfies(DiscretePair([1, 0], [0, 1]), 10**9, "0.99")


@given(pairs(), st.fractions(0, 1, max_denominator=20))
def test_the_most_powerful_test_lies_on_the_boundary(pair: DiscretePair, level: Fraction) -> None:
    rule = most_powerful_test(pair, level)
    errors = errors_of(pair, rule)
    assert errors.false_alarm == level
    assert errors.missed_detection == Region.of(pair).tradeoff()(level)
    assert sum(0 < chance < 1 for chance in rule.values()) <= 1


def test_bad_tests_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="hold outcomes of the pair only, but is \\['maybe'\\]"):
        errors_of(SURVEY, {"maybe", "yes"})
    with pytest.raises(InvalidParameter, match="the probability of rejecting on 'yes' must lie in"):
        errors_of(SURVEY, {"yes": 2})
    with pytest.raises(InvalidParameter, match="false_alarm must lie in"):
        most_powerful_test(SURVEY, 2)

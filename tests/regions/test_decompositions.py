from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given

from indistinct.errors import InvalidParameter
from indistinct.numbers import ln
from indistinct.numbers.reading import read_epsilon
from indistinct.regions import (
    DiscretePair,
    Region,
    approximate_max_divergence,
    both_truncated,
    conditioning_events,
    max_divergence,
    satisfies,
    statistical_distance,
    truncated,
)
from indistinct.regions.ratios import order
from tests.regions.pairs import brute_delta, deltas, epsilons, pairs

SURVEY = DiscretePair(["3/4", "1/4"], ["1/4", "3/4"])


def distances(before: DiscretePair, after: DiscretePair) -> tuple[Fraction, Fraction]:
    return (
        statistical_distance(DiscretePair(before.null, after.null)),
        statistical_distance(DiscretePair(before.alternative, after.alternative)),
    )


@given(pairs(), epsilons, deltas)
def test_part_1(pair: DiscretePair, epsilon: object, delta: Fraction) -> None:
    if not Region.of(pair).profile().is_within(epsilon, delta, "null"):
        with pytest.raises(InvalidParameter, match="the pair's own delta at epsilon = "):
            truncated(pair, epsilon, delta)
        return
    made = truncated(pair, epsilon, delta)
    assert made.verify()
    assert order(made.ratio, read_epsilon("epsilon", epsilon)) <= 0
    assert made.distance == brute_delta(pair, made.ratio) == distances(pair, made.pair)[0] <= delta
    assert made.pair.alternative == pair.alternative
    assert Region.of(made.pair).profile().is_within(epsilon, 0, "null")


@given(pairs(), epsilons, deltas)
def test_part_2(pair: DiscretePair, epsilon: object, delta: Fraction) -> None:
    if not satisfies(pair, epsilon, delta):
        with pytest.raises(InvalidParameter, match="the pair's own delta at epsilon = "):
            both_truncated(pair, epsilon, delta)
        return
    made = both_truncated(pair, epsilon, delta)
    assert made.verify()
    assert order(made.ratio, read_epsilon("epsilon", epsilon)) <= 0
    assert made.distances == distances(pair, made.pair)
    assert max(made.distances) <= delta / (made.ratio + 1)
    assert satisfies(made.pair, epsilon)


@given(pairs(), epsilons, deltas)
def test_the_events(pair: DiscretePair, epsilon: object, delta: Fraction) -> None:
    if not satisfies(pair, epsilon, delta):
        with pytest.raises(InvalidParameter, match="the pair's own delta at epsilon = "):
            conditioning_events(pair, epsilon, delta)
    elif statistical_distance(pair) == 1:
        with pytest.raises(InvalidParameter, match="have an outcome that is possible under both laws"):
            conditioning_events(pair, epsilon, delta)
    else:
        made = conditioning_events(pair, epsilon, delta)
        assert made.verify()
        assert made.probability >= 1 - delta
        assert satisfies(made.conditioned(), epsilon)


@given(pairs(), epsilons)
def test_without_a_delta_the_pairs_own_is_taken(pair: DiscretePair, epsilon: object) -> None:
    made = both_truncated(pair, epsilon)
    own = max(brute_delta(pair, made.ratio), brute_delta(pair.swapped(), made.ratio))
    assert made.verify()
    assert max(made.distances) == own / (made.ratio + 1)
    assert truncated(pair, epsilon).distance == brute_delta(pair, made.ratio)
    if statistical_distance(pair) < 1:
        assert conditioning_events(pair, epsilon).probability == 1 - own


def test_part_2_as_printed_has_a_false_converse() -> None:
    pair = DiscretePair([1, 0], ["1/2", "1/2"])  # with Y' = Y, Z' = Z both distances are 0
    assert max_divergence(pair) == ln(2)
    assert approximate_max_divergence(pair.swapped(), 0.25) == float("inf")


def test_planted_faults_are_noticed() -> None:
    first = truncated(SURVEY, "ln(2)")
    assert not replace(first, ratio=first.ratio - Fraction(1, 10**9)).verify()
    assert not replace(first, distance=first.distance - Fraction(1, 10**9)).verify()
    assert not replace(first, pair=SURVEY).verify()
    second = both_truncated(SURVEY, "ln(2)")
    assert not replace(second, ratio=Fraction(19, 10)).verify()
    assert not replace(second, distances=(Fraction(0), Fraction(0))).verify()
    assert not replace(second, pair=DiscretePair([1, 0], [1, 0])).verify()
    events = conditioning_events(SURVEY, "ln(2)")
    assert not replace(events, probability=Fraction(4, 5)).verify()
    assert not replace(events, null_event={0: Fraction(1), 1: Fraction(1)}).verify()
    assert not replace(events, null_event={0: Fraction(3, 2), 1: Fraction(-3, 2)}).verify()


def test_a_delta_that_is_too_small_is_refused() -> None:
    for construct in (truncated, both_truncated, conditioning_events):
        with pytest.raises(InvalidParameter, match=r"delta must be at least 0.25, .* at epsilon = ln\(2\)"):
            construct(SURVEY, "ln(2)", 0.2499)

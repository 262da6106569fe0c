"""Estimated power: the intervals cover what they promise, and the box is compared with a region exactly.

Seeds are fixed, so nothing here fails by chance; that coverage holds is proven by summing the binomial law.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from indistinct import ApproximateDP, Bracket, PureDP, Region, compose
from indistinct.composition.adversaries import AdaptiveAdversary, LikelihoodAdversary, Repeater
from indistinct.composition.allowance import Family
from indistinct.composition.experiment import Adversary, exact_power
from indistinct.composition.guarantees import Guarantee
from indistinct.composition.mechanism import Database, FiniteMechanism, Query, geometric, randomized_response
from indistinct.composition.power import Power, clopper_pearson, estimate_power
from indistinct.errors import InvalidParameter
from indistinct.regions import DiscretePair
from indistinct.regions.polyline import Point
from tests.composition.seeds import seeded

Interval = Callable[[int, int, Fraction], Bracket]


def least_coverage(interval: Interval, trials: int, failure: Fraction) -> Fraction:
    """The least probability, over a grid of probabilities p, that the interval holds p; exact."""
    intervals = [interval(successes, trials, failure) for successes in range(trials + 1)]
    worst = Fraction(1)
    for p in (Fraction(i, 120) for i in range(121)):
        chances = (math.comb(trials, s) * p**s * (1 - p) ** (trials - s) for s in range(trials + 1))
        covered = (chance for chance, each in zip(chances, intervals, strict=True) if p in each)
        worst = min(worst, sum(covered, Fraction(0)))
    return worst


def with_a_quarter_more_risk(successes: int, trials: int, failure: Fraction) -> Bracket:
    return clopper_pearson(successes, trials, failure * 4)


def normal_approximation(successes: int, trials: int, failure: Fraction) -> Bracket:
    rate = successes / trials
    reach = stats.norm.isf(float(failure) / 2) * math.sqrt(rate * (1 - rate) / trials)
    return Bracket(max(rate - reach, 0.0), min(rate + reach, 1.0))


def one_sided(successes: int, trials: int, failure: Fraction) -> Bracket:
    whole = clopper_pearson(successes, trials, failure)
    return Bracket(min(successes / trials, whole.upper), whole.upper)


@pytest.mark.parametrize("trials", [1, 7, 40])
@pytest.mark.parametrize("failure", [Fraction(1, 3), Fraction(1, 20), Fraction(1, 10**6)])
def test_intervals_cover(trials: int, failure: Fraction) -> None:
    assert least_coverage(clopper_pearson, trials, failure) >= 1 - failure


@pytest.mark.parametrize("narrow", [with_a_quarter_more_risk, normal_approximation, one_sided])
def test_intervals_that_are_too_narrow_are_caught(narrow: Interval) -> None:
    assert least_coverage(narrow, 40, Fraction(1, 20)) < 1 - Fraction(1, 20)


@pytest.mark.parametrize("confidence", [Fraction(3, 4), Fraction(19, 20), Fraction(999, 1000)])
def test_the_intervals_of_a_box_hold_together(confidence: Fraction) -> None:
    """The two counts are independent, so the least joint coverage is the product of the two least."""

    def missed(count: int, runs: int, _: Fraction) -> Bracket:
        return Power.of_counts(count, 0, runs, confidence).missed_detection

    def alarmed(count: int, runs: int, _: Fraction) -> Bracket:
        return Power.of_counts(0, count, runs, confidence).false_alarm

    least = [least_coverage(interval, 40, 1 - confidence) for interval in (missed, alarmed)]
    assert least[0] * least[1] >= confidence
    apart = least_coverage(clopper_pearson, 40, 2 * (1 - confidence))
    assert apart * apart < confidence  # what a box would cover whose failure is not split


def test_what_was_counted_goes_to_its_own_axis() -> None:
    power = Power.of_counts(3, 30, 100)
    assert (power.missed_detections, power.false_alarms) == (3, 30)
    assert 0.03 in power.missed_detection
    assert 0.3 in power.false_alarm
    assert 0.3 not in power.missed_detection


@pytest.mark.parametrize(("successes", "trials"), [(0, 1), (1, 1), (0, 50), (1, 10**4), (4999, 10**4), (10**4, 10**4)])
@pytest.mark.parametrize("failure", ["1/2", "0.05", "5e-7", "1e-30"])
def test_intervals_are_clopper_and_pearsons(successes: int, trials: int, failure: str) -> None:
    interval = clopper_pearson(successes, trials, failure)
    tail = float(Fraction(failure)) / 2
    lower = stats.beta.ppf(tail, successes, trials - successes + 1) if successes else 0
    missing = stats.beta.ppf(tail, trials - successes, successes + 1) if successes < trials else 0
    assert interval.lower == pytest.approx(lower, rel=1e-9)
    assert interval.upper == pytest.approx(1 - missing, rel=1e-9)
    assert interval.lower <= successes / trials <= interval.upper


@pytest.mark.parametrize("failure", [0, 1, "3/2", math.nan])
def test_a_confidence_is_a_probability(failure: object) -> None:
    with pytest.raises(InvalidParameter):
        clopper_pearson(1, 2, failure)
    with pytest.raises(InvalidParameter):
        estimate_power(Repeater(randomized_response(1)), 1, 10, family=PureDP(1), confidence=failure)


def test_there_are_no_more_successes_than_trials() -> None:
    with pytest.raises(InvalidParameter, match="successes must be at most the number of trials, 2, but is 3"):
        clopper_pearson(3, 2, "0.05")


# The box and the region.


def box(missed: tuple[float, float], alarm: tuple[float, float]) -> Power:
    return Power(Bracket(*missed), Bracket(*alarm), 0, 0, 1, Fraction(1, 2))


def clipped(polygon: list[Point], axis: int, bound: Fraction, side: int) -> list[Point]:
    """The part of a convex polygon where side * (coordinate - bound) >= 0 (Sutherland, Hodgman)."""
    kept: list[Point] = []
    for before, after in zip(polygon[-1:] + polygon[:-1], polygon, strict=True):
        heights = side * (before[axis] - bound), side * (after[axis] - bound)
        if min(heights) < 0 < max(heights):
            share = heights[0] / (heights[0] - heights[1])
            x, y = (b + share * (a - b) for b, a in zip(before, after, strict=True))
            kept.append((x, y))
        if heights[1] >= 0:
            kept.append(after)
    return kept


def meets(power: Power, region: Region) -> bool:
    polygon = list(region.polygon()[:-1])
    for axis, side in enumerate((power.missed_detection, power.false_alarm)):
        polygon = clipped(polygon, axis, Fraction(side.lower), 1)
        polygon = clipped(polygon, axis, Fraction(side.upper), -1)
    return bool(polygon)


sides = st.tuples(st.integers(0, 16), st.integers(0, 16)).map(lambda ends: (min(ends) / 16, max(ends) / 16))
regions = st.builds(
    lambda points: Region.of_vertices(points),
    st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)).map(lambda p: (Fraction(p[0], 8), Fraction(p[1], 8)))),
)


@given(sides, sides, regions)
@example((0.25, 0.25), (0.25, 0.25), Region.of_guarantee("ln(3)"))
@example((0.0, 0.25), (0.0, 0.25), Region.of_guarantee("ln(3)"))
@example((0.75, 1.0), (0.75, 1.0), Region.of_guarantee("ln(3)"))
def test_a_box_is_within_if_it_touches(missed: tuple[float, float], alarm: tuple[float, float], region: Region) -> None:
    power = box(missed, alarm)
    assert power.is_within(region) == meets(power, region)
    assert power.contradicts(region) != power.is_within(region)


# Whole estimates.

LN3 = PureDP("ln(3)")
LEAKY = ApproximateDP("ln(3)", "1/50")
CASES: list[tuple[Adversary, int, Guarantee]] = [
    (Repeater(randomized_response("ln(3)")), 4, LN3),
    (Repeater(geometric("ln(3)", 2), others=1), 4, LN3),
    (LikelihoodAdversary("ln(3)", "1/50", threshold=2), 4, LEAKY),
    (AdaptiveAdversary("ln(3)", "1/50", threshold=0, times=4), 4, LEAKY),
]


@pytest.mark.parametrize(("adversary", "times", "family"), CASES, ids=lambda case: type(case).__name__)
def test_the_box_holds_the_exact_errors(adversary: Adversary, times: int, family: Guarantee) -> None:
    errors = exact_power(adversary, times, family=family)
    power = estimate_power(adversary, times, 2000, family=family, random=seeded(7))
    assert errors.missed_detection in power.missed_detection
    assert errors.false_alarm in power.false_alarm
    assert power.is_within(compose({family: times}).region())
    assert power.missed_detection.width < 0.13


@pytest.mark.parametrize("threshold", [0, 6])
def test_the_strongest_adversary_shows_that_fewer_uses_were_not_all(threshold: int) -> None:
    family = ApproximateDP("0.1", "0.001")
    adversary = LikelihoodAdversary(family.epsilon, family.delta, threshold)
    power = estimate_power(adversary, 30, 6000, family=family, random=seeded(3))
    assert power.is_within(compose({family: 30}).region())
    assert power.contradicts(compose({family: 10}).region())


@dataclass(frozen=True, eq=False)
class Swindler:
    """Shows the laws of one mechanism and releases what another says: no check of laws can see that."""

    shown: FiniteMechanism
    used: FiniteMechanism

    @property
    def guarantee(self) -> Guarantee:
        return self.shown.guarantee

    def laws(self, query: Query, database0: Database, database1: Database) -> DiscretePair:
        return self.shown.laws(query, database0, database1)

    def release(self, query: Query, database: Database, random: Random) -> Hashable:
        return self.used.release(query, database, random)


def test_a_mechanism_that_releases_otherwise_than_it_says_is_convicted() -> None:
    shown, used = randomized_response("0.2"), randomized_response("0.3")
    allowed = compose({PureDP("0.2"): 30}).region()
    swindle = estimate_power(Repeater(Swindler(shown, used)), 30, 4000, family=PureDP("0.2"), random=seeded(1))
    honest = estimate_power(Repeater(Swindler(shown, shown)), 30, 4000, family=PureDP("0.2"), random=seeded(1))
    assert swindle.contradicts(allowed)
    assert honest.is_within(allowed)


class Inverted:
    """Guesses the opposite: its errors lie above the diagonal."""

    def __init__(self, adversary: Adversary) -> None:
        self.adversary = adversary
        self.coins, self.request = adversary.coins, adversary.request

    def guess(self, view: object) -> object:
        return 1 - self.adversary.guess(view)  # type: ignore[arg-type]  # passed on


def test_an_adversary_that_says_the_opposite_is_no_weaker() -> None:
    liar = Swindler(randomized_response("0.2"), randomized_response("0.4"))
    wrong: Adversary = Inverted(Repeater(liar))  # type: ignore[assignment]  # passes all on
    power = estimate_power(wrong, 30, 2000, family=PureDP("0.2"), random=seeded(1))
    assert power.contradicts(compose({PureDP("0.2"): 30}).region())


def test_the_family_may_be_a_stock() -> None:
    stocks: list[Family] = [LN3, [LN3, LN3], {LN3: 2}]
    estimates = [
        estimate_power(Repeater(randomized_response("ln(3)")), 2, 50, family=stock, random=seeded(1))
        for stock in stocks
    ]
    assert estimates[0] == estimates[1] == estimates[2]
    assert estimates[0].runs == 50

"""Randomised response: kinds, the survey of two coins, estimates that are unbiased and intervals that cover."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from indistinct import PureDP, RandomizedResponse, compose, least_noise, ln
from indistinct.errors import InvalidParameter
from indistinct.mechanisms.estimate import _least_mean

SURVEY = RandomizedResponse.two_coins()
FIVE = RandomizedResponse(1, categories=5)


def test_the_survey_of_two_coins_is_ln_3() -> None:
    """Dwork and Roth, section 3.2: truth with 1/2, else a fair answer: yes with 3/4 if it is true, else with 1/4."""
    assert SURVEY.epsilon == ln(3)
    assert SURVEY.noise.probability == Fraction(3, 4)
    assert compose([SURVEY]).delta(ln(3)).upper < 1e-12
    assert compose([SURVEY]).delta(1).upper == pytest.approx(compose([PureDP(ln(3))]).delta(1).upper, rel=1e-9)


def test_kinds_and_shapes_are_kept() -> None:
    for yes in (True, np.True_):
        assert type(SURVEY.release(yes)) is bool
    assert type(SURVEY.release(1)) is int
    assert type(FIVE.release(np.int8(4))) is int
    for shape in ((), (0,), (2, 3)):
        assert SURVEY.release(np.ones(shape, dtype=bool)).dtype == bool
        answers = FIVE.release(np.full(shape, 3))
        assert (answers.shape, answers.dtype) == (shape, np.dtype(np.int64))
    assert SURVEY.release([True, False]).dtype == bool
    assert FIVE.release([]).shape == (0,)
    assert set(FIVE.release(np.zeros(2000, int)).tolist()) == set(range(5))
    assert {FIVE.release(2) for _ in range(500)} == set(range(5))


@pytest.mark.parametrize(
    "bad", [5, -1, 2.0, "1", None, True, [1, 5], [-1], [1.0], ["a"], [None], [[1], [1, 2]], np.array([2**64 - 1])]
)
def test_other_categories_are_refused(bad: Any) -> None:
    with pytest.raises(InvalidParameter, match="the category must"):
        FIVE.release(bad)
    if not isinstance(bad, bool | int | float | str | None):
        with pytest.raises(InvalidParameter, match="the category must"):
            FIVE.estimate(bad)


@pytest.mark.parametrize("mechanism", [SURVEY, FIVE])
def test_estimates_are_unbiased_and_intervals_cover(mechanism: RandomizedResponse) -> None:
    people, rounds = 500, 1500
    shares = np.array([0.1, 0.9] if mechanism is SURVEY else [0.5, 0.3, 0.2, 0, 0])
    values = np.repeat(np.arange(mechanism.categories), np.round(shares * people).astype(int))
    sums, covered = np.zeros(mechanism.categories), np.zeros(mechanism.categories)
    found = mechanism.estimate(values)
    for _ in range(rounds):
        found = mechanism.estimate(mechanism.release(values), "0.9")
        assert found.frequencies.sum() == pytest.approx(1)
        sums += found.frequencies
        covered += (found.lower <= shares) & (shares <= found.upper)
    error = found.upper.max() / math.sqrt(rounds)
    assert np.abs(sums / rounds - shares).max() < 0.5 * error + 0.01
    assert np.abs(sums / rounds - (shares + 0.05)).max() > 0.5 * error + 0.01  # a bias of 0.05 would be seen
    assert covered.min() >= stats.binom.ppf(1e-9, rounds, 0.9)
    assert found.counts == pytest.approx(found.frequencies * people)
    assert found.people == people


def test_the_estimate_by_hand() -> None:
    """100 responses, 55 of them yes: (0.55 - 1/4) / (1/2)."""
    found = SURVEY.estimate(np.array([True] * 55 + [False] * 45))
    assert found.frequencies.tolist() == [0.4, 0.6]
    deviation = math.sqrt(math.log(2 / 0.05) / 200)  # Hoeffding's bound, which the intervals are within
    assert 0.6 - 2 * deviation < found.lower[1] < 0.6 < found.upper[1] < 0.6 + 2 * deviation
    lower, upper = SURVEY.interval([1] * 55 + [0] * 45)
    assert (lower.tolist(), upper.tolist()) == (found.lower.tolist(), found.upper.tolist())
    assert "0.6000" in str(found)
    assert "<table>" in found._repr_html_()


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.5, 0.99, 1.0])
def test_the_least_mean_is_where_the_divergence_is_what_is_allowed(share: float) -> None:
    mean = _least_mean(share, 0.02)
    assert mean <= share
    if share > 0:
        divergence = float(stats.entropy([share, 1 - share], [mean, 1 - mean]))
        assert divergence == pytest.approx(0.02, rel=1e-6)


def test_all_alike_is_no_certainty() -> None:
    found = SURVEY.estimate([1] * 10)
    assert found.upper[1] == 1
    assert found.lower[1] < 0.9
    assert found.lower[0] == 0


def test_accuracy_is_hoeffdings_and_undone_by_failure() -> None:
    found = SURVEY.accuracy("0.05", 2, people=1000)
    assert found.alpha == pytest.approx(2 * math.sqrt(math.log(2 * 2 / 0.05) / 2000), rel=1e-12)
    assert SURVEY.failure(found.alpha, 2, people=1000).beta == pytest.approx(0.05, rel=1e-9)
    values = np.arange(1000) % 2 == 0
    errors = [abs(SURVEY.estimate(SURVEY.release(values)).frequencies[1] - 0.5) for _ in range(300)]
    assert np.mean(np.array(errors) > found.alpha) <= 0.05
    assert max(errors) > found.alpha / 4
    for people in (0, -1, 1.5):
        with pytest.raises(InvalidParameter, match="people"):
            SURVEY.accuracy("0.05", people=people)
    with pytest.raises(InvalidParameter, match="the responses"):
        SURVEY.estimate([])
    assert "told truly" in FIVE._repr_html_()


def test_least_noise_finds_the_epsilon_of_responses() -> None:
    plan = least_noise(RandomizedResponse, categories=4, times=10, epsilon=2, delta="1e-6")
    assert compose({RandomizedResponse(plan.value, 4): 10}).delta(2).upper <= 1e-6
    assert compose({RandomizedResponse(plan.value * Fraction(1001, 1000), 4): 10}).delta(2).lower > 1e-6

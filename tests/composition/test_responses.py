"""The calculus that all evaluators share."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indistinct import ln
from indistinct.composition.direction import Steering
from indistinct.composition.losses.responses import ResponsesLoss
from indistinct.composition.responses import Responses
from indistinct.numbers import Epsilon, NaturalLog
from indistinct.numbers.balls import ball, precision
from tests.exact import to_fraction

F = Fraction

epsilons = st.one_of(
    st.fractions(F(1, 1000), 20, max_denominator=1000),
    st.floats(1e-3, 20).map(Fraction),
    st.fractions(F(101, 100), 1000, max_denominator=100).filter(lambda x: x > 1).map(NaturalLog),
)
near_a_tenth = st.integers(0, 3).map(lambda i: F(1, 10) + F(i, 10**30))
groups = st.lists(st.tuples(epsilons, st.integers(1, 1000)), min_size=1, max_size=5)


def test_equal_ones_are_counted_together_and_the_silent_left_out() -> None:
    made = Responses.of([(F(2), 3), (F(1, 2), 1), (F(0), 5), (F(2), 4), (F(7), 0), (ln(3), 1), (ln("6/2"), 1)])
    assert [(group.epsilon, group.times) for group in made.groups] == [(F(1, 2), 1), (ln(3), 2), (F(2), 7)]
    assert made.count == 10
    assert made.times.tolist() == [1, 2, 7]
    assert made.epsilons[0] == 0.5


@given(st.lists(st.tuples(st.one_of(epsilons, near_a_tenth), st.integers(0, 3)), max_size=12))
@settings(max_examples=100, deadline=None)
def test_levels_with_the_same_float_are_told_apart_and_equal_ones_counted_together(
    parts: list[tuple[Epsilon, int]],
) -> None:
    truth: Counter[Epsilon] = Counter()
    for level, count in parts:
        truth[level] += count
    truth = +Counter({level: count for level, count in truth.items() if level})
    for made in (Responses.of(parts), Responses.of_columns([e for e, _ in parts], [n for _, n in parts])):
        assert dict(zip(made.levels, made.counts, strict=True)) == truth
        assert len(made.levels) == len(truth)
        assert made.epsilons.tolist() == sorted(made.epsilons.tolist())
        assert made.epsilons.tolist() == pytest.approx([float(level) for level in made.levels], rel=1e-15, abs=0)


def test_nothing_is_nothing() -> None:
    nothing = Responses.of([(F(0), 10), (F(1), 0)])
    assert nothing.groups == ()
    assert nothing.count == 0
    assert nothing.largest_loss() == 0
    assert not nothing.exceeds(F(0))


@given(groups)
@settings(max_examples=50, deadline=None)
def test_the_order_does_not_matter(parts: list[tuple[Epsilon, int]]) -> None:
    assert set(Responses.of(parts).groups) == set(Responses.of(parts[::-1]).groups)


@pytest.mark.parametrize("times", [1, 7, 10**15])
def test_exceeding_is_decided_exactly(times: int) -> None:
    rational = Responses.of([(F(1, 10), times)])
    assert not rational.exceeds(F(times, 10))
    assert rational.exceeds(F(times, 10) - F(1, 10**400))
    assert not rational.exceeds(F(times, 10) + F(1, 10**400))


def test_exceeding_is_decided_exactly_for_logarithms() -> None:
    made = Responses.of([(ln(2), 3), (ln(3), 2)])
    assert not made.exceeds(ln(72))
    assert made.exceeds(ln(F(72) - F(1, 10**300)))
    assert not made.exceeds(ln(F(72) + F(1, 10**300)))
    assert Responses.of([(ln(2), 1), (F(1), 1)]).exceeds(F("1.6931471805599453094172321214581765680755"))
    assert not Responses.of([(ln(2), 1), (F(1), 1)]).exceeds(F("1.6931471805599453094172321214581765680756"))


def cumulant(parts: list[tuple[Epsilon, int]], tilt: mpmath.mpf) -> mpmath.mpf:
    """log E e^(t L) from the two probabilities."""
    total = mpmath.mpf(0)
    for epsilon, times in parts:
        if isinstance(epsilon, NaturalLog):
            e = mpmath.log(mpmath.mpf(epsilon.argument.numerator) / epsilon.argument.denominator)
        else:
            e = mpmath.mpf(epsilon.numerator) / epsilon.denominator
        p = 1 / (1 + mpmath.exp(-e))
        total += times * mpmath.log(p * mpmath.exp(tilt * e) + (1 - p) * mpmath.exp(-tilt * e))
    return total


@given(groups, st.floats(-1, 50))
@settings(max_examples=60, deadline=None)
def test_the_cumulant_is_the_logarithm_of_the_expectation(parts: list[tuple[Epsilon, int]], tilt: float) -> None:
    made = Responses.of(parts)
    with mpmath.workdps(60), precision(192):
        truth = cumulant(parts, mpmath.mpf(tilt))
        found = made.cumulant_ball(ball(tilt))
        near = ball(to_fraction(truth))
        assert abs(found - near) <= abs(near) * ball(F(1, 10**45)) + ball(F(1, 10**45))
    scale = made.count * float(made.epsilons[-1]) * (abs(tilt) + 1)
    assert made.cumulant(tilt) == pytest.approx(float(truth), rel=1e-13, abs=1e-13 * scale)


@given(groups, st.floats(-0.5, 50))
@settings(max_examples=60, deadline=None)
def test_mean_and_variance_are_derivatives_of_the_cumulant(parts: list[tuple[Epsilon, int]], tilt: float) -> None:
    made = Responses.of(parts)
    with mpmath.workdps(80):
        first = mpmath.diff(lambda t: cumulant(parts, t), tilt, 1, h=mpmath.mpf(10) ** -20)
        second = mpmath.diff(lambda t: cumulant(parts, t), tilt, 2, h=mpmath.mpf(10) ** -20)
    spread = float(np.sum(made.times * made.epsilons))
    assert made.mean(tilt) == pytest.approx(float(first), rel=1e-12, abs=1e-15 * spread)
    assert made.variance(tilt) == pytest.approx(float(second), rel=1e-11, abs=1e-30 * spread)


@given(groups, st.floats(1e-3, 0.999))
@settings(max_examples=60, deadline=None)
def test_tilting_moves_the_mean_where_asked(parts: list[tuple[Epsilon, int]], share: float) -> None:
    made = Responses.of(parts)
    loss = share * float(made.largest_loss())
    tilt = made.tilt_to(loss)
    deviation = math.sqrt(made.variance(tilt))
    assert abs(made.mean(tilt) - loss) <= 1e-3 * deviation + 1e-6 * loss


def test_tilting_stops_at_both_ends() -> None:
    made = Responses.of([(F(1), 10)])
    assert made.tilt_to(0) == pytest.approx(-0.5, abs=1e-6)
    assert made.tilt_to(-5) == pytest.approx(-0.5, abs=1e-6)
    assert made.tilt_to(10) == made.tilt_to(11) == made.steepest


def test_nearness_is_about_standard_deviations() -> None:
    made = Responses.of([(F(1, 10), 10_000)])
    here = made.tilt_to(300)
    deviation = math.sqrt(made.variance(here))
    assert made.are_near(here, made.tilt_to(300 + deviation / 5))
    assert not made.are_near(here, made.tilt_to(300 + deviation))


@pytest.mark.parametrize(
    ("times", "epsilon", "log_delta", "truth"),
    [
        (1000, F(1, 10), math.log(1e-6), 19.344671447993043672519090609),
        (10**6, F(1, 10), -300 * math.log(10), 8692.36317088063488704791122043),
        (10**7, F(1, 10), -300 * math.log(10), 61655.7051599424585328437530302),
    ],
)
def test_the_saddlepoint_is_a_good_first_guess(times: int, epsilon: F, log_delta: float, truth: float) -> None:
    law = ResponsesLoss(Responses.of([(epsilon, times)]))
    assert Steering(law.cumulants, law.steepest).guess(log_delta)[0] == pytest.approx(truth, rel=1e-3)

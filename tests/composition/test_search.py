"""The search of epsilon, on functions whose answer is known."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indistinct.composition.search import least_epsilon
from indistinct.numbers import Bracket, Epsilon
from indistinct.numbers.balls import arb, ball, precision
from indistinct.numbers.logarithm import ball_of

F = Fraction


def falling(height: float, rate: float, largest: float, width: float) -> Callable[[Epsilon], arb]:
    """height * e^(-rate x), known to a relative width; 0 from the largest epsilon on."""

    def delta(epsilon: Epsilon) -> arb:
        if isinstance(epsilon, Fraction) and epsilon >= F(largest):
            return ball(0)
        value = ball(height) * (-ball(rate) * ball_of(epsilon)).exp()
        return (value * (1 - ball(width))).union(value * (1 + ball(width)))

    return delta


@given(
    st.floats(1e-3, 1),
    st.floats(1e-3, 100),
    st.floats(-280, -4),
    st.sampled_from([0.0, 1e-15, 1e-9, 1e-4]),
    st.floats(0, 2),
    st.floats(-10, 10),
)
@settings(max_examples=200, deadline=None)
def test_an_exponential(height: float, rate: float, power: float, width: float, off: float, tilt: float) -> None:
    target = 10.0**power
    truth = math.log(height / target) / rate
    largest = 3 * truth
    with precision(192):
        found = least_epsilon(
            falling(height, rate, largest, width), ball(target), Bracket(largest, largest), truth * off, -rate * 2**tilt
        )
    slack = 1e-14 * (1 + truth) + 8 * width / rate
    assert found.lower <= truth * (1 + 1e-14)
    assert truth * (1 - 1e-14) <= found.upper
    assert found.width <= slack * 8


@pytest.mark.parametrize("guess", [0.0, 1e-300, 1.0, 5.0, 1e9, math.inf])
@pytest.mark.parametrize("slope", [-1.0, -1e-3, -1e6, 0.0, 1.0, math.nan])
def test_any_start_will_do(guess: float, slope: float) -> None:
    with precision(192):
        found = least_epsilon(falling(1.0, 1.0, 1e3, 0.0), ball(1e-6), Bracket(1e3, 1e3), guess, slope)
    assert found.lower <= 6 * math.log(10) * (1 + 1e-15)
    assert found.upper == pytest.approx(6 * math.log(10), rel=1e-12, abs=0)


@pytest.mark.parametrize("power", range(-299, 0, 13))
def test_a_secant_that_has_arrived_asks_no_more(power: int) -> None:
    """At the crossing the next step is the end of the interval itself: no reason to halve all that is left."""
    honest, asked = falling(1.0, 0.07, 1e5, 0.0), 0

    def delta(epsilon: Epsilon) -> arb:
        nonlocal asked
        asked += 1
        return honest(epsilon)

    with precision(192):
        target = ball(10) ** power
        guess = -power * math.log(10) / 0.07 * (1 + 1e-4)
        least_epsilon(delta, target, Bracket(1e5, 1e5), guess, -0.08)
    assert asked <= 10


def test_zero_where_it_starts_below() -> None:
    with precision(192):
        found = least_epsilon(falling(0.5, 1.0, 10.0, 0.0), ball(0.75), Bracket(10.0, 10.0), 1.0, -1.0)
    assert found == Bracket(0.0, 0.0)


def test_at_the_largest_where_it_stays_above() -> None:
    with precision(192):
        found = least_epsilon(falling(0.5, 0.0, 10.0, 0.0), ball(1e-9), Bracket(10.0, 10.0), 1.0, -1.0)
    assert found.upper == 10.0
    assert found.lower == pytest.approx(10.0, rel=1e-12, abs=0)


def test_the_ends_are_proven() -> None:
    delta = falling(0.7, 0.3, 1000.0, 1e-6)
    with precision(192):
        found = least_epsilon(delta, ball(1e-9), Bracket(1000.0, 1000.0), 3.0, -0.1)
        assert delta(F(found.upper)).upper() <= ball(1e-9)
        assert delta(F(found.lower)).lower() > ball(1e-9)


def test_not_knowing_is_not_below() -> None:
    """An infinite or undefined ball proves nothing, so the answer can only be the largest epsilon."""
    unknown = ball(0) / ball(0)
    with precision(192):
        found = least_epsilon(lambda _: unknown, ball(1e-9), Bracket(10.0, 10.0), 1.0, -1.0)
    assert found.upper == 10.0


@pytest.mark.parametrize("scale", [1e-309, 1e-315, 1e-320])
def test_answers_among_the_least_floats(scale: float) -> None:
    asked = 0

    def delta(epsilon: Epsilon) -> arb:
        nonlocal asked
        asked += 1
        assert asked < 5000, "the search does not end"
        assert isinstance(epsilon, Fraction)
        return ball(max(1 - epsilon / F(scale), F(0)))

    with precision(192):
        found = least_epsilon(delta, ball(0.5), Bracket(scale, scale), scale / 3, -1 / scale)
    assert 0 < found.lower <= scale / 2 <= found.upper <= scale


def test_wide_balls_give_wide_brackets_not_wrong_ones() -> None:
    def delta(epsilon: Epsilon) -> arb:
        return ball(0).union((-ball_of(epsilon)).exp())

    with precision(192):
        found = least_epsilon(delta, ball(1e-9), Bracket(100.0, 100.0), 1.0, -1.0)
    assert found.lower == 0
    assert found.upper == pytest.approx(9 * math.log(10), rel=1e-8, abs=0)  # radii have 30 bits

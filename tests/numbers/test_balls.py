"""Balls hold the truth, become brackets outwards, and decide what floats cannot."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import mpmath
import pytest
from flint import ctx
from hypothesis import given
from hypothesis import strategies as st

from indistinct.errors import InternalError
from indistinct.numbers import Bracket, balls
from indistinct.numbers.balls import arb, ball, bracket_of, decided, floor_of, precision, sign_of
from tests.exact import to_fraction

LARGEST = math.nextafter(math.inf, 0)
LEAST = math.nextafter(0, 1)


@given(st.one_of(st.integers(), st.fractions(), st.floats(allow_nan=False, allow_infinity=False)))
def test_a_ball_contains_its_number(value: int | Fraction | float) -> None:
    assert Fraction(value) in bracket_of(ball(value))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_an_exact_ball(value: float) -> None:
    assert bracket_of(ball(value)) == Bracket(value, value)


def test_a_ball_is_its_own_ball() -> None:
    value = arb(2)
    assert ball(value) is value


@given(st.integers(-(2**60), 2**60), st.integers(-3000, 3000))
def test_bracket_of_a_point_is_that_of_the_fraction(mantissa: int, exponent: int) -> None:
    value = Fraction(mantissa) * Fraction(2) ** exponent
    with precision(128):
        assert bracket_of(ball(value)) == Bracket.exactly(value)


@pytest.mark.parametrize(
    ("value", "bracket"),
    [
        (arb(math.inf), Bracket(-math.inf, math.inf)),
        (arb(math.nan), Bracket(-math.inf, math.inf)),
        (arb(0, math.inf), Bracket(-math.inf, math.inf)),
        (arb(0), Bracket(0.0, 0.0)),
        (arb(10**6).exp(), Bracket(LARGEST, math.inf)),
        (-arb(10**6).exp(), Bracket(-math.inf, -LARGEST)),
        (arb(-(10**6)).exp(), Bracket(0.0, LEAST)),
        (-arb(-(10**6)).exp(), Bracket(-LEAST, 0.0)),
        (arb(10**15).exp(), Bracket(LARGEST, math.inf)),
    ],
)
def test_bracket_of_balls_far_out(value: arb, bracket: Bracket) -> None:
    found = bracket_of(value)
    assert found == bracket
    assert str(found) != "-0"


def test_bracket_of_a_wide_ball() -> None:
    found = bracket_of(arb(1, 0.5))
    assert found.lower <= 0.5 <= 1.5 <= found.upper
    assert found.width < 1.000001


@given(st.floats(-700, 700))
def test_the_exponential_agrees_with_another_library(exponent: float) -> None:
    with mpmath.workdps(60), precision(128):
        bracket = bracket_of(ball(exponent).exp())
        truth = to_fraction(mpmath.exp(mpmath.mpf(exponent)))
    assert Fraction(bracket.lower) <= truth <= Fraction(bracket.upper)
    one_step_up = math.nextafter(bracket.lower, math.inf)
    assert bracket.upper <= math.nextafter(one_step_up, math.inf)


class TestPrecision:
    def test_is_raised_and_restored(self) -> None:
        before = ctx.prec
        with precision(before + 100):
            assert ctx.prec == before + 100
        assert ctx.prec == before

    def test_is_never_lowered(self) -> None:
        before = ctx.prec
        with precision(2):
            assert ctx.prec == before

    def test_is_restored_after_an_error(self) -> None:
        before = ctx.prec
        with pytest.raises(RuntimeError), precision(before + 7):
            raise RuntimeError
        assert ctx.prec == before


class TestSign:
    @given(st.fractions().filter(bool))
    def test_of_a_fraction(self, value: Fraction) -> None:
        assert sign_of(lambda: ball(value)) == (1 if value > 0 else -1)

    @pytest.mark.parametrize("digits", [10, 50, 200, 1000])
    def test_of_numbers_that_agree_in_many_digits(self, digits: int) -> None:
        with mpmath.workdps(digits + 10):
            below = Fraction(int(mpmath.floor(mpmath.e * mpmath.mpf(10) ** digits)), 10**digits)
        above = below + Fraction(1, 10**digits)
        assert sign_of(lambda: ball(1).exp() - ball(below)) == 1
        assert sign_of(lambda: ball(1).exp() - ball(above)) == -1

    def test_of_zero_is_our_bug(self) -> None:
        with pytest.raises(InternalError, match="not decided at 65536 bits"):
            sign_of(lambda: ball(2).sqrt() ** 2 - ball(2))


class TestFloor:
    @given(st.fractions())
    def test_of_a_fraction(self, value: Fraction) -> None:
        assert floor_of(lambda: ball(value)) == math.floor(value)

    @pytest.mark.parametrize(("number", "floor"), [(2, 2), (-2, -2), (0, 0), (10**30, 10**30)])
    def test_of_an_exact_integer(self, number: int, floor: int) -> None:
        assert floor_of(partial(ball, number)) == floor

    @pytest.mark.parametrize("exponent", [1, 30, 100, 700])
    def test_of_a_power_of_e(self, exponent: int) -> None:
        with mpmath.workdps(400):
            assert floor_of(lambda: ball(exponent).exp()) == int(mpmath.floor(mpmath.exp(exponent)))
            assert floor_of(lambda: -ball(exponent).exp()) == int(mpmath.floor(-mpmath.exp(exponent)))


def test_decided_raises_the_precision_until_it_is_enough() -> None:
    seen: list[int] = []

    def expression() -> arb:
        seen.append(ctx.prec)
        return ball(2).sqrt()

    decided(expression, lambda value: float(value.rad()) < 1e-100)
    assert seen == [128, 256, 512]


def test_only_one_module_knows_the_library() -> None:
    assert balls.arb is arb

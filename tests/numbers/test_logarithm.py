"""The logarithm of a rational number stays exact, and its bracket holds it."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from indistinct.errors import InvalidParameter
from indistinct.numbers import Bracket, NaturalLog, balls, ln
from indistinct.numbers.logarithm import Epsilon, ball_of, bracket_of, enclosure, exponential, sign_of_sum
from tests.exact import to_fraction

positive = st.fractions(min_value=Fraction(1, 10**30), max_value=10**30).filter(lambda value: value > 0)


def logarithm(argument: Fraction) -> Fraction:
    """The logarithm to some 90 digits, by another library."""
    with mpmath.workdps(150):
        return to_fraction(mpmath.log(mpmath.mpf(argument.numerator) / argument.denominator))


@given(positive)
@example(Fraction(3))
@example(Fraction(1))
@example(1 + Fraction(1, 10**40))
@example(1 - Fraction(1, 10**40))
@example(Fraction(10**300))
@example(Fraction(1, 10**300))
def test_the_bracket_holds_the_logarithm_and_is_one_step_wide(argument: Fraction) -> None:
    bracket = ln(argument).bracket
    truth = logarithm(argument)
    assert Fraction(bracket.lower) <= truth <= Fraction(bracket.upper)
    assert bracket.upper in (bracket.lower, math.nextafter(bracket.lower, math.inf))


@given(positive)
def test_e_to_the_logarithm_is_exact(argument: Fraction) -> None:
    with balls.precision(256):
        assert exponential(ln(argument)).overlaps(balls.ball(argument))
        assert ball_of(ln(argument)).exp().overlaps(balls.ball(argument))


@pytest.mark.parametrize("exponent", [Fraction(0), Fraction(1, 3), Fraction(7), Fraction(-2)])
def test_the_exponential_to_fifty_digits(exponent: Fraction) -> None:
    with mpmath.workdps(70), balls.precision(200):
        truth = to_fraction(mpmath.exp(mpmath.mpf(exponent.numerator) / exponent.denominator))
        difference = exponential(exponent) - balls.ball(truth)
        assert abs(float(difference.mid())) < 1e-50 * float(truth) * 10
        assert float(difference.rad()) < 1e-50 * float(truth)


@pytest.mark.parametrize("argument", [3, "3", 3.0, Fraction(3), "6/2", "3e0"])
def test_ln_reads_every_kind_of_number(argument: object) -> None:
    assert ln(argument) == NaturalLog(Fraction(3))
    assert hash(ln(argument)) == hash(ln(3))
    assert repr(ln(argument)) == "ln(3)"


@pytest.mark.parametrize("argument", [0, -1, "-1/3", "0.0", -5e-324])
def test_only_a_positive_number_has_a_logarithm(argument: object) -> None:
    with pytest.raises(InvalidParameter, match="the argument of ln must be above 0, but is "):
        ln(argument)


@pytest.mark.parametrize("argument", ["x", None, True, math.nan, math.inf, "ln(3)"])
def test_the_argument_is_a_number(argument: object) -> None:
    with pytest.raises(InvalidParameter, match="the argument of ln must be "):
        ln(argument)


@given(positive)
def test_as_a_float_it_is_the_upper_end(argument: Fraction) -> None:
    assert float(ln(argument)) == ln(argument).bracket.upper
    assert math.isclose(float(ln(argument)), float(logarithm(argument)), rel_tol=4e-16, abs_tol=0)


@given(st.fractions())
def test_the_bracket_of_a_rational_epsilon(epsilon: Fraction) -> None:
    assert bracket_of(epsilon) == Bracket.exactly(epsilon)


@given(positive)
def test_the_enclosure_holds_the_logarithm(argument: Fraction) -> None:
    lower, upper = enclosure(ln(argument))
    assert lower <= logarithm(argument) <= upper
    assert upper - lower <= Fraction(1, 2**240)


def test_the_enclosure_of_a_rational_epsilon_is_itself() -> None:
    assert enclosure(Fraction(1, 3)) == (Fraction(1, 3), Fraction(1, 3))


epsilons: st.SearchStrategy[Epsilon] = st.one_of(
    st.fractions(0, 10, max_denominator=100), st.fractions(1, 100, max_denominator=100).map(ln)
)


@given(st.lists(st.tuples(st.integers(-9, 9), epsilons), max_size=5))
def test_the_sign_of_a_sum(terms: list[tuple[int, Epsilon]]) -> None:
    with mpmath.workdps(150):
        total = mpmath.mpf(0)
        for factor, value in terms:
            number = value.argument if isinstance(value, NaturalLog) else value
            term = mpmath.mpf(number.numerator) / number.denominator
            total += factor * (mpmath.log(term) if isinstance(value, NaturalLog) else term)
        expected = 0 if abs(total) < mpmath.mpf(10) ** -100 else int(mpmath.sign(total))
    assert sign_of_sum(*terms) == expected
    assert sign_of_sum(*((-factor, value) for factor, value in terms)) == -expected


@pytest.mark.parametrize(
    "terms",
    [
        [],
        [(0, ln(3))],
        [(2, ln(3)), (-1, ln(9))],
        [(1, ln(6)), (-1, ln(2)), (-1, ln(3))],
        [(10**15, ln(3)), (-(10**15), ln(3))],
        [(10**15, ln(3)), (1 - 10**15, ln(3)), (-1, ln(3))],
        [(2 * 10**15, ln(3)), (-(10**15), ln(9))],
        [(1, Fraction(1, 3)), (-1, Fraction(1, 3)), (1, ln(1))],
    ],
)
def test_a_sum_that_cancels_is_zero_at_once(terms: list[tuple[int, Epsilon]]) -> None:
    assert sign_of_sum(*terms) == 0


def test_a_sum_that_nearly_cancels_is_decided() -> None:
    below, _ = enclosure(ln(3))
    assert sign_of_sum((1, ln(3)), (-1, below)) == 1
    assert sign_of_sum((1, ln(1 + Fraction(1, 10**400))), (-1, Fraction(1, 10**400))) == -1

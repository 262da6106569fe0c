"""Numbers from users: what is read exactly, and what is refused with which sentence."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indistinct.errors import InvalidParameter
from indistinct.numbers import NaturalLog, ln, read_count, read_delta, read_epsilon, read_number
from indistinct.numbers.reading import LARGEST_COUNT, LARGEST_EPSILON, read_probability

NOT_A_NUMBER = 'x must be a number such as 0.1, "0.1" or "1/10", but is '
NOT_FINITE = "x must be finite, but is "
TOO_LARGE_AN_EXPONENT = "x must have an exponent of at most 5000, but is "


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (0, Fraction(0)),
        (-3, Fraction(-3)),
        (10**400, Fraction(10**400)),
        (0.5, Fraction(1, 2)),
        (0.1, Fraction(0.1)),
        (-0.0, Fraction(0)),
        (5e-324, Fraction(1, 2**1074)),
        (Fraction(1, 3), Fraction(1, 3)),
        (Decimal("0.1"), Fraction(1, 10)),
        (Decimal("-1E-5000"), -Fraction(1, 10**5000)),
        (np.float64(0.1), Fraction(0.1)),
        (np.float32(0.1), Fraction(float(np.float32(0.1)))),
        (np.int64(7), Fraction(7)),
        (np.uint8(255), Fraction(255)),
        ("0.1", Fraction(1, 10)),
        ("1/10", Fraction(1, 10)),
        ("1.5/3", Fraction(1, 2)),
        ("-1/3", Fraction(-1, 3)),
        ("+2", Fraction(2)),
        (".5", Fraction(1, 2)),
        ("5.", Fraction(5)),
        ("1e-6", Fraction(1, 10**6)),
        ("1E+3", Fraction(1000)),
        ("1e-300", Fraction(1, 10**300)),
        ("1e5000", Fraction(10**5000)),
        ("  0.25\n", Fraction(1, 4)),
        ("007", Fraction(7)),
    ],
)
def test_read_exactly(value: object, number: Fraction) -> None:
    assert read_number("x", value) == number
    assert type(read_number("x", value)) is Fraction


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (True, NOT_A_NUMBER + "True."),
        (None, NOT_A_NUMBER + "None."),
        (1j, NOT_A_NUMBER + "1j."),
        ([0.1], NOT_A_NUMBER + "[0.1]."),
        (b"0.1", NOT_A_NUMBER + "b'0.1'."),
        (Fraction, NOT_A_NUMBER + "<class 'fractions.Fraction'>."),
        ("", NOT_A_NUMBER + "''."),
        ("one", NOT_A_NUMBER + "'one'."),
        ("1,5", NOT_A_NUMBER + "'1,5'."),
        ("1_000", NOT_A_NUMBER + "'1_000'."),
        ("0x10", NOT_A_NUMBER + "'0x10'."),
        ("1 2", NOT_A_NUMBER + "'1 2'."),
        ("- 1", NOT_A_NUMBER + "'- 1'."),
        ("1/-2", NOT_A_NUMBER + "'1/-2'."),
        ("1e3/2", NOT_A_NUMBER + "'1e3/2'."),
        ("\u0661", NOT_A_NUMBER + "'\u0661'."),
        ("\u0661.5", NOT_A_NUMBER + "'\u0661.5'."),
        ("0.\u00b2", NOT_A_NUMBER + "'0.\u00b2'."),
        (".", NOT_A_NUMBER + "'.'."),
        ("1.2.3", NOT_A_NUMBER + "'1.2.3'."),
        ("1..2", NOT_A_NUMBER + "'1..2'."),
        ("1" * 1001, "x must be text of at most 1000 characters, but is '" + "1" * 56 + "...."),
        (math.nan, NOT_FINITE + "nan."),
        (math.inf, NOT_FINITE + "inf."),
        (-math.inf, NOT_FINITE + "-inf."),
        ("nan", NOT_FINITE + "'nan'."),
        ("-Infinity", NOT_FINITE + "'-Infinity'."),
        (Decimal("NaN"), NOT_FINITE + "Decimal('NaN')."),
        (Decimal("Infinity"), NOT_FINITE + "Decimal('Infinity')."),
        ("1e5001", TOO_LARGE_AN_EXPONENT + "'1e5001'."),
        ("1e-5001", TOO_LARGE_AN_EXPONENT + "'1e-5001'."),
        ("1e999999999999", TOO_LARGE_AN_EXPONENT + "'1e999999999999'."),
    ],
)
def test_refused_with_a_sentence(value: object, message: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        read_number("x", value)
    assert str(caught.value) == message


def test_division_by_zero_is_refused() -> None:
    with pytest.raises(InvalidParameter, match=r"x must .*zero.*'1/0'"):
        read_number("x", "1/0")


@pytest.mark.parametrize("value", [Decimal("1E+5001"), Decimal("1E-5001"), Decimal("1E+999999")])
def test_an_enormous_decimal_is_refused_at_once(value: Decimal) -> None:
    with pytest.raises(InvalidParameter, match="x must "):
        read_number("x", value)


@pytest.mark.parametrize("value", [np.nan, np.inf, np.float64("nan"), np.float32("inf"), np.array([0.1, 0.2])])
def test_numpy_is_refused_like_python(value: object) -> None:
    with pytest.raises(InvalidParameter, match=r"x must be (finite|a number)"):
        read_number("x", value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_means_the_binary_number_it_is(value: float) -> None:
    assert read_number("x", value) == Fraction(value)
    assert read_number("x", np.float64(value)) == Fraction(value)


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9))
def test_text_means_the_decimal_it_says(value: Decimal) -> None:
    assert read_number("x", str(value)) == Fraction(value) == read_number("x", value)


@given(st.from_regex(r"[0-9]{1,60}(\.[0-9]{0,60})?|\.[0-9]{1,60}", fullmatch=True))
def test_digits_and_a_point_mean_what_python_takes_them_for(text: str) -> None:
    """However long, with or without anything on either side of the point."""
    number = read_number("x", text)
    assert number == Fraction(Decimal(text))
    assert math.gcd(number.numerator, number.denominator) == 1


@given(st.fractions())
def test_a_fraction_survives_text(value: Fraction) -> None:
    assert read_number("x", str(value)) == value


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        number = read_number("x", text)
    except InvalidParameter as error:
        assert len(str(error)) < 200  # noqa: PT017  # no error at all is right as well
    else:
        assert isinstance(number, Fraction)


class TestEpsilon:
    @pytest.mark.parametrize("value", [0, "0", "0.1", 1e-300, LARGEST_EPSILON])
    def test_a_number(self, value: object) -> None:
        assert read_epsilon("epsilon", value) == read_number("epsilon", value)

    @pytest.mark.parametrize("value", ["ln(3)", "ln \t(3)", " LN( 3 ) ", "ln(6/2)", ln(3), NaturalLog(Fraction(3))])
    def test_a_logarithm(self, value: object) -> None:
        assert read_epsilon("epsilon", value) == NaturalLog(Fraction(3))

    @pytest.mark.parametrize("value", ["ln(1)", ln(1)])
    def test_the_logarithm_of_one_is_zero(self, value: object) -> None:
        epsilon = read_epsilon("epsilon", value)
        assert epsilon == Fraction(0)
        assert isinstance(epsilon, Fraction)

    @pytest.mark.parametrize(
        "value", [-1, "-0.1", -5e-324, LARGEST_EPSILON + 1, Fraction(LARGEST_EPSILON) + Fraction(1, 10**9)]
    )
    def test_outside_its_range(self, value: object) -> None:
        with pytest.raises(InvalidParameter, match=r"epsilon must lie in \[0, 1000000000\], but is "):
            read_epsilon("epsilon", value)

    @pytest.mark.parametrize("value", ["ln(0)", "ln(-1)", "ln(1/2)", "ln(0.999)", ln("1/2")])
    def test_a_negative_logarithm(self, value: object) -> None:
        message = "epsilon must be the logarithm of a number that is at least 1, but is "
        with pytest.raises(InvalidParameter, match=message):
            read_epsilon("epsilon", value)

    @pytest.mark.parametrize(
        "value", ["ln()", "ln(x)", "ln 3", "2 ln(3)", "ln(ln(3))", "log(3)", "nan", True, math.nan]
    )
    def test_not_an_epsilon(self, value: object) -> None:
        with pytest.raises(InvalidParameter, match="epsilon must be "):
            read_epsilon("epsilon", value)


class TestProbability:
    @pytest.mark.parametrize("value", [0, 1, "0", "1", 1e-300, "1e-400", Fraction(1, 2), 0.0, 1.0])
    @pytest.mark.parametrize("read", [read_delta, read_probability])
    def test_inside(self, read: Callable[[str, object], Fraction], value: object) -> None:
        assert read("delta", value) == read_number("delta", value)

    @pytest.mark.parametrize("value", [-1, 2, "1.0000000000000000001", "-1e-400", math.nextafter(1, 2), -5e-324])
    def test_outside(self, value: object) -> None:
        with pytest.raises(InvalidParameter, match=r"delta must lie in \[0, 1\], but is "):
            read_delta("delta", value)

    def test_not_a_number(self) -> None:
        with pytest.raises(InvalidParameter, match="delta must be finite, but is nan"):
            read_delta("delta", math.nan)


class TestCount:
    @pytest.mark.parametrize("value", [0, 1, 30, "30", 30.0, "1e6", LARGEST_COUNT, np.int32(5), Fraction(8, 2)])
    def test_whole(self, value: object) -> None:
        count = read_count("times", value)
        assert count == read_number("times", value)
        assert type(count) is int

    @pytest.mark.parametrize("value", [-1, 2.5, "1/2", LARGEST_COUNT + 1, 1e16, -0.5])
    def test_not_whole(self, value: object) -> None:
        message = r"times must be a whole number from 0 to 1000000000000000, but is "
        with pytest.raises(InvalidParameter, match=message):
            read_count("times", value)

    def test_least(self) -> None:
        assert read_count("times", 1, least=1) == 1
        with pytest.raises(InvalidParameter, match=r"times must be a whole number from 1 to "):
            read_count("times", 0, least=1)

    @pytest.mark.parametrize("value", [True, "many", math.inf])
    def test_not_a_number(self, value: object) -> None:
        with pytest.raises(InvalidParameter, match="times must be "):
            read_count("times", value)

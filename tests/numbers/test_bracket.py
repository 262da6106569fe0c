"""A bracket holds the truth: every rounding goes outwards, and no further than it must."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from indistinct.errors import InternalError
from indistinct.numbers import Bracket
from indistinct.numbers.bracket import float_above, float_below, rounded_up

LARGEST = math.nextafter(math.inf, 0)
LEAST = math.nextafter(0, 1)

whole = st.integers(-(10**340), 10**340)
exact = st.one_of(
    st.fractions(),
    st.builds(Fraction, whole, st.integers(1, 10**340)),
    st.builds(lambda value, nudge: Fraction(value) * (1 + nudge), st.floats(-1e300, 1e300), st.fractions()),
    st.builds(lambda exponent: Fraction(2) ** exponent, st.integers(-1100, 1100)),
)
finite = st.floats(allow_nan=False, allow_infinity=False)


@given(exact)
def test_float_below_is_the_largest_not_above(value: Fraction) -> None:
    below = float_below(value)
    if math.isinf(below):
        assert below < 0
        assert value < -Fraction(LARGEST)
    else:
        assert Fraction(below) <= value
        following = math.nextafter(below, math.inf)
        assert math.isinf(following) or Fraction(following) > value


@given(exact)
def test_float_above_mirrors_float_below(value: Fraction) -> None:
    above = float_above(value)
    assert above == -float_below(-value)
    assert above == math.inf or Fraction(above) >= value


@given(finite)
def test_a_float_is_its_own_neighbour(value: float) -> None:
    assert float_below(Fraction(value)) == float_above(Fraction(value)) == value


@pytest.mark.parametrize(
    ("value", "below", "above"),
    [
        (Fraction(0), 0.0, 0.0),
        (Fraction(1, 10**400), 0.0, LEAST),
        (-Fraction(1, 10**400), -LEAST, 0.0),
        (Fraction(LEAST) / 2, 0.0, LEAST),
        (Fraction(LEAST) * 3 / 2, LEAST, 2 * LEAST),
        (Fraction(10**400), LARGEST, math.inf),
        (-Fraction(10**400), -math.inf, -LARGEST),
        (Fraction(LARGEST) + 1, LARGEST, math.inf),
        (Fraction(2**1024) - Fraction(2**969), LARGEST, math.inf),
        (1 + Fraction(1, 10**40), 1.0, math.nextafter(1, 2)),
        (1 - Fraction(1, 10**40), math.nextafter(1, 0), 1.0),
    ],
)
def test_the_edges_of_the_floats(value: Fraction, below: float, above: float) -> None:
    assert (float_below(value), float_above(value)) == (below, above)
    assert Bracket.exactly(value) == Bracket(below, above)


@given(exact)
def test_exactly_contains_and_is_one_step_wide(value: Fraction) -> None:
    bracket = Bracket.exactly(value)
    assert value in bracket
    assert bracket.upper in (bracket.lower, math.nextafter(bracket.lower, math.inf))


def test_a_whole_number_is_exact() -> None:
    assert Bracket.exactly(7) == Bracket(7.0, 7.0)


@pytest.mark.parametrize(("lower", "upper"), [(1.0, 0.0), (math.nan, 1.0), (0.0, math.nan), (math.inf, -math.inf)])
def test_an_empty_bracket_is_our_bug(lower: float, upper: float) -> None:
    with pytest.raises(InternalError, match="holds no number"):
        Bracket(lower, upper)


@given(finite, finite, finite)
def test_contains(one: float, other: float, value: float) -> None:
    bracket = Bracket(min(one, other), max(one, other))
    assert (value in bracket) == (bracket.lower <= value <= bracket.upper)
    assert (Fraction(value) in bracket) == (value in bracket)


def test_nothing_holds_not_a_number() -> None:
    assert math.nan not in Bracket(-math.inf, math.inf)


@pytest.mark.parametrize(
    ("bracket", "width", "relative"),
    [
        (Bracket(1.0, 1.0), 0.0, 0.0),
        (Bracket(0.0, 0.0), 0.0, 0.0),
        (Bracket(math.inf, math.inf), 0.0, 0.0),
        (Bracket(0.75, 1.0), 0.25, 0.25),
        (Bracket(0.0, 1.0), 1.0, 1.0),
        (Bracket(-2.0, -1.0), 1.0, 1.0),
        (Bracket(0.0, math.inf), math.inf, math.inf),
        (Bracket(-1.0, 0.0), 1.0, math.inf),
        (Bracket(-1e308, 1e308), math.inf, math.inf),
    ],
)
def test_widths(bracket: Bracket, width: float, relative: float) -> None:
    assert bracket.width == width
    assert bracket.relative_width == relative


@given(st.floats(-1e300, 1e300), st.integers(1, 15))
def test_rounded_up_is_not_below_by_more_than_last_places(value: float, digits: int) -> None:
    assume(value == 0 or abs(value) > 1e-300)
    text = rounded_up(value, digits)
    assert Fraction(text) >= Fraction(value) - 5 * Fraction(math.ulp(value))
    if value:
        step = Fraction(10) ** (math.floor(math.log10(abs(value))) - digits + 1)
        assert Fraction(text) - Fraction(value) <= 2 * step


@given(st.floats(1e-300, 1e300), st.integers(1, 15))
def test_text_shows_the_upper_end_only(upper: float, digits: int) -> None:
    bracket = Bracket(upper / 2, upper)
    assert format(bracket, f".{digits}g") == rounded_up(upper, digits)
    assert str(bracket) == f"{bracket}" == rounded_up(upper, 12)


@pytest.mark.parametrize(
    ("bracket", "text"),
    [
        (Bracket(0.25, 0.25), "0.25"),
        (Bracket(0.0, 0.0), "0"),
        (Bracket(1.0, math.inf), "inf"),
        (Bracket(math.inf, math.inf), "inf"),
        (Bracket(1.59052306395573, 1.59052306395576), "1.59052306396"),
        (Bracket(0.0, 0.5), "0.5"),
        (Bracket(9.9999, 9.99991), "9.99991"),
        (Bracket(-1.0, 0.0), "0"),
        (Bracket(-LARGEST, 2.0), "2"),
        (Bracket(-LARGEST, 2.0**-1000), "9.33263618504e-302"),
        (Bracket.exactly(0), "0"),
    ],
)
def test_text(bracket: Bracket, text: str) -> None:
    assert str(bracket) == text


def test_a_bracket_is_a_value() -> None:
    bracket = Bracket(0.25, 0.5)
    assert bracket == Bracket(0.25, 0.5)
    assert hash(bracket) == hash(Bracket(0.25, 0.5))
    assert copy.deepcopy(bracket) == bracket == pickle.loads(pickle.dumps(bracket))  # noqa: S301  # our own
    with pytest.raises(AttributeError):
        bracket.lower = 0.0  # type: ignore[misc]  # the test

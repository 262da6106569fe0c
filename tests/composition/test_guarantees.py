"""Guarantees are exact values that compare, hash, print and travel."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indistinct import ApproximateDP, PureDP, ln
from indistinct.errors import InvalidParameter

F = Fraction


def test_numbers_are_read_exactly() -> None:
    assert PureDP("0.1").epsilon == F(1, 10)
    assert PureDP(0.1).epsilon == F(0.1) != F(1, 10)
    assert PureDP(Decimal("0.1")) == PureDP("1/10") == PureDP(F(1, 10)) == PureDP("1e-1")
    assert PureDP(1) == PureDP(1.0) == PureDP("1")
    assert PureDP("ln(3)").epsilon == ln(3)
    assert PureDP("ln(1)") == PureDP(0)
    assert ApproximateDP("0.1", "1e-9").delta == F(1, 10**9)
    assert PureDP(2).delta == 0


def test_equal_ones_are_one_key() -> None:
    assert len({PureDP("0.1"), PureDP("1/10"), PureDP(F(1, 10))}) == 1
    assert len({PureDP("0.1"), PureDP(0.1)}) == 2
    assert len({PureDP(ln(3)), PureDP("ln(3)"), PureDP("ln(6/2)")}) == 1


@pytest.mark.parametrize(
    ("guarantee", "text"),
    [
        (PureDP("0.1"), "PureDP('0.1')"),
        (PureDP(0.1), "PureDP(0.1)"),
        (PureDP(2), "PureDP(2)"),
        (PureDP("1/3"), "PureDP('1/3')"),
        (PureDP("ln(3)"), "PureDP(ln(3))"),
        (ApproximateDP("0.1", "1e-9"), "ApproximateDP('0.1', '1e-09')"),
        (ApproximateDP(0, 1), "ApproximateDP(0, 1)"),
    ],
)
def test_they_print_as_they_are_made(guarantee: PureDP | ApproximateDP, text: str) -> None:
    assert repr(guarantee) == text


numbers = st.one_of(
    st.floats(0, 1).filter(lambda x: x == 0 or x > 1e-299),  # PureDP takes no smaller one
    st.fractions(0, 1),
    st.sampled_from(["0.1", "1e-300", "1/3", "1e-29"]),
    st.integers(0, 1),
)


@given(numbers, numbers)
def test_what_is_printed_makes_the_same(epsilon: object, delta: object) -> None:
    for guarantee in (PureDP(epsilon), ApproximateDP(epsilon, delta)):
        names = {"PureDP": PureDP, "ApproximateDP": ApproximateDP, "ln": ln}
        assert eval(repr(guarantee), names) == guarantee  # noqa: S307  # our own text


@pytest.mark.parametrize("guarantee", [PureDP("0.1"), PureDP("ln(3)"), ApproximateDP(0.1, "1e-400")])
def test_they_travel(guarantee: PureDP | ApproximateDP) -> None:
    for moved in (pickle.loads(pickle.dumps(guarantee)), copy.copy(guarantee), copy.deepcopy(guarantee)):  # noqa: S301
        assert moved == guarantee
        assert hash(moved) == hash(guarantee)


@pytest.mark.parametrize("epsilon", ["1e-301", "1e-5000", 5e-324, F(1, 10**400), ln(1 + F(1, 10**301))])
def test_an_epsilon_that_floats_cannot_tell_from_zero(epsilon: object) -> None:
    with pytest.raises(InvalidParameter, match=r"^epsilon must be 0 or at least 1e-300, but is "):
        PureDP(epsilon)
    with pytest.raises(InvalidParameter, match=r"^epsilon must be 0 or at least 1e-300, but is "):
        ApproximateDP(epsilon, 0)


def test_a_delta_may_be_that_small() -> None:
    assert ApproximateDP(1, "1e-5000").delta == F(1, 10**5000)


def test_they_do_not_change() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        PureDP(1).epsilon = F(2)  # type: ignore[misc]  # that is the point

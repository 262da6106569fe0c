"""Lists of private numbers: read exactly, by their types alone, and never shown."""

from __future__ import annotations

from collections import deque
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indistinct import AboveThreshold, ExponentialMechanism, NoisyMax, NumericSparse, PermuteAndFlip, Sparse
from indistinct.errors import InvalidParameter
from indistinct.noise.given import as_given
from indistinct.noise.scores import differences, left_out, read_finite, read_scores

F = Fraction
LARGE = 2**62


@given(st.lists(st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.fractions(), min_size=1))
def test_every_number_of_a_list_is_what_it_was(values: list[Any]) -> None:
    for form in (values, tuple(values), deque(values), np.array(values, dtype=object), [[value] for value in values]):
        assert [F(value) for value in as_given("values", form).ravel().tolist()] == [F(value) for value in values]


@pytest.mark.parametrize(
    ("types", "kind"),
    [
        ([int], np.int64),
        ([np.uint64], np.int64),
        ([int, np.int8, np.uint64], np.int64),
        ([float], np.float64),
        ([float, np.float32, np.float16], np.float64),
        ([int, float], object),
        ([np.int64, np.float64], object),
        ([int, F], object),
        ([float, F], object),
    ],
)
def test_types_alone_decide_what_a_list_becomes(types: list[Any], kind: Any) -> None:
    for value in (0, 1, 3, 100):
        assert as_given("values", [each(value) for each in types]).dtype == kind


def test_other_forms() -> None:
    assert as_given("values", []).dtype == np.float64
    assert as_given("values", [np.array([1, 2]), [0.5, 2**60 + 1]]).tolist() == [[1, 2], [F(1, 2), 2**60 + 1]]
    assert as_given("values", [np.array(1.5), 2**60 + 1]).tolist() == [F(3, 2), 2**60 + 1]
    assert as_given("values", [2**70, 1]).tolist() == [2**70, 1]
    array = np.array([1.0, 2.0], dtype=np.float32)
    assert as_given("values", array) is array


@pytest.mark.parametrize(
    "wrong",
    [
        ["secret"],
        [True, 2],
        [False, F(1, 2)],
        [True, F(1, 2)],
        [np.True_, 1],
        [1, None],
        [Decimal(12345), 1],
        [1j],
        [np.longdouble(12345)],
        [[12345], [1, 2]],
        [[12345], 1],
        {12345},
        iter([12345, 1]),
        np.ma.masked_array([12345, 1], [False, True]),
        [np.ma.masked_array([12345, 1], [False, True]), [1, 2]],
        [np.ma.masked, 12345],
    ],
    ids=range(16),
)
def test_what_is_no_number_is_refused_and_not_shown(wrong: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        as_given("values", wrong)
    for text in (str(caught.value), repr(caught.value.value), repr(caught.value.__context__)):
        assert "12345" not in text
        assert "secret" not in text


@pytest.mark.parametrize(
    "mechanism",
    [ExponentialMechanism(50), PermuteAndFlip(50), NoisyMax(50), NoisyMax(50, noise="gumbel")],
    ids=repr,
)
def test_a_difference_of_one_counts_as_one_in_a_list_with_floats(mechanism: Any) -> None:
    """A score that is 10 higher wins, and at 1000 the same whichever bits of a float it needs."""
    for base in (LARGE, 2**63, 2**63 - 5, 10**30):
        for other in (0.5, F(1, 2), -1):
            for first, second, best in ((10, 0, 0), (0, 10, 1), (513, 500, 0), (512, 525, 1)):
                assert mechanism.release([base + first, base + second, other]) == best
    # One more is no certainty: a float64 of the list would move it 1024 up.
    few = type(mechanism)(F(1, 1000))
    assert {few.release([LARGE + 513, LARGE, 0.5]) for _ in range(200)} >= {0, 1}


@pytest.mark.parametrize("mechanism", [AboveThreshold(50), Sparse(50, 1), NumericSparse(50, 1)], ids=repr)
def test_streams_compare_exactly_in_a_list_with_floats(mechanism: Any) -> None:
    for threshold, told in ((500, [True]), (560, [False, False, True]), (620, [False, False, False, True])):
        answers = mechanism.release([LARGE + 512, -1.0, LARGE + 600, LARGE + 2000], LARGE + threshold)
        assert [answer is not None and bool(answer) for answer in answers] == told


def test_minus_infinity_leaves_out_in_a_list_of_any_kind() -> None:
    for scores in ([-np.inf, 2, 1000], [-np.inf, F(1, 2), 1000], [-np.inf, 0.5, 1000.0]):
        for mechanism in (ExponentialMechanism(9), NoisyMax(9), NoisyMax(9, k=2), NoisyMax(9, k=2, noise="gumbel")):
            assert np.ravel(mechanism.release(scores))[0] == 2
        assert left_out(read_scores("scores", scores, 3)).tolist() == [True, False, False]  # type: ignore[union-attr]
        with pytest.raises(InvalidParameter, match="from 1 to 2"):
            NoisyMax(1, k=3).release(scores)
    for wrong in ([1, np.inf], [1, np.nan], [F(1), -np.inf, np.nan]):
        with pytest.raises(InvalidParameter, match="below infinity"):
            read_scores("scores", wrong, len(wrong))
    with pytest.raises(InvalidParameter, match="be finite"):
        read_finite("values", [1, -np.inf], 2)


def test_differences_of_mixed_lists_are_rounded_once() -> None:
    values = read_finite("values", [LARGE + 513, 0.5], 2)
    assert differences(values, np.array(LARGE, dtype=object)).tolist() == [513.0, float(F(1, 2) - LARGE)]

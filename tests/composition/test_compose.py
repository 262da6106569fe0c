"""compose: any guarantees, any number of each, in any order, and profiles within profiles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import pytest

from indistinct import ApproximateDP, PrivacyProfile, PureDP, compose
from indistinct.errors import InvalidParameter
from tests.composition.oracles import disclosed, faults, wide

F = Fraction
A, B = PureDP("0.5"), ApproximateDP("0.2", "1e-3")


def counts(profile: PrivacyProfile) -> dict[object, int]:
    return {part: times for part, times in profile.parts if times}


def test_a_list_a_mapping_and_an_iterator_are_the_same() -> None:
    made = compose([A, B, A])
    assert counts(made) == {A: 2, B: 1}
    assert counts(compose({A: 2, B: 1})) == counts(made)
    parts: list[PureDP | ApproximateDP] = [B, A, A]
    assert counts(compose(iter(parts))) == counts(made)
    assert counts(compose((A, A, B))) == counts(made)
    assert counts(compose(Counter([A, B, A]))) == counts(made)
    assert made.times == 3


def test_profiles_within_profiles() -> None:
    inner = compose({A: 2, B: 1})
    assert counts(compose({inner: 3})) == {A: 6, B: 3}
    assert counts(compose([inner, inner])) == {A: 4, B: 2}
    mixed: Mapping[PureDP | ApproximateDP | PrivacyProfile, int] = {inner: 2, A: 1}
    assert counts(compose(mixed)) == {A: 5, B: 2}
    assert counts(compose({compose({inner: 10**6}): 10**6})) == {A: 2 * 10**12, B: 10**12}


def test_nesting_changes_no_answer() -> None:
    flat = compose({A: 6, B: 4})
    for nested in (
        compose({compose({A: 3, B: 2}): 2}),
        compose([compose([A] * 6), compose({B: 4})]),
        compose([B, compose([A, compose([A, B])]), *[A] * 4, B, B]),
    ):
        for at in ("0", "0.3", "1", "2"):
            assert nested.delta(at) == flat.delta(at)
        assert nested.epsilon("0.01") == flat.epsilon("0.01")


@pytest.mark.parametrize("three", [3, 3.0, "3", F(3), np.int64(3), np.float64(3)])
def test_counts_are_read_like_all_numbers(three: object) -> None:
    assert compose({A: three}).times == 3


def test_no_use_at_all() -> None:
    nothing = compose({A: 0, B: 0})
    assert nothing.times == 0
    for at in (0, 1, 10**9):
        assert (nothing.delta(at).lower, nothing.delta(at).upper) == (0, 0)
    assert nothing.epsilon(0).upper == nothing.epsilon(1).upper == nothing.epsilon("1e-300").upper == 0
    assert nothing.disclosure.upper == nothing.largest_epsilon.upper == 0


def test_deltas_are_counted_whichever_object_holds_them() -> None:
    """Many parts have the very same delta, and some an equal one."""
    parts = [(F(1, i), F(i % 3, 100), 1 + i % 2) for i in range(2, 12)]
    profile = compose({ApproximateDP(epsilon, F(str(delta))): times for epsilon, delta, times in parts})
    shared = {delta: delta for _, delta, _ in parts}
    same = compose({ApproximateDP(epsilon, shared[delta]): times for epsilon, delta, times in parts})
    assert Fraction(profile.disclosure.lower) <= disclosed(parts) <= Fraction(profile.disclosure.upper)
    assert same.disclosure == profile.disclosure
    assert profile.disclosure.relative_width < 1e-15


def test_what_cannot_be_composed_is_named_wherever_it_stands() -> None:
    many = [PureDP(F(i, 1000)) for i in range(1, 200)]
    for intruder in (0.1, PureDP, None):
        with pytest.raises(InvalidParameter, match="a composed thing must be a guarantee"):
            compose(Counter([*many, intruder]))
        with pytest.raises(InvalidParameter, match="a composed thing must be a guarantee"):
            compose([*many, intruder])  # type: ignore[list-item]  # what is refused


def test_guarantees_that_are_equal_but_written_otherwise() -> None:
    parts = [(F(1, 10), F(0), 2), (F(0.1), F(0), 1), (F(1, 10), F(1, 5), 1)]
    profile = compose([PureDP("0.1"), PureDP("1/10"), PureDP(0.1), ApproximateDP("0.1", "0.2")])
    assert faults(profile.delta("0.05"), wide(parts, F(1, 20)), 1e-11) == []


def test_as_many_as_allowed() -> None:
    assert compose({A: 10**15}).times == 10**15
    assert compose({A: 10**15 - 1, B: 1}).times == 10**15

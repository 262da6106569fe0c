"""Every theorem side by side: each row is what the theorem's own function says, and none beats the exact one."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indistinct import ApproximateDP, Bracket, PureDP, compose
from indistinct.composition import (
    Comparison,
    advanced_composition,
    advanced_delta,
    basic_composition,
    closed_form_composition,
    closed_form_delta,
    compare,
)
from indistinct.errors import InvalidParameter
from tests.composition.claims import Parts, mixtures, overclaims

THIRTY = {ApproximateDP("0.1", "0.001"): 30}


def values(comparison: Comparison) -> dict[str, Bracket]:
    return {row.theorem: row.value for row in comparison.rows}


def excesses(comparison: Comparison) -> dict[str, float]:
    return {row.theorem: row.excess for row in comparison.rows}


def test_epsilons_at_a_delta() -> None:
    comparison = compare(THIRTY, delta="0.05")
    found = values(comparison)
    assert comparison.asked == "delta = 0.05"
    assert comparison.answer == "epsilon"
    assert list(found) == ["basic", "advanced", "closed form", "optimal"]
    assert found["basic"] == Bracket(3.0, 3.0)
    assert found["advanced"] == advanced_composition("0.1", 30, "0.02")
    kept = Fraction(999, 1000) ** 30
    closed = closed_form_composition(THIRTY, 1 - (1 - Fraction(5, 100)) / kept).epsilon
    assert found["closed form"].upper == pytest.approx(closed.upper, rel=1e-12)
    assert found["optimal"] == compose(THIRTY).epsilon("0.05")


def test_deltas_at_an_epsilon() -> None:
    comparison = compare(THIRTY, epsilon="1.5")
    found = values(comparison)
    assert comparison.asked == "epsilon = 1.5"
    assert comparison.answer == "delta"
    assert found["basic"] == Bracket(1.0, 1.0)
    assert found["advanced"].upper == pytest.approx(0.03 + advanced_delta("0.1", 30, "1.5").upper, rel=1e-14)
    assert found["advanced"].upper >= Fraction(3, 100) + Fraction(advanced_delta("0.1", 30, "1.5").lower)
    assert found["closed form"] == closed_form_delta(THIRTY, "1.5")
    assert found["optimal"] == compose(THIRTY).delta("1.5")


def test_from_the_sum_of_epsilons_on_basic_composition_has_a_delta() -> None:
    assert Fraction(3, 100) in values(compare(THIRTY, epsilon=3))["basic"]
    assert values(compare(THIRTY, epsilon="2.999"))["basic"] == Bracket(1.0, 1.0)
    assert values(compare({PureDP("ln(3)"): 2}, epsilon="ln(9)"))["basic"] == Bracket(0.0, 0.0)


def test_below_the_sum_of_deltas_basic_composition_says_nothing() -> None:
    found = values(compare(THIRTY, delta="0.0299"))
    assert found["basic"].lower == found["advanced"].lower == math.inf
    assert found["closed form"].upper < 3  # its delta is 1 - 0.999^30 = 0.02957
    assert found["optimal"].upper < math.inf


def test_where_even_the_disclosures_are_too_many_everything_is_infinite() -> None:
    comparison = compare(THIRTY, delta="0.01")
    assert all(row.value.lower == math.inf for row in comparison.rows)
    assert str(comparison).count("infinite") == 4
    assert "%" not in str(comparison)


def test_advanced_composition_is_listed_for_one_group_only() -> None:
    mixed = {**THIRTY, ApproximateDP("0.2", 0): 3}
    assert list(values(compare(mixed, delta="0.05"))) == ["basic", "closed form", "optimal"]
    assert list(values(compare(mixed, epsilon=2))) == ["basic", "closed form", "optimal"]
    assert len(values(compare([PureDP("0.2")] * 5, delta="0.05"))) == 4


def test_excess_is_in_percent_of_the_exact_answer() -> None:
    comparison = compare(THIRTY, delta="0.05")
    exact = values(comparison)["optimal"].upper
    for row in comparison.rows[:-1]:
        assert row.excess == pytest.approx(100 * (row.value.upper - exact) / exact, rel=1e-12)
    assert excesses(comparison)["basic"] == pytest.approx(100 * (3 / 0.846302634474797 - 1), rel=1e-12)
    assert comparison.rows[-1].excess == 0


def test_an_excess_over_nothing_is_no_number() -> None:
    found = excesses(compare({PureDP("0.1"): 3}, epsilon=1))
    assert math.isnan(found["advanced"])
    assert found["optimal"] == 0


@pytest.mark.parametrize("things", [{PureDP("0.1"): 3}, {PureDP("0.1"): 0}, {PureDP(0): 5}])
def test_no_claim_where_there_is_nothing_to_claim(things: dict[PureDP, int]) -> None:
    found = values(compare(things, epsilon="0.3"))
    assert found["basic"].upper == found["closed form"].upper == found["optimal"].upper == 0
    if things != {PureDP("0.1"): 3}:
        assert found["advanced"].upper == 0


def test_at_a_delta_of_one_nothing_is_left_to_promise() -> None:
    assert values(compare({PureDP(1): 5}, delta=1))["optimal"] == Bracket(0.0, 0.0)
    assert values(compare({ApproximateDP(1, 1): 5}, delta=1))["optimal"] == Bracket(0.0, 0.0)


def test_the_table() -> None:
    lines = str(compare({PureDP("0.01"): 10_000}, delta="1e-6")).splitlines()
    assert lines[0] == "10,000 uses at delta = 1e-06"
    assert lines[1] == ""
    assert lines[2] == "theorem                        epsilon   above exact   source"
    assert lines[3].split()[:4] == ["basic", "100", "+1,946.9", "%"]
    assert [line[:22].strip() for line in lines[3:]] == ["basic", "advanced", "closed form", "optimal"]
    assert lines[-1].split()[1:3] == ["4.88552", "exact"]
    assert {line.index("KOV") for line in lines[3:]} == {lines[2].index("source")}


def test_an_enormous_excess_is_told_in_times() -> None:
    lines = str(compare({PureDP("0.1"): 100}, epsilon=8)).splitlines()
    basic = next(line for line in lines if line.startswith("basic"))
    exact = compose({PureDP("0.1"): 100}).delta(8).upper
    assert f"{1 / exact:,.0f} times" in basic


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ({"delta": "1/3"}, "delta = 1/3"),
        ({"delta": 0.1}, "delta = 0.1"),
        ({"epsilon": "ln(3)"}, "epsilon = ln(3)"),
        ({"epsilon": 2}, "epsilon = 2"),
    ],
)
def test_the_question_is_repeated(asked: dict[str, object], shown: str) -> None:
    assert compare(THIRTY, delta=asked.get("delta"), epsilon=asked.get("epsilon")).asked == shown


def floor(values: dict[str, Bracket]) -> float:
    """The exact answer's lower end; no theorem may claim less."""
    return values["optimal"].lower


@settings(deadline=None, max_examples=50)
@given(mixtures(times=20), st.sampled_from(["0", "1e-9", "0.001", "0.1", "0.6", "1"]))
def test_no_theorem_beats_the_exact_epsilon(parts: Parts, delta: str) -> None:
    found = values(compare(parts, delta=delta))
    assert all(value.upper >= floor(found) for value in found.values())
    assert overclaims(parts, [(value.upper, delta) for value in found.values()]) == []


@settings(deadline=None, max_examples=50)
@given(mixtures(times=20), st.fractions(0, 30, max_denominator=20))
def test_no_theorem_beats_the_exact_delta(parts: Parts, epsilon: Fraction) -> None:
    found = values(compare(parts, epsilon=epsilon))
    assert all(value.upper >= floor(found) for value in found.values())
    assert overclaims(parts, [(epsilon, value.upper) for value in found.values()]) == []
    assert found["basic"].upper == 1 or found["basic"].upper >= basic_composition(parts).delta


def test_an_unsound_row_would_be_noticed() -> None:
    exact = compose(THIRTY).epsilon("0.05")
    assert overclaims(THIRTY, [(exact.upper, "0.05")]) == []
    assert overclaims(THIRTY, [(exact.lower * (1 - 1e-9), "0.05")]) != []


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: compare(THIRTY), r"the question must be either a delta or an epsilon, but is \(None, None\)\."),
        (lambda: compare(THIRTY, delta=0, epsilon=0), r"the question must be either .* but is \(0, 0\)\."),
        (lambda: compare(THIRTY, delta=2), r"delta must lie in \[0, 1\], but is 2\."),
        (lambda: compare(THIRTY, epsilon=-2), r"epsilon must lie in \[0, 1000000000\], but is -2\."),
        (lambda: compare([], epsilon=2), "things must hold at least one guarantee"),
    ],
)
def test_bad_questions(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(InvalidParameter, match=sentence):
        call()

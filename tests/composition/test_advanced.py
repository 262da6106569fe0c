"""Advanced composition (Dwork and Roth, Theorem 3.20; KOV, Theorem 3.2) by 50 digits, and by the truth."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mpf

from indistinct import ApproximateDP, PureDP, compose
from indistinct.composition import (
    advanced_composition,
    advanced_delta,
    advanced_share,
    advanced_share_by_formula,
    optimal_share,
)
from indistinct.errors import InvalidParameter
from tests.composition.claims import DIGITS, formula_faults, overclaims, real
from tests.exact import to_fraction

EPSILONS = ["0.001", "0.1", "1/3", "ln(3)", "2", 0.1]
TIMES = [1, 2, 30, 1000, 10**9]
SLACKS = ["1e-300", "1e-9", "0.02", "0.5", "0.999999", 1]
MODERATE = ["0.001", "0.01", "0.1", "0.5", "ln(3)"]
E_TO_MINUS_32 = Fraction(math.exp(-32))


def as_real(epsilon: object) -> mpf:
    return mpmath.log(3) if epsilon == "ln(3)" else real(Fraction(epsilon) if isinstance(epsilon, float) else epsilon)


def formula(epsilon: mpf, times: int, slack: mpf) -> mpf:
    """Theorem 3.20, as printed."""
    return mpmath.sqrt(2 * times * mpmath.log(1 / slack)) * epsilon + times * epsilon * mpmath.expm1(epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize("slack", SLACKS)
def test_the_formula(epsilon: object, times: int, slack: object) -> None:
    with mpmath.workdps(DIGITS):
        truth = formula(as_real(epsilon), times, real(slack))
        assert formula_faults(advanced_composition(epsilon, times, slack), truth) == []


def test_without_slack_nothing_is_claimed() -> None:
    assert advanced_composition(1, 5, 0).lower == math.inf


def test_nothing_costs_nothing() -> None:
    assert advanced_composition(0, 100, 0).upper == advanced_composition(1, 0, 0).upper == 0
    assert advanced_delta(0, 100, 0).upper == advanced_delta(1, 0, 0).upper == 0


@pytest.mark.parametrize("epsilon", MODERATE)
@pytest.mark.parametrize("times", [1, 5, 100, 3000])
def test_it_is_true(epsilon: object, times: int) -> None:
    for own, slack in product(["0", "1e-6", "0.001"], ["1e-30", "1e-6", "0.1", "0.9", "1"]):
        delta = times * Fraction(str(own)) + Fraction(str(slack))
        if delta <= 1:
            claim = advanced_composition(epsilon, times, slack).upper, delta
            assert overclaims({ApproximateDP(epsilon, own): times}, [claim]) == []


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("times", [1, 2, 30, 1000])
def test_the_slack_of_an_epsilon_by_formula(epsilon: object, times: int) -> None:
    with mpmath.workdps(DIGITS):
        e = as_real(epsilon)
        drift = times * e * mpmath.expm1(e)
        for level in (Fraction(1, 100), Fraction(1), Fraction(7), Fraction(50)):
            truth = mpmath.exp(-((real(level) - drift) ** 2) / (2 * times * e**2)) if real(level) > drift else mpf(1)
            if truth > mpf("1e-300"):
                assert formula_faults(advanced_delta(epsilon, times, level), truth) == []


@pytest.mark.parametrize("epsilon", MODERATE)
@pytest.mark.parametrize("times", [1, 30, 1000])
@pytest.mark.parametrize("slack", ["1e-100", "1e-6", "0.02", "0.9"])
def test_the_two_are_inverses(epsilon: object, times: int, slack: object) -> None:
    around = advanced_composition(epsilon, times, slack)
    assert advanced_delta(epsilon, times, around.upper).lower <= Fraction(str(slack))
    assert advanced_delta(epsilon, times, around.lower).upper >= Fraction(str(slack))
    back = advanced_composition(epsilon, times, advanced_delta(epsilon, times, around.upper).upper)
    assert back.upper == pytest.approx(around.upper, rel=1e-12)


@pytest.mark.parametrize("epsilon", ["1e-9", "0.1", 1, "ln(3)", 30])
@pytest.mark.parametrize("times", [1, 10, 1000, 10**12])
@pytest.mark.parametrize("slack", ["1e-100", "1e-6", "0.9", "0.999999999"])
def test_a_share_fits_and_a_little_more_does_not(epsilon: object, times: int, slack: object) -> None:
    share = advanced_share(epsilon, slack, times)
    assert share.relative_width <= 1e-13
    with mpmath.workdps(DIGITS):
        assert formula(mpf(share.lower), times, real(slack)) <= as_real(epsilon)
        assert formula(mpf(share.upper), times, real(slack)) >= as_real(epsilon) * (1 - mpf("1e-40"))


@pytest.mark.parametrize("slack", [1 - Fraction(1, 10**30), 1 - Fraction(1, 10**60), 1 - Fraction(1, 10**4000)])
def test_a_slack_a_hair_below_one(slack: Fraction) -> None:
    with mpmath.workdps(DIGITS):
        gap = real(1 - slack)  # ln(1/slack), but for its square
        truth = mpmath.sqrt(20 * gap) + 10 * mpmath.expm1(1)
    around = advanced_composition(1, 10, slack)
    assert to_fraction(truth) in around
    assert around.relative_width <= 1e-13
    share = advanced_share(1, slack, 10)
    assert share.relative_width <= 1e-13
    assert share.upper > 0.29


@pytest.mark.parametrize("epsilon", ["1e-6", "0.5", "0.999", "ln(2)"])
@pytest.mark.parametrize("times", [1, 100, 10**9])
@pytest.mark.parametrize("slack", ["1e-100", "1e-6", "0.5", "0.88"])
def test_the_corollary_by_formula(epsilon: object, times: int, slack: object) -> None:
    with mpmath.workdps(DIGITS):
        wanted = mpmath.log(2) if epsilon == "ln(2)" else real(epsilon)
        truth = wanted / (2 * mpmath.sqrt(2 * times * mpmath.log(1 / real(slack))))
        assert formula_faults(advanced_share_by_formula(epsilon, slack, times), truth) == []


@settings(deadline=None, max_examples=60)
@given(
    st.fractions(Fraction(1, 100), Fraction(999, 1000), max_denominator=1000),
    st.sampled_from(["1e-30", "1e-6", "0.1", "0.5", "0.8", "0.88"]),
    st.integers(1, 300),
    st.sampled_from([Fraction(0), Fraction(1, 10**6)]),
)
def test_the_corollary_is_true_where_it_is_not_refused(
    epsilon: Fraction, slack: str, times: int, own: Fraction
) -> None:
    each = advanced_share_by_formula(epsilon, slack, times).lower
    assert overclaims({ApproximateDP(each, own): times}, [(epsilon, Fraction(slack) + times * own)]) == []


def test_the_corollary_is_refused_where_it_is_false() -> None:
    epsilon, slack, times = Fraction(9, 10), Fraction(999, 1000), 10
    each = epsilon / (2 * math.sqrt(2 * times * math.log(1 / slack)))
    assert overclaims({ApproximateDP(each, 0): times}, [(epsilon, slack)]) != []
    with pytest.raises(InvalidParameter, match=r"slack must be at most 0.88 for Corollary 3.21, .* advanced_share"):
        advanced_share_by_formula(epsilon, slack, times)


def test_the_corollary_is_refused_from_epsilon_1_on() -> None:
    with pytest.raises(InvalidParameter, match=r"epsilon must be below 1 for Corollary 3.21, but is 1"):
        advanced_share_by_formula(1, "1e-6", 10)
    with pytest.raises(InvalidParameter, match=r"epsilon must be below 1 for Corollary 3.21, but is 'ln\(3\)'"):
        advanced_share_by_formula("ln(3)", "1e-6", 10)


def test_bobs_lifetime() -> None:
    """Dwork and Roth, Example 3.7: 1/801 gives more than 1 by the theorem, and less in truth."""
    with mpmath.workdps(DIGITS):
        slack = real(E_TO_MINUS_32)
        assert abs(slack / mpmath.exp(-32) - 1) < 1e-15
        at_801 = advanced_composition("1/801", 10_000, E_TO_MINUS_32)
        assert formula_faults(at_801, formula(mpf(1) / 801, 10_000, slack)) == []
    assert at_801.upper == pytest.approx(1.014347304, rel=1e-9)
    assert 812 < 1 / advanced_share(1, E_TO_MINUS_32, 10_000).upper < 813
    assert 1 / optimal_share(1, E_TO_MINUS_32, 10_000).lower == pytest.approx(715.510557802, rel=1e-12)
    exact = compose({PureDP("1/801"): 10_000}).epsilon(E_TO_MINUS_32)
    assert exact.upper == pytest.approx(0.890468147886613, rel=1e-14)


Faulty = Callable[[mpf, int, mpf], mpf]


@pytest.mark.parametrize(
    "faulty",
    [
        lambda e, k, slack: mpmath.sqrt(k * mpmath.log(1 / slack)) * e / 2,
        lambda e, k, slack: mpmath.sqrt(2 * mpmath.log(1 / slack)) * e + k * e * mpmath.expm1(e),
        lambda e, k, slack: mpmath.sqrt(2 * k * mpmath.log10(1 / slack)) * e + k * e * mpmath.expm1(e) / 4,
    ],
    ids=["the 2 below instead of inside", "k lost in the root", "the wrong logarithm and a quarter of the drift"],
)
def test_planted_faults_are_caught(faulty: Faulty) -> None:
    epsilon, times, slack = mpf("0.1"), 1000, mpf("1e-6")
    parts = {ApproximateDP("0.1", 0): times}
    assert overclaims(parts, [(float(formula(epsilon, times, slack)), "1e-6")]) == []
    assert overclaims(parts, [(float(faulty(epsilon, times, slack)), "1e-6")]) != []


def test_the_own_deltas_may_not_be_forgotten() -> None:
    parts = {ApproximateDP("0.01", "0.001"): 100}
    epsilon = advanced_composition("0.01", 100, "1e-6").upper
    assert overclaims(parts, [(epsilon, "0.100001")]) == []
    assert overclaims(parts, [(epsilon, "0.090001")]) != []  # counted ninety times


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: advanced_composition(-1, 3, 0.1), r"epsilon must lie in \[0, 1000000000\], but is -1\."),
        (lambda: advanced_composition(1, 2.5, 0.1), "times must be a whole number from 0 to"),
        (lambda: advanced_composition(1, 3, 1.5), r"slack must lie in \[0, 1\], but is 1\.5\."),
        (lambda: advanced_delta(1, 3, math.nan), "at_epsilon must be finite, but is nan"),
        (lambda: advanced_share(1, 0, 3), "slack must be above 0, but is 0. Without slack only basic_share applies."),
        (lambda: advanced_share(1, 1, 3), "slack must be below 1, but is 1"),
        (lambda: advanced_share(1, "1e-6", 0), "times must be a whole number from 1 to"),
        (lambda: advanced_share_by_formula("0.5", 0, 3), "slack must be above 0"),
    ],
)
def test_bad_questions(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(InvalidParameter, match=sentence):
        call()

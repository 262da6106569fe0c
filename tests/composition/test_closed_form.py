"""The closed forms (KOV, Theorems 3.4 and 3.5, Corollary 4.1) by 50 digits, and by the truth."""

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
from indistinct.composition import closed_form_composition, closed_form_delta, closed_form_share
from indistinct.errors import InvalidParameter
from tests.composition.claims import DIGITS, Parts, claims_of, formula_faults, mixtures, overclaims, real

SLACKS = ["1e-300", "1e-9", "0.02", "0.5", "0.999", "1"]
MIXED = {
    "equal, small": {ApproximateDP("0.01", 0): 10_000},
    "equal": {ApproximateDP("0.1", "0.001"): 30},
    "one": {ApproximateDP("0.7", "0.01"): 1},
    "large": {ApproximateDP("3", "1e-9"): 5},
    "logarithm": {ApproximateDP("ln(3)", 0): 7},
    "unequal": {ApproximateDP("0.1", "0.001"): 30, ApproximateDP("ln(3)", "1e-9"): 2, ApproximateDP("0.01", 0): 500},
}


def branches(parts: Parts, slack: mpf) -> tuple[mpf, mpf, mpf, mpf]:
    """Equation (8), as printed, and its delta."""
    each = [(real(part.epsilon), real(part.delta), times) for part, times in parts.items()]
    mean = mpmath.fsum(k * (mpmath.exp(e) - 1) * e / (mpmath.exp(e) + 1) for e, _, k in each)
    squares = mpmath.fsum(k * e**2 for e, _, k in each)
    kept = mpmath.fprod((1 - d) ** k for _, d, k in each)
    return (
        mpmath.fsum(k * e for e, _, k in each),
        mean + mpmath.sqrt(2 * squares * mpmath.log(mpmath.e + mpmath.sqrt(squares) / slack)),
        mean + mpmath.sqrt(2 * squares * mpmath.log(1 / slack)),
        1 - (1 - slack) * kept,
    )


@pytest.mark.parametrize("parts", MIXED.values(), ids=MIXED)
@pytest.mark.parametrize("slack", SLACKS)
def test_the_formula(parts: Parts, slack: str) -> None:
    form = closed_form_composition(parts, slack)
    with mpmath.workdps(DIGITS if slack != "1e-300" else 400):
        truths = branches(parts, real(slack))
        brackets = form.basic, form.with_root, form.without_root, form.delta
        assert [formula_faults(*each) for each in zip(brackets, truths, strict=True)] == [[]] * 4
        assert formula_faults(form.epsilon, min(truths[:3])) == []


@pytest.mark.parametrize(
    ("epsilon", "slack", "least"),
    [("0.5", "1e-30", "basic"), ("0.001", "0.0001", "with_root"), ("0.3", "0.5", "without_root")],
)
def test_each_branch_is_the_least_somewhere(epsilon: str, slack: str, least: str) -> None:
    form = closed_form_composition({PureDP(epsilon): 10, PureDP("0.0001"): 2}, slack)
    others = {"basic", "with_root", "without_root"} - {least}
    assert form.epsilon == getattr(form, least)
    assert all(getattr(form, other).lower > form.epsilon.upper for other in others)


def test_without_slack_only_basic_composition_is_left() -> None:
    form = closed_form_composition({ApproximateDP("0.1", "0.001"): 30}, 0)
    assert form.with_root.lower == form.without_root.lower == math.inf
    assert form.epsilon == form.basic
    assert Fraction(999, 1000) ** 30 in [1 - Fraction(end) for end in (form.delta.lower, form.delta.upper)] or (
        form.delta.lower <= 1 - Fraction(999, 1000) ** 30 <= form.delta.upper
    )


def test_nothing_costs_nothing() -> None:
    form = closed_form_composition({PureDP(0): 100}, "0.1")
    assert form.epsilon.upper == form.with_root.upper == form.without_root.upper == 0
    assert closed_form_delta({PureDP(0): 100}, 0).upper == 0


@pytest.mark.parametrize("parts", MIXED.values(), ids=MIXED)
@pytest.mark.parametrize("slack", SLACKS)
def test_every_branch_is_true(parts: Parts, slack: str) -> None:
    assert overclaims(parts, claims_of(closed_form_composition(parts, slack))) == []


@settings(deadline=None, max_examples=80)
@given(mixtures(), st.sampled_from(["1e-30", "1e-9", "0.001", "0.1", "0.5", "0.9", "1"]))
def test_every_branch_is_true_of_mixtures(parts: Parts, slack: str) -> None:
    assert overclaims(parts, claims_of(closed_form_composition(parts, slack))) == []


def test_the_delta_of_an_epsilon_by_formula() -> None:
    cases = product(["0.01", "0.1", "0.5"], [10, 400], ["0.3", "1", "2", "4"])
    for epsilon, times, level in cases:
        parts = {ApproximateDP(epsilon, "1e-5"): times}
        with mpmath.workdps(DIGITS):
            e, wanted = real(epsilon), real(level)
            room = wanted - times * e * mpmath.tanh(e / 2)
            if Fraction(level) >= times * Fraction(epsilon):
                slack = mpf(0)
            elif room <= 0:
                slack = mpf(1)
            else:
                exponent = room**2 / (2 * times * e**2)
                slack = mpmath.exp(-exponent)
                if exponent > 1:
                    slack = min(slack, mpmath.sqrt(times) * e / (mpmath.exp(exponent) - mpmath.e))
            truth = 1 - (1 - slack) * (1 - real("1e-5")) ** times
            assert formula_faults(closed_form_delta(parts, level), truth) == []


@pytest.mark.parametrize("parts", MIXED.values(), ids=MIXED)
@pytest.mark.parametrize("slack", ["1e-9", "0.02", "0.5"])
def test_the_two_are_inverses(parts: Parts, slack: str) -> None:
    form = closed_form_composition(parts, slack)
    if form.epsilon != form.basic:
        back = closed_form_delta(parts, form.epsilon.upper)
        assert back.upper == pytest.approx(form.delta.upper, rel=1e-11)
        assert back.lower <= form.delta.upper
        disclosure = Fraction(compose(parts).disclosure.upper)
        again = closed_form_composition(parts, (Fraction(back.upper) - disclosure) / (1 - disclosure))
        assert again.epsilon.upper == pytest.approx(form.epsilon.upper, rel=1e-11)


@settings(deadline=None, max_examples=60)
@given(mixtures(), st.fractions(0, 20, max_denominator=50))
def test_the_delta_of_an_epsilon_is_true(parts: Parts, level: Fraction) -> None:
    assert overclaims(parts, [(level, closed_form_delta(parts, level).upper)]) == []


@pytest.mark.parametrize(
    ("parts", "total"),
    [({PureDP("0.1"): 3}, "0.3"), ({PureDP("ln(3)"): 5}, "ln(243)"), ({PureDP(1): 2, PureDP("0.7"): 1}, "2.7")],
)
def test_at_the_sum_of_all_epsilons_basic_composition_counts(parts: dict[PureDP, int], total: str) -> None:
    assert closed_form_delta(parts, total).upper == 0


def test_no_room_no_claim() -> None:
    assert closed_form_delta({PureDP(1): 100}, 1).upper == 1


@pytest.mark.parametrize("epsilon", ["1e-6", "0.1", "0.9", "ln(2)"])
@pytest.mark.parametrize("delta", ["1e-300", "1e-6", "0.1", "1"])
@pytest.mark.parametrize("times", [1, 100, 10**9])
def test_the_corollary_by_formula(epsilon: str, delta: str, times: int) -> None:
    share = closed_form_share(epsilon, delta, times)
    with mpmath.workdps(DIGITS):
        level = mpmath.log(2) if epsilon == "ln(2)" else real(epsilon)
        truth = mpmath.sqrt(level**2 / (4 * times * mpmath.log(mpmath.e + level / real(delta))))
        assert formula_faults(share.epsilon, truth) == []
    assert share.delta == Fraction(delta) / (2 * times)


@settings(deadline=None, max_examples=60)
@given(
    st.fractions(Fraction(1, 1000), Fraction(9, 10), max_denominator=1000),
    st.sampled_from(["1e-30", "1e-9", "1e-4", "0.05", "0.5", "1"]),
    st.integers(1, 400),
)
def test_the_corollary_is_true(epsilon: Fraction, delta: str, times: int) -> None:
    share = closed_form_share(epsilon, delta, times)
    assert overclaims({ApproximateDP(share.epsilon.lower, share.delta): times}, [(epsilon, delta)]) == []


Faulty = Callable[[int, mpf, mpf], mpf]

FAULTS: dict[str, Faulty] = {
    "sqrt(s) missing before the root": lambda k, e, slack: (
        k * e * mpmath.tanh(e / 2) + mpmath.sqrt(2 * mpmath.log(1 / slack)) * e
    ),
    "sqrt(s) missing inside": lambda k, e, slack: (
        k * e * mpmath.tanh(e / 2) + mpmath.sqrt(2 * k * e**2 * mpmath.log(mpmath.e + e / slack / 1000))
    ),
    "no mean": lambda k, e, slack: mpmath.sqrt(2 * k * e**2 * mpmath.log(1 / slack)) - k * e**2 / 2,
    "no 2": lambda k, e, slack: k * e * mpmath.tanh(e / 2) + mpmath.sqrt(k * e**2 * mpmath.log(1 / slack)),
}


@pytest.mark.parametrize("faulty", FAULTS.values(), ids=FAULTS)
def test_planted_faults_are_caught(faulty: Faulty) -> None:
    times, epsilon, slack = 1000, "0.1", "1e-6"
    parts = {ApproximateDP(epsilon, 0): times}
    assert overclaims(parts, claims_of(closed_form_composition(parts, slack))) == []
    assert overclaims(parts, [(float(faulty(times, real(epsilon), real(slack))), slack)]) != []


def test_a_disclosure_counted_once_too_few_is_caught() -> None:
    """At a slack of 0 the delta of the theorem is exact, so nothing may be left out of it."""
    parts = {ApproximateDP("0.1", "0.001"): 30}
    form = closed_form_composition(parts, 0)
    once_too_few = 1 - Fraction(999, 1000) ** 29
    assert overclaims(parts, [(form.basic.upper, form.delta.upper)]) == []
    assert overclaims(parts, [(form.basic.upper, once_too_few)]) != []


def test_a_slack_forgotten_is_caught() -> None:
    parts = {ApproximateDP("0.1", "0.001"): 30}
    form = closed_form_composition(parts, "0.02")
    assert overclaims(parts, [(form.epsilon.upper, 1 - Fraction(999, 1000) ** 30)]) != []


def test_a_corollary_without_its_half_is_caught() -> None:
    share = closed_form_share("0.9", "1e-6", 100)
    assert overclaims({ApproximateDP(2 * share.epsilon.lower, share.delta): 100}, [("0.9", "1e-6")]) != []


@pytest.mark.parametrize("slack", [1 - Fraction(1, 10**30), 1 - Fraction(1, 10**60), 1 - Fraction(1, 10**4000)])
def test_a_slack_a_hair_below_one(slack: Fraction) -> None:
    form = closed_form_composition({PureDP("0.1"): 10}, slack)
    assert form.without_root.relative_width <= 1e-13
    assert form.epsilon.upper == pytest.approx(math.tanh(0.05), rel=1e-9)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: closed_form_composition([], 0.1), "things must hold at least one guarantee"),
        (lambda: closed_form_composition([PureDP(1)], -0.1), r"slack must lie in \[0, 1\], but is -0\.1\."),
        (lambda: closed_form_delta([PureDP(1)], -1), r"at_epsilon must lie in \[0, 1000000000\], but is -1\."),
        (lambda: closed_form_share("0.91", "1e-6", 3), r"epsilon must lie in \(0, 0.9\] .* optimal_share answers"),
        (lambda: closed_form_share("ln(3)", "1e-6", 3), r"epsilon must lie in \(0, 0.9\] .* is 'ln\(3\)'"),
        (lambda: closed_form_share(0, "1e-6", 3), r"epsilon must lie in \(0, 0.9\]"),
        (lambda: closed_form_share("0.9", 0, 3), "delta must be above 0 for Corollary 4.1"),
        (lambda: closed_form_share("0.9", "1e-6", 0), "times must be a whole number from 1 to"),
    ],
)
def test_bad_questions(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(InvalidParameter, match=sentence):
        call()

"""Conversions between currencies, against mpmath, against exact divergences, and against what they must imply."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp

from indistinct import ApproximateDP, PureDP, compose, ln
from indistinct.composition.conversions import (
    as_gaussian,
    as_renyi,
    as_zero_concentrated,
    delta_at,
    epsilon_at,
    largest_mu,
    largest_renyi,
    largest_rho,
)
from indistinct.composition.guarantees import GaussianDP, Promise, RenyiDP, ZeroConcentratedDP
from indistinct.errors import InvalidParameter
from indistinct.numbers import Bracket, Epsilon
from indistinct.regions import DiscretePair, renyi_divergence
from tests.exact import to_fraction

LOST = Fraction(1, 10**25)
"""How far, relatively, a value from mpmath is trusted."""


def holds(bracket: Bracket, truth: mpmath.mpf) -> bool:
    """Whether the bracket contains the truth and is two neighbouring floats or so."""
    exact = to_fraction(truth)
    return (
        bracket.lower <= exact * (1 + LOST) and exact * (1 - LOST) <= bracket.upper and bracket.relative_width < 5e-16
    )


def wide(number: Fraction) -> mpmath.mpf:
    return mpmath.mpf(number.numerator) / number.denominator


def concentrated(rho: Fraction, epsilon: Fraction) -> mpmath.mpf:
    """The least of Canonne, Kamath and Steinke's bound, found by golden section in log(order - 1)."""

    def bound(s: mpmath.mpf) -> mpmath.mpf:
        a = 1 + mpmath.exp(s)
        return (a - 1) * (a * wide(rho) - wide(epsilon)) - s + a * mpmath.log1p(-1 / a)

    low, high = mpmath.mpf(-60), mpmath.mpf(60)
    golden = (mpmath.sqrt(5) - 1) / 2
    for _ in range(160):  # where the bound is flat to half of 60 digits
        left, right = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, right) if bound(left) < bound(right) else (left, high)
    return mpmath.exp(bound((low + high) / 2))


def gaussian(mu: Fraction, epsilon: Fraction) -> mpmath.mpf:
    e, m, root = wide(epsilon), wide(mu), mpmath.sqrt(2)
    upper, lower = (e / m - m / 2) / root, (e / m + m / 2) / root
    return (mpmath.erfc(upper) - mpmath.exp(e) * mpmath.erfc(lower)) / 2


@pytest.mark.parametrize(
    ("rho", "epsilon", "delta"),
    [("0.5", 5, "2.89612280938e-6"), ("0.1", 2, "4.32521086909e-6"), (1, 8, "4.34534151665e-7")],
)
def test_concentrated_reference_values(rho: str, epsilon: int, delta: str) -> None:
    assert delta_at(ZeroConcentratedDP(rho), epsilon).upper == pytest.approx(float(delta), rel=3e-12)


def test_gaussian_reference_value() -> None:
    """The analytic Gaussian mechanism at (1, 1e-5) has sigma = 3.73063163481594 (Balle and Wang 2018)."""
    assert float(1 / largest_mu(1, "1e-5")) == pytest.approx(3.73063163481594, rel=1e-14)


@pytest.mark.parametrize("rho", ["1e-6", "0.01", "0.5", "7", "1000"])
@pytest.mark.parametrize("epsilon", ["0", "0.01", "1", "30", "1500"])
def test_concentrated_against_mpmath(rho: str, epsilon: str) -> None:
    with mp.workdps(60):
        truth = concentrated(Fraction(rho), Fraction(epsilon))
        found = delta_at(ZeroConcentratedDP(rho), epsilon)
        if truth > 1 - mpmath.mpf(10) ** -20:  # of what is all but certain, only the upper end is sharp
            assert found.upper == 1
        elif truth > 1e-300:
            assert holds(found, truth)
        else:
            assert 0 <= found.lower <= float(truth) <= found.upper <= 1e-299


@pytest.mark.parametrize("mu", ["0.001", "0.3", "1", "5", "60"])
@pytest.mark.parametrize("epsilon", ["0", "0.01", "1", "30", "1500"])
def test_gaussian_against_mpmath(mu: str, epsilon: str) -> None:
    with mp.workdps(60 + 40):
        truth = gaussian(Fraction(mu), Fraction(epsilon))
        found = delta_at(GaussianDP(mu), epsilon)
        if truth > 1e-300:
            assert holds(found, truth)
        else:
            assert 0 <= found.lower <= found.upper <= 1e-299


GUARANTEES: list[Promise] = [
    PureDP(2),
    PureDP("ln(3)"),
    ApproximateDP(1, "1e-9"),
    ZeroConcentratedDP("0.1"),
    ZeroConcentratedDP(20),
    GaussianDP("0.5"),
    GaussianDP(9),
    RenyiDP(8, "0.5"),
    RenyiDP("1.5", 3),
]


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=repr)
@pytest.mark.parametrize("delta", ["1e-8", "1e-3", "0.3"])
def test_epsilon_is_the_inverse_of_delta(guarantee: Promise, delta: str) -> None:
    found, wanted = epsilon_at(guarantee, delta), float(delta)
    assert found.relative_width < 1e-15
    if found.upper == 0:
        assert delta_at(guarantee, 0).upper <= wanted
    else:
        assert delta_at(guarantee, Fraction(found.upper)).lower <= wanted
        assert delta_at(guarantee, Fraction(found.upper) * (1 + Fraction(1, 10**12))).upper <= wanted
        assert delta_at(guarantee, Fraction(found.lower) * (1 - Fraction(1, 10**12))).lower >= wanted


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=repr)
def test_delta_falls_and_is_a_probability(guarantee: Promise) -> None:
    deltas = [delta_at(guarantee, Fraction(i, 4)) for i in range(80)]
    assert all(0 <= each.lower <= each.upper <= 1 for each in deltas)
    assert all(later.lower <= earlier.upper for earlier, later in pairwise(deltas))


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=repr)
def test_the_ends_of_delta(guarantee: Promise) -> None:
    assert epsilon_at(guarantee, 1) == Bracket(0.0, 0.0)
    match guarantee:
        case PureDP():
            assert epsilon_at(guarantee, 0).upper == float(guarantee.epsilon)
            assert delta_at(guarantee, guarantee.epsilon) == Bracket(0.0, 0.0)
        case ApproximateDP():
            assert epsilon_at(guarantee, guarantee.delta).upper == float(guarantee.epsilon)
            assert epsilon_at(guarantee, guarantee.delta / 2).lower == float("inf")
        case _:
            assert epsilon_at(guarantee, 0).lower == float("inf")


def test_pure_and_approximate_are_their_own_composition() -> None:
    for guarantee in (PureDP(2), PureDP("ln(3)"), ApproximateDP(1, "1e-9")):
        for epsilon in ("0", "0.3", "0.999"):
            alone = compose([guarantee]).delta(epsilon)
            assert alone.lower <= delta_at(guarantee, epsilon).upper
            assert delta_at(guarantee, epsilon).upper == pytest.approx(alone.upper, rel=1e-12)


@pytest.mark.parametrize(("epsilon", "delta"), [("0.1", "1e-8"), ("1", "1e-6"), ("20", "0.1"), ("0", "1e-3")])
def test_the_largest_levels_are_largest(epsilon: str, delta: str) -> None:
    a_little_more = 1 + Fraction(1, 10**12)
    rho, mu, order = largest_rho(epsilon, delta), largest_mu(epsilon, delta), 300
    divergence = largest_renyi(order, epsilon, delta)
    levels: list[tuple[Promise, Promise]] = [
        (ZeroConcentratedDP(rho), ZeroConcentratedDP(rho * a_little_more)),
        (GaussianDP(mu), GaussianDP(mu * a_little_more)),
    ]
    if divergence:
        levels.append((RenyiDP(order, divergence), RenyiDP(order, divergence * a_little_more)))
    for largest, larger in levels:
        assert Fraction(delta_at(largest, epsilon).lower) <= Fraction(delta)
        assert Fraction(delta_at(larger, epsilon).upper) > Fraction(delta)


def test_some_orders_are_too_low() -> None:
    assert largest_renyi(2, 1, "1e-6") == 0


def responses(epsilon: Epsilon) -> DiscretePair:
    """Randomised response with a rational ratio."""
    assert not isinstance(epsilon, Fraction)
    p = epsilon.argument / (1 + epsilon.argument)
    return DiscretePair([p, 1 - p], [1 - p, p])


ORDERS = ["1.0001", "1.5", "2", "8", "33.3", "1000"]


@pytest.mark.parametrize("ratio", ["1.001", "3", "100"])
@pytest.mark.parametrize("order", ORDERS)
def test_a_pure_guarantee_has_the_divergence_of_randomised_response(ratio: str, order: str) -> None:
    exact = renyi_divergence(responses(ln(ratio)), order)
    found = as_renyi(PureDP(ln(ratio)), order)
    assert exact.lower <= found.epsilon
    assert float(found.epsilon) == pytest.approx(exact.upper, rel=1e-14)


@pytest.mark.parametrize("ratio", ["1.001", "3", "100", "1e12"])
def test_a_pure_guarantee_has_rho_epsilon_tanh_of_half(ratio: str) -> None:
    """The divergence over the order is largest as the order falls to 1: no smaller rho holds, and this one does."""
    rho = as_zero_concentrated(PureDP(ln(ratio))).rho
    shares = [as_renyi(PureDP(ln(ratio)), order).epsilon / Fraction(order) for order in ["1.0000001", *ORDERS]]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] <= rho
    assert float(shares[0]) == pytest.approx(float(rho), rel=1e-5)


@pytest.mark.parametrize("epsilon", ["0.001", "0.5", "ln(3)", "4", "40"])
def test_a_pure_guarantee_is_a_gaussian_one(epsilon: str) -> None:
    """Its trade-off curve is nowhere below the Gaussian one, which touches it at the corner."""
    mu = as_gaussian(PureDP(epsilon)).mu
    with mp.workdps(50):
        odds = mpmath.mpf(3) if epsilon == "ln(3)" else mpmath.exp(wide(Fraction(epsilon)))
        corner = 1 / (1 + odds)

        def gaussian_curve(z: mpmath.mpf) -> tuple[mpmath.mpf, mpmath.mpf]:
            """False alarm and missed detection of rejecting above z."""
            return mpmath.ncdf(-z), mpmath.ncdf(z - wide(mu))

        for tenths in range(-200, 201, 5):
            alarm, missed = gaussian_curve(mpmath.mpf(tenths) / 10)
            assert missed <= max(1 - odds * alarm, (1 - alarm) / odds, 0) + mpmath.mpf(10) ** -40
        alarm, missed = gaussian_curve(wide(mu) / 2)
        assert alarm == missed
        assert corner * (1 - mpmath.mpf(10) ** -30) <= alarm <= corner
    for at in ("0", "0.3", "3"):
        assert delta_at(PureDP(epsilon), at).lower <= delta_at(GaussianDP(mu), at).upper


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 40), st.integers(1, 30), st.integers(0, 60))
def test_sums_in_every_currency_are_above_the_optimal_composition(tenths: int, times: int, at: int) -> None:
    guarantee, epsilon = PureDP(Fraction(tenths, 20)), Fraction(at, 10)
    truth = compose({guarantee: times}).delta(epsilon).lower
    rho, mu = as_zero_concentrated(guarantee).rho, as_gaussian(guarantee).mu
    assert truth <= delta_at(ZeroConcentratedDP(rho * times), epsilon).upper
    assert truth <= delta_at(RenyiDP(5, as_renyi(guarantee, 5).epsilon * times), epsilon).upper
    root = Fraction(int(mpmath.ceil(mpmath.sqrt(times) * 10**9)), 10**9)
    assert truth <= delta_at(GaussianDP(mu * root), epsilon).upper


def test_exact_conversions_are_exact() -> None:
    assert as_zero_concentrated(GaussianDP("0.2")) == ZeroConcentratedDP("0.02")
    assert as_renyi(GaussianDP("0.2"), 3) == RenyiDP(3, "0.06")
    assert as_renyi(ZeroConcentratedDP("0.2"), "1.5") == RenyiDP("1.5", "0.3")
    assert as_renyi(RenyiDP(9, "0.2"), 3) == RenyiDP(3, "0.2")
    for nothing in (PureDP(0), ApproximateDP(0, 0)):
        assert as_zero_concentrated(nothing) == ZeroConcentratedDP(0)
        assert as_gaussian(nothing) == GaussianDP(0)
        assert as_renyi(nothing, 2) == RenyiDP(2, 0)


@pytest.mark.parametrize("level", [0, "1e-300", "1e9"])
def test_extremes_stay_honest(level: Any) -> None:
    for guarantee in (ZeroConcentratedDP(level), GaussianDP(level), PureDP(level), RenyiDP("1.0001", level)):
        for epsilon in (0, "1e-300", 1, "1e9"):
            found = delta_at(guarantee, epsilon)
            assert 0 <= found.lower <= found.upper <= 1
        assert epsilon_at(guarantee, "1e-300").upper >= 0
    assert as_zero_concentrated(PureDP(level)).rho <= Fraction(level)
    assert as_renyi(PureDP(level), 2).epsilon <= Fraction(level)
    assert as_gaussian(PureDP(level)).mu >= 0


@pytest.mark.parametrize(
    "convert",
    [
        lambda: as_zero_concentrated(ApproximateDP(1, "1e-6")),
        lambda: as_zero_concentrated(RenyiDP(2, 1)),
        lambda: as_gaussian(ApproximateDP(1, "1e-6")),
        lambda: as_gaussian(ZeroConcentratedDP(1)),
        lambda: as_gaussian(RenyiDP(2, 1)),
        lambda: as_renyi(ApproximateDP(1, "1e-6"), 2),
        lambda: as_renyi(RenyiDP(2, 1), 3),
        lambda: as_renyi(PureDP(1), 1),
        lambda: largest_rho(1, 0),
        lambda: largest_mu(1, 1),
        lambda: largest_renyi(1, 1, "1e-6"),
        lambda: delta_at(PureDP(1), -1),
        lambda: epsilon_at(PureDP(1), 2),
    ],
)
def test_what_is_not_implied_is_refused(convert: Any) -> None:
    with pytest.raises(InvalidParameter):
        convert()

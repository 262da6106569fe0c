"""Odometers add up in all currencies, and are no guarantees."""

from __future__ import annotations

import threading
from fractions import Fraction

import pytest

from indistinct import ApproximateDP, PureDP
from indistinct.composition.conversions import as_gaussian, as_zero_concentrated, epsilon_at
from indistinct.composition.filters import Odometer, Reading
from indistinct.composition.guarantees import GaussianDP, RenyiDP, ZeroConcentratedDP
from indistinct.errors import InvalidParameter
from indistinct.numbers import Bracket


def test_sums_in_all_currencies() -> None:
    odometer = Odometer()
    for _ in range(10):
        odometer.record(PureDP("0.1"))
    odometer.record(ApproximateDP("0.5", "1e-9"))
    tenth, half = PureDP("0.1"), PureDP("0.5")
    assert odometer.reading == Reading(
        times=11,
        epsilon=Fraction(3, 2),
        rho=10 * as_zero_concentrated(tenth).rho + as_zero_concentrated(half).rho,
        mu_squared=10 * as_gaussian(tenth).mu ** 2 + as_gaussian(half).mu ** 2,
        delta=Fraction(1, 10**9),
    )
    shown = odometer.reading.epsilons("1e-6")
    assert set(shown) == {"epsilon", "rho", "mu^2"}
    assert shown["rho"] == epsilon_at(ZeroConcentratedDP(odometer.reading.rho), Fraction("0.999e-6"))
    assert shown["epsilon"].upper <= 1.5
    assert odometer.reading.epsilons("1e-10")["rho"] == Bracket(float("inf"), float("inf"))


def test_the_root_of_mu_squared_is_not_too_small() -> None:
    odometer = Odometer()
    for _ in range(3):
        odometer.record(GaussianDP(1))
    shown = odometer.reading.epsilons("1e-6")["mu^2"].upper
    assert shown >= epsilon_at(GaussianDP("1.7320508075688772"), "1e-6").upper
    assert shown == pytest.approx(epsilon_at(GaussianDP("1.7320508075688773"), "1e-6").upper, rel=1e-14)


def test_what_has_no_amount_in_a_currency_ends_that_sum() -> None:
    odometer = Odometer()
    odometer.record(GaussianDP(1))
    assert (odometer.reading.epsilon, odometer.reading.rho) == (None, Fraction(1, 2))
    odometer.record(PureDP(1))
    assert odometer.reading.epsilon is None
    odometer.record(ZeroConcentratedDP(1))
    assert odometer.reading.mu_squared is None
    odometer.record(RenyiDP(2, 1))
    assert odometer.reading == Reading(4, None, None, None, Fraction(0))
    assert odometer.reading.epsilons("1e-6") == {}


def test_too_much_to_be_said_is_infinite() -> None:
    odometer = Odometer()
    for _ in range(2):
        odometer.record(PureDP("1e9"))
    assert odometer.reading.epsilons("1e-6")["epsilon"] == Bracket(float("inf"), float("inf"))


def test_threads_lose_nothing() -> None:
    odometer = Odometer()

    def work() -> None:
        for _ in range(500):
            odometer.record(PureDP("0.1"))

    runners = [threading.Thread(target=work) for _ in range(8)]
    for runner in runners:
        runner.start()
    for runner in runners:
        runner.join()
    assert odometer.reading.times == 4000
    assert odometer.reading.epsilon == 400


def test_it_says_that_it_is_no_guarantee() -> None:
    assert "no privacy guarantee" in (Reading.__doc__ or "")
    assert not hasattr(Odometer(), "claim")
    with pytest.raises(InvalidParameter):
        Odometer().record(0.1)  # type: ignore[arg-type]  # refused

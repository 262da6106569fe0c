"""What is released against what is claimed: exact laws on small domains, and samples against them."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from indistinct import (
    DiscreteGaussian,
    Gaussian,
    Geometric,
    Laplace,
    PureDP,
    RandomizedResponse,
    compose,
    least_noise,
    mechanisms,
)
from indistinct.noise import DiscreteLaplace, RoundedGaussian, RoundedLaplace, Scale
from tests.exact import to_fraction
from tests.mechanisms.releases import ANSWERING, Answering, hockey_stick, law_of, pair, probabilities
from tests.noise.budget import band
from tests.noise.test_laws import Law, distance, gaussian, rounded_laplace

LEVELS = [Fraction(each) for each in ("0", "0.05", "0.2", "0.5", "0.9")]
REACH = 160
SAMPLES = 300_000
UNSEEN = Fraction(1, 2**200)  # the laws are known to 2^-300

each = pytest.mark.parametrize("case", ANSWERING.values(), ids=ANSWERING)


def test_every_additive_mechanism_takes_part() -> None:
    answering = {
        name
        for name in mechanisms.__all__
        if isinstance(getattr(getattr(mechanisms, name), "noise", None), property)  # the sampler
    }
    tested = {type(case.mechanism).__name__ for case in ANSWERING.values()} | {"RandomizedResponse"}
    assert {"Laplace", "Geometric", "Gaussian", "DiscreteGaussian", "Staircase", "RandomizedResponse"} <= answering
    assert answering - tested == set(), "give each new mechanism a line in ANSWERING"


def odds_of(level: Fraction) -> Fraction:
    """e^epsilon to 80 digits."""
    with mpmath.workdps(80):
        return to_fraction(mpmath.exp(mpmath.mpf(level.numerator) / level.denominator))


def told(sampler: Any, steps: int, level: Fraction) -> Fraction:
    return hockey_stick(*pair(sampler, steps, REACH), odds_of(level))


def claimed(mechanism: Any, level: Fraction) -> tuple[Fraction, Fraction]:
    found = compose([mechanism]).delta(level)
    return Fraction(found.lower), Fraction(found.upper)


@each
def test_the_claim_bounds_the_law_of_what_is_released(case: Answering) -> None:
    for level in LEVELS:
        lower, upper = claimed(case.mechanism, level)
        for steps in range(1, case.distance + 1):
            assert told(case.mechanism.noise, steps, level) <= upper + UNSEEN
        if case.tight:
            assert told(case.mechanism.noise, case.distance, level) >= lower * (1 - Fraction(1, 10**9))


@each
def test_noise_that_is_5_percent_narrower_breaks_the_claim(case: Answering) -> None:
    narrower = case.bolder(Fraction(19, 20)).noise
    assert any(told(narrower, case.distance, level) > claimed(case.mechanism, level)[1] for level in LEVELS)


@pytest.mark.parametrize("scale", [1, 4, 30])
def test_discrete_laplace_noise_is_not_what_the_laplace_mechanism_claims(scale: int) -> None:
    """Which is why it is real Laplace noise that is rounded."""
    level = Fraction(1, 100)
    _, upper = claimed(Laplace(1, scale), level)
    assert told(Laplace(1, scale, granularity=1).noise, 1, level) <= upper
    assert told(DiscreteLaplace(scale), 1, level) > upper


def test_rounding_that_is_not_paid_for_breaks_the_claim() -> None:
    """Neighbours 1.2 apart may be 2 steps apart: noise that is wide enough for 1.2 is not for 2."""
    for mechanism, unpaid in (
        (Laplace("1.2", 4, granularity=1), RoundedLaplace(4)),
        (Gaussian("1.2", 4, granularity=1), RoundedGaussian(4)),
    ):
        level = Fraction(1, 20)
        assert told(mechanism.noise, 2, level) <= claimed(mechanism, level)[1] < told(unpaid, 2, level)


def test_least_noise_certifies_discrete_gaussian_noise_and_says_what_it_assumes() -> None:
    plan = least_noise(DiscreteGaussian, sensitivity=2, times=5, epsilon=1, delta="1e-5")
    assert compose({DiscreteGaussian(2, plan.value): 5}).delta(1).upper <= 1e-5
    assert compose({DiscreteGaussian(2, plan.value * Fraction(999, 1000)): 5}).delta(1).lower > 1e-5
    assert "is assumed" in str(plan)


@pytest.mark.parametrize("mechanism", [Laplace(4, 5, granularity=1), Geometric(4, epsilon="0.8")])
@pytest.mark.parametrize("steps", [(2, 2), (1, 3), (3, 1), (1, 1)])
def test_a_distance_spread_over_two_coordinates_tells_no_more(mechanism: Any, steps: tuple[int, int]) -> None:
    law = np.array([float(p) for p in probabilities(mechanism.noise, REACH)])
    padded = np.concatenate([np.zeros(4), law, np.zeros(4)])
    first, second = (np.roll(padded, step) for step in steps)
    for level in LEVELS:
        excess = np.maximum(np.outer(padded, padded) - float(odds_of(level)) * np.outer(first, second), 0).sum()
        assert excess <= float(claimed(mechanism, level)[1]) + 1e-12
    beyond = np.maximum(np.outer(padded, padded) - np.outer(np.roll(padded, 4), second), 0).sum()
    assert beyond > claimed(mechanism, Fraction(0))[1]  # a distance above 4 is seen to be


def test_a_vector_of_gaussians_tells_what_its_length_does() -> None:
    """3 and 4 steps in two coordinates are 5 in one."""
    mechanism = Gaussian(5, 12, granularity=1)
    law = np.array([float(p) for p in probabilities(mechanism.noise, REACH)])
    padded = np.concatenate([law, np.zeros(8)])
    both = np.outer(np.roll(padded, 3), np.roll(padded, 4))
    for level in LEVELS:
        assert (
            np.maximum(np.outer(padded, padded) - float(odds_of(level)) * both, 0).sum() <= claimed(mechanism, level)[1]
        )
    more = np.outer(np.roll(padded, 4), np.roll(padded, 4))
    assert np.maximum(np.outer(padded, padded) - more, 0).sum() > claimed(mechanism, Fraction(0))[1]


@pytest.mark.parametrize("mechanism", [RandomizedResponse("0.7"), RandomizedResponse("ln(3)", 4)])
def test_randomised_responses_have_the_law_that_is_claimed(mechanism: RandomizedResponse) -> None:
    kept = law_of_coin(mechanism)
    other = (1 - kept) / (mechanism.categories - 1)
    for level in LEVELS:
        odds = odds_of(level)
        lower, upper = claimed(mechanism, level)
        exact = max(kept - odds * other, Fraction(0)) + (mechanism.categories - 2) * max(
            other - odds * other, Fraction(0)
        )
        assert lower * (1 - Fraction(1, 10**9)) <= exact <= upper * (1 + Fraction(1, 10**9))
    values = np.repeat(np.arange(mechanism.categories), SAMPLES // mechanism.categories)
    away = (mechanism.release(values) - values) % mechanism.categories
    law = np.cumsum([float(kept), *[float(other)] * (mechanism.categories - 1)])
    allowed = band(len(values))
    assert distance(away, lambda x: np.where(x < 0, 0, law[np.clip(x.astype(int), 0, len(law) - 1)])) <= allowed
    for fault in (0.95, 1.05):
        assert abs((away == 0).mean() - fault * float(kept)) > allowed


def law_of_coin(mechanism: RandomizedResponse) -> Fraction:
    from indistinct.noise.bernoulli import CoinLaw

    return Fraction(CoinLaw(mechanism.noise.probability).survival(1, 300)[0], 2**300)


# Samples of what is released.

LAPLACE, GAUSSIAN = Laplace(scale="2.5"), Gaussian(sigma="2.5")
SAMPLED: dict[str, tuple[Laplace | Gaussian, float, Callable[[float], Law]]] = {
    "Laplace": (LAPLACE, 12.34, rounded_laplace),
    "Gaussian": (GAUSSIAN, -7.5, gaussian),
}


@pytest.mark.parametrize("name", SAMPLED)
@pytest.mark.parametrize("whole", [False, True])
def test_releases_have_the_law_of_the_real_mechanism(name: str, whole: bool) -> None:
    mechanism, real, law = SAMPLED[name]
    value = round(real) if whole else real
    released = mechanism.release(np.full(SAMPLES, value)) - value
    allowed = band(SAMPLES) + 2e-3  # the lattice of a long vector of real numbers, which widens the noise by 2^-10
    steps = np.round(released * 512)
    assert distance(steps, law(1280)) <= allowed
    for fault in (0.95, 1.05):
        assert distance(steps, law(1280 * fault)) > allowed


@each
def test_single_releases_have_the_enumerated_law(case: Answering) -> None:
    lattice = getattr(case.mechanism, "granularity", Fraction(1))
    value = 5.0
    released = [case.mechanism.release(value) for _ in range(20_000)]
    steps = np.array([round((Fraction(answer) - 5) / lattice) for answer in released])
    law = np.cumsum([float(p) for p in probabilities(case.mechanism.noise, REACH)])
    assert distance(steps, lambda x: law[np.clip(x.astype(int) + REACH, 0, 2 * REACH)]) <= band(20_000) + 1e-9
    wide = np.cumsum([float(p) for p in probabilities(case.bolder(Fraction(6, 5)).noise, REACH)])
    narrow = np.cumsum([float(p) for p in probabilities(case.bolder(Fraction(4, 5)).noise, REACH)])
    assert min(np.abs(law - wide).max(), np.abs(law - narrow).max()) > band(20_000)  # a test that sees 20%


# KOV, Theorem 4.4.


@pytest.mark.parametrize("times", [1, 2, 3])
def test_the_geometric_mechanism_meets_the_composition_bound(times: int) -> None:
    """Enumerated over all outcomes of `times` answers; KOV, Theorem 3.3, by its formula."""
    level = Fraction(1, 2)
    first, second = pair(Geometric(epsilon=level).noise, 1, 300)
    odds = first[400] / first[401]
    one = {k: Fraction(0) for k in (-1, 1)}  # the loss of one answer, in epsilons
    for p, q in zip(first, second, strict=True):
        one[1 if p > q else -1] += p
    composed = {0: Fraction(1)}
    for _ in range(times):
        total: dict[int, Fraction] = {}
        for loss, mass in composed.items():
            for step, probability in one.items():
                total[loss + step] = total.get(loss + step, Fraction(0)) + mass * probability
        composed = total
    for at in range(times):
        exact = sum((mass * (1 - odds ** (at - loss)) for loss, mass in composed.items() if loss > at), Fraction(0))
        kept = odds / (1 + odds)
        formula = sum(
            math.comb(times, wrong)
            * kept ** (times - wrong)
            * (1 - kept) ** wrong
            * (1 - odds ** (at - times + 2 * wrong))
            for wrong in range(times + 1)
            if times - 2 * wrong > at
        )
        assert abs(exact / formula - 1) < Fraction(1, 10**60)
        found = compose({Geometric(epsilon=level): times}).delta(at * level)
        assert found.lower * (1 - 1e-12) <= exact <= found.upper * (1 + 1e-12)


@pytest.mark.parametrize("times", [1, 2, 10, 30, 300])
def test_laplace_noise_stays_strictly_inside_it(times: int) -> None:
    ours, bound = compose({Laplace(epsilon="0.1"): times}), compose({PureDP("0.1"): times})
    for share in (Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)):
        at = share * times / 10
        assert ours.delta(at).upper < bound.delta(at).lower
    assert compose({Geometric(epsilon="0.1"): times}).delta("0.05") == bound.delta("0.05")


# What is not claimed of discrete Gaussian noise.


def test_discrete_gaussian_noise_of_a_larger_sigma_may_tell_more() -> None:
    """At sigma below about 1: which is why its knob proves nothing about what was not looked at."""
    level = Fraction("3.4")
    exact = [float(told(DiscreteGaussian(1, sigma).noise, 1, level)) for sigma in ("0.45", "0.455", "0.46")]
    assert exact[0] < exact[1] < exact[2]
    found = [compose([DiscreteGaussian(1, sigma)]).delta(level) for sigma in ("0.45", "0.46")]
    assert found[0].upper < found[1].lower
    assert DiscreteGaussian.knobs[0].because == ""


def test_and_from_sigma_2_on_none_that_does_was_found() -> None:
    laws = [np.exp(-(np.arange(-300.0, 301) ** 2) / (2 * sigma**2)) for sigma in np.geomspace(2, 20, 60)]
    for steps in (1, 2, 5):
        for odds in (1.0, 1.05, 1.3, 3.0):
            told = [np.maximum(w - odds * np.roll(w, steps), 0)[steps:].sum() / w.sum() for w in laws]
            assert (np.diff(told) <= 1e-12).all()


def test_the_law_of_every_sampler_is_known() -> None:
    assert law_of(Geometric(epsilon=1).noise) == law_of(DiscreteLaplace(Scale(1, 1)))

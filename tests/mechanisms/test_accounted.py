"""The mechanisms' losses against exact laws of their own, and what sampling makes of them."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath
import pytest

from indistinct import (
    ApproximateDP,
    DiscreteGaussian,
    DiscretePair,
    ExponentialMechanism,
    Gaussian,
    GaussianDP,
    Geometric,
    Laplace,
    PoissonSubsampled,
    PureDP,
    RandomizedResponse,
    RenyiDP,
    Staircase,
    ZeroConcentratedDP,
    compose,
    ln,
)
from indistinct.errors import InvalidParameter
from indistinct.numbers import Bracket

F = Fraction


def agree(one: Bracket, other: Bracket) -> bool:
    return one.lower <= other.upper and other.lower <= one.upper


@pytest.mark.parametrize("times", [1, 5, 300])
def test_k_ary_responses_are_their_pair(times: int) -> None:
    """Four categories, odds 3: kept with probability 1/2, else each of the others with 1/6."""
    pair = DiscretePair(["1/2", "1/6", "1/6", "1/6"], ["1/6", "1/2", "1/6", "1/6"])
    ours, exact = (compose({thing: times}) for thing in (RandomizedResponse(ln(3), 4), pair))
    for epsilon in ("0.5", "1"):
        assert agree(ours.delta(epsilon), exact.delta(epsilon))
    assert ours.delta("0.5").relative_width < 1e-8


def test_two_categories_are_randomised_response() -> None:
    ours, exact = compose({RandomizedResponse(ln(3)): 50}), compose({PureDP(ln(3)): 50})
    assert agree(ours.epsilon("1e-6"), exact.epsilon("1e-6"))
    assert ours.epsilon("1e-6").relative_width < 1e-9


@pytest.mark.parametrize("gamma", [None, "0.2", "0.7", 0, 1])
def test_staircase_is_its_density(gamma: object) -> None:
    """delta of one answer from the density itself, step by step."""
    mechanism = Staircase(epsilon="1.5", gamma=gamma)
    with mpmath.workdps(40):
        fall, g = mpmath.exp(-mpmath.mpf("1.5")), mpmath.mpf(mechanism.gamma.numerator) / mechanism.gamma.denominator
        height = (1 - fall) / (2 * (g + fall * (1 - g)))

        def density(x: Any) -> Any:
            whole = mpmath.floor(abs(x))
            return height * fall ** (whole + (abs(x) - whole >= g))

        cuts = sorted({mpmath.mpf(s) + t + k for k in range(-60, 61) for s in (0, 1) for t in (g, -g, 0)})
        exact = sum(
            (b - a) * max(density((a + b) / 2) - mpmath.exp("0.5") * density((a + b) / 2 - 1), 0)
            for a, b in pairwise(cuts)
        )
    found = compose([mechanism]).delta("0.5")
    assert float(exact) == pytest.approx(found.upper, rel=1e-12)


def test_discrete_gaussian_is_its_sum() -> None:
    with mpmath.workdps(40):
        weights = {x: mpmath.exp(-mpmath.mpf(x * x) / 18) for x in range(-80, 81)}
        total = sum(weights.values())
        exact = sum(max(w - mpmath.exp("0.3") * weights.get(x - 2, 0), 0) for x, w in weights.items()) / total
    found = compose([DiscreteGaussian(2, 3)]).delta("0.3")
    assert found.lower <= float(exact) <= found.upper
    assert found.relative_width < 1e-9


def test_a_vector_of_discrete_gaussians_claims_concentration_alone() -> None:
    assert DiscreteGaussian("1.5", 3, vector=True).loss == ZeroConcentratedDP("1/8")
    with pytest.raises(InvalidParameter, match="vector=True"):
        DiscreteGaussian("1.5", 3)


def test_the_exponential_mechanism_beats_its_pure_guarantee() -> None:
    epsilon = compose({ExponentialMechanism("0.1"): 500}).epsilon("1e-6").upper
    assert epsilon < compose({PureDP("0.1"): 500}).epsilon("1e-6").lower
    assert epsilon > compose({ZeroConcentratedDP(F("0.1") ** 2 / 8): 500}).epsilon("1e-6").upper * (1 - 1e-9)


# Samples.

RATE = F(1, 50)


def test_a_black_box_is_amplified_by_the_known_formula() -> None:
    """epsilon' = ln(1 + q (e^epsilon - 1)), delta' = q delta (Li, Qardaji and Su 2012)."""
    odds = 1 + RATE * 2
    profile = compose([PoissonSubsampled(ApproximateDP(ln(3), "0.01"), RATE)])
    exact = profile.delta(ln(odds))
    assert exact.lower <= float(RATE) * 0.01 <= exact.upper * (1 + 1e-12)
    assert exact.relative_width < 1e-9
    assert profile.delta(ln(odds - F(1, 100))).lower > float(RATE) * 0.0101


@pytest.mark.parametrize("times", [1, 3, 40])
def test_a_sampled_pair_is_the_pair_of_the_sample(times: int) -> None:
    pair = DiscretePair(["1/2", "1/4", "1/4", 0], ["1/8", 0, "3/8", "1/2"])
    mixed = DiscretePair(
        [RATE * p + (1 - RATE) * q for p, q in zip(pair.null, pair.alternative, strict=True)], pair.alternative
    )
    ours, exact = compose({PoissonSubsampled(pair, RATE): times}), compose({mixed: times})
    assert ours.delta("0.01") == exact.delta("0.01")
    assert agree(
        compose({PoissonSubsampled(PureDP(ln(3)), RATE): times}).delta("0.01"),
        compose({PoissonSubsampled(DiscretePair(["3/4", "1/4"], ["1/4", "3/4"]), RATE): times}).delta("0.01"),
    )


def test_one_sampled_laplace_answer_is_the_integral() -> None:
    found = compose([PoissonSubsampled(Laplace(scale=1), RATE)]).delta("0.01")
    with mpmath.workdps(30):
        rate, odds = mpmath.mpf(1) / 50, mpmath.exp(mpmath.mpf("0.01"))

        def removing(u: Any) -> Any:
            return mpmath.exp(-(u + 1) / 2) / 4 * max(1 - rate + rate * mpmath.exp(u) - odds, 0)

        def adding(u: Any) -> Any:
            return mpmath.exp(-(u + 1) / 2) / 4 * max(1 - odds * (1 - rate + rate * mpmath.exp(u)), 0)

        sides = []
        for side, sign in ((removing, 1), (adding, -1)):
            turn = mpmath.log((mpmath.exp(sign * mpmath.mpf("0.01")) - 1) / rate + 1)
            ends = mpmath.exp(-1) / 2 * side(mpmath.mpf(1)) * 4 * mpmath.exp(1), side(mpmath.mpf(-1)) * 2
            sides.append(mpmath.quad(side, [-1, turn, 1]) + sum(ends))
        exact = float(max(sides))
    assert found.lower <= exact <= found.upper
    assert found.relative_width < 1e-4


@pytest.mark.parametrize("mechanism", [Laplace(scale=2), Geometric(3, epsilon=1), DiscreteGaussian(1, 2)])
def test_the_ends_of_the_rate(mechanism: Any) -> None:
    none, all_ = PoissonSubsampled(mechanism, 0), PoissonSubsampled(mechanism, 1)
    assert compose({none: 100}).delta(0) == Bracket(0, 0)
    assert compose({all_: 1000}).delta(100) == compose({mechanism: 1000}).delta(100)


def test_nearly_everybody_is_nearly_everybody() -> None:
    nearly = compose({PoissonSubsampled(Laplace(scale=2), "0.999999999"): 1000}).delta(100)
    whole = compose({Laplace(scale=2): 1000}).delta(100)
    assert nearly.upper == pytest.approx(whole.upper, rel=1e-4)


def test_a_sample_of_a_sample_is_a_smaller_sample() -> None:
    twice = PoissonSubsampled(PoissonSubsampled(PureDP(1), "0.5"), "0.1")
    assert twice == PoissonSubsampled(PureDP(1), "0.05")


def test_gaussian_privacy_is_sampled_as_gaussian_noise() -> None:
    ours, exact = (
        compose({PoissonSubsampled(thing, "0.01"): 5000}).delta(3) for thing in (GaussianDP(2), Gaussian(2, 1))
    )
    assert ours == exact


@pytest.mark.parametrize(
    ("mechanism", "words"),
    [
        (RandomizedResponse(1, 5), "hold for adding or removing"),
        (ZeroConcentratedDP("0.1"), "has a pair of laws"),
        (RenyiDP(8, "0.1"), "has a pair of laws"),
        (ExponentialMechanism("0.1"), "a PureDP guarantee does"),
        ("noise", "has a pair of laws"),
    ],
)
def test_what_cannot_be_sampled_is_refused(mechanism: Any, words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        PoissonSubsampled(mechanism, "0.1")


@pytest.mark.parametrize("rate", [-0.1, 1.5, math.nan, "often"])
def test_rates_are_probabilities(rate: object) -> None:
    with pytest.raises(InvalidParameter):
        PoissonSubsampled(Gaussian(), rate)


def test_adding_and_replacing_do_not_mix() -> None:
    with pytest.raises(InvalidParameter, match="one kind of neighbouring databases"):
        compose([PoissonSubsampled(PureDP(1), "0.1"), RandomizedResponse(1, 3)])
    with pytest.raises(InvalidParameter, match="one kind of neighbouring databases"):
        compose([PoissonSubsampled(Laplace(scale=1), "0.1"), RandomizedResponse(1, 3)])

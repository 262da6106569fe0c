"""Accuracy, failure and intervals: against sums and integrals, against samples, and with planted faults."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import stats

from indistinct import DiscreteGaussian, Gaussian, Geometric, Laplace, Staircase, ln
from indistinct.errors import InvalidParameter
from indistinct.mechanisms.discrete_gaussian import WideGaussianLaw
from indistinct.mechanisms.quantiles import whole_quantile
from indistinct.noise import Scale
from indistinct.noise.gaussian_law import GaussianLaw
from tests.exact import to_fraction
from tests.mechanisms.releases import law_of
from tests.noise.budget import band

WHOLE: dict[str, Any] = {
    "Geometric": Geometric(epsilon="0.1"),
    "Geometric, wide": Geometric(500, epsilon=1),
    "DiscreteGaussian": DiscreteGaussian(sigma=10, vector=True),
    "Staircase": Staircase.on_integers(5, epsilon="0.4"),
}
REAL: dict[str, Any] = {
    "Laplace": Laplace(scale=10),
    "Laplace, rounded": Laplace("0.3", scale=10, granularity="1/2"),
    "Gaussian": Gaussian(sigma=10),
    "Staircase": Staircase(2, epsilon="0.4"),
    "Staircase, sharp": Staircase(2, epsilon=6, gamma="0.3"),
}
EVERY = WHOLE | REAL
BETAS = ["0.5", "0.05", "1e-3", "1e-12", "1e-250"]
COUNTS = [1, 7, 10_000]

every = pytest.mark.parametrize("name", EVERY)
whole = pytest.mark.parametrize("name", WHOLE)


def weight(mechanism: Any, x: int) -> Any:
    """Of the law's definition."""
    match mechanism:
        case Geometric(sensitivity=width, epsilon=level):
            return mpmath.exp(-mpmath.mpf(x) * level.numerator / level.denominator / width)
        case DiscreteGaussian(sigma=sigma):
            return mpmath.exp(-(mpmath.mpf(x) ** 2) / (2 * float(sigma) ** 2))
        case Staircase(sensitivity=width, epsilon=level):
            period, place = divmod(x, int(width))
            step = mechanism.noise.step
            return mpmath.exp(-(period + (place >= step)) * mpmath.mpf(level.numerator) / level.denominator)
    raise AssertionError


@whole
@pytest.mark.parametrize("count", COUNTS)
def test_quantiles_of_whole_noise_are_those_of_the_summed_law(name: str, count: int) -> None:
    mechanism = WHOLE[name]
    with mpmath.workdps(60):
        scale = 500 if name.endswith("wide") else 13
        masses = [weight(mechanism, x) for x in range(min(80 * scale, 60_000))]
        total = 2 * sum(masses) - masses[0]
        within = masses[0]
        for beta in ("0.5", "0.05", "1e-3"):
            inside, a = within, 0
            while 1 - (inside / total) ** count > mpmath.mpf(beta):
                a += 1
                inside += 2 * masses[a]
            found = mechanism.accuracy(beta, count)
            assert (found.exact.lower, found.exact.upper) == (a, a)
            assert found.alpha >= a
            chance = mechanism.failure(a, count)
            assert chance.exact.lower <= 1 - (inside / total) ** count <= chance.exact.upper
            assert mechanism.failure(a - 1, count).exact.lower > float(beta)  # one less is not enough


@every
def test_the_theorem_bounds_the_exact_value_and_failure_undoes_accuracy(name: str) -> None:
    mechanism = EVERY[name]
    for count in COUNTS:
        for beta in BETAS:
            found = mechanism.accuracy(beta, count)
            assert found.exact is not None
            assert found.exact.lower <= found.alpha
            back = mechanism.failure(found.alpha, count)
            assert back.exact.lower <= float(beta) * (1 + 1e-9)
            assert back.beta >= back.exact.lower
            if "Staircase" not in name:  # whose bound is in whole periods
                assert back.beta <= float(beta) * 1.1 or name == "DiscreteGaussian"
    assert mechanism.failure(0).beta >= 0.7
    assert mechanism.failure(10**9).beta < 1e-300 or name == "Geometric, wide"


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("beta", ["0.5", "0.05", "1e-12"])
def test_quantiles_of_real_noise_are_those_of_its_law(count: int, beta: str) -> None:
    with mpmath.workdps(60):
        each = -mpmath.expm1(mpmath.log1p(-mpmath.mpf(beta)) / count)
        laplace = -10 * mpmath.log(each)
        gaussian = 10 * mpmath.sqrt(2) * mpmath.erfinv(1 - each)
    for mechanism, exact in ((Laplace(scale=10), laplace), (Gaussian(sigma=10), gaussian)):
        found = mechanism.accuracy(beta, count).exact
        assert found is not None
        assert found.lower < exact < found.upper
        assert found.relative_width < 0.004
        narrow, wide = (type(mechanism)(1, size).accuracy(beta, count).exact for size in ("9.9", "10.1"))
        assert narrow is not None
        assert wide is not None
        assert narrow.upper < exact < wide.lower  # 1% off is seen


def test_staircase_tails_are_integrals() -> None:
    mechanism = Staircase(2, epsilon="0.8", gamma="0.3")
    fall, share = math.exp(-0.8), 0.3
    heights = [(k * 2.0, k * 2 + 2 * share, fall**k) for k in range(80)]
    heights += [(k * 2 + 2 * share, k * 2 + 2.0, fall ** (k + 1)) for k in range(80)]
    total = sum((high - low) * height for low, high, height in heights)
    for distance in (0.1, 0.7, 2.0, 2.59, 9.3, 20.05):
        beyond = sum(max(high - max(low, distance), 0) * height for low, high, height in heights)
        found = mechanism.failure(distance).exact
        assert found is not None
        assert found.lower <= beyond / total <= found.upper
        assert found.relative_width < 0.02
        back = mechanism.accuracy(beyond / total).exact
        assert back is not None
        assert back.lower <= distance <= back.upper
        assert back.width < 0.01


@every
def test_intervals_cover_as_often_as_they_say_and_narrower_ones_do_not(name: str) -> None:
    mechanism, samples = EVERY[name], 100_000
    value = 7 if name in WHOLE else 7.3
    options = {"disjoint": True} if "Staircase" in name else {}
    answers = mechanism.release(np.full(samples, value), **options)
    for level in ("0.5", "0.9"):
        lower, upper = mechanism.interval(answers, level)
        covered = np.mean((lower <= value) & (value <= upper))
        assert covered >= float(level) - band(samples)
        shrunk = (upper - lower) * 0.45
        assert np.mean(np.abs(answers - value) <= shrunk) < float(level) - band(samples) / 10


@every
def test_together_means_all_at_once(name: str) -> None:
    mechanism = EVERY[name]
    options = {"disjoint": True} if "Staircase" in name else {}
    joint, end = mechanism.interval(np.zeros(20), "0.9", together=True)
    rounds = [mechanism.release(np.arange(20), **options) - np.arange(20) for _ in range(2000)]
    missed = sum(not ((joint <= -errors) & (-errors <= end)).all() for errors in rounds)
    assert missed <= stats.binom.ppf(1 - 1e-9, len(rounds), 0.1)
    single, _ = mechanism.interval(np.zeros(20), "0.9")
    assert (joint < single).all()


@pytest.mark.parametrize("make", [Laplace, Gaussian])
def test_an_interval_for_one_of_many_knows_of_the_wider_noise(make: Any) -> None:
    mechanism = make(1, 10, granularity="1/2")
    answers = np.array([mechanism.release(np.full(50, 0.25)) for _ in range(400)])
    lower, upper = mechanism.interval(0.0, "0.9", among=50)
    assert np.mean((lower <= 0.25 - answers) & (0.25 - answers <= upper)) >= 0.9 - band(answers.size)
    narrow, wide = mechanism.interval(0.0, "0.9")
    assert np.mean((narrow <= 0.25 - answers) & (0.25 - answers <= wide)) < 0.9 - band(answers.size)
    assert mechanism.interval([], "0.9")[0].shape == (0,)
    with pytest.raises(InvalidParameter, match="count"):
        mechanism.interval(0.0, among=0)


def test_intervals_of_single_answers() -> None:
    lower, upper = Geometric(epsilon="0.1").interval(50)
    assert (lower, upper) == (20, 80)
    assert type(lower) is int
    low, high = Laplace(epsilon="0.1").interval(50.0)
    assert low < 50 - 29.957 < low + 0.02
    assert high - 50 == pytest.approx(50 - low)


def test_example_3_3_first_names() -> None:
    """Dwork and Roth: 10,000 names, epsilon 1: ln(10000 / 0.05), about 12.2, with probability 95%."""
    found = Laplace(epsilon=1).accuracy("0.05", count=10_000)
    assert found.alpha == pytest.approx(math.log(10_000 / 0.05), rel=2e-3)
    assert f"{found.alpha:.1f}" == "12.2"
    assert found.exact is not None
    assert found.exact.lower < -math.log(-math.expm1(math.log(0.95) / 10_000)) < found.exact.upper


def test_large_discrete_gaussians_are_enclosed_without_a_sum() -> None:
    for sigma in (1000, 1001):
        for i in (1, 900, 3000, 9000):
            summed = GaussianLaw(Scale(sigma**2), Fraction(1, 2)).survival(i, 200)
            enclosed = WideGaussianLaw(Fraction(sigma)).survival(i, 200)
            assert enclosed[0] <= summed[1]
            assert summed[0] <= enclosed[1]
    wide = DiscreteGaussian(sigma=10**6).accuracy("0.05").exact
    assert wide is not None
    assert wide.width <= 1
    assert wide.lower - 1 <= 1.959963985 * 10**6 <= wide.upper + 1


def test_a_tie_is_enclosed() -> None:
    """P(|X| >= 1) is 1/2 at epsilon ln 3: neither 0 nor 1 is ruled out for beta 1/2 by any precision."""
    from indistinct.noise import DiscreteLaplace

    law = law_of(DiscreteLaplace(Scale(1, ln(3))))
    found = whole_quantile(law, Fraction(1, 2), 1, 1.0)
    assert found.lower == 0
    assert found.upper <= 1


def test_tails_far_out_are_told_apart_from_nothing() -> None:
    found = Geometric(epsilon=1).failure(600)
    with mpmath.workdps(40):
        exact = to_fraction(2 * mpmath.exp(-601) / (1 + mpmath.exp(-1)))
    assert found.exact is not None
    assert Fraction(found.exact.lower) <= exact <= Fraction(found.exact.upper)
    assert found.exact.relative_width < 1e-12


@every
def test_bad_questions_are_refused(name: str) -> None:
    mechanism = EVERY[name]
    for beta in (0, 1, -1, math.nan, "1e-301", "x", None):
        with pytest.raises(InvalidParameter, match="beta"):
            mechanism.accuracy(beta)
    for count in (0, -1, 1.5, math.inf):
        with pytest.raises(InvalidParameter, match="count"):
            mechanism.accuracy("0.05", count)
    for alpha in (-1, math.nan, "x", None):
        with pytest.raises(InvalidParameter, match="alpha"):
            mechanism.failure(alpha)
    for level in (0, 1, 95, math.nan):
        with pytest.raises(InvalidParameter, match="level"):
            mechanism.interval(1, level)
    with pytest.raises(InvalidParameter, match="finite"):
        mechanism.interval(math.nan)

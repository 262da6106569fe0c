"""Every law of losses against sums and integrals over the noise itself, at 50 digits, from the exact parameters.

What is tested is the claim: K and the log ratios are within the doubt that the law states, however small things are,
and no bound of a modulus is below it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import mpc

from indistinct import Geometric, Laplace, Staircase
from indistinct.composition.losses import (
    AtomsLoss,
    GaussianLoss,
    LaplaceLoss,
    LossLaw,
    ResponsesLoss,
    SubsampledLoss,
    discrete_gaussian_loss,
)
from indistinct.composition.losses.law import Cumulants, Doubt, PrivacyLoss, bound_by_spread
from indistinct.composition.losses.three_way import three_way_pair
from indistinct.composition.responses import Responses
from indistinct.numbers.balls import ball
from tests.composition.losses import truth

F = Fraction
TILTS = (1e-6, 1.0, 10.0)
PLACES = (1e-6, 0.1, 1.0, 3.0, 20.0)


@dataclass
class Case:
    """A law and its transform by another way; how far out that can be had at all."""

    name: str
    law: LossLaw
    transform: truth.Transform
    highest: float = math.inf


def only_law(thing: object) -> LossLaw:
    assert isinstance(thing, Laplace | Geometric | Staircase)
    loss = thing.loss
    assert isinstance(loss, PrivacyLoss)
    assert loss.forward is loss.backward
    return loss.forward


def three_way(epsilon: F, certain: F) -> LossLaw:
    return three_way_pair(epsilon, ball(certain)).forward


def cases() -> list[Case]:
    found = []
    for e in (F(1, 10**9), F(1, 1000), F(7, 10), F(5), F(40)):
        found += [
            Case(f"response {float(e)}", ResponsesLoss(Responses.of([(e, 1)])), truth.response(e)),
            Case(f"geometric 3 {float(e)}", only_law(Geometric(3, epsilon=e)), truth.geometric(3, e)),
            Case(f"three-way {float(e)}", three_way(e, F(3, 8)), truth.three_way(e, F(3, 8))),
        ]
    found += [Case(f"Laplace {e}", only_law(Laplace(epsilon=e)), truth.laplace(F(e))) for e in ("1e-9", "0.7")]
    found += [
        Case("geometric 200", only_law(Geometric(200, epsilon="1e-3")), truth.geometric(200, F(1, 1000))),
        Case("staircase", only_law(Staircase(epsilon=2, gamma="1/4")), truth.staircase(F(2), F(1, 4))),
        Case("staircase, wide steps", only_law(Staircase(epsilon=5, gamma="3/4")), truth.staircase(F(5), F(3, 4))),
        Case("discrete Gaussian", discrete_gaussian_loss(1, F(1)), truth.discrete_gaussian(1, F(1), 100)),
        Case("narrow discrete Gaussian", discrete_gaussian_loss(2, F(1, 4)), truth.discrete_gaussian(2, F(1, 4), 200)),
        Case("Gaussian", GaussianLoss(0.3), truth.gaussian(F(0.3)), 30.0),
    ]
    sampled = [("0.5", "1e-9"), ("0.8", "0.004"), ("3", "0.999999999"), ("1000000", "0.01")]
    for sigma, rate in sampled:
        for removing in (True, False):
            law = SubsampledLoss(F(sigma), F(rate), removing)
            name = f"sampled {sigma} {rate} {'removing' if removing else 'adding'}"
            found.append(Case(name, law, truth.subsampled(F(sigma), F(rate), removing=removing), 12.0))
    return found


def wrongs(case: Case, tilt: float, law: LossLaw | None = None) -> list[str]:
    """Where a law is further from the truth than it says."""
    law = law or case.law
    found = []
    value, doubt = law.cumulants(tilt), law.doubt(tilt)
    y = np.array(PLACES) / math.sqrt(value.variance)
    y = y[y < case.highest]
    ratios = law.log_ratio(tilt, y)
    with mpmath.workdps(truth.DIGITS):
        at_zero = case.transform(mpc(tilt))
        if not abs(value.value - mpmath.log(at_zero.real)) <= doubt.value:
            found.append(f"K({tilt}) = {value.value} instead of {mpmath.nstr(mpmath.log(at_zero.real), 20)}")
        for at, ratio in zip(y.tolist(), ratios.tolist(), strict=True):
            exact = case.transform(mpc(tilt, at)) / at_zero
            relative = math.expm1(min(doubt.constant + doubt.relative * abs(ratio), 700.0))
            allowed = relative * math.exp(ratio.real) + doubt.slope * at
            if not abs(mpmath.exp(mpc(ratio)) - exact) <= allowed:
                found.append(f"ratio at {tilt} + {at} i: {ratio} instead of {mpmath.nstr(mpmath.log(exact), 20)}")
    return found


ALL = cases()


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_a_law_is_as_accurate_as_it_says(case: Case) -> None:
    assert [wrong for tilt in TILTS for wrong in wrongs(case, min(tilt, case.law.steepest))] == []


@pytest.mark.parametrize("epsilon", ["1e-9", "0.0075", "0.3", "0.7", "5"])
@pytest.mark.parametrize("share", [1e-6, 0.1, 0.499, 0.501, 3.0, 30.0])
def test_the_moments_of_laplace_noise_are_derivatives(epsilon: str, share: float) -> None:
    """On either side of where another form takes over, at (tilt + 1) epsilon = 1/2."""
    law, tilt = LaplaceLoss(F(epsilon)), max(share / float(F(epsilon)) - 1, 1e-3)
    found = law.cumulants(min(tilt, law.steepest))
    with mpmath.workdps(60):
        transform = truth.laplace(F(law.epsilon))
        mean, variance = (
            mpmath.diff(lambda t: mpmath.log(transform(mpc(t)).real), mpmath.mpf(min(tilt, law.steepest)), order)
            for order in (1, 2)
        )
        assert found.mean == pytest.approx(float(mean), rel=1e-9, abs=0)
        assert found.variance == pytest.approx(float(variance), rel=1e-4, abs=0)


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_a_doubt_is_small_enough_to_be_of_use(case: Case) -> None:
    """A trillion repetitions leave K right to a part in 10^9 of itself, or of t times the losses."""
    for tilt in TILTS:
        doubt, value = case.law.doubt(tilt), case.law.cumulants(tilt)
        assert doubt.value <= 1e-11 * value.value
        assert doubt.slope <= 1e-10 * math.sqrt(value.variance + value.mean**2)


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_bounds_of_the_modulus_hold_over_their_whole_reach(case: Case) -> None:
    for tilt in (0.05, 1.0, 7.0):
        spread = math.sqrt(case.law.cumulants(tilt).variance)
        y = np.array([0.0, 0.01, 0.3, 1.0, 3.0, 8.0, 25.0, 60.0]) / spread
        y = y[y < 40 * case.highest]
        for reach in (0.0, min(0.05 / spread, case.highest), min(1 / spread, case.highest)):
            bounds = case.law.log_bound(tilt, y, reach)
            for share in (-1.0, -0.5, 0.0, 0.7, 1.0):
                moduli = case.law.log_ratio(tilt, np.abs(y + share * reach)).real
                assert np.all(
                    bounds >= moduli - 1e-9 * np.abs(moduli) - 1e-15 - 1e-11 * np.exp(np.minimum(-moduli, 99.0))
                )


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_the_other_law_of_the_pair_has_mass_one(case: Case) -> None:
    """E e^-L = 1: M(-1) = 1 for pairs of which neither makes possible what the other does not."""
    with mpmath.workdps(truth.DIGITS):
        assert abs(case.transform(mpc(-1)) - 1) < 1e-24


@pytest.mark.parametrize("epsilon", ["0.7", "0.1", "1/3", "2.3", "1e-9"])
def test_the_largest_loss_is_never_below_the_truth(epsilon: str) -> None:
    laws = [
        only_law(Laplace(epsilon=epsilon)),
        only_law(Geometric(3, epsilon=epsilon)),
        three_way(F(epsilon), F(3, 10)),
    ]
    for law in laws:
        assert F(epsilon) <= F(law.largest) <= F(epsilon) * (1 + F(1, 10**14))
    for rate in ("0.1", "1e-20", "0.999999999999"):
        exact = SubsampledLoss(F(1), F(rate), removing=False).largest
        with mpmath.workdps(40):
            bound = -mpmath.log1p(-mpmath.mpf(rate))
            assert bound <= exact <= bound * (1 + mpmath.mpf(10) ** -14)
        assert SubsampledLoss(F(1), F(rate), removing=True).largest == math.inf


# Planted faults.


def test_a_sum_that_cancels_is_noticed() -> None:
    """K as log of sum p e^(t l), right only to a unit of 1, not of K: what a trillion repetitions make of it."""

    class Cancelling(AtomsLoss):
        def cumulants(self, tilt: float) -> Cumulants:
            right = super().cumulants(tilt)
            sum_ = float(np.sum(np.exp(self.log_probabilities + tilt * self.losses)))
            return Cumulants(math.log(sum_), right.mean, right.variance)

    (case,) = (case for case in ALL if case.name == "geometric 3 0.001")
    assert isinstance(case.law, AtomsLoss)
    broken = Cancelling(case.law.losses, case.law.log_probabilities, balanced=True)
    assert wrongs(case, 1.0) == []
    assert wrongs(case, 1.0, broken) != []


def test_a_rounded_parameter_is_noticed() -> None:
    """An epsilon that is off by a part in 10^12."""
    (case,) = (case for case in ALL if case.name == "Laplace 0.7")
    assert wrongs(case, 1.0, LaplaceLoss(F(0.7 * (1 + 1e-12)))) != []


def test_a_sum_that_does_not_know_of_the_frequency_is_noticed() -> None:
    """The points that suffice for K, used for all y: they are a lattice, and its transform returns."""

    class Coarse(SubsampledLoss):
        def _step(self, tilt: float, y: float) -> float:
            return super()._step(tilt, 0.0 * y)

    for q in (F(1, 2), F(9, 10)):
        y = np.array([60.0, 75.0])
        fine = SubsampledLoss(F(1), q, removing=True).log_ratio(1.0, y)
        coarse = Coarse(F(1), q, removing=True).log_ratio(1.0, y)
        assert np.max(np.abs(np.exp(coarse) - np.exp(fine))) > 1e-6


def test_points_that_do_not_reach_far_enough_are_noticed() -> None:
    """Adding a record at a high rate moves the tilted mass to the left, by as much as the tilt."""

    class Short(SubsampledLoss):
        def _places(self, tilt: float, step: float) -> np.ndarray:
            found = super()._places(tilt, step)
            return found[found > -12 * float(self.exact_sigma)]

    exact = truth.subsampled(F(3), F("0.9"), removing=False)
    case = Case("wide", SubsampledLoss(F(3), F("0.9"), removing=False), exact, 1.0)
    assert wrongs(case, 80.0) == []
    assert wrongs(case, 80.0, Short(F(3), F("0.9"), removing=False)) != []


def test_a_spread_that_is_too_small_is_noticed() -> None:
    """Where the modulus rises again fast: near the period of an even lattice."""

    class Narrow(AtomsLoss):
        def cumulants(self, tilt: float) -> Cumulants:
            right = super().cumulants(tilt)
            return Cumulants(right.value, right.mean, right.variance / 100)

    law = only_law(Geometric(3, epsilon=1))
    assert isinstance(law, AtomsLoss)
    narrow = Narrow(law.losses, law.log_probabilities, balanced=True)
    y = np.array([8.0])
    least: Callable[[LossLaw], float] = lambda which: float(bound_by_spread(which, 1.0, y, 1.4)[0])  # noqa: E731
    highest = float(np.max(law.log_ratio(1.0, np.linspace(6.6, 9.4, 99)).real))
    assert least(narrow) < highest <= least(law)


def test_what_is_not_balanced_is_not_taken_for_it() -> None:
    """Half the alternative's mass is where the null has none: E e^-L = 1/2, and K is about t ln 2, not t^2."""
    law = AtomsLoss.of([(math.log(2), 1.0)])
    for tilt in (1e-6, 0.5, 3.0):
        value, doubt = law.cumulants(tilt).value, law.doubt(tilt)
        assert isinstance(doubt, Doubt)
        assert abs(value - tilt * math.log(2)) <= doubt.value

"""The least noise: against values computed elsewhere and another algorithm, and never less than what is proven."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from indistinct import (
    ApproximateDP,
    Gaussian,
    GaussianDP,
    Geometric,
    Laplace,
    PoissonSubsampled,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
    compose,
    least_noise,
    ln,
)
from indistinct.composition import classic_sigma
from indistinct.composition.conversions import largest_rho
from indistinct.composition.planning import Budget, Calibration
from indistinct.composition.planning.crossing import CLOSE, Crossing
from indistinct.errors import InvalidParameter


def faults(plan: Calibration, rebuilt: Any) -> list[str]:
    """What is wrong with a plan, judged by composing its mechanism and the insufficient one anew."""
    found = []
    claim, other = plan.bracket.upper, plan.bracket.lower
    if not plan.quiets:
        claim, other = other, claim
    epsilon, delta = plan.budget.epsilon, plan.budget.delta
    if not compose({plan.mechanism: plan.times}).delta(epsilon).upper <= delta:
        found.append("the claim does not fit")
    if not compose({rebuilt(Fraction(other)): plan.times}).delta(epsilon).lower > delta:
        found.append("the other end fits")
    if not math.isclose(claim, plan.value, rel_tol=1e-15) or (claim > other) != plan.quiets:
        found.append("the bracket is not about the value")
    if not plan.bracket.relative_width <= CLOSE:
        found.append("the bracket is wide")
    return found


def by_convolution(scale: float, times: int, epsilon: float, cells: int) -> float:
    """delta of Laplace noise by a tilted FFT over a fine grid, with the smooth part's mass at the cells' middles.

    Off by the square of the cells' width; no transform of the loss, no contour.
    """
    e, tilt, size = 1 / scale, 25.0, 1 << 20
    grid = e / cells / 2
    j = np.arange(-cells, cells)
    smooth = 0.5 * (np.exp(((j + 1) * 2 * grid - e) / 2) - np.exp((j * 2 * grid - e) / 2))
    places = np.concatenate([[2 * cells, -2 * cells], 2 * j + 1])
    masses = np.concatenate([[0.5, 0.5 * math.exp(-e)], smooth])
    tilted = masses * np.exp(tilt * places * grid)
    norm = float(np.sum(tilted))
    law = np.zeros(size)
    np.add.at(law, places % size, tilted / norm)
    power = np.fft.irfft(np.fft.rfft(law) ** times, size)
    centre = round(times * float(np.sum(tilted / norm * places)))
    losses = ((np.arange(size) - centre + size // 2) % size - size // 2 + centre) * grid
    above = losses > epsilon
    terms = power[above] * np.exp(-tilt * losses[above]) * -np.expm1(epsilon - losses[above])
    return math.exp(times * math.log(norm)) * float(np.sum(terms))


def laplace_delta(scale: float, times: int, epsilon: float) -> float:
    coarse, fine = (by_convolution(scale, times, epsilon, cells) for cells in (125, 250))
    return (4 * fine - coarse) / 3


def test_a_thousand_laplace_answers() -> None:
    plan = least_noise(Laplace, sensitivity=1, times=1000, epsilon=1, delta="1e-6")
    assert faults(plan, lambda scale: Laplace(1, scale)) == []
    assert isinstance(plan.mechanism, Laplace)
    assert plan.mechanism.scale == plan.value
    for end, off in ((plan.bracket.upper, 0.0), (plan.bracket.upper * (1 + 1e-5), -2.06e-4)):
        assert laplace_delta(end, 1000, 1.0) == pytest.approx(1e-6 * (1 + off), rel=2e-6)
    # A contour that leaves out the echoes of the two atoms finds 133.2418162, which is 3e-6 too small.
    assert laplace_delta(133.2418162, 1000, 1.0) > 1.00006e-6


def test_a_thousand_gaussian_answers_by_the_table() -> None:
    plan = least_noise(Gaussian, times=1000, epsilon=1, delta="1e-6")
    assert faults(plan, lambda sigma: Gaussian(1, sigma)) == []
    assert f"{plan.bracket.upper:.10f}" == "133.5960767310"


def test_the_largest_level_by_the_table() -> None:
    plan = least_noise(PureDP, times=1000, epsilon=1, delta="1e-6")
    assert faults(plan, PureDP) == []
    assert f"{plan.bracket.lower:.10f}" == "0.0074951001"


@pytest.mark.parametrize(
    ("epsilon", "delta", "sigma"),
    [
        ("1", "1e-5", 3.73063163481594),
        ("0.5", "1e-5", 7.03182667558249),
        ("2", "1e-6", 2.23047627118642),
        ("10", "1e-8", 0.615846355760122),
    ],
)
def test_one_gaussian_answer_by_the_table(epsilon: str, delta: str, sigma: float) -> None:
    plan = least_noise(Gaussian, epsilon=epsilon, delta=delta)
    assert faults(plan, lambda each: Gaussian(1, each)) == []
    assert plan.bracket.lower <= sigma * (1 + 1e-14)
    assert sigma * (1 - 1e-14) <= plan.bracket.upper
    assert plan.bracket.relative_width < 1e-12


@pytest.mark.parametrize(
    ("mechanism", "fixed", "times", "epsilon", "delta", "rebuilt"),
    [
        (Laplace, {"sensitivity": "0.001"}, 300, 1, "1e-9", lambda v: Laplace("0.001", v)),
        (Laplace, {}, 10**12, "0.5", "1e-6", lambda v: Laplace(1, v)),
        (Gaussian, {"sensitivity": 7}, 10, 0, "1e-3", lambda v: Gaussian(7, v)),
        (Geometric, {}, 50, "ln(3)", "1e-4", lambda v: Geometric(epsilon=v)),
        (ApproximateDP, {"each_delta": "1e-9"}, 100, 1, "1e-6", lambda v: ApproximateDP(v, "1e-9")),
        (GaussianDP, {}, 10, 3, "1e-30", GaussianDP),
        (
            PoissonSubsampled,
            {"rate": "0.004"},
            10**5,
            9,
            "1e-6",
            lambda v: PoissonSubsampled(Gaussian(sigma=v), "0.004"),
        ),
        (
            PoissonSubsampled,
            {"mechanism": Gaussian(sigma="0.9")},
            10**5,
            8,
            "1e-6",
            lambda v: PoissonSubsampled(Gaussian(sigma="0.9"), v),
        ),
    ],
)
def test_both_ends_are_proven(
    mechanism: Any, fixed: dict[str, Any], times: int, epsilon: object, delta: str, rebuilt: Any
) -> None:
    plan = least_noise(mechanism, times=times, epsilon=epsilon, delta=delta, **fixed)
    assert faults(plan, rebuilt) == []
    assert plan.because


def test_faults_are_noticed() -> None:
    plan = least_noise(Gaussian, times=10, epsilon=1, delta="1e-6")
    assert "the other end fits" in faults(plan, lambda v: Gaussian(1, v * Fraction(11, 10)))
    assert "the claim does not fit" in faults(
        Calibration(**{**_fields(plan), "mechanism": Gaussian(1, plan.value * Fraction(9, 10))}),
        lambda v: Gaussian(1, v),
    )


def _fields(plan: Calibration) -> dict[str, Any]:
    return {name: getattr(plan, name) for name in Calibration.__slots__}


def test_beside_other_parts() -> None:
    beside = {Gaussian(sigma=50): 100, PureDP("0.01"): 20}
    plan = least_noise(Laplace, times=100, epsilon=1, delta="1e-6", beside=beside)
    alone = least_noise(Laplace, times=100, epsilon=1, delta="1e-6")
    assert plan.value > alone.value
    whole = compose([compose({plan.mechanism: 100}), compose(beside)])
    assert whole.delta(1).upper <= 1e-6
    less = compose([compose({Laplace(scale=plan.bracket.lower): 100}), compose(beside)])
    assert less.delta(1).lower > 1e-6
    assert plan.formulas == ()
    assert plan.profile.times == 220
    # The same mechanism may stand on both sides.
    both = least_noise(Gaussian, times=10, epsilon=1, delta="1e-6", beside=[Gaussian(sigma=20)])
    squares = 10 / both.value**2 + Fraction(1, 400)
    whole_mu = 1 / least_noise(Gaussian, epsilon=1, delta="1e-6").value
    assert float(squares) == pytest.approx(float(whole_mu**2), rel=1e-11)


def test_a_function_is_taken_on_trust_and_this_is_said() -> None:
    plan = least_noise(lambda scale: Laplace(3, scale), times=200, epsilon=1, delta="1e-6")
    named = least_noise(Laplace, sensitivity=3, times=200, epsilon=1, delta="1e-6")
    assert float(plan.value) == pytest.approx(float(named.value), rel=2 * CLOSE)
    assert plan.because == ""
    assert "is assumed" in str(plan)
    assert "is assumed" not in str(named)


def test_delta_zero_asks_for_the_sum_alone() -> None:
    plan = least_noise(Laplace, sensitivity=2, times=30, epsilon=3, delta=0)
    assert plan.value >= 20
    assert float(plan.value) == pytest.approx(20, rel=CLOSE)
    assert 0 < plan.bracket.lower < 20
    assert least_noise(PureDP, times=10, epsilon=1, delta=0).value <= Fraction(1, 10)
    with pytest.raises(InvalidParameter, match="the budget must be one that some sigma keeps"):
        least_noise(Gaussian, epsilon=1, delta=0)


def test_currencies_without_a_pair_prove_no_other_end() -> None:
    plan = least_noise(ZeroConcentratedDP, times=4, epsilon=1, delta="1e-6")
    assert float(plan.value) == pytest.approx(float(largest_rho(1, "1e-6") / 4), rel=1e-5)
    assert plan.value <= largest_rho(1, "1e-6") / 4 * Fraction(10**9 + 1, 10**9)
    assert math.isinf(plan.bracket.upper)
    assert "is not proven" in str(plan)
    assert least_noise(RenyiDP, order=20, times=4, epsilon=2, delta="1e-6").spent.upper <= 1e-6


@pytest.mark.parametrize("most", ["1/100", "1/1000"])
def test_everything_fits_where_a_limit_is_reached(most: str) -> None:
    search = Crossing(
        lambda mu: [(GaussianDP(mu), 1)],
        Budget.of(1, "1e-6"),
        quiets=False,
        least=Fraction(1, 10**9),
        most=Fraction(most),
    )
    found = search.find(1e-5)
    assert found is not None
    assert (found.enough, found.insufficient) == (Fraction(most), None)


def test_the_formulas_beside() -> None:
    plan = least_noise(Laplace, times=1000, epsilon="0.5", delta="1e-6")
    sources = [formula.source for formula in plan.formulas]
    assert sources == [
        "KOV Theorem 3.1",
        "Dwork and Roth Corollary 3.21",
        "Dwork and Roth Theorem 3.20",
        "KOV Corollary 4.1",
        "KOV Corollary 4.2",
        "KOV Theorem 3.3",
    ]
    assert all(formula.value.upper > plan.value for formula in plan.formulas)
    for formula in plan.formulas:
        assert compose({Laplace(scale=formula.value.upper): 1000}).delta("0.5").upper <= 1e-6
    gaussian = least_noise(Gaussian, times=1000, epsilon="0.5", delta="1e-6")
    assert len(gaussian.formulas) == 3
    for formula in gaussian.formulas:
        assert formula.value.lower > gaussian.value
    assert {formula.source for formula in least_noise(Laplace, times=1000, epsilon=2, delta="1e-6").formulas} == {
        "KOV Theorem 3.1",
        "Dwork and Roth Theorem 3.20",
        "KOV Theorem 3.3",
    }


def test_it_shows_itself() -> None:
    plan = least_noise(Gaussian, times=3, epsilon="0.5", delta="1e-5")
    text, page = str(plan), plan._repr_html_()
    assert text.startswith("The least sigma for 3 uses under (0.5, 1e-05)")
    assert f"{plan.value.numerator / plan.value.denominator!r} is proven to be enough" in text
    for formula in plan.formulas:
        assert formula.source in text
        assert formula.source in page
    assert Fraction(plan.spelled) == plan.value
    assert "The largest epsilon for 1 use" in str(least_noise(PureDP, epsilon=1, delta="1e-5"))


# Theorem A.1


def test_the_classic_sigma_is_enough_and_no_more_is_claimed() -> None:
    found = classic_sigma("0.5", "1e-5", 3)
    with mpmath.workdps(30):
        exact = mpmath.sqrt(2 * mpmath.log(mpmath.mpf("1.25") / mpmath.mpf("1e-5"))) * 3 / mpmath.mpf("0.5")
        assert found.lower <= exact <= found.upper
    assert found.relative_width < 1e-15
    for epsilon in ("0.01", "0.5", "0.999999"):
        for delta in ("1e-12", "1e-3", "0.4", "0.99"):
            sigma = classic_sigma(epsilon, delta).upper
            assert compose([Gaussian(sigma=sigma)]).delta(epsilon).upper <= Fraction(delta)


@pytest.mark.parametrize("epsilon", [1, "1.5", ln(3)])
def test_the_classic_sigma_stops_at_one(epsilon: object) -> None:
    with pytest.raises(InvalidParameter, match=r"epsilon must lie in \(0, 1\) for Theorem A.1"):
        classic_sigma(epsilon, "1e-5")


def test_why_the_classic_sigma_stops() -> None:
    epsilon, delta = 10, "1e-8"  # the formula as printed, where it does not hold
    sigma = math.sqrt(2 * math.log(1.25 / 1e-8)) / epsilon
    assert compose([Gaussian(sigma=sigma)]).delta(epsilon).lower > Fraction(delta)


# Questions that are not well put


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ((Laplace, {"epsilon": -1, "delta": "1e-6"}), "epsilon must lie in"),
        ((Laplace, {"epsilon": 1, "delta": 1}), "delta must be below 1"),
        ((Laplace, {"epsilon": 1, "delta": "1e-1000"}), "delta must be 0 or at least 1e-300"),
        ((Laplace, {"epsilon": 0, "delta": 0}), "epsilon must be above 0 where delta is 0"),
        ((Laplace, {"epsilon": 1, "delta": float("nan")}), "delta must be finite"),
        ((Laplace, {"epsilon": 1, "delta": "1e-6", "times": 0}), "times must be a whole number from 1"),
        ((Laplace, {"epsilon": 1, "delta": "1e-6", "scale": 3}), "unknown must be one of scale"),
        ((Laplace, {"epsilon": 1, "delta": "1e-6", "unknown": "sigma"}), "unknown must be one of scale"),
        ((Laplace, {"epsilon": 1, "delta": "1e-6", "width": 3}), "the parameters of Laplace must be what it takes"),
        ((Laplace, {"epsilon": 1, "delta": "1e-6", "sensitivity": 0}), "sensitivity must be above 0"),
        ((dict, {"epsilon": 1, "delta": "1e-6"}), "mechanism must be a class of mechanisms"),
        (("laplace", {"epsilon": 1, "delta": "1e-6"}), "mechanism must be a class of mechanisms"),
        ((PoissonSubsampled, {"epsilon": 1, "delta": "1e-6"}), "the parameters of PoissonSubsampled"),
        ((PoissonSubsampled, {"epsilon": 1, "delta": "1e-6", "rate": 2}), r"rate must lie in \[0, 1\]"),
        ((ApproximateDP, {"epsilon": 1, "delta": "1e-6", "each_delta": "1e-5"}), "the budget must be one that some"),
        ((Laplace, {"epsilon": 1, "delta": "1e-6", "beside": [PureDP(9)]}), "the budget must be more than what is"),
    ],
)
def test_bad_questions(asked: tuple[Any, dict[str, Any]], sentence: str) -> None:
    mechanism, arguments = asked
    with pytest.raises(InvalidParameter, match=sentence):
        least_noise(mechanism, **arguments)

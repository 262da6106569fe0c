"""What must hold of every mechanism that the accountant composes; a new one joins by being exported.

Whoever adds a mechanism to `indistinct.mechanisms` gives it a line in `FAMILIES`: until then the first test fails.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

from indistinct import (
    MWEM,
    AboveThreshold,
    ApproximateDP,
    Bracket,
    CovarianceSketch,
    CutSketch,
    DiscreteGaussian,
    ExponentialMechanism,
    Gaussian,
    GaussianDP,
    Geometric,
    Laplace,
    NoisyMax,
    NumericSparse,
    PermuteAndFlip,
    PoissonSubsampled,
    PureDP,
    RandomizedResponse,
    RenyiDP,
    Sparse,
    Staircase,
    ZeroConcentratedDP,
    compose,
    mechanisms,
)
from indistinct.composition.losses import LossLaw, PrivacyLoss
from indistinct.errors import InvalidParameter
from tests.composition.test_laws import bulges, disputes, gains, rises

F = Fraction


@dataclass(frozen=True)
class Family:
    """How a mechanism is made, and for each of its parameters a value that reveals more."""

    make: Callable[..., Any]
    parameters: Mapping[str, object]
    bolder: Mapping[str, object]
    optional: frozenset[str] = frozenset()
    """Parameters that None leaves to the mechanism."""

    def made(self, **changed: object) -> Any:
        return self.make(**{**self.parameters, **changed})


def sampled(sigma: object, rate: object) -> PoissonSubsampled:
    return PoissonSubsampled(Gaussian(sigma=sigma), rate=rate)


FAMILIES = {
    "CovarianceSketch": Family(
        CovarianceSketch, {"columns": 3, "r": 20, "w": 60, "bound": 3}, {"r": 21, "w": 55, "bound": "3.1"}
    ),
    "CutSketch": Family(CutSketch, {"nodes": 500, "r": 20, "w": 200}, {"nodes": 600, "r": 21, "w": 190}),
    "Laplace": Family(Laplace, {"sensitivity": 1, "scale": 8}, {"sensitivity": "1.1", "scale": "7.5"}),
    "Gaussian": Family(Gaussian, {"sensitivity": 1, "sigma": 8}, {"sensitivity": "1.1", "sigma": "7.5"}),
    "Geometric": Family(Geometric, {"sensitivity": 3, "epsilon": "0.2"}, {"epsilon": "0.21"}),
    "DiscreteGaussian": Family(DiscreteGaussian, {"sigma": 8}, {"sensitivity": 2, "sigma": "7.5"}),
    "Staircase": Family(Staircase, {"epsilon": "0.2", "gamma": "0.4"}, {"epsilon": "0.21"}, frozenset({"gamma"})),
    "RandomizedResponse": Family(RandomizedResponse, {"epsilon": "0.2", "categories": 3}, {"epsilon": "0.21"}),
    "ExponentialMechanism": Family(ExponentialMechanism, {"epsilon": "0.2"}, {"epsilon": "0.21"}),
    "NoisyMax": Family(NoisyMax, {"epsilon": "0.2"}, {"epsilon": "0.21"}),
    "PermuteAndFlip": Family(PermuteAndFlip, {"epsilon": "0.2"}, {"epsilon": "0.21"}),
    "AboveThreshold": Family(AboveThreshold, {"epsilon": "0.2"}, {"epsilon": "0.21"}),
    "Sparse": Family(Sparse, {"epsilon": "0.2", "cutoff": 5}, {"epsilon": "0.21"}),
    "NumericSparse": Family(
        NumericSparse, {"epsilon": "0.2", "cutoff": 3, "delta": "1e-9"}, {"epsilon": "0.21", "delta": "2e-9"}
    ),
    "MWEM": Family(MWEM, {"epsilon": "0.2", "rounds": 5}, {"epsilon": "0.21"}),
    "PoissonSubsampled": Family(sampled, {"sigma": 1, "rate": "0.05"}, {"sigma": "0.9", "rate": "0.06"}),
}
GUARANTEES = {
    "PureDP": Family(PureDP, {"epsilon": "0.2"}, {"epsilon": "0.21"}),
    "ApproximateDP": Family(ApproximateDP, {"epsilon": "0.2", "delta": "1e-8"}, {"epsilon": "0.21", "delta": "2e-8"}),
    "GaussianDP": Family(GaussianDP, {"mu": "0.2"}, {"mu": "0.21"}),
    "ZeroConcentratedDP": Family(ZeroConcentratedDP, {"rho": "0.02"}, {"rho": "0.021"}),
    "RenyiDP": Family(RenyiDP, {"order": 8, "epsilon": "0.002"}, {"epsilon": "0.003"}),
}
EVERYTHING = FAMILIES | GUARANTEES
TIMES = 400
PLACES = [F(0), F(1), F(5)]

every = pytest.mark.parametrize("family", EVERYTHING.values(), ids=EVERYTHING)
every_mechanism = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)


def test_every_mechanism_takes_part() -> None:
    made = {name for name in mechanisms.__all__ if hasattr(getattr(mechanisms, name), "loss")}
    assert made - set(FAMILIES) == set(), "give each new mechanism a line in FAMILIES"


@every
def test_so_many_copies_are_so_many_uses(family: Family) -> None:
    """By count, by repetition, nested, and nested by count."""
    one = family.made()
    flat = compose({one: TIMES})
    others = [
        compose([family.made() for _ in range(TIMES)]),
        compose([compose({one: TIMES // 4})] * 4),
        compose({compose([one] * (TIMES // 2)): 2}),
        compose([compose({one: TIMES - 1}), one]),
    ]
    for at in PLACES:
        assert {other.delta(at) for other in others} == {flat.delta(at)}
    assert {other.epsilon("1e-6") for other in others} == {flat.epsilon("1e-6")}


@every
def test_a_lost_use_is_noticed(family: Family) -> None:
    assert compose({family.made(): TIMES - 1}).delta(1).upper < compose({family.made(): TIMES}).delta(1).upper


@every
def test_delta_falls_and_is_convex_in_the_ratio(family: Family) -> None:
    delta = compose({family.made(): TIMES}).delta
    assert rises(delta, PLACES) == []
    if family.make not in (ZeroConcentratedDP, RenyiDP):  # of which only a bound is known
        assert bulges(delta, [F(1), F(3, 2), F(3), F(6), F(20), F(100)]) == []


@every
def test_bolder_parameters_and_more_uses_reveal_no_less(family: Family) -> None:
    less = compose({family.made(): TIMES})
    for name, value in family.bolder.items():
        more = compose({family.made(**{name: value}): TIMES})
        assert gains(less.delta, more.delta, PLACES) == []
        assert more.epsilon("1e-4").upper > less.epsilon("1e-4").upper
    assert gains(less.delta, compose({family.made(): TIMES + 1}).delta, PLACES[1:3]) == []


@every
def test_order_does_not_matter(family: Family) -> None:
    one, pure, noisy = family.made(), PureDP("0.1"), Gaussian(sigma=12)
    first = compose([one, pure, noisy, one] * 100)
    second = compose([noisy] * 100 + [one] * 200 + [pure] * 100)
    assert disputes(first.delta, second.delta, PLACES) == []
    assert gains(compose({one: 200}).delta, first.delta, PLACES) == []


@every
def test_epsilon_is_where_delta_is(family: Family) -> None:
    profile = compose({family.made(): TIMES})
    for target in ("0.1", "1e-3", "1e-9", "1e-30"):
        found = profile.epsilon(target)
        if math.isfinite(found.upper):
            assert profile.delta(F(found.upper)).upper <= F(target) * (1 + F(1, 10**8))
            assert found.lower == 0 or profile.delta(F(found.lower)).upper >= F(target) * (1 - F(1, 10**9))


def laws_of(family: Family) -> list[LossLaw]:
    loss = family.made().loss
    return [loss.forward, loss.backward] if isinstance(loss, PrivacyLoss) else []


@every_mechanism
def test_a_loss_is_dominated_by_what_it_undoes(family: Family) -> None:
    """E e^-L <= 1, so that K is above the line -t, convex, and 0 at 0; and the mean of each loss is not negative."""
    for law in laws_of(family):
        heights = [law.cumulants(t) for t in (1e-9, 0.5, 1.0, 1.5)]
        assert abs(heights[0].value) < 1e-6
        assert heights[0].mean >= 0
        assert heights[0].value + heights[2].value >= 2 * heights[1].value - 1e-12
        assert heights[1].value + heights[3].value >= 2 * heights[2].value - 1e-12
        assert all(height.variance > 0 for height in heights)


# Bad input.


NOT_NUMBERS = [math.nan, math.inf, -math.inf, -1, "nan", "one", None, True, [1], b"1"]


@pytest.mark.parametrize("wrong", NOT_NUMBERS, ids=repr)
@every
def test_what_is_no_parameter_is_refused_by_name(family: Family, wrong: object) -> None:
    for name in family.parameters.keys() - (family.optional if wrong is None else ()):
        with pytest.raises(InvalidParameter) as caught:
            family.made(**{name: wrong})
        assert "must" in str(caught.value)
        assert wrong is None or name in str(caught.value)  # None is what is not given, a matter of two parameters


@pytest.mark.parametrize("name", ["scale", "sigma", "sensitivity"])
@pytest.mark.parametrize("wrong", [0, "1e-31", "1e19", "1e-5000"])
def test_noise_is_of_a_size_that_can_be_told(name: str, wrong: object) -> None:
    for family in FAMILIES.values():
        if name in family.parameters:
            with pytest.raises(InvalidParameter, match=name):
                family.made(**{name: wrong})


@pytest.mark.parametrize("rate", [-0.1, 1.1, "1.0000001", "-1e-30", math.nan, "1e-31", F(1) - F(1, 10**31)])
def test_a_rate_is_a_probability(rate: object) -> None:
    with pytest.raises(InvalidParameter, match="rate"):
        PoissonSubsampled(Gaussian(), rate)


def test_a_sample_needs_some_noise() -> None:
    with pytest.raises(InvalidParameter, match="at least the sensitivity / 1000"):
        PoissonSubsampled(Gaussian(sigma="0.0009"), "0.1")


def test_different_neighbours_do_not_mix() -> None:
    step, replacing = PoissonSubsampled(Gaussian(), "0.1"), RandomizedResponse("0.5", 3)
    with pytest.raises(InvalidParameter, match="one kind of neighbouring databases"):
        compose([step, replacing])
    with pytest.raises(InvalidParameter, match="one kind"):
        compose([compose({step: 3}), compose({replacing: 3})])
    # What is not used, and what holds for all neighbours, does not matter.
    assert compose({step: 300, replacing: 0}).delta(1) == compose({step: 300}).delta(1)
    assert isinstance(compose([replacing, Gaussian(sigma=3), PureDP("0.1")]).delta(1), Bracket)

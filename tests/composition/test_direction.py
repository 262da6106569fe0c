"""Where the search begins: near enough, and soon, for laws of every shape."""

from __future__ import annotations

import math

import pytest

from indistinct import (
    ApproximateDP,
    Gaussian,
    Geometric,
    Laplace,
    PoissonSubsampled,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
    compose,
)
from indistinct.composition.direction import Steering
from indistinct.composition.losses import GaussianLoss
from indistinct.composition.losses.law import Cumulants
from indistinct.composition.parts import Thing

MANY: list[dict[Thing, int]] = [
    {PureDP("0.1"): 10**6},
    {Laplace(scale=10): 1000},
    {Gaussian(sigma=3): 20},
    {Geometric(epsilon="0.05"): 300, Gaussian(sigma=40): 500},
    {PoissonSubsampled(Gaussian(sigma="0.8"), rate="0.004"): 10**5},
]


@pytest.mark.parametrize("delta", ["0.1", "1e-6", "1e-50", "1e-290"])
@pytest.mark.parametrize("things", MANY, ids=str)
def test_the_guess_is_near_and_so_is_the_slope(things: dict[Thing, int], delta: str) -> None:
    profile = compose(things)
    guess, tilt = profile._directions[0].steering.guess(math.log(float(delta)))  # noqa: SLF001  # what is tested
    found = math.log(profile.delta(guess).upper)
    assert found == pytest.approx(math.log(float(delta)), abs=0.1)
    further = math.log(profile.delta(guess * 1.001).upper)
    assert (found - further) / (guess * 0.001) == pytest.approx(tilt, rel=0.3)


@pytest.mark.parametrize("log_delta", [-0.01, -1.0, -14.0, -230.0, -690.0])
@pytest.mark.parametrize("mu", [1e-3, 0.1, 1.0, 30.0])
def test_it_takes_few_steps(mu: float, log_delta: float) -> None:
    asked = 0

    def cumulants(tilt: float) -> Cumulants:
        nonlocal asked
        asked += 1
        return GaussianLoss(mu).cumulants(tilt)

    Steering(cumulants, 1e7).guess(log_delta)
    assert asked <= (12 if log_delta < -10 else 28)


@pytest.mark.parametrize("log_delta", [-1e-9, -5.0, -600.0])
def test_it_ends_whatever_it_is_told(log_delta: float) -> None:
    """The steps are bounded also for what is no law of losses at all."""
    nonsense = (math.nan, math.inf, -math.inf, 0.0, 1e300, -1e300)
    for value in nonsense:
        for variance in nonsense:
            guess, tilt = Steering(lambda _, v=value, w=variance: (v, v, w), 1e7).guess(log_delta)  # type: ignore[misc]
            assert tilt > 0
            assert guess >= 0 or math.isnan(guess)


@pytest.mark.parametrize("thing", [RenyiDP(8, "0.25"), ZeroConcentratedDP("0.5")])
def test_a_bound_that_is_infinite_beyond_a_tilt_is_no_obstacle(thing: Thing) -> None:
    guess, tilt = compose({thing: 3, ApproximateDP("0.1", "1e-9"): 2})._directions[0].steering.guess(-14.0)  # noqa: SLF001
    assert 0 < guess < 100
    assert 0 < tilt < math.inf

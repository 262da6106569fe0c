"""Histories and events of other libraries: read exactly, or refused by name."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

from indistinct import (
    ApproximateDP,
    Gaussian,
    Geometric,
    Laplace,
    PoissonSubsampled,
    PureDP,
    RandomizedResponse,
    ZeroConcentratedDP,
    compose,
    ln,
)
from indistinct.errors import InvalidParameter
from indistinct.mechanisms.events import from_dp_event, from_opacus


def event(name: str, **attributes: Any) -> Any:
    """A stand-in for an event of dp_accounting: the same class name, module and attributes."""
    return type(name, (), {"__module__": "dp_accounting.dp_event", **attributes})()


GAUSSIAN = event("GaussianDpEvent", noise_multiplier=0.5)
NOTHING = event("NoOpDpEvent")


def poisson(rate: float, inner: Any) -> Any:
    return event("PoissonSampledDpEvent", sampling_probability=rate, event=inner)


def repeated(inner: Any, count: int) -> Any:
    return event("SelfComposedDpEvent", event=inner, count=count)


def together(*inner: Any) -> Any:
    return event("ComposedDpEvent", events=list(inner))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (GAUSSIAN, {Gaussian(sigma="0.5"): 1}),
        (event("LaplaceDpEvent", noise_multiplier=20.0), {Laplace(scale=20): 1}),
        (event("DiscreteLaplaceDpEvent", noise_parameter=0.25, sensitivity=3), {Geometric(3, epsilon="0.75"): 1}),
        (event("EpsilonDeltaDpEvent", epsilon=0.5, delta=2.0**-20), {ApproximateDP("0.5", Fraction(1, 2**20)): 1}),
        (event("EpsilonDeltaDpEvent", epsilon=0.5, delta=0.0), {PureDP("0.5"): 1}),
        (event("ZCDpEvent", rho=0.125, xi=0.0), {ZeroConcentratedDP("0.125"): 1}),
        (
            event("RandomizedResponseDpEvent", noise_parameter=0.5, num_buckets=4),
            {RandomizedResponse(ln(5), 4): 1},
        ),
        (event("RandomizedResponseDpEvent", noise_parameter=0.5, num_buckets=1), {}),
        (NOTHING, {}),
        (poisson(0.25, GAUSSIAN), {PoissonSubsampled(Gaussian(sigma="0.5"), "0.25"): 1}),
        (poisson(1.0, GAUSSIAN), {Gaussian(sigma="0.5"): 1}),
        (poisson(0.0, GAUSSIAN), {}),
        (repeated(GAUSSIAN, 0), {}),
        (repeated(together(GAUSSIAN, repeated(GAUSSIAN, 4), NOTHING), 3), {Gaussian(sigma="0.5"): 15}),
        (
            together(repeated(poisson(0.25, GAUSSIAN), 10), together(GAUSSIAN), poisson(0.25, GAUSSIAN)),
            {PoissonSubsampled(Gaussian(sigma="0.5"), "0.25"): 11, Gaussian(sigma="0.5"): 1},
        ),
    ],
)
def test_events_are_read(given: Any, expected: dict[Any, int]) -> None:
    assert from_dp_event(given) == expected


def test_deep_nesting_is_no_obstacle() -> None:
    inner = GAUSSIAN
    for _ in range(5000):
        inner = together(inner)
    assert from_dp_event(inner) == {Gaussian(sigma="0.5"): 1}


@pytest.mark.parametrize(
    "given",
    [
        event("NonPrivateDpEvent"),
        event("UnsupportedDpEvent"),
        event("ZCDpEvent", rho=0.1, xi=0.2),
        event("SampledWithoutReplacementDpEvent", source_dataset_size=9, sample_size=3, event=GAUSSIAN),
        poisson(0.1, event("LaplaceDpEvent", noise_multiplier=2.0)),
        poisson(0.1, repeated(GAUSSIAN, 2)),
        event("SingleEpochTreeAggregationDpEvent", noise_multiplier=1.0, step_counts=3),
    ],
    ids=lambda given: type(given).__name__,
)
def test_what_is_not_understood_is_refused_by_name(given: Any) -> None:
    with pytest.raises(InvalidParameter, match=f"an event must be .* but is '{type(given).__name__}'"):
        from_dp_event(together(GAUSSIAN, given))


def test_other_objects_are_no_events() -> None:
    @dataclass
    class GaussianDpEvent:
        noise_multiplier: float = 1.0

    for given in (GaussianDpEvent(), None, Gaussian(sigma=1)):
        with pytest.raises(InvalidParameter, match="an event must be one of dp_accounting"):
            from_dp_event(given)
    with pytest.raises(InvalidParameter, match="noise_parameter must be above 0"):
        from_dp_event(event("RandomizedResponseDpEvent", noise_parameter=0.0, num_buckets=3))


def test_two_buckets_are_randomised_response() -> None:
    # Told truly with 3/4 in all: e^epsilon = 3.
    for epsilon in ("0.5", 1):
        one, other = (compose([thing]).delta(epsilon) for thing in (RandomizedResponse(ln(3), 2), PureDP(ln(3))))
        assert one.lower <= other.upper
        assert other.lower <= one.upper
        assert one.upper == pytest.approx(other.upper, rel=1e-3)


def test_buckets_are_of_replaced_records() -> None:
    with pytest.raises(InvalidParameter, match="have one kind of neighbouring databases"):
        compose([RandomizedResponse(ln(4), 3), PoissonSubsampled(Gaussian(sigma=1), "0.1")])


def test_an_opacus_history() -> None:
    history = [(1.0, 0.25, 500), (0.5, 0.25, 3), (1.0, 0.25, 7), (2.0, 1.0, 4), (1.0, 0.0, 9), (1.0, 0.5, 0)]
    assert from_opacus(history) == {
        PoissonSubsampled(Gaussian(sigma=1), "0.25"): 507,
        PoissonSubsampled(Gaussian(sigma="0.5"), "0.25"): 3,
        Gaussian(sigma=2): 4,
    }


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ((1.0, 0.25), "an entry of the history must be"),
        (3, "an entry of the history must be"),
        ((1.0, 1.5, 3), r"rate must lie in \[0, 1\]"),
        ((0.0, 0.5, 3), "sigma must be above 0"),
        ((1.0, 0.5, -1), "steps must be a whole number"),
        ((float("nan"), 0.5, 1), "sigma must be finite"),
    ],
)
def test_bad_histories(entry: Any, sentence: str) -> None:
    with pytest.raises(InvalidParameter, match=sentence):
        from_opacus([entry])

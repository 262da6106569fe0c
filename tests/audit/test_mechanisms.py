"""No correct mechanism is accused: every sampler, every subject of the command line, everything that has a `release`.

A mechanism of `indistinct.mechanisms` takes part as soon as it has a method `release`; whoever adds one gives it a line
in `RELEASES`, and until then the first test fails.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from indistinct import PureDP, ln, mechanisms
from indistinct.audit import by_test
from indistinct.audit.subjects import SUBJECTS, subject
from indistinct.noise import Bernoulli, DiscreteGaussian, DiscreteLaplace, DiscreteStaircase, Logistic, Scale
from tests.noise.budget import SHARE

SAMPLES = 20_000
LEFT, RIGHT = (0, 1, 0, 1), (1, 0, 1, 0)


@dataclass(frozen=True)
class Release:
    """How a mechanism is made and asked, on two neighbouring inputs; `many` if an input may be an array of them."""

    make: dict[str, Any]
    first: Any
    second: Any
    many: bool = False
    further: tuple[Any, ...] = ()
    claim: object = None
    samples: int = 4000


RELEASES = {
    "Laplace": Release({"epsilon": 1}, 0.0, 1.0, many=True, claim=PureDP(1)),
    "Geometric": Release({"epsilon": 1}, 0, 1, many=True),
    "Gaussian": Release({"sigma": 1}, 0.0, 1.0, many=True),
    "DiscreteGaussian": Release({"sigma": 1}, 0, 1),
    "Staircase": Release({"epsilon": 1}, 0.0, 1.0, claim=PureDP(1)),
    "RandomizedResponse": Release({"epsilon": 1, "categories": 3}, 0, 1, many=True),
    "ExponentialMechanism": Release({"epsilon": 1}, LEFT, RIGHT, claim=PureDP(1)),
    "NoisyMax": Release({"epsilon": 1}, LEFT, RIGHT, claim=PureDP(1)),
    "PermuteAndFlip": Release({"epsilon": 1}, LEFT, RIGHT, claim=PureDP(1)),
    "AboveThreshold": Release({"epsilon": 1}, LEFT, RIGHT, further=(1,), claim=PureDP(1)),
    "Sparse": Release({"epsilon": 1, "cutoff": 2}, LEFT, RIGHT, further=(1,), claim=PureDP(1)),
    "NumericSparse": Release({"epsilon": 1, "cutoff": 1}, LEFT, RIGHT, further=(1,), claim=PureDP(1)),
}
APART = {
    "MWEM",
    "CutSketch",
    "CovarianceSketch",
}  # answers to whole histograms and graphs, audited with their own tests

RELEASING = sorted(name for name in mechanisms.__all__ if hasattr(getattr(mechanisms, name), "release"))


def test_every_mechanism_that_releases_takes_part() -> None:
    assert set(RELEASING) - set(RELEASES) - APART == set(), "give each new mechanism a line in RELEASES"


@pytest.mark.parametrize("name", sorted(set(RELEASING) & set(RELEASES)))
def test_what_is_released_is_as_private_as_is_said(name: str) -> None:
    case = RELEASES[name]
    mechanism = getattr(mechanisms, name)(**case.make)

    def answer(value: Any, runs: int) -> Any:
        if case.many:
            return mechanism.release(np.full(runs, value))
        return [mechanism.release(value, *case.further) for _ in range(runs)]

    audit = by_test(
        answer,
        case.first,
        case.second,
        case.claim or mechanism,
        samples=SAMPLES if case.many else case.samples,
        false_alarm=SHARE,
        batch=True,
    )
    assert audit.verdict == "consistent", str(audit)


def added(noise: Any) -> Callable[[int, int], Any]:
    return lambda count, runs: count + noise.draws(runs)


SAMPLERS = {
    "discrete Laplace": (added(DiscreteLaplace(Scale(1, ln(3)))), 0, 1, PureDP(ln(3))),
    "discrete Laplace, large": (added(DiscreteLaplace(5000)), 0, 5000, PureDP(1)),
    "discrete Gaussian": (added(DiscreteGaussian(1)), 0, 1, mechanisms.DiscreteGaussian(sigma=1)),
    "staircase": (added(DiscreteStaircase(10, 1, 4)), 0, 10, PureDP(1)),
    "randomised response": (
        lambda truth, runs: Bernoulli(Logistic(1)).draws(runs) == truth,
        True,
        False,
        PureDP(1),
    ),
}


@pytest.mark.parametrize(("answer", "first", "second", "claim"), SAMPLERS.values(), ids=SAMPLERS)
def test_exact_samplers_are_not_accused(answer: Any, first: Any, second: Any, claim: object) -> None:
    audit = by_test(answer, first, second, claim, samples=SAMPLES, false_alarm=SHARE, batch=True)
    assert audit.verdict == "consistent"


@pytest.mark.parametrize("name", SUBJECTS)
def test_subjects_keep_their_claim_and_no_smaller_one(name: str) -> None:
    one = subject(name, 1)
    samples = SAMPLES if one.exactly is not None else 8000
    audit = by_test(one.answer, one.first, one.second, PureDP(1), samples=samples, false_alarm=SHARE, batch=True)
    assert audit.verdict == "consistent"
    assert by_test(one.answer, one.first, one.second, PureDP("0.01"), samples=samples, batch=True).violates
    if one.exactly is not None:
        assert one.exactly(PureDP(1)).verdict == "holds"
        assert one.exactly(PureDP("0.999")).verdict == "violates"

"""Mechanisms that can be audited by their names, each at an epsilon: what they answer with, and their exact laws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from indistinct.audit.exact import exact
from indistinct.audit.verdicts import ExactAudit
from indistinct.composition import PureDP
from indistinct.errors import InvalidParameter
from indistinct.noise import Bernoulli, DiscreteLaplace, DiscreteStaircase, LazyNoise, Logistic, NoiseStream, Scale
from indistinct.numbers import Epsilon, read_epsilon

__all__ = ["SUBJECTS", "Subject", "subject"]

_STEPS = 2**10  # of the lattice on which real numbers are released
_LEFT = (0, 1, 0, 1)
_RIGHT = (1, 0, 1, 0)


@dataclass(frozen=True, slots=True)
class Subject:
    """A mechanism to audit: its answers, so many at a time, two neighbouring inputs, and an exact audit of its law."""

    answer: Callable[[Any, int], Any]
    first: Any
    second: Any
    exactly: Callable[[PureDP], ExactAudit] | None = None


def subject(name: str, epsilon: object) -> Subject:
    """The mechanism of a name, with the noise for an epsilon.

    >>> subject("geometric", "0.5").exactly is None
    False
    """
    level = read_epsilon("epsilon", epsilon)
    if not 0 < float(level) <= _LARGEST:
        raise InvalidParameter("epsilon", epsilon, f"be above 0 and at most {_LARGEST} for an audit")
    if name not in SUBJECTS:
        raise InvalidParameter("the mechanism", name, "be one of " + ", ".join(SUBJECTS))
    return SUBJECTS[name](level)


_LARGEST = 20


def _geometric(level: Epsilon) -> Subject:
    noise = DiscreteLaplace(Scale(1, level))
    return Subject(lambda count, runs: count + noise.draws(runs), 0, 1, lambda claim: exact(noise, claim))


def _laplace(level: Epsilon) -> Subject:
    """On multiples of 2^-10, exactly; the exact audit is of a coarser lattice, with the same scale of noise."""
    noise = DiscreteLaplace(Scale(_STEPS, level))
    coarse = DiscreteLaplace(Scale(8, level))
    return Subject(
        lambda value, runs: (value * _STEPS + noise.draws(runs)) / _STEPS,
        0,
        1,
        lambda claim: exact(coarse, claim, sensitivity=8),
    )


def _staircase(level: Epsilon) -> Subject:
    noise = DiscreteStaircase(4, level, 2)
    return Subject(
        lambda value, runs: value + noise.draws(runs), 0, 4, lambda claim: exact(noise, claim, sensitivity=4)
    )


def _randomized_response(level: Epsilon) -> Subject:
    coin = Bernoulli(Logistic(level))

    def exactly(claim: PureDP) -> ExactAudit:
        from indistinct.audit.laws import law_of

        law = law_of(coin, 192)
        false, true = ((Fraction(a, law.whole), Fraction(b, law.whole)) for a, b in (law.around[0], law.around[1]))
        return exact({True: {True: true, False: false}, False: {True: false, False: true}}, claim)

    return Subject(lambda truth, runs: coin.draws(runs) == truth, True, False, exactly)


def _chosen(kind: Callable[..., LazyNoise]) -> Callable[[Epsilon], Subject]:
    """The largest of scores with noise of scale 2 / epsilon."""

    def made(level: Epsilon) -> Subject:
        scale = Scale(2, level)
        return Subject(
            lambda scores, runs: np.array([kind(4, scale).argmax(scores) for _ in range(runs)]), _LEFT, _RIGHT
        )

    return made


def _above_threshold(level: Epsilon) -> Subject:
    """Algorithm 1 of Dwork and Roth on four queries: the place of the first above 1, or 4."""
    threshold, query = NoiseStream.laplace(Scale(2, level)), NoiseStream.laplace(Scale(4, level))

    def once(values: tuple[int, ...]) -> int:
        bar = threshold.next()
        return next((at for at, value in enumerate(values) if query.next().exceeds(value, 1, other=bar)), len(values))

    return Subject(lambda values, runs: np.array([once(values) for _ in range(runs)]), _LEFT, _RIGHT)


SUBJECTS: dict[str, Callable[[Epsilon], Subject]] = {
    "geometric": _geometric,
    "laplace": _laplace,
    "staircase": _staircase,
    "randomized-response": _randomized_response,
    "exponential": _chosen(LazyNoise.gumbel),
    "permute-and-flip": _chosen(LazyNoise.exponential),
    "noisy-max": _chosen(LazyNoise.laplace),
    "above-threshold": _above_threshold,
}

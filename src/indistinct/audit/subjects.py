"""Mechanisms that can be audited by their names, each at an epsilon: what they answer with, and their exact laws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from indistinct.audit.exact import exact
from indistinct.audit.laws import law_of
from indistinct.audit.verdicts import ExactAudit
from indistinct.composition import PureDP
from indistinct.errors import InvalidParameter
from indistinct.mechanisms import (
    AboveThreshold,
    ExponentialMechanism,
    Geometric,
    Laplace,
    NoisyMax,
    PermuteAndFlip,
    RandomizedResponse,
    Staircase,
)
from indistinct.numbers import Epsilon, read_epsilon

__all__ = ["SUBJECTS", "Subject", "subject"]

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


def _released(mechanism: Any) -> Callable[[Any, int], Any]:
    """One answer after the other, as they are given to those who ask."""
    return lambda value, runs: np.array([mechanism.release(value) for _ in range(runs)])


def _additive(mechanism: Any, width: int) -> Subject:
    """With noise whose sampler is known: the exact audit is of all shifts up to so many of its steps."""
    return Subject(_released(mechanism), 0, 1, lambda claim: exact(mechanism.noise, claim, sensitivity=width))


def _geometric(level: Epsilon) -> Subject:
    return _additive(Geometric(epsilon=_rational(level)), 1)


def _laplace(level: Epsilon) -> Subject:
    return _additive(Laplace(epsilon=_rational(level), granularity="1/8"), 8)


def _staircase(level: Epsilon) -> Subject:
    return _additive(Staircase(epsilon=_rational(level), granularity="1/8"), 8)


def _randomized_response(level: Epsilon) -> Subject:
    mechanism = RandomizedResponse(level)

    def exactly(claim: PureDP) -> ExactAudit:
        law = law_of(mechanism.noise, 192)
        false, true = ((Fraction(a, law.whole), Fraction(b, law.whole)) for a, b in (law.around[0], law.around[1]))
        return exact({True: {True: true, False: false}, False: {True: false, False: true}}, claim)

    return Subject(_released(mechanism), True, False, exactly)


def _chosen(mechanism: Callable[[Any], Any]) -> Callable[[Epsilon], Subject]:
    return lambda level: Subject(_released(mechanism(_rational(level))), _LEFT, _RIGHT)


def _above_threshold(level: Epsilon) -> Subject:
    """Algorithm 1 of Dwork and Roth on four queries: how many were answered, and whether the last was above 1."""
    mechanism = AboveThreshold(_rational(level))

    def once(values: tuple[int, ...]) -> int:
        answers = mechanism.release(list(values), threshold=1)
        return len(answers) if answers[-1] else 0

    return Subject(lambda values, runs: np.array([once(values) for _ in range(runs)]), _LEFT, _RIGHT)


def _rational(level: Epsilon) -> Fraction:
    """The level as mechanisms take it; of a logarithm, the float below."""
    return level if isinstance(level, Fraction) else Fraction(level.bracket.lower)


SUBJECTS: dict[str, Callable[[Epsilon], Subject]] = {
    "geometric": _geometric,
    "laplace": _laplace,
    "staircase": _staircase,
    "randomized-response": _randomized_response,
    "exponential": _chosen(ExponentialMechanism),
    "permute-and-flip": _chosen(PermuteAndFlip),
    "noisy-max": _chosen(NoisyMax),
    "above-threshold": _above_threshold,
}

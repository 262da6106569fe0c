"""The budget that a plan must keep, and the verdict on a composition: it fits, it does not, or nobody can tell."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from indistinct.composition.guarantees import spelled
from indistinct.composition.profile import PrivacyProfile
from indistinct.errors import InvalidParameter
from indistinct.numbers import Bracket, Epsilon, read_delta, read_epsilon

__all__ = ["Budget", "Verdict"]

_LEAST_DELTA = Fraction(1, 10**300)


class Verdict(NamedTuple):
    """What is known of a composition beside a budget.

    `low` and `high` enclose, but for a float's rounding, the log of what it spends over what it may.
    """

    fits: bool
    exceeds: bool
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Budget:
    """(epsilon, delta), exactly.

    >>> from indistinct import PureDP, compose
    >>> Budget.of(1, "1e-6").judge(compose({PureDP("0.0075"): 1000})).exceeds
    True
    """

    epsilon: Epsilon
    delta: Fraction

    @classmethod
    def of(cls, epsilon: object, delta: object) -> Budget:
        """Reads and checks the two numbers."""
        level, target = read_epsilon("epsilon", epsilon), read_delta("delta", delta)
        if target == 1:
            raise InvalidParameter("delta", delta, "be below 1", instead="At delta 1 everything fits.")
        if 0 < target < _LEAST_DELTA:
            raise InvalidParameter("delta", delta, "be 0 or at least 1e-300")
        if level == 0 and target == 0:
            raise InvalidParameter("epsilon", epsilon, "be above 0 where delta is 0", instead="Nothing else fits.")
        return cls(level, target)

    def judge(self, profile: PrivacyProfile) -> Verdict:
        """Whether a composition is proven to fit, and whether it is proven not to.

        With delta 0 only the largest loss that can occur counts.
        """
        if self.delta:
            spent = profile.delta(self.epsilon)
            low, high = (_log(end) - self.log_delta for end in (spent.lower, spent.upper))
            return Verdict(spent.upper <= self.delta, spent.lower > self.delta, low, high)
        largest, level = profile.largest_epsilon, float(self.epsilon)
        low, high = (_log(end / level) for end in (largest.lower, largest.upper))
        exceeds = low > 1e-12 or profile.disclosure.lower > 0
        fits = not exceeds and profile.delta(self.epsilon).upper == 0
        return Verdict(fits, exceeds, low, high)

    @property
    def log_delta(self) -> float:
        """The natural logarithm of delta, also where delta is below every float."""
        return math.log(self.delta.numerator) - math.log(self.delta.denominator)

    def spent(self, profile: PrivacyProfile) -> Bracket:
        """delta of a composition at this epsilon."""
        return profile.delta(self.epsilon)

    def __str__(self) -> str:
        return f"({_plain(self.epsilon)}, {_plain(self.delta)})"


def _plain(number: Epsilon) -> str:
    return spelled(number).strip("'")


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf

"""Randomised responses: what every (epsilon, delta) mechanism comes down to (KOV 5.1).

The pair of laws that dominates all (epsilon, delta) mechanisms is, with probability delta, a
disclosure, and otherwise randomised response. Composed, the disclosures are one number and the rest
is a sum of independent losses, each +e with probability p = e^e / (1 + e^e) and -e otherwise, under
the null hypothesis. This file holds that sum and the little calculus that all evaluators share:
its cumulant generating function K and the tilted laws, of mean K' and variance K''.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from indistinct.composition.guarantees import key
from indistinct.numbers import Epsilon
from indistinct.numbers.balls import arb, ball
from indistinct.numbers.logarithm import ball_of, bracket_of, sign_of_sum

__all__ = ["Response", "Responses"]

Floats = NDArray[np.float64]

_MANY = 1000


@dataclass(frozen=True, slots=True)
class Response:
    """A number of equal randomised responses, each of privacy level ``epsilon`` above 0."""

    epsilon: Epsilon
    times: int


@dataclass(frozen=True, eq=False)
class Responses:
    """The sum of the losses of independent randomised responses.

    Kept in columns, not as `groups`: there may be a hundred thousand different ones, and an object for each takes
    longer than the answer.
    """

    levels: tuple[Epsilon, ...]
    """The different privacy levels, all above 0, in rising order."""
    counts: tuple[int, ...]
    """How often each occurs."""
    epsilons: Floats
    """The levels as floats (nearest or next)."""

    @classmethod
    def of(cls, groups: Iterable[tuple[Epsilon, int]]) -> Responses:
        """Equal ones counted together; what cannot tell anything (epsilon 0, no use) left out."""
        together: dict[object, tuple[Epsilon, int]] = {}
        for level, count in groups:
            name = key(level)
            together[name] = level, count + together.get(name, (level, 0))[1]
        return cls.of_columns([level for level, _ in together.values()], [count for _, count in together.values()])

    @classmethod
    def of_columns(cls, levels: Sequence[Epsilon], counts: Sequence[int]) -> Responses:
        """The same of levels and counts apart; at once where no two levels are equal."""
        floats = [_nearby(level) for level in levels]
        epsilons = np.array(floats, dtype=np.float64)
        order = np.argsort(epsilons, kind="stable")
        if np.any((rising := epsilons[order])[1:] == rising[:-1]) and len(set(map(key, levels))) < len(levels):
            return cls.of(zip(levels, counts, strict=True))  # equal levels have equal floats
        places = [i for i in order.tolist() if counts[i] and (floats[i] or levels[i])]
        return cls(
            tuple([levels[i] for i in places]),
            tuple([counts[i] for i in places]),
            epsilons[np.array(places, dtype=np.intp)],
        )

    @cached_property
    def groups(self) -> tuple[Response, ...]:
        """The levels one by one."""
        return tuple(Response(level, count) for level, count in zip(self.levels, self.counts, strict=True))

    @cached_property
    def times(self) -> Floats:
        """How often each occurs, as floats."""
        return np.array(self.counts, dtype=np.float64)

    @cached_property
    def count(self) -> int:
        """How many responses there are in all."""
        return sum(self.counts)

    def largest_loss(self) -> arb:
        """The ball of the greatest loss that can occur: the sum of all epsilons."""
        if len(self.levels) > _MANY:
            total = math.fsum((self.epsilons * self.times).tolist())
            return ball(total * (1 - 1e-15)).union(ball(total * (1 + 1e-15)))
        return sum((group.times * ball_of(group.epsilon) for group in self.groups), ball(0))

    def exceeds(self, epsilon: Epsilon) -> bool:
        """Whether a loss above epsilon can occur; decided exactly."""
        return sign_of_sum((-1, epsilon), *((group.times, group.epsilon) for group in self.groups)) > 0

    def cumulant_ball(self, tilt: arb) -> arb:
        """The ball of K(tilt) = sum of n log(cosh((tilt + 1/2) e) / cosh(e / 2))."""
        total = ball(0)
        for group in self.groups:
            e = ball_of(group.epsilon)
            total += group.times * (((tilt + 0.5) * e).cosh() / (e / 2).cosh()).log()
        return total

    # The tilted laws, in floats.

    def mean(self, tilt: float) -> float:
        """K'(tilt): the mean loss under the law tilted by e^(tilt * loss)."""
        return self.mean_at(tilt + 0.5)

    def mean_at(self, s: float) -> float:
        """K'(s - 1/2), which is odd in s."""
        with np.errstate(over="ignore"):  # tanh of what overflows is 1
            return float(np.sum(self.times * self.epsilons * np.tanh(s * self.epsilons)))

    def variance(self, tilt: float) -> float:
        """K''(tilt): the variance of the loss under the tilted law."""
        x = np.minimum(np.abs((tilt + 0.5) * self.epsilons), 350.0)
        return float(np.sum(self.times * (self.epsilons / np.cosh(x)) ** 2))

    def cumulant(self, tilt: float) -> float:
        """K(tilt) = sum of n log(cosh((tilt + 1/2) e) / cosh(e / 2)), to some units of its own size."""
        e = self.epsilons
        # The ratio less one is 2 sinh(t e / 2) sinh((t + 1) e / 2) / cosh(e / 2): nothing cancels.
        near = np.minimum(e * (abs(tilt) + 1), 1.0) / (abs(tilt) + 1)
        logs = np.log1p(2 * np.sinh(tilt * near / 2) * np.sinh((tilt + 1) * near / 2) / np.cosh(near / 2))
        if near[-1] < e[-1]:
            fall = np.exp(-e)
            change = fall * np.expm1(-2 * tilt * e) if tilt >= 0 else np.exp(-(2 * tilt + 1) * e) - fall
            logs = np.where(near < e, tilt * e + np.log1p(change / (1 + fall)), logs)
        return float(np.sum(self.times * logs))

    @cached_property
    def steepest(self) -> float:
        """A tilt beyond which the tilted law is all but certain to show the largest loss."""
        return min(60.0 / max(float(self.epsilons[0]), 1e-300), 1e300)

    def tilt_to(self, loss: float) -> float:
        """The tilt t in [-1/2, steepest] at which the tilted law has its mean at a loss."""
        if loss <= 0:
            return -0.5
        # In s = t + 1/2, over all orders of magnitude: K' rises from 0 at s = 0.
        low, high = 1e-320, self.steepest + 0.5
        if self.mean(high - 0.5) <= loss:
            return self.steepest
        for _ in range(200):
            middle = math.sqrt(low) * math.sqrt(high)
            if high <= low * (1 + 1e-10):
                break
            low, high = (middle, high) if self.mean_at(middle) < loss else (low, middle)
        return high - 0.5

    def are_near(self, first: float, second: float) -> bool:
        """Whether two tilted laws overlap so much that one serves for the other."""
        return abs(self.mean(first) - self.mean(second)) <= math.sqrt(self.variance(second)) / 4


def _nearby(epsilon: Epsilon) -> float:
    """The nearest float, or one of the two around an irrational number."""
    if type(epsilon) is Fraction:
        above, below = epsilon.as_integer_ratio()
        return above / below
    return bracket_of(epsilon).upper

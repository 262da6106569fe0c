"""What a mechanism says of the size of its errors: accuracy, failure and intervals, from a theorem and exactly.

Noise on the whole numbers has exact tails. Of an answer on a lattice two things are rounded, the value and the real
noise, each by at most half a step: the error is within one step of the size of the real noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indistinct.errors import InvalidParameter
from indistinct.mechanisms.accuracy import Accuracy
from indistinct.mechanisms.quantiles import (
    BITS,
    WholeTail,
    any_of,
    read_alpha,
    read_beta,
    upper,
    whole_quantile,
    whole_tail,
)
from indistinct.mechanisms.values import all_whole, is_array, is_whole, read_array
from indistinct.numbers import Bracket, balls
from indistinct.numbers.bracket import float_above, float_below
from indistinct.numbers.reading import read_probability

__all__ = ["Bound", "Ends", "RealSizes", "WholeSizes", "around"]

Ends = tuple[int, int] | tuple[float, float] | tuple[NDArray[Any], NDArray[Any]]
"""The lower and the upper end of an interval, or of one for each answer."""


@dataclass(frozen=True, slots=True)
class Bound:
    """What a theorem says of the largest of so many noises."""

    theorem: str
    size: Callable[[Fraction, int], balls.arb]
    """The size that it exceeds with probability beta at most."""
    chance: Callable[[Fraction, int], balls.arb]
    """At most how probable it is that it exceeds a size."""


@dataclass(frozen=True, slots=True)
class WholeSizes:
    """Of noise on the whole numbers."""

    bound: Bound
    law: WholeTail

    def accuracy(self, beta: object, count: object) -> Accuracy:
        """The theorem's alpha, with the exact quantile."""
        chance, times = read_beta(beta, count)
        alpha = upper(lambda: self.bound.size(chance, times))
        exact = whole_quantile(self.law, chance, times, alpha)
        return Accuracy(max(alpha, 0.0), float_above(chance), self.bound.theorem, exact)

    def failure(self, alpha: object, count: object) -> Accuracy:
        """The theorem's beta, with the exact probability."""
        size, times = read_alpha(alpha, count)
        chance = min(upper(lambda: self.bound.chance(size, times)), 1.0)
        exact = whole_tail(self.law, math.floor(size) + 1, times)
        return Accuracy(float_above(size), chance, self.bound.theorem, exact)

    def margin(self, level: object, count: int) -> int:
        """How far to either side the truth is with this probability."""
        chance, times = read_beta(1 - read_level(level), count)
        return int(whole_quantile(self.law, chance, times, upper(lambda: self.bound.size(chance, times))).upper)


@dataclass(frozen=True, slots=True)
class RealSizes:
    """Of real noise that is rounded together with the value, by at most `step` in all."""

    bound: Bound
    step: Fraction
    quantile: Callable[[Fraction, int], Bracket]
    tails: tuple[Callable[[Fraction], balls.arb], Callable[[Fraction], balls.arb]]
    """P(|Y| > distance) of the narrowest noise that it may be, and of the widest."""

    def accuracy(self, beta: object, count: object) -> Accuracy:
        """The theorem's alpha and a step, with the exact quantile of the real noise, give or take a step."""
        chance, times = read_beta(beta, count)
        alpha = upper(lambda: self.bound.size(chance, times) + balls.ball(self.step))
        return Accuracy(max(alpha, 0.0), float_above(chance), self.bound.theorem, self._exact(chance, times))

    def failure(self, alpha: object, count: object) -> Accuracy:
        """The theorem's beta, with the exact probability for the real noise, give or take a step."""
        size, times = read_alpha(alpha, count)
        near = max(size - self.step, Fraction(0))
        chance = min(upper(lambda: self.bound.chance(near, times)), 1.0)
        with balls.precision(BITS):
            least, most = (
                balls.bracket_of(any_of(tail(distance), times))
                for tail, distance in zip(self.tails, (size + self.step, near), strict=True)
            )
        exact = Bracket(max(least.lower, 0.0), 1.0 if size <= self.step else min(most.upper, 1.0))
        return Accuracy(float_above(size), chance, self.bound.theorem, exact)

    def margin(self, level: object, count: int) -> float:
        """How far to either side the truth is with this probability."""
        return self._exact(*read_beta(1 - read_level(level), count)).upper

    def _exact(self, chance: Fraction, times: int) -> Bracket:
        found = self.quantile(chance, times)
        return Bracket(
            max(float_below(Fraction(found.lower) - self.step), 0.0), float_above(Fraction(found.upper) + self.step)
        )


def read_level(level: object) -> Fraction:
    """How sure an interval is to be."""
    sure = read_probability("level", level)
    if not 0 < sure < 1:
        raise InvalidParameter("level", level, "lie between 0 and 1, such as 0.95")
    return sure


def around(answer: Any, margin: float) -> Ends:
    """From answer - margin to answer + margin: whole numbers exactly, floats rounded outwards."""
    if is_array(answer):
        own = isinstance(answer, np.ndarray) and answer.dtype == object
        answers = read_array(answer.tolist() if own else answer)
        if all_whole(answers) and isinstance(margin, int):
            exact = answers.astype(object)
            return _narrowed(exact - margin), _narrowed(exact + margin)
        answers = answers.astype(np.float64)
        return np.nextafter(answers - margin, -np.inf), np.nextafter(answers + margin, np.inf)
    if is_whole(answer) and isinstance(margin, int):
        return int(answer) - margin, int(answer) + margin
    try:
        centre = float(answer)
    except (TypeError, ValueError, OverflowError):
        raise InvalidParameter("the answer", answer, "be one that the mechanism gave") from None
    if not math.isfinite(centre):
        raise InvalidParameter("the answer", centre, "be finite")
    return math.nextafter(centre - margin, -math.inf), math.nextafter(centre + margin, math.inf)


def _narrowed(ends: NDArray[Any]) -> NDArray[Any]:
    """Python's whole numbers as 64-bit integers, if all of them fit."""
    try:
        return ends.astype(np.int64)
    except OverflowError:
        return ends

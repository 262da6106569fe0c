r"""Discrete staircase noise (Geng and Viswanath 2012, section VI): the least noise for epsilon and a sensitivity.

For whole sensitivity D and step r = 1, ..., D, with b = e^-epsilon, the weight of x is b^k on the k-th stair
(`k D <= |x| < k D + r`) and b^(k+1) on the rest of its period (`k D + r <= |x| < (k + 1) D`). With r = D it is discrete
Laplace noise that stays constant over D numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from indistinct.errors import InvalidParameter
from indistinct.noise.ahead import Ahead
from indistinct.noise.bits import SYSTEM, BitSource
from indistinct.noise.decay import DEPTH
from indistinct.noise.draws import Drawn, Shape, accepted, many, one, table_of
from indistinct.noise.fixed import CHAIN_BITS, periodic_thresholds
from indistinct.noise.geometric import LARGEST_TABLE, digits_of, is_wide, joined
from indistinct.noise.integers import below
from indistinct.noise.scale import Scale, read_scale
from indistinct.noise.table import Integers
from indistinct.noise.uniform import ends
from indistinct.numbers import Epsilon, balls, read_epsilon, read_number
from indistinct.numbers.logarithm import ball_of

__all__ = ["DiscreteStaircase", "StairLaw", "StepLaw"]

_LARGEST_WIDTH = 2**60


@dataclass(frozen=True, slots=True)
class StairLaw:
    """The magnitude of discrete staircase noise."""

    width: int
    epsilon: Epsilon
    step: int

    def survival(self, i: int, bits: int) -> tuple[int, int]:
        """Around 2^bits P(|X| >= i)."""
        period, place = divmod(i, self.width)
        return ends(lambda: _fall(self.epsilon, period) * self._within(place), bits)

    def thresholds(self) -> tuple[Integers, int]:
        """b^k P(|X| >= j) for the places j = 1, ..., D of each period: the factors are both below 1.

        P(|X| >= j) is put together from three numbers of [0, 1], each off by a unit of 2^-192.
        """
        upper, lower, later = (ends(share, CHAIN_BITS)[0] for share in self._shares())
        period = [
            2 * (max(self.step - place, 0) * upper + (self.width - max(place, self.step)) * lower + later)
            for place in range(1, self.width + 1)
        ]
        return periodic_thresholds(period, partial(_fall, self.epsilon), math.ceil(DEPTH * _scale(1, self.epsilon)))

    def _shares(self) -> tuple[Callable[[], balls.arb], ...]:
        """The probability of a number on the upper stair of the first period, on the lower, and of x >= D."""
        fall = partial(_fall, self.epsilon, 1)

        def period() -> balls.arb:
            return self.step + fall() * (self.width - self.step)

        def upper() -> balls.arb:
            return (1 - fall()) / (2 * period() - (1 - fall()))

        return upper, lambda: upper() * fall(), lambda: upper() * period() * fall() / (1 - fall())

    def _within(self, place: int) -> balls.arb:
        """P(|X| >= place) for a place of 1, ..., D; at 0, the same formula, which counts zero twice."""
        upper, lower, later = (share() for share in self._shares())
        return 2 * (max(self.step - place, 0) * upper + (self.width - max(place, self.step)) * lower + later)


@dataclass(frozen=True, slots=True)
class StepLaw:
    """2 k + 1 or 2 k, for the numbers of the k-th period that are on the lower stair or not: P(M >= 2 k) = b^k."""

    width: int
    epsilon: Epsilon
    step: int

    def survival(self, i: int, bits: int) -> tuple[int, int]:
        """Around 2^bits P(M >= i)."""
        return ends(lambda: _fall(self.epsilon, i // 2) * self._within(i % 2), bits)

    def thresholds(self) -> tuple[Integers, int]:
        """From i = 1: each period gives b^k (b + (1 - b) P(lower)), then b^(k+1)."""
        period = [
            ends(lambda: self._within(1), CHAIN_BITS)[0],
            ends(lambda: _fall(self.epsilon, 1), CHAIN_BITS)[0],
        ]
        return periodic_thresholds(period, partial(_fall, self.epsilon), math.ceil(DEPTH * _scale(1, self.epsilon)))

    def lower(self) -> balls.arb:
        """The probability of the lower stair."""
        lower = _fall(self.epsilon, 1) * (self.width - self.step)
        return lower / (self.step + lower)

    def _within(self, odd: int) -> balls.arb:
        fall = _fall(self.epsilon, 1)
        return fall + (1 - fall) * self.lower() if odd else balls.ball(1)


@dataclass(frozen=True, slots=True)
class LowerStairLaw:
    """Whether a number is on the lower stair of its period."""

    steps: StepLaw

    def survival(self, i: int, bits: int) -> tuple[int, int]:
        """Around 2^bits P(lower), then nothing."""
        return ends(self.steps.lower, bits) if i == 1 else (0, 0)

    def thresholds(self) -> tuple[Integers, int]:
        """One."""
        return np.array([self.survival(1, 63)[0]], dtype=np.int64), 2


@dataclass(frozen=True, slots=True, init=False)
class DiscreteStaircase:
    r"""Staircase noise on the whole numbers, exactly, of scale sensitivity / epsilon from 2^-40 to 2^60.

    A small scale has one table. For a large one, the period k and the stair come from a table, the place on the stair
    is uniform, and the sign is fair; minus zero is rejected. Arrays are of 64-bit integers up to scale 2^54, and of
    Python's whole numbers beyond.

    >>> noise = DiscreteStaircase(sensitivity=10, epsilon="0.5", step=4)
    >>> noise.draws(5).shape
    (5,)
    """

    sensitivity: int
    epsilon: Epsilon
    step: int
    _ahead: Ahead[int] = field(repr=False, compare=False)

    def __init__(self, sensitivity: object, epsilon: object, step: object) -> None:
        width = _read_whole("the sensitivity", sensitivity, _LARGEST_WIDTH)
        exact = read_epsilon("epsilon", epsilon)
        if exact == 0:
            raise InvalidParameter("epsilon", epsilon, "be above 0")
        read_scale("sensitivity / epsilon", Scale(width, exact))
        object.__setattr__(self, "sensitivity", width)
        object.__setattr__(self, "epsilon", exact)
        object.__setattr__(self, "step", _read_whole("the step", step, width))
        object.__setattr__(self, "_ahead", Ahead())

    @property
    def wide(self) -> bool:
        """Whether arrays are of Python's whole numbers."""
        return is_wide(Scale(self.sensitivity, self.epsilon))

    def draw(self, source: BitSource = SYSTEM) -> int:
        """One draw."""
        return one(self._block, self._ahead, source)

    def draws(self, shape: Shape, source: BitSource = SYSTEM) -> Drawn:
        """An array of independent ones."""
        return many(shape, self._block, source)

    def _block(self, count: int, source: BitSource) -> Drawn:
        law = StairLaw(self.sensitivity, self.epsilon, self.step)
        if max(self.sensitivity, _scale(self.sensitivity, self.epsilon)) <= LARGEST_TABLE:
            magnitude, sign = table_of(law).draw(count, source)
            return magnitude * (1 - 2 * sign)
        return accepted(count, lambda missing: self._propose(missing, source))

    def _propose(self, count: int, source: BitSource) -> Drawn:
        steps = StepLaw(self.sensitivity, self.epsilon, self.step)
        if _scale(1, self.epsilon) <= LARGEST_TABLE // 2:
            place, sign = table_of(steps).draw(count, source)
            period: Drawn = place >> 1
            lower = place & 1
        else:
            digits = digits_of(Scale(1, self.epsilon))
            high, low = digits.draw(count, source)
            period = joined(high, low, digits.shift, wide=is_wide(Scale(1, self.epsilon)))
            lower, sign = table_of(LowerStairLaw(steps)).draw(count, source)
        wide = is_wide(Scale(self.sensitivity, self.epsilon))
        magnitude = _times(period, self.sensitivity, wide=wide)
        # Both places are drawn, so that the stair does not decide how many words are used.
        upper_place = below(self.step, count, source)
        lower_place = self.step + below(max(self.sensitivity - self.step, 1), count, source)
        magnitude = magnitude + np.where(lower, lower_place, upper_place).astype(magnitude.dtype)
        proposed: Drawn = magnitude * (1 - 2 * sign).astype(magnitude.dtype)
        kept = (magnitude != 0) | (sign == 0)
        return proposed if kept.all() else proposed[kept]


def _times(period: Drawn, width: int, *, wide: bool) -> Drawn:
    large = wide or (len(period) and int(period.max()) >= 2**62 // width)
    result: Drawn = (period.astype(object) if large else period) * width
    return result


def _fall(epsilon: Epsilon, periods: int) -> balls.arb:
    """b^periods."""
    return (-periods * ball_of(epsilon)).exp()


def _scale(width: int, epsilon: Epsilon) -> float:
    return float(Scale(width, epsilon))


def _read_whole(name: str, value: object, largest: int) -> int:
    number = read_number(name, value)
    if number.denominator != 1 or not 1 <= number <= largest:
        raise InvalidParameter(name, value, f"be a whole number from 1 to {largest}")
    return int(number)

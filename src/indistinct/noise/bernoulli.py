"""Coins of any exact probability: one word against a certified threshold."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from indistinct.errors import InvalidParameter
from indistinct.noise.ahead import Ahead
from indistinct.noise.bits import SYSTEM, BitSource
from indistinct.noise.draws import Drawn, Shape, many, one, table_of
from indistinct.noise.table import BITS, Integers
from indistinct.noise.uniform import ends
from indistinct.numbers import Epsilon, balls, read_count, read_epsilon, read_number
from indistinct.numbers.logarithm import ball_of
from indistinct.numbers.reading import read_probability

__all__ = ["Bernoulli", "CoinLaw", "Exponential", "Logistic", "Probability"]

_LARGEST = 2**80


@dataclass(frozen=True, slots=True, init=False)
class Exponential:
    """The probability e^(-x times), for x at least 0, which may be a logarithm.

    >>> Exponential("1/3")
    Exponential(x=Fraction(1, 3), times=Fraction(1, 1))
    """

    x: Epsilon
    times: Fraction

    def __init__(self, x: object, times: object = 1) -> None:
        object.__setattr__(self, "x", read_epsilon("x", x, largest=_LARGEST))
        object.__setattr__(self, "times", _read_times(times))

    def ball(self) -> balls.arb:
        """At the working precision."""
        return (-ball_of(self.x) * balls.ball(self.times)).exp()


@dataclass(frozen=True, slots=True, init=False)
class Logistic:
    """The probability 1 / (1 + rivals e^(-x times)): of the true answer in randomised response, where x is epsilon.

    >>> from indistinct import ln
    >>> Logistic(ln(3)).times  # three to one
    Fraction(1, 1)
    """

    x: Epsilon
    times: Fraction
    rivals: int
    """How many other answers there are."""

    def __init__(self, x: object, times: object = 1, rivals: object = 1) -> None:
        object.__setattr__(self, "x", read_epsilon("x", x, largest=_LARGEST))
        object.__setattr__(self, "times", _read_times(times))
        object.__setattr__(self, "rivals", read_count("rivals", rivals, least=1))

    def ball(self) -> balls.arb:
        """At the working precision."""
        return 1 / (1 + self.rivals * (-ball_of(self.x) * balls.ball(self.times)).exp())


Probability = Fraction | Exponential | Logistic
"""An exact probability, rational or real."""


@dataclass(frozen=True, slots=True)
class CoinLaw:
    """The law of a coin that shows 1 with some probability."""

    probability: Probability

    def survival(self, i: int, bits: int) -> tuple[int, int]:
        """Around 2^bits P(M >= i)."""
        if i > 1:
            return 0, 0
        match self.probability:
            case Fraction(numerator=above, denominator=below):
                scaled = above << bits
                return scaled // below, -(-scaled // below)
            case real:
                return ends(real.ball, bits)

    def thresholds(self) -> tuple[Integers, int]:
        """One; a certain coin's is cut by a unit to fit into 63 bits, which the width allows for."""
        lower, upper = self.survival(1, BITS)
        lower = min(lower, 2**BITS - 1)
        return np.array([lower], dtype=np.int64), upper - lower


@dataclass(frozen=True, slots=True, init=False)
class Bernoulli:
    """A coin that shows true with exactly the given probability.

    The probability is a number in [0, 1], `Exponential(x)` for e^-x, or `Logistic(x)` for 1 / (1 + e^-x).

    >>> Bernoulli("1/3").draws(5).dtype
    dtype('bool')
    >>> Bernoulli(Exponential(0)).draw()
    True
    """

    probability: Probability
    _ahead: Ahead[int] = field(repr=False, compare=False)

    def __init__(self, probability: object) -> None:
        exact = (
            probability
            if isinstance(probability, Exponential | Logistic)
            else read_probability("the probability", probability)
        )
        object.__setattr__(self, "probability", exact)
        object.__setattr__(self, "_ahead", Ahead())

    def draw(self, source: BitSource = SYSTEM) -> bool:
        """One toss."""
        return bool(one(self._block, self._ahead, source))

    def draws(self, shape: Shape, source: BitSource = SYSTEM) -> NDArray[np.bool_]:
        """An array of independent ones."""
        return many(shape, self._block, source).astype(bool)

    def _block(self, count: int, source: BitSource) -> Drawn:
        return table_of(CoinLaw(self.probability)).draw(count, source)[0]


def _read_times(value: object) -> Fraction:
    times = read_number("times", value)
    if not 0 <= times <= _LARGEST:
        raise InvalidParameter("times", value, "lie in [0, 2^80]")
    return times

r"""Which groups are shown, where their keys are private (partition selection).

Groups are kept one by one, each by a coin whose probability depends on its number of units alone. With nothing below
`first` units ever kept, the probabilities

    p(n + 1) = min(e^epsilon p(n) + delta, 1 - e^-epsilon (1 - p(n) - delta), 1),   p(first - 1) = 0,

are the largest for which each group is (epsilon, delta)-private (Desfontaines, Voss, Gipson and Mandayam 2022, Theorem
1): this is the best any method can do, and what truncated geometric noise and a threshold do. A unit is in at most G
groups, whose coins are independent; all other coins are the same.

They reach 0 and 1 exactly, so groups that surely fall need not leave the engine: `first` is raised, a little, so that
this holds for the many groups of few units.

Under (epsilon, delta), that is. In other currencies a noisy number of units Z + n, shown or not, tells as well: a group
is kept if n is at least `first` and Z + n at least a threshold that `first` units reach with probability delta at most.
Between n and n + 1 units, both at least `first`, this is computed from the noisy number; where a unit makes the group
one of `first` units, it is dropped in either case, but for the event of that probability. If the number of units is
asked for, its noise is this Z: one measurement serves for both.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from indistinct.errors import InvalidParameter
from indistinct.noise import SYSTEM, BitSource
from indistinct.numbers.balls import ball, bracket_of, precision
from indistinct.queries.answers.noises import Noise, margin

__all__ = ["CountedSelection", "KeySelection", "Selection"]

_ONE = 1 << 64
_MOST_UNITS = 2_000_000


@dataclass(frozen=True, slots=True)
class KeySelection:
    """Coins for groups, each (epsilon, delta)-private.

    >>> selection = KeySelection(Fraction(1), Fraction(1, 100_000))
    >>> selection.first, selection.surely, selection.half
    (1, 23, 12)
    """

    epsilon: Fraction
    delta: Fraction
    words: tuple[int, ...] = field(init=False, repr=False, compare=False)
    """2^64 times the probability of being kept, for `first` units and more, rounded so that the claim holds."""
    first: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        words = probabilities(self.epsilon, self.delta)
        half = next(index for index, word in enumerate(words) if 2 * word >= _ONE)
        object.__setattr__(self, "words", words)
        object.__setattr__(self, "first", 1 + half // 20)

    @property
    def surely(self) -> int:
        """So many units are always kept."""
        return self.first + len(self.words) - 1

    @property
    def half(self) -> int:
        """So many units are kept in half of the cases at least."""
        return self.units_for(Fraction(1, 2))

    def units_for(self, chance: Fraction) -> int:
        """The fewest units that are kept with such a probability."""
        return self.first + next(index for index, word in enumerate(self.words) if word >= chance * _ONE)

    def probability(self, units: int) -> Fraction:
        """That so many units are kept: exactly."""
        if units < self.first:
            return Fraction(0)
        return Fraction(self.words[min(units - self.first, len(self.words) - 1)], _ONE)

    def keep(self, units: NDArray[np.int64], source: BitSource = SYSTEM) -> NDArray[np.bool_]:
        """For each group, whether it is shown."""
        table = np.array([min(word, _ONE - 1) for word in self.words], dtype=np.uint64)
        places = np.clip(units - self.first, 0, len(table) - 1)
        drawn = source.words(len(units)) < table[places]
        return np.asarray((drawn | (units >= self.surely)) & (units >= self.first))


@dataclass(frozen=True, slots=True)
class CountedSelection:
    """Groups whose noisy number of units reaches a threshold; the noise has a price of its own.

    >>> from indistinct.mechanisms import DiscreteGaussian
    >>> selection = CountedSelection(DiscreteGaussian(1, 10, vector=True), Fraction(1, 10**7))
    >>> selection.first, selection.threshold
    (3, 56)
    """

    noise: Noise
    delta: Fraction
    """For each group of a unit."""
    measure: int | None = None
    """Whose noise it is, if the number of units is asked for."""
    reach: int = field(init=False, repr=False, compare=False)
    """Exceeded, on one side, with probability delta at most: half of what it is on both, as the noise is symmetric."""

    def __post_init__(self) -> None:
        if not self.delta < Fraction(1, 2):
            raise InvalidParameter("delta", self.delta, "be below 1/2 for each group")
        object.__setattr__(self, "reach", margin(self.noise, 1 - 2 * self.delta))

    @property
    def first(self) -> int:
        """Fewer units are never shown."""
        return 1 + self.reach // 20

    @property
    def threshold(self) -> int:
        """What the noisy number has to reach."""
        return self.first + self.reach + 1

    @property
    def half(self) -> int:
        """So many units are kept in half of the cases at least."""
        return self.threshold

    @property
    def surely(self) -> int:
        """So many units are kept but for a chance of a billionth."""
        return self.units_for(1 - Fraction(1, 10**9))

    def units_for(self, chance: Fraction) -> int:
        """As many as are kept with such a probability."""
        return self.threshold + margin(self.noise, max(2 * chance - 1, Fraction(0)))


Selection = KeySelection | CountedSelection


@lru_cache(64)
def probabilities(epsilon: Fraction, delta: Fraction) -> tuple[int, ...]:
    """2^64 p(n) for n = 1, 2, ..., up to the first that is 1: never above the recursion, whatever is rounded."""
    with precision(256):
        grows, shrinks = bracket_of(ball(epsilon).exp()), bracket_of((-ball(epsilon)).exp())
    growth, decay = Fraction(grows.lower), Fraction(shrinks.upper)
    step = delta.numerator * _ONE // delta.denominator
    if step < 1:
        raise InvalidParameter("delta", delta, "be at least 2^-64 for each group")
    bits = 128
    up, down = int(growth * (1 << bits)), -int(-decay * (1 << bits) // 1)
    words: list[int] = []
    word = 0
    while word < _ONE:
        if len(words) > _MOST_UNITS:
            raise InvalidParameter(
                "epsilon", epsilon, "be larger for private groups", instead="Spend more, or declare the keys."
            )
        gain = (up * word >> bits) + step
        rest = _ONE - word - step
        loss = _ONE if rest <= 0 else _ONE + (-(down * rest) >> bits)
        word = min(gain, loss, _ONE)
        words.append(word)
    return tuple(words)

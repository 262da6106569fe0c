"""What the parts' own deltas make together, and exact comparisons with it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property

from indistinct.numbers import Bracket
from indistinct.numbers.balls import arb, ball, decided, precision

__all__ = ["Disclosure"]

_BITS = 192
_ACCURATE = 80
_SHORT = 4096
_UNDECIDED_BITS = 4096
_LARGEST_PRODUCT = 200_000


class Disclosure:
    """1 - prod (1 - delta_i)^n_i, the probability that some part tells everything."""

    def __init__(self, parts: Iterable[tuple[Fraction, int]]) -> None:
        self.parts = tuple((delta, times) for delta, times in parts if delta and times)

    def ball(self) -> arb:
        """The ball of it at the working precision."""
        if any(delta == 1 for delta, _ in self.parts):
            return ball(1)
        if self._length <= _SHORT:
            return ball(1 - self._kept)
        return -sum((times * (-ball(delta)).log1p() for delta, times in self.parts), ball(0)).expm1()

    def compared_with(self, delta: Fraction) -> int | None:
        """The sign of delta less the disclosure; None where no reasonable work decides it."""
        bits = _BITS
        while bits <= _UNDECIDED_BITS:
            with precision(bits):
                difference = ball(delta) - self.ball()
            if difference > 0 or difference < 0:
                return 1 if difference > 0 else -1
            bits *= 2
        if self._length > _LARGEST_PRODUCT:
            return None
        return (self._kept > 1 - delta) - (self._kept < 1 - delta)

    def epsilon_at_once(self, delta: Fraction, largest: Bracket) -> Bracket | None:
        """The epsilon at a delta of whatever has this disclosure, where that alone tells; None where more is needed."""
        if delta == 1:
            return Bracket(0.0, 0.0)
        match self.compared_with(delta):
            case -1:
                return Bracket(math.inf, math.inf)
            case 0:
                return largest
            case None:
                return Bracket(0.0, math.inf)
        return None

    def beyond(self, delta: Fraction) -> arb:
        """(delta - disclosure) / (1 - disclosure) for a delta above it, however little."""
        return decided(
            lambda: (ball(delta) - self.ball()) / (1 - self.ball()),
            lambda value: value.rel_accuracy_bits() >= _ACCURATE,
        )

    @cached_property
    def _length(self) -> int:
        """About how many bits the exact product has."""
        return sum(times * own.denominator.bit_length() for own, times in self.parts)

    @cached_property
    def _kept(self) -> Fraction:
        return math.prod(((1 - own) ** times for own, times in self.parts), start=Fraction(1))

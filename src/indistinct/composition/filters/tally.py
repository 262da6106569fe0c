"""An exact running sum: whole numbers over a common denominator.

Amounts are added as integers, so that a charge costs the same after a million others, and "is there enough?" is a
comparison of integers. A new denominator refines the common one as long as that stays within `_MOST_BITS`; from
there on an amount that does not fit the common denominator is rounded up to it.
"""

from __future__ import annotations

import math
from fractions import Fraction

__all__ = ["Tally"]

_MOST_BITS = 4096


class Tally:
    """A sum of amounts that are not negative, perhaps with a limit that it must not pass.

    Whoever asks for room converts the amount into `units` first, as that may refine the unit of everything else,
    and then compares with `free`.

    >>> tally = Tally(Fraction(1))
    >>> for _ in range(9):
    ...     tally.add(Fraction(1, 10))
    >>> tally.units(Fraction(1, 10)) <= tally.free, tally.units(Fraction(1001, 10000)) <= tally.free
    (True, False)
    """

    __slots__ = ("_denominator", "_limit", "free")

    def __init__(self, limit: Fraction = Fraction(0)) -> None:
        self._denominator = limit.denominator
        self._limit = limit.numerator
        self.free = limit.numerator
        """The units that may still be taken; below 0 where there is no limit."""

    @property
    def total(self) -> Fraction:
        """What has been added."""
        return Fraction(self._limit - self.free, self._denominator)

    @property
    def left(self) -> Fraction:
        """What may still be added."""
        return Fraction(self.free, self._denominator)

    def units(self, amount: Fraction) -> int:
        """The amount in units of the common denominator, rounded up."""
        numerator, denominator = amount.numerator, amount.denominator
        if not numerator:
            return 0
        if self._denominator % denominator:
            self._refine(denominator)
        return -(-numerator * self._denominator // denominator)

    def take(self, units: int) -> None:
        """Adds units; the caller has compared them with `free`."""
        self.free -= units

    def add(self, amount: Fraction) -> None:
        """Adds an amount, whatever the limit."""
        self.take(self.units(amount))

    def back_to(self, total: Fraction) -> None:
        """Sets the sum to a total that it had before."""
        units = self.units(total)
        self.free = self._limit - units

    def _refine(self, denominator: int) -> None:
        factor = denominator // math.gcd(self._denominator, denominator)
        if (self._denominator * factor).bit_length() <= _MOST_BITS:
            self._denominator *= factor
            self._limit *= factor
            self.free *= factor

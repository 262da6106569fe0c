r"""One uniform real number, known to as many bits as were needed so far.

This is the primitive under every sampler: *compare random bits with a certified enclosure, and draw more bits only
while the comparison is undecided*. The number V is uniform on [0, 1) and known to lie in [a, a+1) / 2^n. A real S is
given by enclosures, whole numbers lo <= 2^n S <= hi: V < S is certain once a+1 <= lo, and V >= S once a >= hi. Each
further word leaves the comparison undecided with probability about 2^-64, so the loop ends, and its answers have
exactly the law of the real-number comparison.
"""

from __future__ import annotations

from collections.abc import Callable

from indistinct.errors import InternalError
from indistinct.noise.bits import BitSource
from indistinct.numbers import balls

__all__ = ["Enclosure", "LazyUniform", "ends"]

Enclosure = Callable[[int], tuple[int, int]]
"""Of a real number S, for a number n of bits: whole numbers lo <= 2^n S <= hi that close in on 2^n S."""


class LazyUniform:
    """A uniform number in [0, 1) that begins with given bits; the rest are drawn when they are needed."""

    __slots__ = ("_source", "length", "value")

    def __init__(self, value: int, length: int, source: BitSource) -> None:
        self.value = value
        self.length = length
        self._source = source

    def refine(self) -> None:
        """Know 64 more bits."""
        self.value = self.value << 64 | int(self._source.words(1)[0])
        self.length += 64

    def is_below(self, number: Enclosure) -> bool:
        """Whether V < S, decided for certain.

        >>> from indistinct.noise.bits import SYSTEM
        >>> LazyUniform(1, 2, SYSTEM).is_below(lambda bits: (2 ** (bits - 1), 2 ** (bits - 1)))  # V >= 1/4, S = 1/2
        True
        """
        while True:
            lower, upper = number(self.length)
            if self.value + 1 <= lower:
                return True
            if self.value >= upper:
                return False
            self.refine()

    def ball(self) -> balls.arb:
        """The interval in which V is known to lie, at the working precision."""
        return balls.arb(balls.ball(2 * self.value + 1), 1) / balls.ball(2 ** (self.length + 1))


def ends(number: Callable[[], balls.arb], bits: int) -> tuple[int, int]:
    """Whole numbers lo <= 2^bits S <= hi around a number of [0, 1]: what an `Enclosure` gives.

    >>> ends(lambda: balls.ball(-1).exp(), 8)  # 256 / e = 94.18
    (94, 95)
    """
    with balls.precision(bits + 64):
        scaled = number() * balls.ball(2**bits)
        if not scaled.is_finite():
            return 0, 2**bits
        lower, upper = scaled.lower().floor().unique_fmpz(), scaled.upper().ceil().unique_fmpz()
    if lower is None or upper is None:
        raise InternalError("the floor of a number is no whole number")
    return max(int(lower), 0), min(int(upper), 2**bits)

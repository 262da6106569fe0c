"""Geometric noise known to be below a bound: the truncated geometric law."""

from __future__ import annotations

from dataclasses import dataclass, field

from indistinct.errors import InvalidParameter
from indistinct.noise.ahead import Ahead
from indistinct.noise.bits import SYSTEM, BitSource
from indistinct.noise.decay import BoundedLaw
from indistinct.noise.draws import Drawn, Shape, accepted, many, one, table_of
from indistinct.noise.geometric import Digits, digits_of, is_wide, joined, low_digits
from indistinct.noise.scale import Scale, read_scale
from indistinct.numbers import read_number

__all__ = ["BoundedGeometric"]

_LARGEST_BOUND = 2**62
_LARGEST_TABLE = 2**12


@dataclass(frozen=True, slots=True, init=False)
class BoundedGeometric:
    r"""Noise x = 0, 1, ..., bound - 1 of law proportional to `e^(-x / scale)`, exactly.

    Small bounds have a table. For large ones a geometric number is drawn until it is below the bound if the scale is
    smaller than that (at least 63% are accepted); else a number of as many binary digits, whose digits are independent
    (at least half are). What is rejected is independent of what is accepted.

    >>> noise = BoundedGeometric(bound=4, scale="0.5").draws(1000)
    >>> bool((noise >= 0).all() and (noise < 4).all())
    True
    """

    bound: int
    scale: Scale
    _ahead: Ahead[int] = field(repr=False, compare=False)

    def __init__(self, bound: object, scale: object) -> None:
        exact = read_number("the bound", bound)
        if exact.denominator != 1 or not 1 <= exact <= _LARGEST_BOUND:
            raise InvalidParameter("the bound", bound, "be a whole number from 1 to 2^62")
        object.__setattr__(self, "bound", int(exact))
        object.__setattr__(self, "scale", read_scale("scale", scale))
        object.__setattr__(self, "_ahead", Ahead())

    def draw(self, source: BitSource = SYSTEM) -> int:
        """One draw."""
        return one(self._block, self._ahead, source)

    def draws(self, shape: Shape, source: BitSource = SYSTEM) -> Drawn:
        """An array of independent ones, of 64-bit integers."""
        return many(shape, self._block, source)

    def _block(self, count: int, source: BitSource) -> Drawn:
        if self.bound <= _LARGEST_TABLE:
            return table_of(BoundedLaw(self.scale, self.bound)).draw(count, source)[0]
        if self.bound > float(self.scale):
            digits, wide = digits_of(self.scale), is_wide(self.scale)
        else:
            bits = (self.bound - 1).bit_length()
            digits, wide = Digits(low_digits(self.scale, bits), bits, None), False

        def propose(missing: int) -> Drawn:
            high, low = digits.draw(missing, source)
            number = joined(high, low, digits.shift, wide=wide)
            return number[number < self.bound].astype("int64")

        return accepted(count, propose)

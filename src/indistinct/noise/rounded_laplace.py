r"""Laplace noise rounded to the nearest whole number (Dwork and Roth, Definition 3.3, on a lattice).

For Y of density `e^(-|y| / scale) / (2 scale)` and N the whole number nearest to it, `|N| >= i` as soon as
`|Y| >= i - 1/2`: then `P(|N| >= i) = e^(-(i - 1/2) / scale)`, and the sign is fair. A whole number m plus N is m + Y,
rounded, so whatever holds of Laplace noise on real numbers holds of N: it is post-processing. Discrete Laplace noise is
no such rounding, and tells more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

from indistinct.noise.ahead import Ahead
from indistinct.noise.bernoulli import CoinLaw, Exponential
from indistinct.noise.bits import SYSTEM, BitSource
from indistinct.noise.decay import DEPTH
from indistinct.noise.draws import Drawn, Shape, many, one, table_of
from indistinct.noise.fixed import CHAIN_BITS, periodic_thresholds
from indistinct.noise.geometric import LARGEST_TABLE, digits_of, is_wide, joined
from indistinct.noise.scale import Scale, read_scale
from indistinct.noise.table import Integers
from indistinct.noise.uniform import ends

__all__ = ["RoundedLaplace", "RoundedLaplaceLaw"]

_HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class RoundedLaplaceLaw:
    """The magnitude of rounded Laplace noise."""

    scale: Scale

    def survival(self, i: int, bits: int) -> tuple[int, int]:
        """Around 2^bits e^(-(i - 1/2) / scale)."""
        return ends(lambda: self.scale.decay(i - _HALF), bits)

    def thresholds(self) -> tuple[Integers, int]:
        """e^(-1/2 / scale) e^(-(i - 1) / scale), as products."""
        first, _ = ends(lambda: self.scale.decay(_HALF), CHAIN_BITS)
        return periodic_thresholds([first], self.scale.decay, math.ceil(DEPTH * float(self.scale)))


@dataclass(frozen=True, slots=True, init=False)
class RoundedLaplace:
    r"""Laplace noise of a scale, rounded to the nearest whole number, exactly.

    Up to scale 2^11 the magnitude comes from one table. Beyond, it is 0 with probability 1 - e^(-1 / (2 scale)), and
    otherwise 1 plus a geometric number. The scale is a number or a `Scale`, from 2^-40 to 2^60. Arrays are of 64-bit
    integers up to scale 2^54, and of Python's whole numbers beyond.

    >>> RoundedLaplace(10).draws((2, 3)).shape
    (2, 3)
    >>> type(RoundedLaplace("1e6").draw())
    <class 'int'>
    """

    scale: Scale
    _ahead: Ahead[int] = field(repr=False, compare=False)

    def __init__(self, scale: object) -> None:
        object.__setattr__(self, "scale", read_scale("scale", scale))
        object.__setattr__(self, "_ahead", Ahead())

    @property
    def law(self) -> RoundedLaplaceLaw:
        """The law of the magnitude; the sign is fair."""
        return RoundedLaplaceLaw(self.scale)

    @property
    def wide(self) -> bool:
        """Whether arrays are of Python's whole numbers."""
        return is_wide(self.scale)

    def draw(self, source: BitSource = SYSTEM) -> int:
        """One draw."""
        return one(self._block, self._ahead, source)

    def draws(self, shape: Shape, source: BitSource = SYSTEM) -> Drawn:
        """An array of independent ones."""
        return many(shape, self._block, source)

    def _block(self, count: int, source: BitSource) -> Drawn:
        if float(self.scale) <= LARGEST_TABLE:
            magnitude, sign = table_of(self.law).draw(count, source)
            return magnitude * (1 - 2 * sign)
        digits = digits_of(self.scale)
        high, low = digits.draw(count, source)
        coin = CoinLaw(Exponential(self.scale.epsilon, _HALF / self.scale.width))
        apart, sign = table_of(coin).draw(count, source)
        beyond = joined(high, low, digits.shift, wide=is_wide(self.scale))
        number: Drawn = (beyond + 1) * (apart * (1 - 2 * sign)).astype(beyond.dtype)
        return number

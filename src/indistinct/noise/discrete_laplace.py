"""Discrete Laplace noise, the two-sided geometric law (KOV, section 4.3; Dwork and Roth, section 3.3)."""

from __future__ import annotations

from dataclasses import dataclass, field

from indistinct.noise.ahead import Ahead
from indistinct.noise.bernoulli import CoinLaw, Logistic
from indistinct.noise.bits import SYSTEM, BitSource
from indistinct.noise.decay import LaplaceLaw
from indistinct.noise.draws import Drawn, Shape, many, one, table_of
from indistinct.noise.geometric import LARGEST_TABLE, digits_of, is_wide, joined
from indistinct.noise.scale import Scale, read_scale

__all__ = ["DiscreteLaplace"]


@dataclass(frozen=True, slots=True, init=False)
class DiscreteLaplace:
    r"""Noise of law proportional to `e^(-|x| / scale)` on the whole numbers, exactly.

    Up to scale 2^11 the magnitude comes from one table. Beyond, with q = e^(-1/scale): X >= 0 has probability
    1 / (1 + q), and then X is geometric; otherwise -1 - X is. No zero is drawn twice, so nothing is rejected.

    The scale is a number or a `Scale`, from 2^-40 to 2^60. Arrays are of 64-bit integers up to scale 2^54, where one
    draw in 2^369 needs more and makes the array one of Python's whole numbers, as it is for all larger scales.

    >>> from indistinct import ln
    >>> from indistinct.noise import Scale
    >>> DiscreteLaplace(Scale(1, ln(3))).draws((2, 3)).shape
    (2, 3)
    >>> type(DiscreteLaplace(10).draw())
    <class 'int'>
    """

    scale: Scale
    _ahead: Ahead[int] = field(repr=False, compare=False)

    def __init__(self, scale: object) -> None:
        object.__setattr__(self, "scale", read_scale("scale", scale))
        object.__setattr__(self, "_ahead", Ahead())

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
            magnitude, sign = table_of(LaplaceLaw(self.scale)).draw(count, source)
            return magnitude * (1 - 2 * sign)
        digits = digits_of(self.scale)
        high, low = digits.draw(count, source)
        positive, _ = table_of(CoinLaw(Logistic(self.scale.epsilon, 1 / self.scale.width))).draw(count, source)
        distance = joined(high, low, digits.shift, wide=is_wide(self.scale))
        number: Drawn = distance ^ (positive - 1).astype(distance.dtype)  # x ^ -1 is -1 - x
        return number

r"""Discrete Gaussian noise (Canonne, Kamath and Steinke 2020), at table speed for every sigma.

Up to `_LARGEST_TABLE` the magnitude comes from one table. Beyond, write the distance as 2^k H + D with D < 2^k and
sigma' = sigma / 2^k between 640 and 1280. Propose H from a table, with weight e^(-H^2 / (2 sigma'^2)); D uniform; a
fair sign, by which the number is m = 2^k H + D or -1 - m, so that zero is proposed once. The weight wanted is that of H
times e^-t with

    t = (2 (2^k H) d + d^2) / (2 sigma^2),   d = D or D + 1,

so a proposal is accepted with probability e^-t, and the accepted ones have exactly the law. As t < 2^-6 for all H of
the table, one proposal in 64, chosen by bits of its own, is put to the test, and that is passed with probability
1 - 64 (1 - e^-t). Less than one in 1,500 fails. Which are tested is independent of the proposals, and how many fail
says nothing about those that are accepted: the time does not depend on the noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from indistinct.errors import InvalidParameter
from indistinct.noise.ahead import Ahead
from indistinct.noise.bits import SYSTEM, BitSource
from indistinct.noise.draws import Drawn, Shape, accepted, many, one, table_of
from indistinct.noise.gaussian_law import GaussianLaw
from indistinct.noise.geometric import WIDE, joined
from indistinct.noise.scale import Scale, read_scale, read_variance
from indistinct.noise.table import Integers
from indistinct.noise.uniform import Enclosure, LazyUniform, ends
from indistinct.numbers import balls
from indistinct.numbers.reading import read_number

__all__ = ["DiscreteGaussian", "fails", "propose"]

_LARGEST_TABLE = 1280
_TESTED = 6  # one proposal in 2^6 is tested
_UNSURE = 2.0**-44  # far above the rounding errors of the test, which are below 2^-46


@dataclass(frozen=True, slots=True, init=False)
class DiscreteGaussian:
    r"""Noise of law proportional to `e^(-x^2 / (2 sigma^2))` on the whole numbers, exactly.

    Given by sigma, a number from 2^-40 to 2^60, or by its square, which may be a `Scale`. Arrays are of 64-bit integers
    up to sigma 2^54, and of Python's whole numbers beyond (or if one does not fit, which has probability below
    2^-100000).

    >>> DiscreteGaussian(sigma=10).draws(3).dtype
    dtype('int64')
    >>> DiscreteGaussian(variance="0.5") == DiscreteGaussian(variance="1/2")
    True
    """

    variance: Scale
    _ahead: Ahead[int] = field(repr=False, compare=False)

    def __init__(self, sigma: object = None, *, variance: object = None) -> None:
        if (sigma is None) == (variance is None):
            raise InvalidParameter("the noise", (sigma, variance), "be given by either sigma or variance")
        if sigma is None:
            square = read_variance("variance", variance)
        else:
            square = Scale(read_scale("sigma", read_number("sigma", sigma)).width ** 2)
        object.__setattr__(self, "variance", square)
        object.__setattr__(self, "_ahead", Ahead())

    @property
    def wide(self) -> bool:
        """Whether arrays are of Python's whole numbers."""
        return math.sqrt(float(self.variance)) > WIDE

    def draw(self, source: BitSource = SYSTEM) -> int:
        """One draw."""
        return one(self._block, self._ahead, source)

    def draws(self, shape: Shape, source: BitSource = SYSTEM) -> Drawn:
        """An array of independent ones."""
        return many(shape, self._block, source)

    def _block(self, count: int, source: BitSource) -> Drawn:
        sigma = math.sqrt(float(self.variance))
        if sigma <= _LARGEST_TABLE:
            magnitude, sign = table_of(GaussianLaw(self.variance, Fraction(1, 2))).draw(count, source)
            return magnitude * (1 - 2 * sign)
        shift = max(math.ceil(math.log2(sigma / _LARGEST_TABLE)), 1)
        return accepted(count, lambda missing: propose(self.variance, shift, missing, source))


def propose(variance: Scale, shift: int, count: int, source: BitSource) -> Drawn:
    """The accepted ones of so many proposals."""
    reduced = variance.times(Fraction(1, 4**shift))
    high, sign = table_of(GaussianLaw(reduced, Fraction(1))).draw(count, source)
    words = source.words(count)
    low = (words >> np.uint64(64 - shift)).view(np.int64)
    far = high > int(float(reduced)) // 2**_TESTED - 2  # where t may exceed 2^-6, which no table reaches
    tested = np.flatnonzero(((words & np.uint64(2**_TESTED - 1)) == 0) & ~far)
    failed = tested[fails(variance, shift, high[tested], low[tested] + sign[tested], source)].tolist()
    for at in np.flatnonzero(far):
        number = LazyUniform(0, 0, source)
        if number.is_below(_shortfall(variance, shift, int(high[at]), int(low[at] + sign[at]), 1)):
            failed.append(at)
    distance = joined(high, low, shift, wide=math.sqrt(float(variance)) > WIDE)
    proposed = distance ^ (-sign).astype(distance.dtype)  # x ^ -1 is -1 - x
    return np.delete(proposed, failed) if failed else proposed


def fails(variance: Scale, shift: int, high: Integers, step: Integers, source: BitSource) -> NDArray[np.bool_]:
    """Whether V < 64 (1 - e^-t) for a new uniform V each.

    Floats do: t has at most eight roundings, the series of 1 - e^-t is cut where its terms are below 2^-56 of the
    first, and both are followed by as few roundings again. V is known to 2^-53. Where V is nearer than `_UNSURE`,
    balls decide.
    """
    words = source.words(len(high))
    # (2 H d / 2^k + (d / 2^k)^2) / (2 sigma'^2), with steps d / 2^k in (0, 1]
    part = step * 2.0**-shift
    t = part * (2.0 * high + part) * (0.5 / float(variance.times(Fraction(1, 4**shift))))
    series = t * (1 - t / 2 * (1 - t / 3 * (1 - t / 4 * (1 - t / 5 * (1 - t / 6 * (1 - t / 7))))))
    gap = words.astype(np.float64) * 2.0**-64 - series * 2.0**_TESTED
    result: NDArray[np.bool_] = gap < 0
    for at in np.flatnonzero(np.abs(gap) < _UNSURE):
        number = LazyUniform(int(words[at]), 64, source)
        result[at] = number.is_below(_shortfall(variance, shift, int(high[at]), int(step[at]), 2**_TESTED))
    return result


def _shortfall(variance: Scale, shift: int, high: int, step: int, factor: int) -> Enclosure:
    """factor (1 - e^-t)."""
    exponent = Fraction((2 * (high << shift) + step) * step, 2)
    return lambda bits: ends(lambda: -factor * (-balls.ball(exponent) / variance.ball()).expm1(), bits)

r"""Gaussian noise rounded to the nearest whole number (Dwork and Roth, appendix A, on a lattice).

For Y normal with standard deviation sigma and N the whole number nearest to it, `P(|N| >= i) = P(|Y| >= i - 1/2)`,
which is erfc((i - 1/2) / (sigma sqrt 2)), and the sign is fair. A whole number m plus N is m + Y, rounded:
post-processing.

Up to `_LARGEST_TABLE` the magnitude comes from one table. Beyond, `|Y|` = 2^k (H + U) with H whole and U uniform on
[0, 1), and sigma' = sigma / 2^k between 640 and 1280. Propose H from a table, with weight e^(-H^2 / (2 sigma'^2)), and
the first 58 bits of U; the density wanted is that of H times e^-t, with

    t = (2 H U + U^2) / (2 sigma'^2),

so a proposal is accepted with probability e^-t. As t < 2^-6 for all H of the table, one proposal in 64, chosen by bits
of its own, is put to the test, and that is passed with probability 1 - 64 (1 - e^-t). The first k + 1 bits of U say
which whole number 2^k (H + U) is rounded to; the others, and those beyond the 58th, which are drawn where they are
needed, say only which proposals fail. Less than one in 1,500 does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from indistinct.noise.ahead import Ahead
from indistinct.noise.bits import SYSTEM, BitSource, Words
from indistinct.noise.draws import Drawn, Shape, accepted, many, one, table_of
from indistinct.noise.gaussian_law import GaussianLaw
from indistinct.noise.geometric import WIDE, joined
from indistinct.noise.scale import Scale, read_scale
from indistinct.noise.table import BITS, CUT, Integers
from indistinct.noise.uniform import LazyUniform, ends
from indistinct.numbers import balls
from indistinct.numbers.reading import read_number

__all__ = ["RoundedGaussian", "RoundedGaussianLaw", "fails", "propose"]

_LARGEST_TABLE = 640  # a larger one takes long to make: each threshold is an error function
_REDUCED = 1280
_TESTED = 6  # one proposal in 2^6 is tested
_KNOWN = 64 - _TESTED  # bits of U that every proposal has
_UNSURE = 2.0**-44  # far above the rounding errors of the test, which are below 2^-46
_GUARD = 96


@dataclass(frozen=True, slots=True)
class RoundedGaussianLaw:
    """The magnitude of rounded Gaussian noise."""

    sigma: Fraction

    def survival(self, i: int, bits: int) -> tuple[int, int]:
        """Around 2^bits erfc((i - 1/2) / (sigma sqrt 2))."""
        return ends(lambda: self._tail(Fraction(2 * i - 1, 2)), bits)

    def thresholds(self) -> tuple[Integers, int]:
        """A ball for each, as narrow as that its floor is off by a unit."""
        lower: list[int] = []
        with balls.precision(BITS + _GUARD):
            step = 1 / (2 * balls.ball(self.sigma) * balls.ball(2).sqrt())
            unit = balls.ball(2**BITS)
            while not lower or lower[-1] > CUT // 2:
                value = (unit * (step * (2 * len(lower) + 1)).erfc()).lower().floor().unique_fmpz()
                lower.append(max(int(value or 0), 0))
        return np.array(lower, dtype=np.int64), 2

    def _tail(self, distance: Fraction) -> balls.arb:
        return (balls.ball(distance / self.sigma) / balls.ball(2).sqrt()).erfc()


@dataclass(frozen=True, slots=True, init=False)
class RoundedGaussian:
    r"""Gaussian noise of a standard deviation sigma, rounded to the nearest whole number, exactly.

    Sigma goes from 2^-40 to 2^60. Arrays are of 64-bit integers up to sigma 2^54, and of Python's whole numbers
    beyond (or if one does not fit, which has probability below 2^-100000).

    >>> RoundedGaussian(sigma=10).draws(3).dtype
    dtype('int64')
    >>> RoundedGaussian("0.5") == RoundedGaussian("1/2")
    True
    """

    sigma: Fraction
    _ahead: Ahead[int] = field(repr=False, compare=False)

    def __init__(self, sigma: object) -> None:
        object.__setattr__(self, "sigma", read_scale("sigma", read_number("sigma", sigma)).width)
        object.__setattr__(self, "_ahead", Ahead())

    @property
    def law(self) -> RoundedGaussianLaw:
        """The law of the magnitude; the sign is fair."""
        return RoundedGaussianLaw(self.sigma)

    @property
    def wide(self) -> bool:
        """Whether arrays are of Python's whole numbers."""
        return float(self.sigma) > WIDE

    def draw(self, source: BitSource = SYSTEM) -> int:
        """One draw."""
        return one(self._block, self._ahead, source)

    def draws(self, shape: Shape, source: BitSource = SYSTEM) -> Drawn:
        """An array of independent ones."""
        return many(shape, self._block, source)

    def _block(self, count: int, source: BitSource) -> Drawn:
        if self.sigma <= _LARGEST_TABLE:
            magnitude, sign = table_of(self.law).draw(count, source)
            return magnitude * (1 - 2 * sign)
        shift = max(math.ceil(math.log2(float(self.sigma) / _REDUCED)), 0)
        return accepted(count, lambda missing: propose(self.sigma, shift, missing, source))


def propose(sigma: Fraction, shift: int, count: int, source: BitSource) -> Drawn:
    """The accepted ones of so many proposals."""
    reduced = sigma / 2**shift
    high, sign = table_of(GaussianLaw(Scale(reduced**2), Fraction(1))).draw(count, source)
    words = source.words(count)
    low = (words >> np.uint64(63 - shift)).view(np.int64)  # the first shift + 1 bits of U
    far = high > int(reduced**2) // 2**_TESTED - 2  # where t may exceed 2^-6, which no table reaches
    tested = np.flatnonzero(((words & np.uint64(2**_TESTED - 1)) == 0) & ~far)
    failed = tested[fails(reduced, high[tested], words[tested], source)].tolist()
    for at in np.flatnonzero(far):
        rest = LazyUniform(int(words[at]) >> _TESTED, _KNOWN, source)
        if _falls_short(reduced, int(high[at]), rest, LazyUniform(0, 0, source), 1):
            failed.append(int(at))
    # 2^k H + floor(2^k U + 1/2): the last of those bits says whether the rest is at least a half.
    nearest = (low + 1) >> 1
    magnitude: Drawn = joined(high, nearest, shift, wide=float(sigma) > WIDE) if shift else high + nearest
    proposed: Drawn = magnitude * (1 - 2 * sign).astype(magnitude.dtype)
    return np.delete(proposed, failed) if failed else proposed


def fails(reduced: Fraction, high: Integers, rest: Words, source: BitSource) -> NDArray[np.bool_]:
    """Whether V < 64 (1 - e^-t) for a new uniform V each; `rest` holds the first bits of U, then those that chose it.

    Floats do: t has at most eight roundings, the series of 1 - e^-t is cut where its terms are below 2^-56 of the
    first, and both are followed by as few roundings again. V is known to 2^-53, and so is U, which moves 64 t by less,
    as dt/dU <= (H + 1) / sigma'^2 < 2^-6. Where V is nearer than `_UNSURE`, balls decide.
    """
    words = source.words(len(high))
    part = (rest >> np.uint64(_TESTED)).astype(np.float64) * 2.0**-_KNOWN
    t = part * (2.0 * high + part) * (0.5 / float(reduced**2))
    series = t * (1 - t / 2 * (1 - t / 3 * (1 - t / 4 * (1 - t / 5 * (1 - t / 6 * (1 - t / 7))))))
    gap = words.astype(np.float64) * 2.0**-64 - series * 2.0**_TESTED
    result: NDArray[np.bool_] = gap < 0
    for at in np.flatnonzero(np.abs(gap) < _UNSURE):
        known = LazyUniform(int(rest[at]) >> _TESTED, _KNOWN, source)
        coin = LazyUniform(int(words[at]), 64, source)
        result[at] = _falls_short(reduced, int(high[at]), known, coin, 2**_TESTED)
    return result


def _falls_short(reduced: Fraction, high: int, rest: LazyUniform, coin: LazyUniform, factor: int) -> bool:
    """Whether V < factor (1 - e^-t) for the numbers V and U, both refined until it is certain."""

    def shortfall() -> balls.arb:
        part = rest.ball()
        return -factor * (-part * (2 * high + part) / (2 * balls.ball(reduced**2))).expm1()

    while True:
        lower, upper = ends(shortfall, coin.length)
        if coin.value + 1 <= lower:
            return True
        if coin.value >= upper:
            return False
        coin.refine()
        rest.refine()

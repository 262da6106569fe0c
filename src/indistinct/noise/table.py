r"""Inversion of a certified table: one random word, one draw, in array operations.

A law on 0, 1, 2, ... is given by its survival function S(i) = P(M >= i). For V uniform on [0, 1), M = #{i >= 1 : V <
S(i)} has that law. The table holds whole numbers L_1 >= L_2 >= ... with L_i <= 2^63 S(i) <= L_i + width. From the 63
upper bits v of a word (V lies in [v, v+1) / 2^63), v < L_i proves V < S(i), and v >= L_i + width proves V >= S(i). What
lies between is *undecided* and takes the exact path, which draws more bits (`LazyUniform`). Thresholds below `_CUT` are
not kept: words below it are undecided too. Both together have probability
(thresholds * width + _CUT) / 2^63, which is below 2^-40.

Where to begin comparing is told by a guide: the leading bits of v as a float, that is its exponent and a few bits of
its mantissa, so that the buckets are fine where a tail's thresholds are dense. At most `steps` thresholds fall into
any bucket, and all of `steps` comparisons are made for every word: the time does not depend on the draw. The 64th
bit of the word is left over, and is handed out as a fair sign.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from indistinct.errors import InternalError
from indistinct.noise.bits import BitSource
from indistinct.noise.uniform import LazyUniform

__all__ = ["BITS", "BLOCK", "CUT", "Integers", "SurvivalLaw", "Table", "invert"]

Integers = NDArray[np.int64]

BITS = 63
BLOCK = 1 << 14
"""Draws are made so many at a time, to stay in the processor's cache."""

_CUT_BITS = 20
CUT = 1 << _CUT_BITS
"""Words below it are left to the exact path."""

_ONE = np.uint64(1)
_MANTISSA = 52
_ORIGIN = 1023 + _CUT_BITS  # the biased exponent of CUT
_SLACK = 8  # widths are at least this, so that a threshold of 1 is within its enclosure
_FINEST_GUIDE = 12


class SurvivalLaw(Protocol):
    """A law on the whole numbers from 0, by its survival function S(i) = P(M >= i)."""

    def survival(self, i: int, bits: int) -> tuple[int, int]:
        """Whole numbers around 2^bits S(i), for i >= 1, as narrow as asked."""
        ...

    def thresholds(self) -> tuple[Integers, int]:
        """Lower ends L_1 >= L_2 >= ... of 2^63 S(i), as far as CUT at least, and how wide each enclosure is."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The thresholds of a law and the guide into them; made by `Table.of`."""

    law: SurvivalLaw
    lower: Integers
    width: int
    guide: Integers
    guide_bits: int
    steps: int

    @classmethod
    def of(cls, law: SurvivalLaw) -> Table:
        """The table of a law."""
        lower, width = law.thresholds()
        width = max(width, _SLACK)
        # Kept are all whose enclosure may reach the words that CUT lets through.
        lower = np.minimum(lower[: np.searchsorted(-lower, width - CUT, side="right")], 2**BITS - width)
        if law.survival(len(lower) + 1, BITS)[1] > CUT or (lower[:-1] < lower[1:]).any():
            raise InternalError(f"the thresholds of {law} end too early or rise")
        guide_bits = min(max(len(lower).bit_length() - 5, 4), _FINEST_GUIDE)
        above, steps = _guide(lower, width, guide_bits)
        while steps > 1 and guide_bits < _FINEST_GUIDE:
            guide_bits += 1
            above, steps = _guide(lower, width, guide_bits)
        padded = np.concatenate([lower, np.zeros(steps, dtype=np.int64)])  # below every word that CUT lets through
        return cls(law, padded, width, above, guide_bits, steps)

    def draw(self, count: int, source: BitSource) -> tuple[Integers, Integers]:
        """Independent draws of the law and, independent of them, as many fair bits."""
        words = source.words(count)
        position = (words >> _ONE).view(np.int64)
        first = self.guide.take(_bucket(position, self.guide_bits), mode="clip")
        drawn = first.copy()
        undecided = position < CUT
        for step in range(self.steps):
            beyond = position - self.lower.take(first + step if step else first, mode="clip")
            drawn -= beyond >> 63
            undecided |= beyond.view(np.uint64) < self.width
        if undecided.any():
            for at in np.flatnonzero(undecided):
                drawn[at] = invert(self.law, LazyUniform(int(position[at]), BITS, source), int(drawn[at]))
        return drawn, (words & _ONE).view(np.int64)


def invert(law: SurvivalLaw, number: LazyUniform, near: int) -> int:
    """#{i >= 1 : V < S(i)}, exactly, found by certified comparisons that begin at a guess."""

    def at_least(i: int) -> bool:
        return i == 0 or number.is_below(lambda bits: law.survival(i, bits))

    step = 1
    if at_least(near):
        low = near
        while at_least(low + step):
            low += step
            step *= 2
        high = low + step
    else:
        high = near
        while not at_least(max(high - step, 0)):
            high -= step
            step *= 2
        low = max(high - step, 0)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if at_least(middle) else (low, middle)
    return low


def _guide(lower: Integers, width: int, guide_bits: int) -> tuple[Integers, int]:
    """How many thresholds lie above each bucket, and at most how many reach into one and must be compared."""
    buckets = (BITS + 1 - _CUT_BITS) << guide_bits
    above, not_below = (
        len(lower) - np.cumsum(np.bincount(_bucket(ends, guide_bits), minlength=buckets))
        for ends in (lower, lower + (width - 1))
    )
    reaching = np.concatenate([[len(lower)], not_below[:-1]]) - above
    return above.astype(np.int64), max(int(reaching.max()), 1)


def _bucket(position: Integers, guide_bits: int) -> Integers:
    """The exponent and the leading bits of the mantissa: a function that never decreases."""
    code = position.astype(np.float64).view(np.int64)
    code >>= _MANTISSA - guide_bits
    code -= _ORIGIN << guide_bits
    return np.maximum(code, 0)

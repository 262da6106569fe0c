r"""Standard real noise as a function of a uniform number, in floats with an error and in balls without end.

    exponential   -ln V
    Laplace       -ln V with a fair sign, the word's last bit
    Gumbel        -ln(-ln(1 - V))

V has the upper 63 bits of a word as its first; what follows them is not drawn until it is needed, so the float
stands for the middle of an interval, and its error includes half of the interval's width.
"""

from __future__ import annotations

from enum import Enum
from typing import assert_never

import numpy as np

from indistinct.noise.bits import Words
from indistinct.noise.logarithm import ERROR, Reals, horner, logarithm
from indistinct.noise.table import BITS, Integers
from indistinct.noise.uniform import LazyUniform
from indistinct.numbers import balls

__all__ = ["Kind", "approximated", "noise_ball"]

_SMALL = 2.0**-6
_GUMBEL_ERROR = 2.0**-40
_COARSE = 1024
_SERIES = tuple(1 / k for k in range(9, 0, -1))


class Kind(Enum):
    """Which law."""

    EXPONENTIAL = "exponential"
    LAPLACE = "Laplace"
    GUMBEL = "Gumbel"


def approximated(kind: Kind, words: Words) -> tuple[Reals, Reals]:
    """Each word's noise, and by how much it may be off: not finite where a word says next to nothing."""
    position = (words >> np.uint64(1)).view(np.int64)
    match kind:
        case Kind.EXPONENTIAL:
            return _exponential(position)
        case Kind.LAPLACE:
            size, error = _exponential(position)
            return size * (1 - 2 * (words & np.uint64(1)).view(np.int64)), error
        case Kind.GUMBEL:
            return _gumbel(position)
        case other:
            assert_never(other)


def noise_ball(kind: Kind, word: int, number: LazyUniform) -> balls.arb:
    """The noise, as narrow as the number is known and the working precision allows; not finite if too little is."""
    uniform = number.ball()
    match kind:
        case Kind.EXPONENTIAL:
            return -uniform.log()
        case Kind.LAPLACE:
            return uniform.log() if word & 1 else -uniform.log()
        case Kind.GUMBEL:
            return -(-(-uniform).log1p()).log()
        case other:
            assert_never(other)


def _exponential(position: Integers) -> tuple[Reals, Reals]:
    """ln((v + u) / (v + 1/2)) is within 1/(2 v) for u of [0, 1]; v + 1/2 is rounded by 2^-53 twice."""
    size = _minus_log(position)
    with np.errstate(divide="ignore"):
        error: Reals = np.divide(0.5, position, dtype=np.float64)
    error += size * (2 * ERROR)
    error += 2 * ERROR
    return size, error


def _minus_log(position: Integers) -> Reals:
    """-ln((v + 1/2) / 2^63)."""
    result = logarithm(_middle(position))
    np.negative(result, out=result)
    return result


def _middle(position: Integers) -> Reals:
    middle = position.astype(np.float64)
    middle += 0.5
    middle *= 2.0**-BITS
    return middle


def _gumbel(position: Integers) -> tuple[Reals, Reals]:
    r"""E = -ln(1 - V) with a small relative error for small V too, where the largest noise comes from.

    Below 2^-6, E = V + V^2/2 + ... + V^9/9, whose tail is below 2^-56 of E. Above, E > 2^-6 is the logarithm of
    (complement + 1/2) / 2^63, off by less than 2^-48 (1 + E) + 2^-52: relatively by less than 2^-41. With c the
    smaller of v and its complement, that V may be anywhere in its interval moves E by at most 1/c of itself, and
    ln E by at most 2/c; the words of the smallest c are left to the exact path.
    """
    complement = (2**BITS - 1) - position
    v = _middle(position)
    small = v < _SMALL
    v *= horner(v, _SERIES)
    noise = logarithm(np.where(small, v, _minus_log(complement)))
    np.negative(noise, out=noise)
    beyond_coarse = np.maximum(np.minimum(position, complement) - _COARSE, 0)
    with np.errstate(divide="ignore"):
        error: Reals = np.divide(2.0, beyond_coarse, dtype=np.float64)
    error += np.abs(noise) * _GUMBEL_ERROR
    error += _GUMBEL_ERROR
    return noise, error

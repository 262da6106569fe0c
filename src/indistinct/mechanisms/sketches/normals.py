r"""Gaussian numbers in bulk, from the operating system's generator.

Box and Muller's transform of two words of 32 bits: sqrt(-2 log u) times cosine and sine of an angle. In single
precision that is some hundred million a second, and the words are what costs. The numbers are floats on a fine,
uneven set of points up to sqrt(-2 log 2^-33) = 6.8, not the real line: see the page on sketches for what that means.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indistinct.noise import BitSource

__all__ = ["Singles", "normals"]

Singles = NDArray[np.float32]

_TURN = np.float32(2 * np.pi * 2.0**-32)
_STEP = np.float32(2.0**-32)


def normals(source: BitSource, count: int) -> Singles:
    """So many independent numbers of the law N(0, 1).

    >>> from indistinct.noise import SYSTEM
    >>> normals(SYSTEM, 5).shape
    (5,)
    """
    half = -(-count // 2)
    words = source.words(half).view(np.uint32)
    radius = words[:half].astype(np.float32)
    radius += np.float32(0.5)
    radius *= _STEP
    np.log(radius, out=radius)
    radius *= np.float32(-2)
    np.sqrt(radius, out=radius)
    angle = words[half:].astype(np.float32)
    angle *= _TURN
    found = np.empty(2 * half, dtype=np.float32)
    np.cos(angle, out=found[:half])
    np.sin(angle, out=found[half:])
    found[:half] *= radius
    found[half:] *= radius
    return found[:count]

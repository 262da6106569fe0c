"""The largest of many scores with noise, in memory that does not grow with the noise.

Scores are taken in blocks. Of each block only those noises are kept, by their words, whose sums may still be among the
k largest of all that was seen: a few, plus k. Every score meets the same operations on floats, whatever its noise is;
those that are kept are compared exactly at the end, as in `LazyNoise`.
"""

from __future__ import annotations

import numpy as np

from indistinct.errors import InvalidParameter
from indistinct.noise.bits import SYSTEM, BitSource, Words
from indistinct.noise.lazy import able, enclosed_sums, ranked
from indistinct.noise.lazy_real import LazyReal
from indistinct.noise.logarithm import Reals
from indistinct.noise.scale import read_scale
from indistinct.noise.scores import Numbers, differences, left_out, read_scores
from indistinct.noise.standard import Kind
from indistinct.noise.table import Integers
from indistinct.numbers import read_count

__all__ = ["winners"]

_BLOCK = 1 << 17


def winners(kind: Kind, scores: Numbers, scale: object, k: int = 1, source: BitSource = SYSTEM) -> Integers:
    """Where the k largest of score + fresh noise are, the largest first; a score of minus infinity is never among them.

    >>> winners(Kind.GUMBEL, np.array([0, 500, 2]), scale=1)
    array([1])
    """
    width = read_scale("scale", scale)
    numbers = read_scores("scores", scores, len(scores))
    out = left_out(numbers)
    possible = len(numbers) if out is None else len(numbers) - int(out.sum())
    if not 1 <= read_count("k", k) <= possible:
        raise InvalidParameter("k", k, f"be a whole number from 1 to {possible}, the number of finite scores")
    highest = np.asarray(numbers.max(), dtype=numbers.dtype)
    places: Integers = np.zeros(0, dtype=np.int64)
    words: Words = np.zeros(0, dtype=np.uint64)
    lower: Reals = np.zeros(0)
    upper: Reals = np.zeros(0)
    for start in range(0, len(numbers), _BLOCK):
        part = numbers[start : start + _BLOCK]
        fresh = source.words(len(part))
        within: Integers | None = None
        if out is not None:
            within = np.flatnonzero(~out[start : start + _BLOCK])
            part, fresh = part[within], fresh[within]
        if not len(part):
            continue
        below, above = enclosed_sums(kind, width, differences(part, highest), fresh)
        kept = able(below, above, min(k, len(part)))
        places = np.concatenate([places, start + (kept if within is None else within[kept])])
        words = np.concatenate([words, fresh[kept]])
        lower, upper = np.concatenate([lower, below[kept]]), np.concatenate([upper, above[kept]])
        kept = able(lower, upper, min(k, len(lower)))
        places, words, lower, upper = places[kept], words[kept], lower[kept], upper[kept]
    noises = [LazyReal(kind, width, word, source) for word in words.tolist()] if len(words) > 1 else []
    return places[ranked(numbers[places], lower, upper, noises)[:k]]

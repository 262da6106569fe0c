"""Arrays of real noise that is only ever compared: noisy maxima, the top few, and thresholds.

Every noise begins with 64 random bits. Floats with proven errors decide almost every comparison; where the error is too
large, the noises concerned, and no others, are refined with more bits until balls decide. The answers have exactly the
law of the algorithm on real numbers.

Before that, the same operations are made for all noises whatever they are. The errors are about 2^-40 of the
scale, or 2^-48 of a score's distance from the highest where that is more, and so is the probability that a comparison
needs refinement.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cmp_to_key

import numpy as np
from numpy.typing import NDArray

from indistinct.errors import InvalidParameter
from indistinct.noise.bits import SYSTEM, BitSource, Words
from indistinct.noise.lazy_real import ROUNDING, LazyReal, sign_of_sum
from indistinct.noise.logarithm import Reals
from indistinct.noise.scale import Scale, read_scale
from indistinct.noise.scores import (
    Numbers,
    below_highest,
    differences,
    exact_number,
    left_out,
    read_finite,
    read_scores,
)
from indistinct.noise.standard import Kind, approximated
from indistinct.noise.table import BLOCK, Integers
from indistinct.numbers import read_count

__all__ = ["LazyNoise", "able", "enclosed_sums", "ranked"]


class LazyNoise:
    """So many independent real noises of one law and scale, known through comparisons alone.

    Whatever is asked of the same object, the answers fit one vector of real numbers. For a new query make a new one. An
    object belongs to one thread and one process.

    >>> LazyNoise.gumbel(3, scale="0.01").argmax([0, 50, 2])
    1
    """

    __slots__ = ("_refined", "_source", "_words", "kind", "scale")

    def __init__(self, kind: Kind, count: int, scale: object, source: BitSource = SYSTEM) -> None:
        self.kind = kind
        self.scale: Scale = read_scale("scale", scale)
        self._source = source
        self._words = source.words(read_count("the number of noises", count))
        self._refined: dict[int, LazyReal] = {}

    @classmethod
    def exponential(cls, count: int, scale: object = 1, source: BitSource = SYSTEM) -> LazyNoise:
        """Of density `e^(-x / scale) / scale` on the positive numbers: for permute-and-flip."""
        return cls(Kind.EXPONENTIAL, count, scale, source)

    @classmethod
    def laplace(cls, count: int, scale: object = 1, source: BitSource = SYSTEM) -> LazyNoise:
        """Of density `e^(-|x| / scale) / (2 scale)`: for noisy maxima and sparse vectors."""
        return cls(Kind.LAPLACE, count, scale, source)

    @classmethod
    def gumbel(cls, count: int, scale: object = 1, source: BitSource = SYSTEM) -> LazyNoise:
        """Of distribution function `e^(-e^(-x / scale))`: the maximum is that of the exponential mechanism."""
        return cls(Kind.GUMBEL, count, scale, source)

    def __reduce__(self) -> str:
        raise TypeError("noise is used once: it can be neither copied nor stored")

    def __len__(self) -> int:
        return len(self._words)

    def argmax(self, scores: object) -> int:
        """Where score + noise is largest; a score of minus infinity is never chosen.

        With Gumbel noise of a scale, i is chosen with probability proportional to e^(score_i / scale).
        """
        return int(self.top(scores, 1)[0])

    def top(self, scores: object, k: int) -> Integers:
        """Where the k largest of score + noise are, the largest first."""
        numbers = read_scores("scores", scores, len(self))
        out = left_out(numbers)
        if out is None:
            among, words = None, self._words
        else:
            among = np.flatnonzero(~out)
            numbers, words = numbers[among], self._words[among]
        if not 1 <= read_count("k", k) <= len(numbers):
            raise InvalidParameter("k", k, f"be a whole number from 1 to {len(numbers)}, the number of finite scores")
        lower, upper = enclosed_sums(self.kind, self.scale, below_highest(numbers), words)
        candidates = able(lower, upper, k)
        places = candidates if among is None else among[candidates]
        noises = [self._at(place) for place in places.tolist()] if len(places) > 1 else []
        return places[ranked(numbers[candidates], lower[candidates], upper[candidates], noises)[:k]]

    def exceeds(self, values: object, thresholds: object, other: LazyReal | None = None) -> NDArray[np.bool_]:
        """Where value + noise >= threshold + the other noise, which is one for all.

        >>> LazyNoise.laplace(3).exceeds([-1000, 0, 1000], thresholds=[0, 500, 0])
        array([False, False,  True])
        """
        exact_values = read_finite("values", values, len(self))
        exact_thresholds = read_finite("thresholds", thresholds, len(self))
        gaps = np.broadcast_to(differences(exact_values, exact_thresholds), len(self))
        if other is not None:
            gaps = gaps - other.approximation
        lower, upper = enclosed_sums(self.kind, self.scale, gaps, self._words)
        extra = 0.0 if other is None else other.error + abs(other.approximation) * 2 * ROUNDING
        result: NDArray[np.bool_] = lower > extra
        for at in np.flatnonzero(~result & ~(upper < -extra)).tolist():
            gap = exact_number(_item(exact_values, at)) - exact_number(_item(exact_thresholds, at))
            result[at] = sign_of_sum(gap, (1, self._at(at)), *(() if other is None else ((-1, other),))) > 0
        return result

    def _at(self, place: int) -> LazyReal:
        if place not in self._refined:
            self._refined[place] = LazyReal(self.kind, self.scale, int(self._words[place]), self._source)
        return self._refined[place]


def enclosed_sums(kind: Kind, scale: Scale, numbers: Reals, words: Words) -> tuple[Reals, Reals]:
    """Floats around number + noise, for numbers with a rounding each and noises by their first words."""
    lower, upper = np.empty(len(numbers)), np.empty(len(numbers))
    size = float(scale)
    with np.errstate(invalid="ignore", over="ignore"):
        for start in range(0, len(numbers), BLOCK):
            part = slice(start, start + BLOCK)
            noise, error = approximated(kind, words[part])
            noise *= size
            error *= size * (1 + ROUNDING)
            error += (np.abs(numbers[part]) + np.abs(noise)) * ROUNDING
            noise += numbers[part]
            np.subtract(noise, error, out=lower[part])
            np.add(noise, error, out=upper[part])
    return lower, upper


def able(lower: Reals, upper: Reals, k: int) -> Integers:
    """Which of the sums may be among the k largest."""
    least = lower.max() if k == 1 else np.partition(lower, len(lower) - k)[len(lower) - k]
    return np.flatnonzero(~(upper < least))


def ranked(scores: Numbers, lower: Reals, upper: Reals, noises: Sequence[LazyReal]) -> Integers:
    """The order of candidates by decreasing score + noise; floats decide where they can, else the noises."""

    def compare(i: int, j: int) -> int:
        if lower[i] > upper[j] or upper[i] < lower[j]:
            return 1 if lower[i] > upper[j] else -1
        gap = exact_number(_item(scores, i)) - exact_number(_item(scores, j))
        return sign_of_sum(gap, (1, noises[i]), (-1, noises[j]))

    ordered = np.argsort(-lower, kind="stable")
    if len(ordered) > 1 and not (lower[ordered[:-1]] > upper[ordered[1:]]).all():
        return np.array(sorted(ordered.tolist(), key=cmp_to_key(compare), reverse=True), dtype=np.int64)
    return ordered


def _item(numbers: Numbers, place: int) -> object:
    """One of a vector, or the one number for all; as a Python number."""
    value = numbers[place] if numbers.ndim else numbers[()]
    return value.item() if isinstance(value, np.generic) else value

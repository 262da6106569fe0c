r"""Noise on a vector whose every coordinate may change at once: exact, and one draw for all of them.

For whole widths w_1, ..., w_d let L(z) = max_j ceil(|z_j| / w_j), the least m for which z is in the box of all |z_j| <=
m w_j. The law in proportion to q^L(z), q = e^(-1/scale), is the K-norm mechanism of the box (Hardt and Talwar 2010), on
whole numbers: where each coordinate moves by w_j at most, L moves by 1 at most, and the law by the factor 1 / q.

As q^l = (1 - q) sum_{m >= l} q^m, it is a mixture: draw m with weight q^m N(m), N(m) = prod_j (2 w_j m + 1), then every
coordinate uniformly from -m w_j, ..., m w_j. With N(m) = sum_k c_k C(m, k), whose c_k are whole numbers and not
negative, m is a mixture too: k has weight c_k q^k / (1 - q)^(k+1), and m is k and the sum of k + 1 geometric numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from indistinct.errors import InvalidParameter
from indistinct.noise.bits import SYSTEM, BitSource, Words
from indistinct.noise.draws import Drawn, table_of
from indistinct.noise.geometric import Geometric
from indistinct.noise.scale import Scale, read_scale
from indistinct.noise.table import BITS, Integers
from indistinct.noise.uniform import ends
from indistinct.numbers import balls, read_count

__all__ = ["BoxNoise", "DegreeLaw", "below_each"]

_MOST_COORDINATES = 64
_LEAST_SCALE, _LARGEST_SCALE = 2.0**-5, 2.0**20
_LARGEST_REACH = 2.0**46  # of a width times the scale: 2^62 is then 2^16 scales away, which is never drawn
_HALF = np.uint64(32)
_LOW = np.uint64(2**32 - 1)


@dataclass(frozen=True, slots=True)
class DegreeLaw:
    """The law of k."""

    widths: tuple[int, ...]
    scale: Scale

    def survival(self, i: int, bits: int) -> tuple[int, int]:
        """Around 2^bits P(k >= i)."""
        if i > len(self.widths):
            return 0, 0
        return ends(lambda: _weight(self, i) / _weight(self, 0), bits)

    def thresholds(self) -> tuple[Integers, int]:
        """One for each coordinate."""
        lower = [self.survival(i, BITS)[0] for i in range(1, len(self.widths) + 1)]
        return np.array(lower, dtype=np.int64), 2

    def weights(self) -> list[balls.arb]:
        """c_k q^k / (1 - q)^(k+1) at the working precision."""
        decay = self.scale.decay(1)
        return [c * decay**k / (1 - decay) ** (k + 1) for k, c in enumerate(binomial_coefficients(self.widths))]


def _weight(law: DegreeLaw, first: int) -> balls.arb:
    total = balls.ball(0)
    for weight in law.weights()[first:]:
        total += weight
    return total


@lru_cache(256)
def binomial_coefficients(widths: tuple[int, ...]) -> tuple[int, ...]:
    """The c_k with prod_j (2 w_j m + 1) = sum_k c_k C(m, k), by m C(m, k) = k C(m, k) + (k + 1) C(m, k + 1).

    >>> binomial_coefficients((1, 3))  # (2 m + 1) (6 m + 1) = 1 + 20 m + 24 m (m - 1) / 2
    (1, 20, 24)
    """
    found = [1]
    for width in widths:
        longer = [*(c * (1 + 2 * width * k) for k, c in enumerate(found)), 0]
        for k, c in enumerate(found):
            longer[k + 1] += 2 * width * (k + 1) * c
        found = longer
    return tuple(found)


@dataclass(frozen=True, slots=True, init=False)
class BoxNoise:
    r"""Vectors of law proportional to `e^(-L(z) / scale)`, exactly.

    >>> BoxNoise((1, 1000), scale=2).draws(5).shape
    (5, 2)
    """

    widths: tuple[int, ...]
    scale: Scale

    def __init__(self, widths: Sequence[int], scale: object) -> None:
        sizes = tuple(read_count("a width", width, least=1) for width in widths)
        read = read_scale("scale", scale)
        if not _LEAST_SCALE <= float(read) <= _LARGEST_SCALE:
            raise InvalidParameter("scale", scale, "lie between 2^-5 and 2^20")
        if not 1 <= len(sizes) <= _MOST_COORDINATES or max(sizes) * max(float(read), 1.0) > _LARGEST_REACH:
            raise InvalidParameter(
                "the widths", widths, f"be 1 to {_MOST_COORDINATES} whole numbers, up to 2^46 divided by the scale"
            )
        object.__setattr__(self, "widths", sizes)
        object.__setattr__(self, "scale", read)

    @property
    def law(self) -> DegreeLaw:
        """The law of k."""
        return DegreeLaw(self.widths, self.scale)

    def draws(self, count: int, source: BitSource = SYSTEM) -> Drawn:
        """So many independent vectors: one row for each.

        As many geometric numbers are drawn whatever k is.
        """
        degree = table_of(self.law).draw(count, source)[0]
        level = degree.copy()
        geometric = Geometric(self.scale)
        for place in range(len(self.widths) + 1):
            level += geometric.draws(count, source) * (place <= degree)
        columns = []
        for width in self.widths:
            reach = level * width
            columns.append(below_each(2 * reach + 1, source) - reach)
        return np.stack(columns, axis=1)


def below_each(numbers: Integers, source: BitSource) -> Integers:
    """For each n below 2^62 a uniform whole number below it.

    A word times n, in 128 bits: the upper half, where the lower one is at least 2^64 mod n (Lemire 2019, Theorem 4.1).
    A share of n / 2^64 is rejected at most: next to nothing for numbers that occur, so the time tells nothing either.
    """
    wanted = numbers.astype(np.uint64)
    found = np.empty_like(numbers)
    missing = np.arange(len(numbers))
    while len(missing):
        n = wanted[missing]
        words = source.words(len(missing))
        low = words * n
        high = _upper_half(words, n)
        kept = low >= (np.uint64(0) - n) % n
        found[missing[kept]] = high[kept].view(np.int64)
        missing = missing[~kept]
    return found


def _upper_half(first: Words, second: Words) -> Words:
    """floor(first second / 2^64)."""
    a, b, c, d = first >> _HALF, first & _LOW, second >> _HALF, second & _LOW
    crossed, other = a * d, b * c
    middle = ((b * d) >> _HALF) + (crossed & _LOW) + (other & _LOW)
    found: Words = a * c + (crossed >> _HALF) + (other >> _HALF) + (middle >> _HALF)
    return found

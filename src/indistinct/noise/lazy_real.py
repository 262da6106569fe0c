"""One real noise that is never written down: it is refined until a comparison with it is decided."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from indistinct.noise.bits import BitSource
from indistinct.noise.scale import Scale
from indistinct.noise.scores import exact_number
from indistinct.noise.standard import Kind, noise_ball
from indistinct.noise.table import BITS
from indistinct.noise.uniform import LazyUniform
from indistinct.numbers import balls

__all__ = ["ROUNDING", "Exact", "LazyReal", "difference", "sign_of_sum"]

Exact = int | float | Fraction | np.integer[Any] | np.floating[Any]

_OWN = (int, float, Fraction)  # numpy's own would overflow in silence

ROUNDING = 2.0**-48
"""Four times the relative error of what makes up a comparison: a scale known to 2^-51, and four roundings."""


class LazyReal:
    """A real noise of some law and scale; whatever is asked of it, the answers fit one real number.

    It belongs to one thread and one process. Make it with `NoiseStream.next`.

    `approximation` is within `error` of it, or says nothing where `error` is infinite.
    """

    __slots__ = ("_number", "approximation", "error", "kind", "scale", "word")

    def __init__(
        self,
        kind: Kind,
        scale: Scale,
        word: int,
        source: BitSource,
        approximation: float = 0.0,
        error: float = math.inf,
    ) -> None:
        self.kind = kind
        self.scale = scale
        self.word = word
        self.approximation = approximation
        self.error = error
        self._number: LazyUniform | BitSource = source

    def exceeds(self, value: Exact, threshold: Exact, other: LazyReal | None = None) -> bool:
        """Whether value + this noise >= threshold + the other noise, exactly as for real numbers.

        >>> from indistinct.noise import NoiseStream
        >>> noises = NoiseStream.laplace(scale=2)
        >>> noises.next().exceeds(1000, 0, other=noises.next())
        True
        """
        shift = difference(value, threshold)
        gap = shift + self.approximation
        unsure = self.error
        if other is not None:
            gap -= other.approximation
            unsure += other.error + abs(other.approximation) * ROUNDING
        unsure += (abs(shift) + abs(self.approximation)) * ROUNDING
        if gap > unsure:
            return True
        if gap < -unsure:
            return False
        exact = exact_number(value) - exact_number(threshold)
        return sign_of_sum(exact, (1, self), *(() if other is None else ((-1, other),))) > 0

    def __reduce__(self) -> str:
        raise TypeError("noise is used once: it can be neither copied nor stored")

    def refine(self) -> None:
        """Know 64 more bits of it."""
        self.number.refine()

    @property
    def number(self) -> LazyUniform:
        """The uniform number that it is made from."""
        if not isinstance(self._number, LazyUniform):
            self._number = LazyUniform(self.word >> 1, BITS, self._number)
        return self._number

    def ball(self) -> balls.arb:
        """The noise at the working precision, as narrow as it is known."""
        return self.scale.ball() * noise_ball(self.kind, self.word, self.number)


def sign_of_sum(number: Fraction, *noises: tuple[int, LazyReal]) -> int:
    """The sign of a number plus or minus noises: no real noise makes it zero, so some refinement decides."""
    size = abs(number.numerator).bit_length() + number.denominator.bit_length()
    while True:
        with balls.precision(max(noise.number.length for _, noise in noises) + size + 128):
            total = sum((sign * noise.ball() for sign, noise in noises), balls.ball(number))
            if total.is_finite() and not total.contains(0):
                return 1 if total > 0 else -1
        for _, noise in noises:
            noise.refine()


def difference(value: Exact, threshold: Exact) -> float:
    """value - threshold with a single rounding, for whatever kinds of numbers they are."""
    first: Any = value
    second: Any = threshold
    if type(first) is not type(second) or type(first) not in _OWN:
        first, second = exact_number(first), exact_number(second)
    try:
        return float(first - second)
    except OverflowError:
        return math.inf if first > second else -math.inf

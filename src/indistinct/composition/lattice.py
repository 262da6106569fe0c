"""Randomised responses whose privacy levels are whole multiples of one spacing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from indistinct.composition.responses import Response, Responses
from indistinct.numbers import Epsilon
from indistinct.numbers.balls import arb, decided, exact
from indistinct.numbers.logarithm import ball_of, sign_of_sum

__all__ = ["LARGEST_MULTIPLE", "Lattice"]

LARGEST_MULTIPLE = 1 << 17
"""A finer lattice than this, relative to the largest epsilon, is not worth its while."""


@dataclass(frozen=True)
class Lattice:
    """Responses of epsilons m_i h: the summed loss is l_j = (2 j - top) h for j = 0 .. top."""

    responses: Responses
    spacing: Epsilon
    multiples: tuple[int, ...]

    @classmethod
    def of_equal(cls, response: Response) -> Lattice:
        """Equal responses: the lattice of their own epsilon."""
        return cls(Responses.of([(response.epsilon, response.times)]), response.epsilon, (1,))

    @classmethod
    def of_multiples(cls, spacing: Fraction, multiples: Sequence[int], times: Sequence[int]) -> Lattice:
        """So many responses of each multiple; those of multiple 0 tell nothing and are left out."""
        counts: dict[int, int] = {}
        for multiple, count in zip(multiples, times, strict=True):
            counts[multiple] = counts.get(multiple, 0) + count
        counts.pop(0, None)
        ordered = sorted(counts.items())
        responses = Responses.of((multiple * spacing, count) for multiple, count in ordered)
        return cls(responses, spacing, tuple(multiple for multiple, _ in ordered))

    @classmethod
    def common(cls, responses: Responses) -> Lattice | None:
        """The coarsest lattice that holds all epsilons exactly, if there is one that is not too fine."""
        epsilons = [level for level in responses.levels if isinstance(level, Fraction)]
        if len(epsilons) < len(responses.levels):
            return None
        spacing = common_spacing(epsilons)
        if spacing is None:
            return None
        return cls(responses, spacing, tuple(int(epsilon / spacing) for epsilon in epsilons))

    @cached_property
    def top(self) -> int:
        """The greatest j."""
        return sum(m * count for m, count in zip(self.multiples, self.responses.counts, strict=True))

    def loss(self, j: int) -> arb:
        """The ball of l_j."""
        return (2 * j - self.top) * ball_of(self.spacing)

    def first_above(self, epsilon: Epsilon) -> int:
        """The first j whose loss is above epsilon, decided exactly."""
        h = self.spacing
        if isinstance(h, Fraction) and isinstance(epsilon, Fraction):
            return math.floor((epsilon / h + self.top) / 2) + 1
        near = decided(lambda: (ball_of(epsilon) / ball_of(h) + self.top) / 2, lambda x: x.rad() < 0.25)
        j = math.floor(exact(near.lower()))
        while sign_of_sum((2 * j - self.top, h), (-1, epsilon)) <= 0:
            j += 1
        return j


def common_spacing(epsilons: Sequence[Fraction]) -> Fraction | None:
    """The largest number of which all are whole multiples, if none is too large a multiple of it.

    >>> common_spacing([Fraction(1, 10), Fraction(1, 4)])
    Fraction(1, 20)
    """
    denominator = 1
    for epsilon in epsilons:
        denominator = math.lcm(denominator, epsilon.denominator)
        if denominator.bit_length() > 4096:
            return None
    spacing = Fraction(math.gcd(*(int(epsilon * denominator) for epsilon in epsilons)), denominator)
    return spacing if max(epsilons) / spacing <= LARGEST_MULTIPLE else None

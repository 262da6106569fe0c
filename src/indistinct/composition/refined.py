"""A direction in which some losses are enclosed: from above by one composition, from below by another."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property

from indistinct.composition.direction import Direction, Steering
from indistinct.composition.disclosure import Disclosure
from indistinct.composition.losses.enclosed import FINENESS
from indistinct.composition.losses.law import Floats
from indistinct.numbers import Bracket, Epsilon

__all__ = ["RefinedDirection"]

_GAP = 1e-4


class RefinedDirection:
    """delta(epsilon) and epsilon(delta), made finer until the bracket is as narrow as asked.

    `at(level)` gives the composition of what dominates, and of what is dominated. Both ends hold at every level,
    so the best of all that were tried are kept.
    """

    def __init__(self, at: Callable[[int], tuple[Direction, Direction]], levels: int = len(FINENESS)) -> None:
        """With so many levels: one is enough where something else keeps the bracket wide."""
        self._at = at
        self._levels = levels
        self._tried: dict[int, tuple[Direction, Direction]] = {}

    @cached_property
    def disclosure(self) -> Disclosure:
        """What may be disclosed at most."""
        return self._level(0)[0].disclosure

    @cached_property
    def steering(self) -> Steering:
        """That of what dominates."""
        return self._level(0)[0].steering

    def disclosed(self) -> Bracket:
        """What is disclosed for certain, and at most."""
        upper, lower = (direction.disclosed() for direction in self._level(0))
        return Bracket(min(lower.lower, upper.upper), upper.upper)

    @cached_property
    def largest(self) -> Bracket:
        """The largest loss."""
        upper, lower = self._level(0)
        return Bracket(min(lower.largest.lower, upper.largest.upper), upper.largest.upper)

    def delta(self, epsilon: Epsilon) -> Bracket:
        """The bracket of the least delta at an epsilon."""
        return self._narrowed(lambda direction: direction.delta(epsilon))

    def epsilon(self, delta: Fraction) -> Bracket:
        """The bracket of the least epsilon at a delta."""
        return self._narrowed(lambda direction: direction.epsilon(delta))

    def deltas(self, epsilons: Floats) -> list[Bracket]:
        """The brackets at many rising epsilons, made finer until all are as narrow as asked."""
        best = [Bracket(0.0, 1.0)] * epsilons.size
        for level in range(self._levels):
            upper, lower = (direction.deltas(epsilons) for direction in self._level(level))
            best = [
                Bracket(max(old.lower, min(under.lower, over.upper)), min(old.upper, over.upper))
                for old, over, under in zip(best, upper, lower, strict=True)
            ]
            if all(bracket.relative_width <= _GAP for bracket in best):
                break
        return best

    def is_certainly_within(self, epsilon: float, delta: Fraction) -> bool:
        """Whether a cheap bound shows already that delta is enough at an epsilon."""
        return self._level(0)[0].is_certainly_within(epsilon, delta)

    def _narrowed(self, answer: Callable[[Direction], Bracket]) -> Bracket:
        best, level, width = Bracket(0.0, math.inf), 0, math.inf
        while True:
            upper, lower = (answer(direction) for direction in self._level(level))
            best = Bracket(max(best.lower, min(lower.lower, upper.upper)), min(best.upper, upper.upper))
            before, width = width, best.relative_width
            if width <= _GAP or level + 1 == self._levels or not width < before / 1.5:
                return best
            # Four times as fine is sixteen times as narrow, unless something else is in the way.
            expected, level = width / 16, level + 1
            while expected > _GAP and level + 1 < self._levels:
                expected, level = expected / 16, level + 1

    def _level(self, level: int) -> tuple[Direction, Direction]:
        if level not in self._tried:
            self._tried[level] = self._at(level)
        return self._tried[level]

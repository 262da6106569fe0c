"""A direction with two methods: the contour while it answers narrowly, else an enclosure on a grid."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from typing import TypeVar

from indistinct.composition.direction import Direction, Steering
from indistinct.composition.disclosure import Disclosure
from indistinct.composition.losses.law import Floats
from indistinct.composition.nodes import TooManyNodes
from indistinct.composition.refined import RefinedDirection
from indistinct.numbers import Bracket, Epsilon

__all__ = ["CarefulDirection"]

Answer = TypeVar("Answer")


class CarefulDirection:
    """delta(epsilon) and epsilon(delta) of mechanisms so few that their transform may hardly decay."""

    def __init__(self, first: Direction, second: RefinedDirection) -> None:
        self._first = first
        self._second = second

    @cached_property
    def disclosure(self) -> Disclosure:
        """What is disclosed."""
        return self._first.disclosure

    @cached_property
    def steering(self) -> Steering:
        """Where to look."""
        return self._first.steering

    def disclosed(self) -> Bracket:
        """What the parts' own deltas make."""
        return self._first.disclosed()

    @cached_property
    def largest(self) -> Bracket:
        """The largest loss."""
        return self._first.largest

    def delta(self, epsilon: Epsilon) -> Bracket:
        """The bracket of the least delta at an epsilon."""
        return self._answer(lambda direction: direction.delta(epsilon))

    def epsilon(self, delta: Fraction) -> Bracket:
        """The bracket of the least epsilon at a delta."""
        return self._answer(lambda direction: direction.epsilon(delta))

    def deltas(self, epsilons: Floats) -> list[Bracket]:
        """The brackets at many rising epsilons."""
        return self._answer(lambda direction: direction.deltas(epsilons))

    def is_certainly_within(self, epsilon: float, delta: Fraction) -> bool:
        """Whether a cheap bound shows already that delta is enough at an epsilon."""
        return self._first.is_certainly_within(epsilon, delta)

    def _answer(self, ask: Callable[[Direction | RefinedDirection], Answer]) -> Answer:
        try:
            return ask(self._first)
        except TooManyNodes:
            return ask(self._second)

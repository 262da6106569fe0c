"""Noise drawn before anyone asks, so that the time of an answer says nothing about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from indistinct.noise.bits import process_era

__all__ = ["Ahead"]

Draw = TypeVar("Draw")


class Ahead(Generic[Draw]):
    """A stock of single draws, each handed out once.

    Taking one is a single step that threads cannot interrupt; a child process forgets the stock that it inherited, and
    copies and pickles begin with an empty one.

    >>> stock = Ahead()
    >>> [stock.take(lambda: [1, 2]) for _ in range(3)]
    [2, 1, 2]
    """

    __slots__ = ("_stock",)

    def __init__(self) -> None:
        self._stock: tuple[tuple[int, int], list[Draw]] = ((-1, -1), [])

    def take(self, fill: Callable[[], list[Draw]]) -> Draw:
        """One draw, from the stock or from a new one.

        The process is looked at after a draw was taken: whatever was taken from an inherited stock is dropped.
        """
        while True:
            era, stock = self._stock
            try:
                value = stock.pop()
            except IndexError:
                self._stock = process_era(), fill()
                continue
            if era == process_era():
                return value
            self._stock = era, []

    def __reduce__(self) -> tuple[type[Ahead[Draw]], tuple[()]]:
        return Ahead, ()

    def __copy__(self) -> Ahead[Draw]:
        return Ahead()

    def __deepcopy__(self, memo: object) -> Ahead[Draw]:
        return Ahead()

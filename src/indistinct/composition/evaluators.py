"""Choosing how to compute a composition of guarantees: exact methods first.

An evaluator answers delta(epsilon) for a sum of losses, disclosures kept apart, with a ball that contains the
truth. A method that finds a question too hard raises TooManyNodes, and the next one is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from threading import Lock
from typing import Protocol

import numpy as np

from indistinct.composition.contour import ContourComposition
from indistinct.composition.lattice import Lattice
from indistinct.composition.losses.responses import ResponsesLoss
from indistinct.composition.nodes import TooManyNodes
from indistinct.composition.pairing import PairedComposition, outcomes_of_halves
from indistinct.composition.responses import Responses
from indistinct.composition.rounding import RoundedComposition
from indistinct.composition.transform import TransformedComposition
from indistinct.errors import InternalError
from indistinct.numbers import Epsilon
from indistinct.numbers.balls import arb, ball

__all__ = ["Evaluator", "evaluator_of"]

_FEW = 1 << 13
_MANY = 44
_COARSE = 4096
_PARTS = 64


class Evaluator(Protocol):
    """Answers for the composed losses of mechanisms in one direction, disclosures kept apart."""

    def delta(self, epsilon: Epsilon, /) -> arb:
        """The ball of delta(epsilon)."""
        ...


class _Silent:
    """No loss at all."""

    def delta(self, _: Epsilon, /) -> arb:
        return ball(0)


class _InTurn:
    """Asks one method after the other, each made when it is needed."""

    def __init__(self, *methods: Callable[[], Evaluator | None]) -> None:
        self._methods = [_once(method) for method in methods]

    def delta(self, epsilon: Epsilon) -> arb:
        for method in self._methods:
            evaluator = method()
            if evaluator is None:
                continue
            try:
                return evaluator.delta(epsilon)
            except TooManyNodes:
                continue
        raise InternalError("no method answers for a composition of randomised responses")


def _once(method: Callable[[], Evaluator | None]) -> Callable[[], Evaluator | None]:
    """The same, made by one thread while the others wait."""
    lock = Lock()
    made = cache(method)

    def locked() -> Evaluator | None:
        with lock:
            return made()

    return locked


def evaluator_of(responses: Responses) -> Evaluator:
    """The method for a composition of randomised responses alone: exact ones first, while that costs little.

    - equal ones: the lattice of their own epsilon;
    - few outcomes: enumerated in two halves, at once;
    - a common lattice: exactly on it, or as nearly as decimals read as floats allow;
    - up to some 44 arbitrary ones: enumerated in two halves;
    - many different ones on no lattice or a very fine one: the contour, which needs none.
    """
    levels = responses.levels
    if not levels:
        return _Silent()
    loss = [(ResponsesLoss(responses), 1)]

    def in_general() -> Evaluator:
        return ContourComposition(loss)

    if len(levels) == 1:
        return _InTurn(lambda: TransformedComposition(Lattice.of_equal(responses.groups[0])), in_general)
    outcomes = outcomes_of_halves(responses)
    if outcomes is not None and max(outcomes) <= _FEW:
        return PairedComposition(responses)
    exact = [lambda: _on_lattice(responses), lambda: RoundedComposition.near_decimals(responses)]
    if outcomes is not None:
        return _InTurn(*exact, lambda: PairedComposition(responses))
    if len(levels) > _MANY and not _is_coarse(responses):
        return _InTurn(lambda: ContourComposition(loss, only_narrow=True), *exact, in_general)
    return _InTurn(*exact, in_general)


def _is_coarse(responses: Responses) -> bool:
    """Whether the epsilons look like moderate multiples of one number, some part of the least of them."""
    if len(responses.levels) > _COARSE:
        return False
    ratios = np.outer(responses.epsilons / responses.epsilons[0], np.arange(1, _PARTS + 1))
    whole = np.all(np.abs(ratios - np.rint(ratios)) < 1e-9 * ratios, axis=0)
    return bool(np.any(whole & (ratios[-1] <= _COARSE)))


def _on_lattice(responses: Responses) -> Evaluator | None:
    lattice = Lattice.common(responses)
    return None if lattice is None else TransformedComposition(lattice)

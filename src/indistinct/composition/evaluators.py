"""Choosing how to compute a composition of guarantees: exact methods first.

An evaluator answers delta(epsilon) for a sum of losses, disclosures kept apart, with a ball that contains the
truth. A method that finds a question too hard raises TooManyNodes, and the next one is asked.
"""

from __future__ import annotations

from typing import Protocol

from indistinct.composition.contour import ContourComposition
from indistinct.composition.lattice import Lattice
from indistinct.composition.losses.responses import ResponsesLoss
from indistinct.composition.nodes import TooManyNodes
from indistinct.composition.pairing import PairedComposition, outcomes_of_halves
from indistinct.composition.responses import Responses
from indistinct.composition.rounding import RoundedComposition
from indistinct.composition.transform import TransformedComposition
from indistinct.numbers import Epsilon
from indistinct.numbers.balls import arb, ball

__all__ = ["Evaluator", "evaluator_of"]

_FEW = 1 << 13


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
    """Asks one method after the other."""

    def __init__(self, *methods: Evaluator) -> None:
        self.methods = methods

    def delta(self, epsilon: Epsilon) -> arb:
        for method in self.methods[:-1]:
            try:
                return method.delta(epsilon)
            except TooManyNodes:
                continue
        return self.methods[-1].delta(epsilon)


def evaluator_of(responses: Responses) -> Evaluator:
    """The method for a composition of randomised responses alone: exact ones first.

    - equal ones: the lattice of their own epsilon;
    - few outcomes: enumerated in two halves, at once;
    - a common lattice: exactly on it, or as nearly as decimals read as floats allow;
    - up to some 44 arbitrary ones: enumerated in two halves;
    - otherwise the contour, which needs no lattice.
    """
    groups = responses.groups
    if not groups:
        return _Silent()
    loss = ResponsesLoss(responses)
    if len(groups) == 1:
        return _InTurn(TransformedComposition(Lattice.of_equal(groups[0])), ContourComposition([(loss, 1)]))
    methods: list[Evaluator] = []
    outcomes = outcomes_of_halves(responses)
    if outcomes is not None and max(outcomes) <= _FEW:
        return PairedComposition(responses)
    if (lattice := Lattice.common(responses)) is not None:
        methods.append(TransformedComposition(lattice))
    elif (rounded := RoundedComposition.near_decimals(responses)) is not None:
        methods.append(rounded)
    if outcomes is not None:
        return _InTurn(*methods, PairedComposition(responses))
    return _InTurn(*methods, ContourComposition([(loss, 1)]))

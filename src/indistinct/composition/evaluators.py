"""Choosing how to compute a composition: the one place that knows every method.

An evaluator answers delta(epsilon) for a sum of losses with a ball that contains the truth. A method
that finds a question too hard raises TooManyNodes, and the next one is asked; the last always answers.
"""

from __future__ import annotations

from typing import Protocol

from indistinct.composition.decay import TooManyNodes
from indistinct.composition.lattice import Lattice
from indistinct.composition.pairing import PairedComposition, outcomes_of_halves
from indistinct.composition.responses import Responses
from indistinct.composition.rounding import RoundedComposition
from indistinct.composition.transform import TransformedComposition
from indistinct.numbers import Epsilon
from indistinct.numbers.balls import arb, ball

__all__ = ["Evaluator", "evaluator_of"]

_FEW = 1 << 13


class Evaluator(Protocol):
    """Answers for the composed losses of mechanisms, disclosures kept apart."""

    def delta(self, epsilon: Epsilon, /) -> arb:
        """The ball of delta(epsilon)."""
        ...

    def kept(self, epsilon: Epsilon, /) -> arb:
        """The ball of 1 - delta(epsilon), accurate where that is small."""
        ...


class _Silent:
    """No loss at all."""

    def delta(self, _: Epsilon, /) -> arb:
        return ball(0)

    def kept(self, _: Epsilon, /) -> arb:
        return ball(1)


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

    def kept(self, epsilon: Epsilon) -> arb:
        for method in self.methods[:-1]:
            try:
                return method.kept(epsilon)
            except TooManyNodes:
                continue
        return self.methods[-1].kept(epsilon)


def evaluator_of(responses: Responses) -> Evaluator:
    """The method for a composition of randomised responses: exact ones first.

    - equal ones: the lattice of their own epsilon;
    - few outcomes: enumerated in two halves, at once;
    - a common lattice: exactly on it;
    - up to some 44 arbitrary ones: enumerated in two halves;
    - otherwise rounded up and down.
    """
    groups = responses.groups
    if not groups:
        return _Silent()
    if len(groups) == 1:
        return TransformedComposition(Lattice.of_equal(groups[0]))
    methods: list[Evaluator] = []
    outcomes = outcomes_of_halves(responses)
    if outcomes is not None and max(outcomes) <= _FEW:
        return PairedComposition(responses)
    if (lattice := Lattice.common(responses)) is not None:
        methods.append(TransformedComposition(lattice))
    methods.append(RoundedComposition(responses) if outcomes is None else PairedComposition(responses))
    return _InTurn(*methods)

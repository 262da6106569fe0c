"""A single use of a mechanism and nothing else: its own delta, in closed form."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from indistinct.numbers import Epsilon
from indistinct.numbers.balls import arb, decided

__all__ = ["Alone", "ClosedForm"]

_BITS = 60


@runtime_checkable
class ClosedForm(Protocol):
    """A law of losses whose delta is known in closed form."""

    def delta_of_one(self, epsilon: Epsilon) -> arb:
        """The ball of delta at the working precision."""
        ...


class Alone:
    """delta(eps) of one use; an evaluator (see `evaluators`)."""

    def __init__(self, law: ClosedForm) -> None:
        self.law = law

    def delta(self, epsilon: Epsilon) -> arb:
        """The ball of delta(epsilon)."""
        return decided(
            lambda: self.law.delta_of_one(epsilon),
            lambda found: found.is_zero() or found.rel_accuracy_bits() >= _BITS or found.rad() < 1e-320,
        )

"""Brackets of irrational values, to full relative accuracy however small they are."""

from __future__ import annotations

from collections.abc import Callable

from indistinct.numbers import Bracket
from indistinct.numbers.balls import arb, bracket_of, decided

__all__ = ["sharp_bracket"]

_BITS = 60


def sharp_bracket(expression: Callable[[], arb]) -> Bracket:
    """The floats around a number that is known not to be zero, cancellation or not."""
    return bracket_of(decided(expression, lambda value: value.rel_accuracy_bits() >= _BITS))

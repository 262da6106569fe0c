"""Basic composition: epsilons add up, and so do deltas.

KOV, Theorem 3.1; Dwork and Roth, Theorems 3.14 and 3.16, Corollary 3.15, Theorem B.1, Corollary B.2. Holds
for adaptive and for concurrent composition, and cannot be improved if delta may not exceed the sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from indistinct.composition.compose import Part, compose
from indistinct.composition.guarantees import ApproximateDP
from indistinct.composition.parts import plain_parts
from indistinct.numbers import Epsilon, NaturalLog, read_count, read_delta, read_epsilon
from indistinct.numbers.logarithm import enclosure

__all__ = ["basic_composition", "basic_share"]


def basic_composition(things: Mapping[Any, object] | Iterable[Part]) -> ApproximateDP:
    """(sum of epsilon_i, sum of delta_i); exact, but for sums of logarithms, which are rounded up.

    >>> basic_composition({ApproximateDP("0.1", "0.001"): 30})
    ApproximateDP(3, '0.03')
    """
    parts = plain_parts(compose(things).parts)
    epsilon = sum((enclosure(part.epsilon)[1] * times for part, times in parts), Fraction(0))
    return ApproximateDP(epsilon, min(Fraction(1), sum((part.delta * times for part, times in parts), Fraction(0))))


def basic_share(epsilon: object, delta: object, times: object) -> ApproximateDP:
    """The guarantee that each of so many mechanisms may have for (epsilon, delta) in all.

    >>> basic_share(3, "0.03", 30)
    ApproximateDP('0.1', '0.001')
    """
    level, budget = read_epsilon("epsilon", epsilon), read_delta("delta", delta)
    count = read_count("times", times, least=1)
    return ApproximateDP(_divided(level, count), budget / count)


def _divided(epsilon: Epsilon, count: int) -> Fraction | NaturalLog:
    """An epsilon over a count: exact, but for logarithms, which are rounded down."""
    if isinstance(epsilon, NaturalLog) and count == 1:
        return epsilon
    return enclosure(epsilon)[0] / count

r"""The composed delta of epsilons that lie within rounding of a common lattice: decimals read as floats.

A randomised response of a larger epsilon dominates one of a smaller epsilon, and domination survives
composition (KOV, Theorem 2.4). So the composition with the lattice stretched by one last place of a float bounds
delta from above, and the shrunken one from below; both are computed exactly, and agree to some twelve digits.
"""

from __future__ import annotations

from fractions import Fraction

from indistinct.composition.lattice import Lattice, common_spacing
from indistinct.composition.responses import Responses
from indistinct.composition.transform import TransformedComposition
from indistinct.numbers import Epsilon
from indistinct.numbers.balls import arb
from indistinct.numbers.logarithm import enclosure

__all__ = ["RoundedComposition"]

_LARGEST_DENOMINATOR = 10**6
_PLACE = Fraction(1, 2**52)


class RoundedComposition:
    """delta(eps) of randomised responses near a lattice, enclosed; an evaluator (see `evaluators`)."""

    def __init__(self, responses: Responses, spacing: Fraction) -> None:
        multiples = [round(enclosure(level)[0] / spacing) for level in responses.levels]
        self._below, self._above = (
            TransformedComposition(Lattice.of_multiples(spacing * (1 + sign * _PLACE), multiples, responses.counts))
            for sign in (-1, 1)
        )

    @classmethod
    def near_decimals(cls, responses: Responses) -> RoundedComposition | None:
        """The composition, if the epsilons are the floats of simple fractions."""
        simple = []
        for level in responses.levels:
            low, high = enclosure(level)
            guess = low.limit_denominator(_LARGEST_DENOMINATOR)
            if not high <= guess * (1 + _PLACE) or not guess * (1 - _PLACE) <= low:
                return None
            simple.append(guess)
        spacing = common_spacing(simple)
        return None if spacing is None else cls(responses, spacing)

    def delta(self, epsilon: Epsilon) -> arb:
        """The ball of delta(epsilon)."""
        return self._below.delta(epsilon).union(self._above.delta(epsilon))

"""Staircase noise (Geng and Viswanath 2012; KOV, section 4.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from indistinct.composition.losses import PrivacyLoss
from indistinct.composition.losses.three_way import three_way_pair
from indistinct.errors import InvalidParameter
from indistinct.mechanisms.parameters import read_positive
from indistinct.numbers import read_number
from indistinct.numbers.balls import ball, precision

__all__ = ["Staircase"]

_BITS = 256


@dataclass(frozen=True, slots=True, init=False)
class Staircase:
    """Noise whose density falls by e^-epsilon at gamma, 1 + gamma, 2 + gamma, ... times the sensitivity.

    The least noisy of all epsilon-private additions to one number. `gamma`, unless given, is that of the least
    expected size, 1 / (1 + e^(epsilon / 2)). The losses are -epsilon, 0 and epsilon, and a shift by the whole
    sensitivity is the worst: the probability of the loss epsilon rises with the shift.

    >>> from indistinct import PureDP, Staircase, compose
    >>> uses = compose({Staircase(epsilon="0.1"): 1000}).epsilon("1e-6")
    >>> uses.upper < compose({PureDP("0.1"): 1000}).epsilon("1e-6").lower
    True
    """

    sensitivity: Fraction
    epsilon: Fraction
    gamma: Fraction

    def __init__(self, sensitivity: object = 1, *, epsilon: object, gamma: object = None) -> None:
        object.__setattr__(self, "sensitivity", read_positive("sensitivity", sensitivity))
        level = read_positive("epsilon", epsilon)
        if level > _LARGEST:
            raise InvalidParameter("epsilon", epsilon, f"be at most {_LARGEST} for staircase noise")
        object.__setattr__(self, "epsilon", level)
        best = Fraction(1 / (1 + math.exp(float(level) / 2)))
        share = best if gamma is None else read_number("gamma", gamma)
        if not 0 <= share <= 1:
            raise InvalidParameter("gamma", gamma, "lie in [0, 1]")
        object.__setattr__(self, "gamma", share)

    @property
    def loss(self) -> PrivacyLoss:
        """Three losses, the same in both directions and for every kind of neighbouring databases."""
        with precision(_BITS):
            fall, gamma = (-ball(self.epsilon)).exp(), ball(self.gamma)
            # The density next to 0 times the sensitivity; both from Geng and Viswanath's normalisation.
            height = (1 - fall) / (2 * (gamma + fall * (1 - gamma)))
            certain = ball(Fraction(1, 2)) + height * ball(min(self.gamma, 1 - self.gamma))
            return three_way_pair(self.epsilon, certain)


_LARGEST = 500

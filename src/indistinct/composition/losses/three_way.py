"""The pairs whose losses are +epsilon, 0 and -epsilon: staircase noise, k-ary randomised response."""

from __future__ import annotations

from fractions import Fraction

from indistinct.composition.guarantees import PureDP
from indistinct.composition.losses.law import Adjacency, PrivacyLoss
from indistinct.composition.losses.pair import loss_of_masses, more_bits
from indistinct.numbers import Epsilon
from indistinct.numbers.balls import arb, ball, exact, precision
from indistinct.numbers.logarithm import exponential

__all__ = ["three_way_pair"]

_BITS = 256


def three_way_pair(epsilon: Epsilon, certain: arb, adjacency: Adjacency | None = None) -> PrivacyLoss:
    """+epsilon with probability `certain`, -epsilon with that times e^-epsilon, else 0; the same both ways.

    Only for a `certain` above e^epsilon / (1 + e^epsilon) by rounding alone is there nothing left for 0.
    """
    bits = _BITS + 2 * more_bits(epsilon)
    with precision(bits):
        certain = ball(exact(certain.mid()))  # which rounding allows; the losses must not be lost in its ball
        back = certain / exponential(epsilon)
        middle = 1 - certain - back
        masses, places = [(back, certain), (certain, back)], [0, 2]
        if middle > 0:
            masses.insert(1, (middle, middle))
            places.insert(1, 1)
        both = loss_of_masses(masses, Fraction(0), Fraction(0), places, adjacency, bits)
    return PrivacyLoss.symmetric(both.forward, adjacency, (PureDP(epsilon),))

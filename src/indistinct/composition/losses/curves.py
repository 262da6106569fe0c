"""Losses that are known by a bound on their transform alone: zCDP, Renyi, bounded range."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from indistinct.numbers import Epsilon
from indistinct.numbers.balls import arb, ball
from indistinct.numbers.logarithm import ball_of

__all__ = ["BoundedRangeCurve", "ConcentratedCurve", "RenyiCurve"]


@dataclass(frozen=True, slots=True)
class ConcentratedCurve:
    """rho-zCDP: K(t) <= rho t (t + 1)."""

    rho: Fraction

    def bound(self, tilt: arb) -> arb:
        return ball(self.rho) * tilt * (tilt + 1)


@dataclass(frozen=True, slots=True)
class RenyiCurve:
    """(order, epsilon)-Renyi DP: K(t) <= t epsilon for t <= order - 1, as divergences rise with the order."""

    order: Fraction
    epsilon: Fraction

    def bound(self, tilt: arb) -> arb:
        if tilt <= ball(self.order - 1):
            return tilt * ball(self.epsilon)
        return arb.pos_inf()


@dataclass(frozen=True, slots=True)
class BoundedRangeCurve:
    """The exponential mechanism: its losses span at most epsilon, wherever that span lies.

    Hoeffding's lemma makes it epsilon^2/8-zCDP (Cesar and Rogers 2021), and epsilon-privacy gives randomised
    response; at each t the smaller of the two bounds holds, for adaptive composition too.
    """

    epsilon: Epsilon

    def bound(self, tilt: arb) -> arb:
        e = ball_of(self.epsilon)
        concentrated = e**2 / 8 * tilt * (tilt + 1)
        response = (((tilt + ball(Fraction(1, 2))) * e).cosh() / (e / 2).cosh()).log()
        return concentrated.min(response)

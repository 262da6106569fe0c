r"""The composed delta of Gaussian mechanisms alone, in closed form.

They compose to one, of mu^2 the sum of theirs, whose profile is

    delta(eps) = Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu)

(Balle and Wang 2018; Dong, Roth and Su 2022). Evaluated in balls at a precision that the cancellation allows for.
"""

from __future__ import annotations

from fractions import Fraction

from indistinct.composition.conversions import delta_of_gaussian
from indistinct.numbers import Epsilon
from indistinct.numbers.balls import arb, ball, decided

__all__ = ["GaussianComposition"]

_BITS = 60


class GaussianComposition:
    """delta(eps) of Gaussian mechanisms with a given sum of mu^2; an evaluator (see `evaluators`)."""

    def __init__(self, square: Fraction) -> None:
        self.square = square

    def delta(self, epsilon: Epsilon) -> arb:
        """The ball of delta(epsilon)."""

        return decided(
            lambda: delta_of_gaussian(ball(self.square).sqrt(), epsilon),
            lambda found: found.rel_accuracy_bits() >= _BITS,
        )

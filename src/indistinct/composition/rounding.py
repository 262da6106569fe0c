r"""The composed delta of many arbitrary randomised responses: rounded up and rounded down to a lattice.

A randomised response of a larger epsilon dominates one of a smaller epsilon, and domination survives
composition (KOV, Theorem 2.4). So the composition with every epsilon rounded up to a lattice bounds
delta from above, and rounded down from below. The lattice is refined until the two agree to one part
in 10^4, or as far as the work stays reasonable; the bracket is true always.

Epsilons that are decimals read as floats, 0.1 and 0.15, say, lie within rounding of a common lattice:
there the two bounds agree to some twelve digits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from indistinct.composition.decay import TooManyNodes
from indistinct.composition.dense import DenseComposition
from indistinct.composition.lattice import LARGEST_MULTIPLE, Lattice, common_spacing
from indistinct.composition.responses import Responses
from indistinct.composition.transform import TransformedComposition
from indistinct.numbers import Epsilon
from indistinct.numbers.balls import arb, ball, precision
from indistinct.numbers.logarithm import ball_of, enclosure

__all__ = ["RoundedComposition"]

_WANTED = 1e-4
_COARSEST = 1 << 10
_MOST_WORK = 400_000_000
_LARGEST_DENOMINATOR = 10**6
_UNIT = Fraction(1, 2**52)

_Method = TransformedComposition | DenseComposition


class RoundedComposition:
    """delta(eps) of many arbitrary randomised responses, enclosed; an evaluator (see `evaluators`)."""

    def __init__(self, responses: Responses) -> None:
        self.responses = responses
        self._enclosures = [enclosure(group.epsilon) for group in responses.groups]
        self._finer = self._levels()
        self._level = next(self._finer, None)

    def delta(self, epsilon: Epsilon) -> arb:
        """The ball of delta(epsilon)."""
        if not self.responses.exceeds(epsilon):
            return ball(0)
        with precision(128):
            best = self._crude(epsilon)
            while self._level is not None:
                below, above = self._level
                try:
                    best = below.delta(epsilon).union(above.delta(epsilon))
                    if best.rad() < _WANTED / 2 * best.mid():
                        break
                except TooManyNodes:
                    pass
                finer = next(self._finer, None)
                if finer is None:
                    break
                self._level = finer
            return best

    def kept(self, epsilon: Epsilon) -> arb:
        """The ball of 1 - delta(epsilon)."""
        return 1 - self.delta(epsilon)

    def _levels(self) -> Iterator[tuple[_Method, _Method]]:
        """Lower and upper compositions, ever finer."""
        if (spacing := self._decimal()) is not None:
            yield tuple(  # type: ignore[misc]  # two of them
                TransformedComposition(lattice)
                for lattice in self._rounded(spacing * (1 - _UNIT), spacing * (1 + _UNIT))
            )
        largest = max(high for _, high in self._enclosures)
        parts = _COARSEST
        while parts <= LARGEST_MULTIPLE:
            below, above = self._rounded(largest / parts, largest / parts)
            if DenseComposition.work(above) <= _MOST_WORK:
                yield DenseComposition(below), DenseComposition(above)
            elif self.responses.count > _COARSEST:
                yield TransformedComposition(below), TransformedComposition(above)
            parts *= 4

    def _rounded(self, below: Fraction, above: Fraction) -> tuple[Lattice, Lattice]:
        """The lattices of the epsilons rounded down and up to two spacings."""
        times = [group.times for group in self.responses.groups]
        return (
            Lattice.of_multiples(below, [math.floor(low / below) for low, _ in self._enclosures], times),
            Lattice.of_multiples(above, [math.ceil(high / above) for _, high in self._enclosures], times),
        )

    def _decimal(self) -> Fraction | None:
        """The spacing of the simple fractions that the epsilons are the floats of, if they are."""
        simple = []
        for low, high in self._enclosures:
            guess = low.limit_denominator(_LARGEST_DENOMINATOR)
            if not high * (1 - _UNIT) <= guess <= low * (1 + _UNIT / 2):
                return None
            simple.append(guess)
        return common_spacing(simple)

    def _crude(self, epsilon: Epsilon) -> arb:
        """What always holds: 0 <= delta <= e^(K(t) - t eps) t^t / (1 + t)^(1 + t) for any t > 0."""
        t = ball(max(self.responses.tilt_to(float(ball_of(epsilon))), 1e-3))
        exponent = self.responses.cumulant_ball(t) - t * ball_of(epsilon) + t * t.log() - (1 + t) * (1 + t).log()
        return ball(0).union(exponent.exp().min(ball(1)))

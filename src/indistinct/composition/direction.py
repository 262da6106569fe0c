"""One direction of a composition: from a database to its neighbour, or back."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from indistinct.composition.contour import ContourComposition
from indistinct.composition.disclosure import Disclosure
from indistinct.composition.evaluators import Evaluator
from indistinct.composition.losses.law import Floats
from indistinct.composition.search import least_epsilon
from indistinct.errors import InternalError
from indistinct.numbers import Bracket, Epsilon
from indistinct.numbers.balls import arb, ball, bracket_of, precision

__all__ = ["Direction", "Steering"]

_BITS = 192
_NEAR = 1.001
_LONGEST = 50.0
_STEPS = 12
_WIDE = 1e-3
_TINY = 1e-289
_ROUNDING = 2.0**-50


class Steering:
    """Where to look: about the epsilon at a delta, and an epsilon that is certainly enough.

    Both from K(t) and its derivatives, at the saddle t of the inversion formula, where

        eps = K'(t) - 1/t - 1/(1 + t),    delta ~ e^(K(t) - t eps) / (t (1 + t) sqrt(2 pi V)),

    V the second derivative of its exponent; and enough is eps = (K(t) - log delta) / t at any t (Chernoff).
    """

    def __init__(self, cumulants: Callable[[float], tuple[float, float, float]], steepest: float) -> None:
        self.cumulants = cumulants
        self.steepest = min(steepest, 1e7)

    def guess(self, log_delta: float) -> tuple[float, float]:
        """About the epsilon, and the tilt there, which is minus the slope of log delta.

        By Newton's steps for log(1 - log delta) in log t, all but a straight line, kept inside a shrinking interval;
        by halving it where those do not arrive.
        """
        low, high, loss_there = 1e-9, self.steepest, 0.0
        point, steps = min(1.0, math.sqrt(low * high)), 0
        while high > low * _NEAR:
            value, mean, variance = self.cumulants(point)
            loss = mean - 1 / point - 1 / (1 + point)
            curvature = max(variance + point**-2 + (1 + point) ** -2, 1e-300)
            found = value - point * loss - math.log(point) - math.log1p(point)
            found -= 0.5 * math.log(2 * math.pi * curvature)
            if found > log_delta:
                low, loss_there = point, loss
            else:  # also where a bound is infinite
                high = point
            missing = math.log1p(-log_delta) - math.log1p(-found) if -math.inf < found < 1 else math.nan
            factor = math.exp(min(missing * (1 - found) / (point**2 * curvature), _LONGEST))
            if abs(factor - 1) <= _NEAR - 1:
                return max(loss + curvature * point * (factor - 1), 0.0), point * factor
            steps += 1
            point = point * factor if low < point * factor < high and steps < _STEPS else math.sqrt(low * high)
        return max(loss_there, 0.0), low

    def tilt_at(self, epsilon: float) -> float:
        """The saddle at an epsilon, or the end of the range."""
        low, high = 1e-9, self.steepest
        for _ in range(60):
            middle = math.sqrt(low * high)
            excess = self.cumulants(middle)[1] - 1 / middle - 1 / (1 + middle) - epsilon
            low, high = (middle, high) if excess < 0 else (low, middle)
        return low

    def enough(self, log_delta: float, tilt: float) -> float:
        """An epsilon at which delta is below e^log_delta for certain."""
        value = self.cumulants(tilt)[0]
        return max((value - log_delta) / tilt * (1 + 1e-9) + 1e-300, 0.0) + 1e-9 * (1 + abs(value)) / tilt


class Direction:
    """delta(epsilon) and epsilon(delta) in one direction."""

    def __init__(
        self,
        disclosure: Disclosure,
        evaluator: Evaluator,
        largest: Bracket,
        steering: Steering,
        contour: ContourComposition | None,
        at_zero: Callable[[], arb] | None = None,
    ) -> None:
        """`at_zero`, if given, bounds delta(0) at little cost."""
        self.disclosure = disclosure
        self.evaluator = evaluator
        self.largest = largest
        self.steering = steering
        self._contour = contour
        self._at_zero = at_zero

    def is_certainly_within(self, epsilon: float, delta: Fraction) -> bool:
        """Whether a cheap bound shows already that delta is enough at an epsilon."""
        if not math.isfinite(epsilon):
            return True
        if self._contour is None:
            return False
        with precision(_BITS):
            disclosed = self.disclosure.ball()
            return bool(disclosed + (1 - disclosed) * self._contour.at_most(Fraction(epsilon)) <= ball(delta))

    def disclosed(self) -> Bracket:
        """What the parts' own deltas make."""
        with precision(_BITS):
            return bracket_of(self.disclosure.ball())

    def delta(self, epsilon: Epsilon) -> Bracket:
        """The bracket of the least delta at an epsilon."""
        with precision(_BITS):
            disclosed = self.disclosure.ball()
            delta = bracket_of(disclosed + (1 - disclosed) * self.evaluator.delta(epsilon))
        return Bracket(min(max(delta.lower, 0.0), 1.0), min(delta.upper, 1.0))

    def deltas(self, epsilons: Floats) -> list[Bracket]:
        """The brackets at many rising epsilons: from the contour, and one by one where that has no narrow answer."""
        if self._contour is None:
            return [self.delta(Fraction(epsilon)) for epsilon in epsilons.tolist()]
        with precision(_BITS):
            disclosed = bracket_of(self.disclosure.ball())
        lower, upper = self._contour.deltas(epsilons)
        narrow = (upper - lower <= _WIDE * upper) | (upper <= _TINY)
        lowers = (disclosed.lower + (1 - disclosed.lower) * lower) * (1 - _ROUNDING)
        uppers = np.minimum((disclosed.upper + (1 - disclosed.upper) * upper) * (1 + _ROUNDING), 1.0)
        return [
            Bracket(low, high) if known else self.delta(Fraction(epsilon))
            for epsilon, low, high, known in zip(
                epsilons.tolist(), lowers.tolist(), uppers.tolist(), narrow.tolist(), strict=True
            )
        ]

    def epsilon(self, delta: Fraction) -> Bracket:
        """The bracket of the least epsilon at a delta."""
        known = self.disclosure.epsilon_at_once(delta, self.largest)
        if known is not None:
            return known
        if self.largest.upper == 0:
            return Bracket(0.0, 0.0)
        try:
            beyond = self.disclosure.beyond(delta)
        except InternalError:  # closer than any precision in use tells
            return Bracket(0.0, self.largest.upper)
        with precision(_BITS):
            if self._at_zero is not None and self._at_zero() <= beyond:
                return Bracket(0.0, 0.0)
            return self._crossing(beyond)

    def _crossing(self, beyond: arb) -> Bracket:
        log_delta = float(beyond.mid().log())
        guess, tilt = self.steering.guess(log_delta)
        largest = self.largest
        if not math.isfinite(largest.upper):
            enough = self.steering.enough(float(beyond.lower().log().lower()) - 1e-9, tilt)
            largest = Bracket(enough, enough)
        return least_epsilon(self.evaluator.delta, beyond, largest, guess, -max(tilt, 1e-3))

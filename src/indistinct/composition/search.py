"""epsilon(delta) from delta(epsilon): the least epsilon at which delta is small enough, certified.

Floats steer (a secant in log delta, kept inside a bracket); only balls decide. The answer is two floats:
at the upper one delta is proven to be no more than asked, at the lower one proven to be more.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache

from indistinct.numbers import Bracket, Epsilon
from indistinct.numbers.balls import arb

__all__ = ["least_epsilon"]

_STEPS = 60
_ULP = 2.0**-52
_TINY = 1e-300


def least_epsilon(
    delta: Callable[[Epsilon], arb], target: arb, largest: Bracket, guess: float, slope: float
) -> Bracket:
    """A bracket of the least epsilon in [0, largest] with delta(epsilon) <= target.

    `delta` must not increase, and must be 0 at `largest`; `target` is a positive ball. `guess` is where
    to look first and `slope` about the derivative of log delta there.
    """
    known = cache(lambda epsilon: delta(Fraction(epsilon)))
    above = _Crossing(lambda epsilon: known(epsilon).upper(), target.lower(), slope, unknown=math.inf)
    upper = above.find(guess, largest.upper, side=1)
    if upper == 0:
        return Bracket(0.0, 0.0)
    below = _Crossing(lambda epsilon: known(epsilon).lower(), target.upper(), above.slope, unknown=-math.inf)
    return Bracket(below.find(upper, min(upper, largest.lower), side=-1), upper)


class _Crossing:
    """Where a decreasing function passes a target."""

    def __init__(self, function: Callable[[float], arb], target: arb, slope: float, unknown: float) -> None:
        self.function = function
        self.target = target
        self.slope = slope
        self.unknown = unknown

    def excess(self, epsilon: float) -> float:
        """log(function / target), of the right sign however near zero it is."""
        value = self.function(epsilon)
        if not value.is_finite():
            return self.unknown
        if not value > 0:
            return -math.inf
        logarithm = float((value / self.target).mid().log())
        return max(logarithm, _TINY) if value > self.target else min(logarithm, 0.0)

    def find(self, guess: float, largest: float, side: int) -> float:
        """A float near the crossing: at or beyond it for side 1, before it for side -1.

        0 where the function starts at or below the target; `largest` is taken to be beyond.
        """
        low, high = -math.ulp(0.0), largest
        point = min(max(guess, 0.0), high)
        last: tuple[float, float] | None = None
        for _ in range(_STEPS):
            value = self.excess(point)
            low, high = (max(low, point), high) if value > 0 else (low, min(high, point))
            if last is not None and math.isfinite(value - last[1]) and abs(point - last[0]) > 64 * _ULP * point:
                self.slope = (value - last[1]) / (point - last[0])
            last = (point, value)
            step = max(point - value / self.slope, 0.0) if self.slope < 0 else math.nan
            if abs(step - point) <= 4 * _ULP * point:
                break
            if not low < step <= high:
                step = (max(low, 0.0) + high) / 2
            point = step
        return self._outwards(point, side, high if side > 0 else max(low, 0.0))

    def _outwards(self, point: float, side: int, end: float) -> float:
        """The first of ever longer steps from a point to a side where the excess has its sign.

        `end` is known to have it.
        """
        width, at = max(_ULP * point, math.ulp(0.0)), point
        while (end - at) * side > 0 and self.excess(at) * side >= 0:
            at, width = point + side * width, 4 * width
        return at if (end - at) * side > 0 else end

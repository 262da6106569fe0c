r"""A composition in which some losses are known by a bound on their transform alone.

With K(t) at most B(t) for all losses together, and any t > 0,

    delta(eps) <= e^(B(t) - t eps) t^t / (1 + t)^(1 + t)

(Canonne, Kamath and Steinke 2020): the upper end is the least of these over t. The lower end is that of the
losses that are known exactly, as the others may reveal nothing. Where every loss has a largest value (an exponential
mechanism is epsilon-private: Dwork and Roth, Theorem 3.10), delta is 0 from their sum on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from indistinct.composition.contour import LITTLE_WORK, ContourComposition
from indistinct.composition.evaluators import Evaluator
from indistinct.composition.losses.law import Cumulants, Curve, LossLaw
from indistinct.composition.nodes import TooManyNodes
from indistinct.numbers import Epsilon
from indistinct.numbers.balls import arb, ball, precision
from indistinct.numbers.logarithm import ball_of, sign_of_sum

__all__ = ["CurvedComposition"]

_STEPS, _FEW_STEPS = 60, 30
_SAME = 1e-8
_NEARBY, _INNER = 1.5, 0.05
"""How far from the tilt of the last epsilon that of the next is looked for, in its logarithm."""
_GOLDEN = (math.sqrt(5) - 1) / 2


class CurvedComposition:
    """delta(eps) of independent losses, some of them mere bounds, in one direction; an evaluator."""

    def __init__(
        self,
        laws: Iterable[tuple[LossLaw, int]],
        curves: Iterable[tuple[Curve, int]],
        limits: Sequence[tuple[Epsilon, int]] | None = None,
        lower: Evaluator | None = None,
    ) -> None:
        """`limits` are the largest losses of all parts, with how often each is used, if all have one.

        `lower` answers for the losses that are known exactly, where another method than the contour is to.
        """
        self._limits = limits
        self._known = ContourComposition(laws, only_narrow=True, work=LITTLE_WORK)
        self._lower = lower
        self._curves = list(curves)
        self._near: float | None = None
        self._level = math.nan

    def delta(self, epsilon: Epsilon) -> arb:
        """The ball of delta(epsilon)."""
        if self._limits is not None and self._is_beyond(epsilon, self._limits):
            return ball(0)
        with precision(128):
            level = ball_of(epsilon)
            upper = self._bound(ball(self._best(level)), level).exp().min(ball(1))
            return upper.union(self._least(epsilon).min(upper))

    def _least(self, epsilon: Epsilon) -> arb:
        """What the losses reveal that are known exactly."""
        if not self._known.laws:
            return ball(0)
        if self._lower is not None:
            return self._lower.delta(epsilon)
        try:
            return self._known.delta(epsilon)
        except TooManyNodes:  # nothing is known of it at a reasonable price
            return ball(0)

    @staticmethod
    def _is_beyond(epsilon: Epsilon, limits: Sequence[tuple[Epsilon, int]]) -> bool:
        """Whether no sum of losses is above epsilon; decided exactly."""
        return sign_of_sum((-1, epsilon), *((times, limit) for limit, times in limits)) <= 0

    def cumulants(self, tilt: float) -> Cumulants:
        """About K, K' and K'', the bounds taken for the truth: to steer by."""
        h = 1e-4 * tilt
        low, middle, high = (self._height(t) for t in (tilt - h, tilt, tilt + h))
        return Cumulants(middle, (high - low) / (2 * h), max((high - 2 * middle + low) / h**2, 0.0))

    def _height(self, tilt: float) -> float:
        curves = sum((times * curve.bound(ball(tilt)) for curve, times in self._curves), ball(0))
        known = self._known.cumulants(tilt).value if self._known.laws else 0.0
        return known + (float(curves.mid()) if curves.is_finite() else math.inf)

    def _best(self, level: arb) -> float:
        """About the tilt of the least bound: golden section in log t, where the bound has one minimum."""

        def height(log_tilt: float) -> float:
            value = self._bound(ball(math.exp(log_tilt)), level)
            return float(value.mid()) if value.is_finite() else math.inf

        if self._near is not None and abs(float(level.mid()) - self._level) <= _SAME * abs(self._level):
            return math.exp(self._near)  # any tilt is right
        self._level = float(level.mid())
        if self._near is not None:
            low, high = self._near - _NEARBY, self._near + _NEARBY
            found = self._golden(height, low, high, _FEW_STEPS)
            if low + _INNER < found < high - _INNER:
                self._near = found
                return math.exp(found)
        self._near = self._golden(height, math.log(1e-6), math.log(1e7), _STEPS)
        return math.exp(self._near)

    @staticmethod
    def _golden(height: Callable[[float], float], low: float, high: float, steps: int) -> float:
        first, second = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        at_first, at_second = height(first), height(second)
        for _ in range(steps):
            if at_first <= at_second:
                high, second, at_second = second, first, at_first
                first = high - _GOLDEN * (high - low)
                at_first = height(first)
            else:
                low, first, at_first = first, second, at_second
                second = low + _GOLDEN * (high - low)
                at_second = height(second)
        return first if at_first <= at_second else second

    def _bound(self, t: arb, level: arb) -> arb:
        total = t * t.log() - (1 + t) * t.log1p() - t * level
        for curve, times in self._curves:
            total += times * curve.bound(t)
        if self._known.laws and total.is_finite():
            tilt = float(t.mid())
            total += ball(self._known.cumulants(tilt).value) + ball(self._known.doubt(tilt))
        return total

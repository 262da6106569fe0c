"""The privacy of a composition: delta for every epsilon, epsilon for every delta, certified."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from indistinct.composition.evaluators import evaluator_of
from indistinct.composition.guarantees import Guarantee
from indistinct.composition.responses import Responses
from indistinct.composition.search import least_epsilon
from indistinct.numbers import Bracket, Epsilon, NaturalLog, read_delta, read_epsilon
from indistinct.numbers.balls import arb, ball, bracket_of, exact, precision
from indistinct.numbers.logarithm import exponential
from indistinct.regions import Region, Tangent, TradeOff

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PrivacyProfile"]

_BITS = 192
_UNDECIDED_BITS = 4096
_LARGEST_PRODUCT = 200_000
_TANGENTS = 200
_INVISIBLE = Fraction(1, 10**9)


class PrivacyProfile:
    """What k-fold adaptive composition of mechanisms promises; made by `compose`.

    Guaranteed: every bracket contains the exact value of KOV's Theorem 3.3, or of its heterogeneous
    form, for *any* mechanisms that keep the guarantees composed, chosen by an adaptive adversary. The
    upper ends are the claims; no mechanism-independent claim can be below the lower ends.

    >>> from indistinct import ApproximateDP, compose
    >>> profile = compose({ApproximateDP("0.1", "0.001"): 30})
    >>> print(profile.epsilon("0.05"))
    0.846302634475
    >>> print(profile.delta(1))
    0.0398184105222
    """

    def __init__(self, parts: Iterable[tuple[Guarantee, int]]) -> None:
        self.parts = tuple(parts)
        self._responses = Responses.of((part.epsilon, times) for part, times in self.parts)
        self._evaluator = evaluator_of(self._responses)

    @cached_property
    def times(self) -> int:
        """How many mechanisms are composed."""
        return sum(times for _, times in self.parts)

    @cached_property
    def disclosure(self) -> Bracket:
        """The delta that remains at every epsilon: 1 - prod (1 - delta_i), what the parts' own deltas make."""
        with precision(_BITS):
            return bracket_of(self._disclosure())

    @cached_property
    def largest_epsilon(self) -> Bracket:
        """The sum of all epsilons: from here on delta is the disclosure alone."""
        with precision(_BITS):
            return bracket_of(self._responses.largest_loss())

    def delta(self, epsilon: object) -> Bracket:
        """The least delta for which the composition is (epsilon, delta)-private.

        KOV, Theorem 3.3: 1 - prod (1 - delta_i) (1 - delta of the composed randomised responses).
        """
        level = read_epsilon("epsilon", epsilon)
        with precision(_BITS):
            delta = bracket_of(self._delta(level))
        return Bracket(max(delta.lower, 0.0), min(delta.upper, 1.0))

    def epsilon(self, delta: object) -> Bracket:
        """The least epsilon for which the composition is (epsilon, delta)-private.

        Infinite where delta is below what the parts' own deltas add up to (`disclosure`).
        """
        target = read_delta("delta", delta)
        largest = self.largest_epsilon
        match self._compared_with_disclosure(target):
            case -1:
                return Bracket(math.inf, math.inf)
            case 0:
                return largest
            case None:
                return Bracket(largest.lower, math.inf)
        if target == 1 or not self._responses.groups:
            return Bracket(0.0, 0.0)
        with precision(_BITS):
            disclosure = self._disclosure()
            beyond = (ball(target) - disclosure) / (1 - disclosure)
            guess = self._responses.saddlepoint(float(beyond.mid().log()))
            slope = -max(self._responses.tilt_to(guess), 1e-3)
            return least_epsilon(self._evaluator.delta, beyond, largest, guess, slope)

    def region(self) -> Region:
        """The privacy region (KOV, Figure 2), from tangents at up to some 200 epsilons.

        Each tangent is certified, so the region is never smaller than the true one; with equal
        mechanisms, up to 400 of them, it has a tangent at each of the true region's edges.
        """
        tangents = []
        for ratio in self._tangent_ratios():
            tangent = Tangent(ratio, Fraction(self.delta(NaturalLog(ratio)).upper))
            tangents += [tangent, tangent.swapped()]
        return Region.of_tangents(tangents)

    def tradeoff(self) -> TradeOff:
        """The least missed detection at each false alarm rate, never above the true one."""
        return self.region().tradeoff()

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draws the region's lower boundary; needs the extra `plot`."""
        from indistinct.composition.display import draw

        return draw(self.region(), axes, label=f"{self.times:,} uses")

    def __repr__(self) -> str:
        shown = ", ".join(f"{part!r}: {times:,}" for part, times in self.parts[:3])
        more = f", and {len(self.parts) - 3:,} more" if len(self.parts) > 3 else ""
        return f"PrivacyProfile({{{shown}{more}}})"

    def _repr_html_(self) -> str:
        from indistinct.composition.display import as_html

        return as_html(self)

    def _delta(self, epsilon: Epsilon) -> arb:
        disclosure = self._disclosure()
        return disclosure + (1 - disclosure) * self._evaluator.delta(epsilon)

    def _disclosure(self) -> arb:
        if any(part.delta == 1 and times for part, times in self.parts):
            return ball(1)
        logarithm = sum((times * (-ball(part.delta)).log1p() for part, times in self.parts if part.delta), ball(0))
        return -logarithm.expm1()

    def _compared_with_disclosure(self, delta: Fraction) -> int | None:
        """The sign of delta - disclosure; None where no reasonable work decides it."""
        bits = _BITS
        while bits <= _UNDECIDED_BITS:
            with precision(bits):
                difference = ball(delta) - self._disclosure()
            if difference > 0 or difference < 0:
                return 1 if difference > 0 else -1
            bits *= 2
        if sum(times * part.delta.denominator.bit_length() for part, times in self.parts) > _LARGEST_PRODUCT:
            return None
        kept = math.prod(((1 - part.delta) ** times for part, times in self.parts), start=Fraction(1))
        return (kept > 1 - delta) - (kept < 1 - delta)

    def _tangent_ratios(self) -> list[Fraction]:
        """Where the region is touched: at every knot if there are few, else spread over what matters."""
        groups = self._responses.groups
        if len(groups) == 1 and groups[0].times <= 2 * _TANGENTS:
            knots = range(groups[0].times, 0, -2)
            if isinstance(groups[0].epsilon, NaturalLog):
                return [*(groups[0].epsilon.argument ** knot for knot in knots), Fraction(1)]
            return [*(_about(exponential(knot * groups[0].epsilon)) for knot in knots), Fraction(1)]
        visible = self.epsilon(min(Fraction(1), Fraction(self.disclosure.upper) + _INVISIBLE)).upper
        return [_about(exponential(Fraction(visible) * i / _TANGENTS)) for i in range(_TANGENTS + 1)]


def _about(value: arb) -> Fraction:
    """A short exact number within the last places of a float of a ball: any number will do for a tangent."""
    with precision(64):
        return exact((value * 1).mid())

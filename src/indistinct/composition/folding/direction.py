"""One direction of a composition of few uses: the transform while it answers narrowly and at once, else folding."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from typing import TypeVar

from indistinct.composition.direction import Direction, Steering
from indistinct.composition.disclosure import Disclosure
from indistinct.composition.folding.folded import FoldedComposition, Layout
from indistinct.composition.losses.law import Floats
from indistinct.composition.nodes import TooManyNodes
from indistinct.composition.refined import RefinedDirection
from indistinct.composition.search import least_epsilon
from indistinct.errors import InternalError
from indistinct.numbers import Bracket, Epsilon
from indistinct.numbers.balls import arb, ball, bracket_of, precision
from indistinct.numbers.logarithm import bracket_of as floats_around

__all__ = ["FoldedDirection", "FoldedEvaluator"]

_BITS = 192
_GAP, _NEARLY = 1e-4, 1e-3
"""The relative width that is aimed at, and that with which the finest grids are left alone."""
_ROUNDS = 3
_SAME = 1e-3
"""Nearer than this another layout says no more."""
_COARSEST = 0.03
_LAYOUTS = 12
_SERVED = 0.7
"""The part of the width that is aimed at."""
_GLANCE = 250
"""So many pieces tell what is not close."""
_LEAST = 1e-305
_FARTHEST = 1e300
_CERTAIN = 1e299
"""From here on a loss is one of outcomes that tell everything."""
_HALVINGS = 200

Answer = TypeVar("Answer")


class FoldedEvaluator:
    """delta(eps) over the finite losses; an evaluator (see `evaluators`)."""

    def __init__(self, folded: FoldedComposition, gap: float = _GAP, layouts: int = _LAYOUTS) -> None:
        """Aims at a relative width, with at most so many layouts."""
        self.folded = folded
        self._gap = gap
        self._most = layouts
        self._layouts: list[Layout] = []

    def delta(self, epsilon: Epsilon) -> arb:
        """The ball of delta(epsilon)."""
        found = self.bracket(epsilon)
        return ball(found.lower).union(ball(found.upper))

    def bracket(self, epsilon: Epsilon) -> Bracket:
        """The bracket of delta: the best of what layouts say, a new one made where none is narrow."""
        around = floats_around(epsilon)
        best = self._best(around)
        if best.relative_width > self._gap and best.upper > _LEAST and len(self._layouts) < self._most:
            self._layouts.append(self.folded.narrow(around.lower, self._gap))
            best = self._best(around)
        return best

    def _best(self, around: Bracket) -> Bracket:
        best = Bracket(0.0, 1.0)
        for layout in self._layouts:
            best = _both(best, layout.delta(around.lower, around.upper))
        return best


class FoldedDirection:
    """delta(epsilon) and epsilon(delta) of few uses, whether or not their transform decays."""

    def __init__(
        self,
        first: Callable[[], Direction | RefinedDirection],
        folded: FoldedComposition,
        disclosure: Disclosure | None = None,
        largest: Bracket | None = None,
        *,
        at_once: bool = False,
    ) -> None:
        """`first` gives the direction to steer by, and where `at_once` holds the one to ask first.

        What is given of `disclosure` and `largest` is not asked of it.
        """
        self._made = first
        self._folded = folded
        self._known = disclosure
        self._bound = largest
        self.at_once = at_once
        self._evaluator = FoldedEvaluator(folded)

    @cached_property
    def _first(self) -> Direction | RefinedDirection:
        return self._made()

    @cached_property
    def disclosure(self) -> Disclosure:
        """What is disclosed."""
        return self._first.disclosure if self._known is None else self._known

    @cached_property
    def steering(self) -> Steering:
        """Where to look."""
        return self._first.steering

    @cached_property
    def largest(self) -> Bracket:
        """The largest loss."""
        return self._first.largest if self._bound is None else self._bound

    def disclosed(self) -> Bracket:
        """What the parts' own deltas make."""
        with precision(_BITS):
            return bracket_of(self.disclosure.ball())

    def is_certainly_within(self, epsilon: float, delta: Fraction) -> bool:
        """Whether a cheap bound shows already that delta is enough at an epsilon."""
        if not math.isfinite(epsilon) or (self.at_once and self._first.is_certainly_within(epsilon, delta)):
            return True
        with precision(_BITS):
            disclosed = self.disclosure.ball()
            upper = self._folded.laid_out(epsilon, _GLANCE).delta(epsilon, epsilon).upper
            return bool(disclosed + (1 - disclosed) * ball(upper) <= ball(delta))

    def delta(self, epsilon: Epsilon) -> Bracket:
        """The bracket of the least delta at an epsilon."""
        found = self._asked_first(lambda direction: direction.delta(epsilon))
        if found is not None and _is_narrow(found):
            return found
        own = self._delta(epsilon)
        return own if found is None else _both(found, own)

    def deltas(self, epsilons: Floats) -> list[Bracket]:
        """The brackets at many rising epsilons."""
        found = self._asked_first(lambda direction: direction.deltas(epsilons))
        if found is not None and all(_is_narrow(bracket) for bracket in found):
            return found
        own = [self._delta(Fraction(epsilon)) for epsilon in epsilons.tolist()]
        return own if found is None else [_both(one, other) for one, other in zip(found, own, strict=True)]

    def epsilon(self, delta: Fraction) -> Bracket:
        """The bracket of the least epsilon at a delta."""
        known = self.disclosure.epsilon_at_once(delta, self.largest)
        if known is not None:
            return known
        found = self._asked_first(lambda direction: direction.epsilon(delta))
        if found is not None and _is_narrow(found):
            return found
        try:
            beyond = self.disclosure.beyond(delta)
        except InternalError:  # closer than any precision in use tells
            return Bracket(0.0, self.largest.upper)
        with precision(_BITS):
            own = self._crossing(beyond)
        return own if found is None else _both(found, own)

    def _delta(self, epsilon: Epsilon) -> Bracket:
        largest = self.largest.upper
        with precision(_BITS):
            disclosed = self.disclosure.ball()
            finite = ball(0) if floats_around(epsilon).lower >= largest else self._evaluator.delta(epsilon)
            found = bracket_of(disclosed + (1 - disclosed) * finite)
        return Bracket(min(max(found.lower, 0.0), 1.0), min(found.upper, 1.0))

    def _asked_first(self, ask: Callable[[Direction | RefinedDirection], Answer]) -> Answer | None:
        if not self.at_once:
            return None
        try:
            return ask(self._first)
        except TooManyNodes:
            return None

    def _crossing(self, beyond: arb) -> Bracket:
        """Where delta passes a number: found on the coarse grids, then on grids made for that place."""
        best = Bracket(0.0, self.largest.upper)
        target = float(beyond.mid())
        if not target > _LEAST:
            return best
        at = self._about(target)
        if at == 0 and ball(self._folded.laid_out(0.0, _GLANCE).delta(0.0, 0.0).upper) <= beyond:
            return Bracket(0.0, 0.0)
        for _ in range(_ROUNDS):
            slope = self._slope(at)
            width = min(_GAP * max(slope * at, 1.0) * _SERVED, _COARSEST)
            layout = self._folded.narrow(at, width)
            best = _both(best, self._crossing_on(layout, beyond, at, slope))
            if best.upper >= _CERTAIN:
                return Bracket(math.inf if best.lower >= _CERTAIN else best.lower, math.inf)
            before, at = at, best.upper if math.isfinite(best.upper) else 2 * at
            finest = layout.pieces >= self._folded.most_pieces and best.relative_width <= _NEARLY
            if best.relative_width <= _GAP or finest or abs(at - before) <= _SAME * at:
                break
        return best

    def _crossing_on(self, layout: Layout, beyond: arb, at: float, slope: float) -> Bracket:
        def delta(epsilon: Epsilon) -> arb:
            around = floats_around(epsilon)
            found = layout.delta(around.lower, around.upper)
            return ball(found.lower).union(ball(found.upper))

        largest = self.largest
        if not math.isfinite(largest.upper):
            enough = max(at, 1e-300)
            while not delta(Fraction(enough)).upper() <= beyond.lower():
                enough *= 2
                if enough > _FARTHEST:
                    break
            largest = Bracket(enough, enough)
            if enough > _FARTHEST:
                return Bracket(least_epsilon(delta, beyond, largest, at, -max(slope, 1e-3)).lower, math.inf)
        return least_epsilon(delta, beyond, largest, at, -max(slope, 1e-3))

    def _about(self, target: float) -> float:
        """About the epsilon at a delta, on the coarse grids."""
        if self._folded.about(0.0) <= target:
            return 0.0
        low, high = 0.0, 1e-30
        while self._folded.about(high) > target:
            low, high = high, 4 * high
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if self._folded.about(middle) > target else (low, middle)
            if high - low <= 1e-6 * high:
                break
        return high

    def _slope(self, epsilon: float) -> float:
        """About minus the slope of log delta."""
        step = 1e-3 * epsilon or 1e-30
        here, there = self._folded.about(epsilon), self._folded.about(epsilon + step)
        return math.log(here / there) / step if here > there > 0 else 0.0


def _both(first: Bracket, second: Bracket) -> Bracket:
    """The narrowest of what two brackets say of the same number."""
    return Bracket(min(max(first.lower, second.lower), min(first.upper, second.upper)), min(first.upper, second.upper))


def _is_narrow(bracket: Bracket) -> bool:
    return bracket.relative_width <= _GAP

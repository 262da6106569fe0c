r"""The least noise that is proven to be enough: floats look for it, certified evaluations decide.

The unknown is searched for by its logarithm v, turned so that more of v is more private. An estimate of
log delta(v) is driven to the target first, which costs little. From there the certified brackets correct it by
the estimate's slope: each evaluation tells where its own upper end would just fit, and its lower end just not
fit any more, and the next is made a little beyond one of the two. Three evaluations usually do.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from indistinct.composition.compose import compose
from indistinct.composition.parts import Thing
from indistinct.composition.planning.budget import Budget, Verdict
from indistinct.composition.planning.estimate import estimated_log_delta, has_quick_answer
from indistinct.composition.profile import PrivacyProfile

__all__ = ["CLOSE", "Crossing", "Found", "Parts", "composed"]

CLOSE = 2e-7
"""How near the claim and the value that is proven insufficient are to be, relatively."""

_SHARP = 1e-12
_MOST_ESTIMATES = 120
_MOST_VERDICTS = 24
_LONGEST_STEP = 2.0
_SHARE = 0.02
_NEAR = 0.1
_WIDENINGS = 8

Parts = Sequence[tuple[Thing, int]]


@dataclass(frozen=True, slots=True)
class Found:
    """A value that is proven to be enough, the nearest one proven not to be, if any, and what the first makes."""

    enough: Fraction
    insufficient: Fraction | None
    profile: PrivacyProfile


class Crossing:
    """Where compositions with one unknown begin to fit a budget."""

    def __init__(
        self, parts: Callable[[Fraction], Parts], budget: Budget, *, quiets: bool, least: Fraction, most: Fraction
    ) -> None:
        self._parts = parts
        self._budget = budget
        self._sign = 1 if quiets else -1
        self._ends = (least, most)
        ends = sorted(self._sign * math.log(end) for end in (least, most))
        self._low, self._high = ends[0], ends[1]
        self._digits = 10
        self._judged: dict[Fraction, tuple[Verdict, PrivacyProfile]] = {}
        self._enough: Fraction | None = None
        self._short: Fraction | None = None
        self._hopped = CLOSE

    def find(self, start: float) -> Found | None:
        """The least value that fits, beginning near `start`; None if no value does."""
        quick = has_quick_answer(self._parts(Fraction(start)))
        closeness = _SHARP if quick and self._budget.delta else CLOSE
        self._digits = 3 - round(math.log10(closeness))
        place, slope = self._estimated(self._sign * math.log(start), closeness / 100)
        return self._decided(place, slope, closeness)

    def _estimate(self, place: float, rough: bool) -> float:
        """About log delta over its target, which falls with the place."""
        parts = self._parts(self._value(place))
        if not self._budget.delta:
            return self._budget.judge(composed(parts)).high
        return estimated_log_delta(parts, self._budget.epsilon, rough=rough) - self._budget.log_delta

    def _estimated(self, place: float, settled: float) -> tuple[float, float]:
        """About where the crossing is, and the slope there."""
        low, high = self._low, self._high
        point, last, slope, length, rough = place, None, -1.0, 0.5, True
        for _ in range(_MOST_ESTIMATES):
            value = self._estimate(point, rough)
            if math.isnan(value):
                return point, slope
            if rough and abs(value) < _NEAR:  # from here on with care, and without trust in what was found so far
                low, high, rough = max(self._low, point - 1), min(self._high, point + 1), False
                value = self._estimate(point, rough)
                low, high = (point, high) if value > 0 else (low, point)
            low, high = (max(low, point), high) if value > 0 else (low, min(high, point))
            if last is not None and abs(point - last[0]) > 1e-9 and math.isfinite(value - last[1]):
                slope = min((value - last[1]) / (point - last[0]), -1e-9)
            last = (point, value)
            length = min(1.5 * length, _LONGEST_STEP)
            step = point + min(max(-value / slope, -length), length)
            if not low < step < high:
                step = (low + high) / 2 if high - low < 2 * _LONGEST_STEP else min(max(step, low), high)
            if abs(step - point) <= settled:
                break
            point = step
        return point, slope

    def _value(self, place: float) -> Fraction:
        """The value at a place, in a few digits."""
        if place >= self._high or place <= self._low:
            return self._end(1 if place >= self._high else -1)
        return Fraction(f"{math.exp(self._sign * place):.{self._digits}g}")

    def _end(self, side: int) -> Fraction:
        """The most private value there is for side 1, the least private one for -1."""
        return self._ends[side * self._sign > 0]

    def _place(self, value: Fraction) -> float:
        return self._sign * (math.log(value.numerator) - math.log(value.denominator))

    def _verdict(self, value: Fraction) -> Verdict:
        if value not in self._judged:
            profile = composed(self._parts(value))
            verdict = self._budget.judge(profile)
            self._judged[value] = (verdict, profile)
            place = self._place(value)
            if verdict.fits and (self._enough is None or place < self._place(self._enough)):
                self._enough = value
            if verdict.exceeds and (self._short is None or place > self._place(self._short)):
                self._short = value
        return self._judged[value][0]

    def _decided(self, point: float, slope: float, closeness: float) -> Found | None:
        margin, aim = closeness / 50, 0
        last: tuple[float, float] | None = None
        for _ in range(_MOST_VERDICTS):
            value = self._value(point)
            verdict = self._verdict(value)
            point = self._place(value)
            if value in self._ends and verdict.fits == (value == self._end(-1)):
                break
            if last is not None and abs(point - last[0]) > 1e-11 and math.isfinite(verdict.high - last[1]):
                slope = min((verdict.high - last[1]) / (point - last[0]), -1e-9)
            last = (point, verdict.high)
            fitting, failing = point - verdict.high / slope, point - verdict.low / slope
            if math.isfinite(failing):
                closeness = max(closeness, 4 * (fitting - failing))
            if self._is_done(fitting, failing, closeness):
                break
            hit = (verdict.fits, verdict.exceeds)[aim < 0]
            margin = max(closeness / 50 if hit else 3 * margin, min(_SHARE * abs(fitting - point), 0.5))
            for _ in range(_WIDENINGS):
                following = self._next(point, fitting, failing, margin)
                if self._value(following) not in self._judged:
                    break
                margin *= 4  # the step was too small for the digits
            else:
                break
            point, aim = following, 1 if following > point else -1
        if self._enough is None:
            return None
        return Found(self._enough, self._short, self._judged[self._enough][1])

    def _is_done(self, fitting: float, failing: float, closeness: float) -> bool:
        if self._enough is None:
            return False
        if self._short is None:
            return failing == -math.inf and self._place(self._enough) - fitting <= closeness
        return self._place(self._enough) - self._place(self._short) <= closeness

    def _next(self, point: float, fitting: float, failing: float, margin: float) -> float:
        """Where to look next: a little beyond where one of the two ends is expected to be, and not too far."""
        low = self._low if self._short is None else self._place(self._short)
        high = self._high if self._enough is None else self._place(self._enough)
        if self._enough is None:
            target = max(fitting, point) + margin
        elif failing == -math.inf or (self._short is not None and high - fitting > failing - low):
            target = fitting + margin
        else:
            target = failing - margin
        if not math.isfinite(target):
            target = math.nan if self._enough is not None and self._short is not None else point + self._hop()
        target = min(max(target, point - _LONGEST_STEP), point + _LONGEST_STEP)
        if low < target < high:
            return target
        if self._enough is None or self._short is None:
            return min(max(target, self._low), self._high)
        return (low + high) / 2

    def _hop(self) -> float:
        """A step towards the end that is still to be found, longer each time."""
        self._hopped = min(4 * self._hopped, _LONGEST_STEP)
        return self._hopped if self._enough is None else -self._hopped


def composed(parts: Parts) -> PrivacyProfile:
    """The composition of parts, among which equal things may stand in several places."""
    counts: Counter[Thing] = Counter()
    for thing, times in parts:
        counts[thing] += times
    return compose(counts)

"""how_many: how often may it be used?"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from indistinct.composition.compose import Part, compose
from indistinct.composition.parts import Thing
from indistinct.composition.planning.budget import Budget, Verdict
from indistinct.composition.planning.calibration import check_room
from indistinct.composition.planning.crossing import composed
from indistinct.composition.planning.estimate import estimated_log_delta
from indistinct.composition.profile import PrivacyProfile
from indistinct.errors import InvalidParameter
from indistinct.numbers import Bracket
from indistinct.numbers.reading import LARGEST_COUNT

__all__ = ["MostUses", "how_many"]

_STEPS = 200


@dataclass(frozen=True, slots=True)
class MostUses:
    """How often something may be used under a budget."""

    part: Part
    times: int
    """So many uses are proven to fit."""
    too_many: int | None
    """So many are proven not to: one more than `times`, unless the bracket could not decide; None if none is."""
    budget: Budget
    profile: PrivacyProfile | None
    """Everything composed at so many uses, what is beside included; None where that is nothing at all."""

    @property
    def is_exact(self) -> bool:
        """Whether one more use is proven not to fit."""
        return self.too_many == self.times + 1

    @property
    def spent(self) -> Bracket:
        """delta at the epsilon of the budget."""
        return self.budget.spent(self.profile) if self.profile else Bracket(0.0, 0.0)

    def __str__(self) -> str:
        uses = f"{self.times:,} use{'s' if self.times != 1 else ''} fit{'s' if self.times == 1 else ''}"
        claim = f"{uses} under {self.budget}, at delta = {self.spent:.6g}"
        if self.is_exact:
            return f"{claim}; one more is proven not to."
        if self.too_many is None:
            return f"{claim}; no number of uses is proven not to."
        return f"{claim}; {self.too_many:,} are proven not to, and nothing is proven of what is between."

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(str(self))}</p>"


def how_many(
    thing: Part,
    *,
    epsilon: object,
    delta: object,
    beside: Mapping[Any, object] | Iterable[Part] | None = None,
) -> MostUses:
    """The most uses of a mechanism, a guarantee or a composition that a budget allows.

    Guaranteed: the answer fits, by the certified composition; one more is proven not to fit, and so no larger
    number does, as whoever sees more answers can tell no less. Where the numbers are so large that the bracket of
    one cannot be told from the next, the answer says so. `beside` is what is composed with it.

    >>> from indistinct import Laplace, PureDP
    >>> print(how_many(PureDP("0.01"), epsilon=1, delta="1e-6"))
    562 uses fit under (1, 1e-06), at delta = 9.67639e-07; one more is proven not to.
    >>> how_many(Laplace(scale=100), epsilon=1, delta="1e-6", beside={Laplace(scale=50): 10}).times
    525
    """
    budget = Budget.of(epsilon, delta)
    others: tuple[tuple[Thing, int], ...] = ()
    used = 0
    if beside is not None:
        check_room(around := compose(beside), budget)
        others, used = around.parts, around.times
    one = compose([thing])
    search = _Search(one, others, budget, (LARGEST_COUNT - used) // max(one.times, 1))
    times, too_many = search.run()
    return MostUses(thing, times, too_many, budget, search.profile(times) if times or others else None)


class _Search:
    """Counts that are proven to fit, and counts that are proven not to."""

    def __init__(self, one: PrivacyProfile, others: tuple[tuple[Thing, int], ...], budget: Budget, limit: int) -> None:
        self._one = one
        self._others = others
        self._budget = budget
        self._limit = limit
        self._fits = 0
        self._exceeds: int | None = None

    def run(self) -> tuple[int, int | None]:
        if self._others and not self._judge(0).fits:
            raise InvalidParameter("the budget", str(self._budget), "be one that is proven to cover what is beside")
        point, unclear = self._guessed(), list[int]()
        width = 1
        for _ in range(_STEPS):
            verdict = self._judge(point)
            if verdict.fits:
                self._fits = max(self._fits, point)
            elif verdict.exceeds:
                self._exceeds = point if self._exceeds is None else min(self._exceeds, point)
            else:
                unclear.append(point)
            following = self._next(point, verdict, unclear, width)
            if following is None:
                break
            width *= 2
            point = following
        return self._fits, self._exceeds

    def _next(self, point: int, verdict: Verdict, unclear: list[int], width: int) -> int | None:
        """The next count to judge: from the guess outwards, then halves, on both sides of what is unclear."""
        if self._fits == self._limit or self._exceeds == self._fits + 1:
            return None
        between = [each for each in unclear if self._fits < each and (self._exceeds is None or each < self._exceeds)]
        high = min(between) if between else self._exceeds
        if high is None:
            return min(point + width, self._limit)
        if high - self._fits > 1:
            near = high - width if not self._fits else (self._fits + high) // 2
            return max(near, (self._fits + high) // 2)
        low = max(between)
        if self._exceeds is None:
            hopeless = low == self._limit or verdict.low == -math.inf
            return None if hopeless else min(low + width, self._limit)
        return (low + self._exceeds) // 2 if self._exceeds - low > 1 else None

    def profile(self, times: int) -> PrivacyProfile:
        return composed([*((part, inner * times) for part, inner in self._one.parts), *self._others])

    def _judge(self, times: int) -> Verdict:
        return self._budget.judge(self.profile(times))

    def _guessed(self) -> int:
        """About the answer, by estimates alone."""
        low, high = 0, 1
        while high < self._limit and self._seems_to_fit(high):
            low, high = high, min(8 * high, self._limit)
        if high == self._limit and self._seems_to_fit(high):
            return high
        for _ in range(_STEPS):
            if high - low <= max(1, low >> 40):
                break
            middle = (low + high) // 2
            low, high = (middle, high) if self._seems_to_fit(middle) else (low, middle)
        return max(low, 1)

    def _seems_to_fit(self, times: int) -> bool:
        parts = [*((part, inner * times) for part, inner in self._one.parts), *self._others]
        if not self._budget.delta:
            return self._budget.judge(composed(parts)).high <= 1e-12
        estimate = estimated_log_delta(parts, self._budget.epsilon) - self._budget.log_delta
        return estimate <= 0 or math.isnan(estimate)

"""The strongest adaptive adversary against a stopping rule, by backward induction.

An adversary picks mechanisms from a menu, each in the light of all answers, as long as the rule allows. The mechanisms
are the most telling ones for their guarantees: randomised response, and for a delta a disclosure of that probability
(KOV, section 5.1). For such mechanisms what was seen counts only by its likelihood ratio, so the best
strategy is a function of what was asked and of the loss so far, and the largest delta(epsilon) that any decision tree
attains is a recursion over these two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache

from indistinct import ApproximateDP, PureDP
from indistinct.composition.filters import PrivacyFilter, Rule
from indistinct.composition.guarantees import Promise
from indistinct.errors import BudgetExceeded

__all__ = ["Allowed", "Counts", "allowed_by", "strongest", "within"]

Counts = tuple[int, ...]
"""How often each mechanism of the menu was used."""

Allowed = Callable[[Counts], bool]
"""Whether the rule lets such a history come about."""

Menu = Sequence[PureDP | ApproximateDP]


def strongest(menu: Menu, allowed: Allowed, epsilon: Fraction) -> float:
    """The largest delta(epsilon) of any interaction that the rule allows."""

    @cache
    def possible(counts: Counts) -> bool:
        return allowed(counts)

    @cache
    def value(counts: Counts, loss: Fraction) -> float:
        best = max(0.0, -math.expm1(float(epsilon - loss)))
        for index, guarantee in enumerate(menu):
            then = (*counts[:index], counts[index] + 1, *counts[index + 1 :])
            if not possible(then):
                continue
            level = guarantee.epsilon
            assert isinstance(level, Fraction)
            high = 1 / (1 + math.exp(-level))
            answered = high * value(then, loss + level) + (1 - high) * value(then, loss - level)
            best = max(best, float(guarantee.delta) + (1 - float(guarantee.delta)) * answered)
        return best

    return value((0,) * len(menu), Fraction(0))


def within(rule: Rule, menu: Menu) -> Allowed:
    """What the sums of a rule allow (that a filter keeps to them exactly is tested by itself)."""
    costs = [rule.cost(guarantee) for guarantee in menu]

    def allowed(counts: Counts) -> bool:
        amount = sum(times * cost.amount for times, cost in zip(counts, costs, strict=True))
        delta = sum(times * cost.delta for times, cost in zip(counts, costs, strict=True))
        return amount <= rule.limit.amount and delta <= rule.limit.delta

    return allowed


def allowed_by(new: Callable[[], PrivacyFilter], menu: Menu) -> Allowed:
    """What a filter allows: it is asked itself, in the order of the menu."""

    def allowed(counts: Counts) -> bool:
        budget = new()
        charges: list[Promise] = [
            guarantee for guarantee, times in zip(menu, counts, strict=True) for _ in range(times)
        ]
        try:
            for guarantee in charges:
                budget.charge(guarantee)
        except BudgetExceeded:
            return False
        return True

    return allowed

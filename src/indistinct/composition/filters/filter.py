"""A filter: answers as long as the budget lasts, whatever the analyst chooses from what was seen.

What may be asked, and at which privacy level, may depend on all answers before, the level included. Rules that are
valid then add up *one* number that was fixed in advance. A rule that composes the true curve of every step and stops
when the budget would be passed is not valid (arXiv 2602.06756; `tests/composition/filters/test_naive.py` shows
how it is beaten), nor is one that goes on because any one of several filters allows it.

The budget is fixed when the filter is created, and lives in this process alone: what outlives a process is kept in
the ledger.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable
from contextlib import ExitStack
from fractions import Fraction
from functools import lru_cache, partial
from typing import Protocol

from indistinct.composition.conversions import delta_at, epsilon_at
from indistinct.composition.filters.prices import checked, priced, together
from indistinct.composition.filters.spending import Claim, Spending
from indistinct.composition.filters.tally import Tally
from indistinct.composition.guarantees import Promise
from indistinct.composition.losses.law import Adjacency
from indistinct.composition.parts import Thing
from indistinct.errors import BudgetExceeded, InvalidParameter
from indistinct.numbers import Bracket, read_delta
from indistinct.numbers.bracket import float_above, float_below

__all__ = ["Filter", "PrivacyFilter", "Rule", "access", "charge_together"]

_CACHED = 4096


class Rule(Protocol):
    """How guarantees are added up, and what the sum allows to claim; a frozen value."""

    @property
    def limit(self) -> Spending:
        """The whole budget."""

    @property
    def core(self) -> Promise:
        """What all answers together keep, but for an event of the probability `limit.delta`."""

    @property
    def claim(self) -> Claim:
        """The promise, as its user asked for it."""

    @property
    def theorem(self) -> str:
        """Why the promise holds."""

    @property
    def only_sequential(self) -> str:
        """Why mechanisms may not be used concurrently; empty if they may."""

    def cost(self, guarantee: Promise) -> Spending:
        """What an answer with a guarantee costs; InvalidParameter if the rule has no price for it."""


class PrivacyFilter(Protocol):
    """What all filters have in common."""

    @property
    def claim(self) -> object:
        """The promise, a frozen value."""

    @property
    def remaining(self) -> object:
        """What is left."""

    @property
    def spent(self) -> object:
        """What was charged."""

    @property
    def theorem(self) -> str:
        """Why the promise holds."""

    def charge(self, thing: Thing, /) -> None:
        """Charges, or raises BudgetExceeded and changes nothing."""

    def fits(self, thing: Thing, /) -> bool:
        """Whether a charge would be accepted now."""

    def delta(self, epsilon: object) -> Bracket:
        """What is promised at an epsilon."""

    def epsilon(self, delta: object) -> Bracket:
        """What is promised at a delta."""

    def explain(self) -> str:
        """The promise, its reason and its conditions in words."""


class Filter:
    """A filter of a given rule; safe to share between threads.

    Guaranteed: all that is answered after a charge was accepted, together, keeps `claim`, provided that each
    answer keeps the guarantee charged for it whatever was answered before; a mechanism that is charged is charged for
    what is proven of it (`composition.kept`), and one that holds for one kind of neighbouring databases alone is
    not charged beside one of the other kind. `concurrent` says that interactive
    mechanisms will be used at the same time, their questions interleaved; it is refused where that is not proven.

    >>> from indistinct import PureDP
    >>> from indistinct.composition.filters import BasicFilter
    >>> budget = BasicFilter(1, "1e-6", scope="hr")
    >>> budget.charge(PureDP("0.75"))
    >>> budget.remaining
    Spending(epsilon=0.25, delta='1e-06')
    >>> budget.charge(PureDP("0.3"))
    Traceback (most recent call last):
    ...
    indistinct.errors.BudgetExceeded: 3/10 of epsilon is asked, but 1/4 is left in 'hr'. Ask for less, or end here.
    """

    def __init__(self, rule: Rule, *, scope: str = "", concurrent: bool = False) -> None:
        if concurrent and rule.only_sequential:
            raise InvalidParameter("concurrent", concurrent, "be False here", instead=rule.only_sequential)
        self.rule = rule
        self.scope = scope
        self.concurrent = concurrent
        self._lock = threading.RLock()
        self._amount = Tally(rule.limit.amount)
        self._delta = Tally(rule.limit.delta)
        self._cost = lru_cache(_CACHED)(partial(priced, rule))
        self._adjacency: Adjacency | None = None

    @property
    def claim(self) -> Claim:
        """The promise, as its user asked for it."""
        return self.rule.claim

    @property
    def theorem(self) -> str:
        """Why the promise holds."""
        return self.rule.theorem

    @property
    def spent(self) -> Spending:
        """What was charged; costs that are irrational are rounded up."""
        with self._lock:
            return Spending(self.rule.limit.currency, self._amount.total, self._delta.total)

    @property
    def remaining(self) -> Spending:
        """What is left, exactly."""
        with self._lock:
            return Spending(self.rule.limit.currency, self._amount.left, self._delta.left)

    def charge(self, thing: Thing) -> None:
        """Charges what an answer with this guarantee, or of this mechanism, costs.

        Or raises BudgetExceeded, or InvalidParameter where nothing proven has a price here, and changes nothing.
        """
        cost, holds = self._cost(checked(thing))
        with self._lock:
            adjacency = together(self._adjacency, holds, thing)
            amount, delta = self._amount.units(cost.amount), self._delta.units(cost.delta)
            if amount > self._amount.free:
                raise BudgetExceeded(cost.amount, self._amount.left, self.scope, cost.currency)
            if delta > self._delta.free:
                raise BudgetExceeded(cost.delta, self._delta.left, self.scope, "delta")
            self._amount.take(amount)
            self._delta.take(delta)
            self._adjacency = adjacency

    def fits(self, thing: Thing) -> bool:
        """Whether a charge would be accepted now (another thread may be quicker)."""
        cost, holds = self._cost(checked(thing))
        with self._lock:
            together(self._adjacency, holds, thing)
            amount, delta = self._amount.units(cost.amount), self._delta.units(cost.delta)
            return amount <= self._amount.free and delta <= self._delta.free

    def delta(self, epsilon: object) -> Bracket:
        """The delta that is promised at an epsilon, whatever is spent; the upper end is the claim."""
        found, failing = delta_at(self.rule.core, epsilon), self.rule.limit.delta
        lower, upper = (min(Fraction(end) + failing, Fraction(1)) for end in (found.lower, found.upper))
        return Bracket(float_below(lower), float_above(upper))

    def epsilon(self, delta: object) -> Bracket:
        """The epsilon that is promised at a delta, whatever is spent; the upper end is the claim."""
        room = read_delta("delta", delta) - self.rule.limit.delta
        return epsilon_at(self.rule.core, room) if room >= 0 else Bracket(math.inf, math.inf)

    def explain(self) -> str:
        """The promise, its reason and its conditions in words."""
        promise = f"Promises {self.claim!r} for everything answered, however it is chosen."
        return f"{promise} {self.theorem} {access(self.concurrent)}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}(claim={self.claim!r}, remaining={self.remaining!r}, scope={self.scope!r})"

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a privacy budget is not copied: it could then be spent twice")


def charge_together(charges: Iterable[tuple[Filter, Thing]]) -> None:
    """Charges every filter, or none of them: then BudgetExceeded tells of the first that refused.

    For an answer that is paid for in several scopes, or that touches several parts of a database.

    >>> from indistinct import PureDP
    >>> from indistinct.composition.filters import BasicFilter
    >>> dataset, analyst = BasicFilter(2, 0), BasicFilter(1, 0)
    >>> charge_together([(dataset, PureDP(1)), (analyst, PureDP(1))])
    >>> dataset.spent, analyst.remaining
    (Spending(epsilon=1, delta=0), Spending(epsilon=0, delta=0))
    """
    wanted = list(charges)
    with ExitStack() as held:
        # In one order for all callers, or two of them could wait for each other for ever.
        filters = sorted({id(budget): budget for budget, _ in wanted}.items())
        for _, budget in filters:
            held.enter_context(budget._lock)  # noqa: SLF001  # a filter's own module
        before = [
            (budget, budget._amount.total, budget._delta.total, budget._adjacency)  # noqa: SLF001
            for _, budget in filters
        ]
        try:
            for budget, thing in wanted:
                budget.charge(thing)
        except BaseException:
            for budget, amount, delta, adjacency in before:
                budget._amount.back_to(amount)  # noqa: SLF001
                budget._delta.back_to(delta)  # noqa: SLF001
                budget._adjacency = adjacency  # noqa: SLF001
            raise


def access(concurrent: bool) -> str:
    """How mechanisms may be used, in words."""
    if concurrent:
        return "Interactive mechanisms may be used concurrently, their questions interleaved."
    return "One mechanism ends before the next begins."

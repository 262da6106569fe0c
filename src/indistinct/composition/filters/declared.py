"""A plan declared in advance: the privacy levels are fixed, what is asked at each of them is not.

Every (epsilon, delta)-private mechanism, an interactive one included, can be made from one run of the 4-point
mechanism of its level, and every mu-private one from one draw of N(0, 1) or N(mu, 1) (KOV, Theorem 2.4 and section
5.1; Dong, Roth and Su 2022; for interactive ones Lyu 2022, Vadhan and Zhang 2023). All of these runs can be
made before the first question, as their levels are known; so everything answered is made from the composition of
the whole plan, in whichever order its slots are taken and however many of them stay unused.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from indistinct.composition.compose import compose
from indistinct.composition.conversions import as_gaussian
from indistinct.composition.filters.filter import access, checked
from indistinct.composition.guarantees import ApproximateDP, GaussianDP, Promise, PureDP
from indistinct.composition.profile import PrivacyProfile
from indistinct.errors import BudgetExceeded, InvalidParameter
from indistinct.numbers import Bracket, Epsilon, read_count
from indistinct.numbers.logarithm import sign_of_sum

__all__ = ["DeclaredPlan"]


Slot = PureDP | ApproximateDP | GaussianDP


class DeclaredPlan:
    """A number of slots of each guarantee; a charge takes one that allows at least what is asked.

    Guaranteed: the optimal composition of *all* slots, used or not. Stopping early is free of further promises.
    Safe to share between threads.

    >>> plan = DeclaredPlan({PureDP("0.1"): 100})
    >>> print(plan.epsilon("1e-6"))
    4.77456758811
    >>> plan.charge(PureDP("0.05"))
    >>> plan.remaining
    {PureDP('0.1'): 99}
    """

    def __init__(self, slots: Mapping[Any, object], *, scope: str = "", concurrent: bool = False) -> None:
        if not isinstance(slots, Mapping):
            raise InvalidParameter("slots", slots, "be a mapping from guarantees to numbers of slots")
        self._all: Counter[Slot] = Counter()
        for guarantee, times in slots.items():
            if not isinstance(guarantee, PureDP | ApproximateDP | GaussianDP):
                raise InvalidParameter(
                    "a slot", guarantee, "be a PureDP, ApproximateDP or GaussianDP", instead=_NO_CURVE
                )
            self._all[guarantee] = read_count("a number of slots", times)
        self.claim: PrivacyProfile = compose(self._all)
        self.scope = scope
        self.concurrent = concurrent
        self._lock = threading.RLock()
        self._left = self._all.copy()
        self._by_size = sorted(self._all, key=_size)

    @property
    def theorem(self) -> str:
        """Why the promise holds."""
        return (
            "The slots were fixed in advance and all of them are accounted for, by the optimal composition theorem "
            "(Kairouz, Oh and Viswanath, Theorem 3.3, and its form for different guarantees), which holds for "
            "questions chosen on the way, in any order of the slots, and for concurrent use (Lyu 2022; Vadhan and "
            "Zhang 2023)."
        )

    @property
    def spent(self) -> dict[Slot, int]:
        """How many slots of each guarantee are taken."""
        with self._lock:
            return {slot: total - self._left[slot] for slot, total in self._all.items()}

    @property
    def remaining(self) -> dict[Slot, int]:
        """How many slots of each guarantee are free."""
        with self._lock:
            return dict(self._left)

    def charge(self, guarantee: Promise) -> None:
        """Takes the smallest free slot that allows the guarantee, or raises BudgetExceeded."""
        with self._lock:
            slot = self._slot_for(checked(guarantee))
            if slot is None:
                raise BudgetExceeded(guarantee, self._described(), self.scope)
            self._left[slot] -= 1

    def fits(self, guarantee: Promise) -> bool:
        """Whether a charge would be accepted now (another thread may be quicker)."""
        with self._lock:
            return self._slot_for(checked(guarantee)) is not None

    def delta(self, epsilon: object) -> Bracket:
        """The delta that is promised at an epsilon, whatever is used."""
        return self.claim.delta(epsilon)

    def epsilon(self, delta: object) -> Bracket:
        """The epsilon that is promised at a delta, whatever is used."""
        return self.claim.epsilon(delta)

    def explain(self) -> str:
        """The promise, its reason and its conditions in words."""
        return (
            f"Promises the optimal composition of all {self.claim.times:,} slots, whatever is asked in them. "
            f"{self.theorem} No level may be asked for that was not declared. {access(self.concurrent)}"
        )

    def slots_for(self, guarantee: Promise) -> Iterator[Slot]:
        """The slots that allow a guarantee, taken or not: its own first, then from the smallest on."""
        if not isinstance(guarantee, PureDP | ApproximateDP | GaussianDP):
            raise InvalidParameter("a charge", guarantee, "be pure, approximate or Gaussian here", instead=_NO_CURVE)
        if guarantee in self._all:
            yield guarantee
        yield from (slot for slot in self._by_size if slot != guarantee and _allows(slot, guarantee))

    def _slot_for(self, guarantee: Promise) -> Slot | None:
        return next((slot for slot in self.slots_for(guarantee) if self._left[slot] > 0), None)

    def _described(self) -> str:
        free = [f"{times:,} x {slot!r}" for slot, times in self._left.items() if times]
        return ", ".join(free[:3]) + (", ..." if len(free) > 3 else "") if free else "no slot"

    def __repr__(self) -> str:
        return f"DeclaredPlan(remaining={self._described()}, scope={self.scope!r})"

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a privacy budget is not copied: it could then be spent twice")


_NO_CURVE = "The plan is made from mechanisms that are the most telling ones of their guarantees."


def _allows(slot: Slot, guarantee: Slot) -> bool:
    """Whether a mechanism of this guarantee may run in the slot: whether its epsilon and delta, or mu, are no more.

    In the slots of Gaussian guarantees pure ones may run as well (`as_gaussian`).
    """
    match slot, guarantee:
        case ((PureDP() | ApproximateDP()), (PureDP() | ApproximateDP())):
            return guarantee.delta <= slot.delta and not _is_more(guarantee.epsilon, slot.epsilon)
        case GaussianDP(most), (GaussianDP() | PureDP() | ApproximateDP(delta=0)):
            return as_gaussian(guarantee).mu <= most
        case _:
            return False


def _is_more(first: Epsilon, second: Epsilon) -> bool:
    return sign_of_sum((1, first), (-1, second)) > 0


def _size(slot: Slot) -> tuple[float, Fraction]:
    """What a slot is worth, roughly: the order in which slots are tried decides no promise."""
    return (float(slot.mu), Fraction(0)) if isinstance(slot, GaussianDP) else (float(slot.epsilon), slot.delta)

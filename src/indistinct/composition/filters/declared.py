"""A plan declared in advance: the privacy levels are fixed, what is asked at each of them is not.

Every mechanism with a dominating pair can be made from one draw of the pair (Blackwell; KOV, Theorem 2.5), every
(epsilon, delta)-private mechanism, an interactive one included, can be made from one run of the 4-point
mechanism of its level, and every mu-private one from one draw of N(0, 1) or N(mu, 1) (KOV, Theorem 2.4 and section
5.1; Dong, Roth and Su 2022; for interactive ones Lyu 2022, Vadhan and Zhang 2023). All of these runs can be
made before the first question, as their levels are known; so everything answered is made from the composition of
the whole plan, in whichever order its slots are taken and however many of them stay unused.
"""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, cast

from indistinct.composition.compose import compose
from indistinct.composition.conversions import as_gaussian
from indistinct.composition.filters.filter import access
from indistinct.composition.filters.prices import checked, together
from indistinct.composition.guarantees import ApproximateDP, GaussianDP, PureDP
from indistinct.composition.kept import Kept, kept_by
from indistinct.composition.losses.enclosed import EnclosedLoss
from indistinct.composition.losses.law import Adjacency, PrivacyLoss
from indistinct.composition.parts import Mechanism, Thing, loss_of
from indistinct.composition.profile import PrivacyProfile
from indistinct.errors import BudgetExceeded, InvalidParameter
from indistinct.numbers import Bracket, Epsilon, read_count
from indistinct.numbers.logarithm import sign_of_sum
from indistinct.regions import DiscretePair

__all__ = ["DeclaredPlan"]


Slot = PureDP | ApproximateDP | GaussianDP | Mechanism | DiscretePair
"""A guarantee whose most telling mechanism is known, or a mechanism with the pair that dominates it."""


class DeclaredPlan:
    """A number of slots of each guarantee or mechanism; a charge takes one that allows at least what is asked.

    A slot of a mechanism is for this mechanism, with these parameters, whatever it is asked.

    Guaranteed: the optimal composition of *all* slots, used or not. Stopping early is free of further promises.
    Safe to share between threads.

    >>> plan = DeclaredPlan({PureDP("0.1"): 100})
    >>> print(plan.epsilon("1e-6"))
    4.77456758811
    >>> plan.charge(PureDP("0.05"))
    >>> plan.remaining
    {PureDP('0.1'): 99}
    >>> from indistinct import Laplace
    >>> print(DeclaredPlan({Laplace(scale=10): 100}).epsilon("1e-6"))
    4.692667...
    """

    def __init__(self, slots: Mapping[Any, object], *, scope: str = "", concurrent: bool = False) -> None:
        if not isinstance(slots, Mapping):
            raise InvalidParameter("slots", slots, "be a mapping from guarantees or mechanisms to numbers of slots")
        self._all: Counter[Slot] = Counter()
        for guarantee, times in slots.items():
            if isinstance(guarantee, type) or not isinstance(guarantee, Slot) or not _is_telling(guarantee):
                raise InvalidParameter(
                    "a slot",
                    guarantee,
                    "be a PureDP, ApproximateDP or GaussianDP, or a mechanism with a dominating pair",
                    instead=_NO_CURVE,
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

    def charge(self, thing: Thing) -> None:
        """Takes the smallest free slot that allows the guarantee or mechanism, or raises BudgetExceeded."""
        with self._lock:
            checked(thing)
            slot = self._slot_for(thing)
            if slot is None:
                raise BudgetExceeded(thing, self._described(), self.scope)
            self._left[slot] -= 1

    def fits(self, thing: Thing) -> bool:
        """Whether a charge would be accepted now (another thread may be quicker)."""
        with self._lock:
            checked(thing)
            return self._slot_for(thing) is not None

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

    def slots_for(self, thing: Thing) -> Iterator[Slot]:
        """The slots that allow a guarantee or a mechanism, taken or not: its own first, then from the smallest on."""
        own = thing in self._all
        promises = [promise for promise in _kept(thing).promises if isinstance(promise, Guaranteed)]
        if not own and not promises:
            raise InvalidParameter("a charge", thing, "be pure, approximate or Gaussian here", instead=_NO_CURVE)
        together(_holding(self._all), _kept(thing).adjacency, thing)
        if own:
            yield cast(Slot, thing)
        for slot in self._by_size:
            if slot != thing and any(_allows(_promise_of(slot), promise) for promise in promises):
                yield slot

    def _slot_for(self, thing: Thing) -> Slot | None:
        return next((slot for slot in self.slots_for(thing) if self._left[slot] > 0), None)

    def _described(self) -> str:
        free = [f"{times:,} x {slot!r}" for slot, times in self._left.items() if times]
        return ", ".join(free[:3]) + (", ..." if len(free) > 3 else "") if free else "no slot"

    def __repr__(self) -> str:
        return f"DeclaredPlan(remaining={self._described()}, scope={self.scope!r})"

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a privacy budget is not copied: it could then be spent twice")


_NO_CURVE = "The plan is made from mechanisms that are the most telling ones of their guarantees."


_CACHED = 4096

Guaranteed = PureDP | ApproximateDP | GaussianDP


@lru_cache(_CACHED)
def _remembered(thing: Hashable) -> Kept:
    return kept_by(cast(Thing, thing))


def _kept(thing: Thing) -> Kept:
    return _remembered(cast(Hashable, thing))


def _is_telling(slot: Slot) -> bool:
    """Whether a pair is known that tells at least as much as the slot's mechanism."""
    return isinstance(loss_of(slot), Guaranteed | PrivacyLoss | EnclosedLoss)


def _promise_of(slot: Slot) -> Guaranteed | None:
    """The guarantee that a slot is for, where it is not for one mechanism alone."""
    loss = loss_of(slot) if not isinstance(slot, DiscretePair) else None
    return loss if isinstance(loss, Guaranteed) else None


def _holding(slots: Iterable[Slot]) -> Adjacency | None:
    """The only kind of neighbours for which all slots hold; `compose` has refused both kinds together."""
    return next((kept.adjacency for kept in map(_kept, slots) if kept.adjacency is not None), None)


def _allows(slot: Guaranteed | None, guarantee: Guaranteed) -> bool:
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
    promise = _promise_of(slot)
    match promise:
        case None:
            return math.inf, Fraction(0)
        case GaussianDP(mu):
            return float(mu), Fraction(0)
        case _:
            return float(promise.epsilon), promise.delta

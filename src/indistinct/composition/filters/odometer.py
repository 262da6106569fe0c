"""An odometer: how much has been spent so far. A reading, never a guarantee.

No level was fixed in advance, so that a promise in which the reading stands would be chosen by the answers: for what
can be promised about such numbers see Rogers, Roth, Ullman and Vadhan 2016, who show that it is strictly less than
what a filter promises for a budget of the same size.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import cast

from indistinct.composition.conversions import as_gaussian, as_zero_concentrated, epsilon_at
from indistinct.composition.filters.prices import checked
from indistinct.composition.filters.spending import parted
from indistinct.composition.filters.tally import Tally
from indistinct.composition.guarantees import GaussianDP, Promise, PureDP, ZeroConcentratedDP
from indistinct.composition.kept import kept_by
from indistinct.composition.parts import Thing
from indistinct.errors import InvalidParameter
from indistinct.numbers import Bracket, read_delta
from indistinct.numbers.bracket import float_above
from indistinct.numbers.logarithm import enclosure
from indistinct.numbers.reading import LARGEST_EPSILON

__all__ = ["Odometer", "Reading"]

_CACHED = 4096


@dataclass(frozen=True, slots=True)
class Reading:
    """What an odometer shows. None where something recorded has no amount in that currency.

    This is no privacy guarantee: nothing may be claimed from it, and no decision to go on may rest on it.
    """

    times: int
    epsilon: Fraction | None
    rho: Fraction | None
    mu_squared: Fraction | None
    delta: Fraction

    def epsilons(self, delta: object) -> dict[str, Bracket]:
        """What each currency would say of epsilon, at a delta that includes the deltas recorded."""
        room = read_delta("delta", delta) - self.delta
        shown: dict[str, Bracket] = {}
        if self.epsilon is not None:
            shown["epsilon"] = _implied(PureDP, self.epsilon, room)
        if self.rho is not None:
            shown["rho"] = _implied(ZeroConcentratedDP, self.rho, room)
        if self.mu_squared is not None:
            shown["mu^2"] = _implied(GaussianDP, _root_above(self.mu_squared), room)
        return shown


class Odometer:
    """Adds up what is recorded, in every currency at once; safe to share between threads.

    >>> from indistinct import ApproximateDP
    >>> odometer = Odometer()
    >>> odometer.record(PureDP("0.1"))
    >>> odometer.record(ApproximateDP("0.2", "1e-9"))
    >>> odometer.reading.epsilon, odometer.reading.delta
    (Fraction(3, 10), Fraction(1, 1000000000))
    >>> odometer.record(ZeroConcentratedDP("0.01"))
    >>> odometer.reading.epsilon is None, sorted(odometer.reading.epsilons("1e-6"))
    (True, ['rho'])
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._times = 0
        self._sums: list[Tally | None] = [Tally(), Tally(), Tally()]
        self._delta = Tally()
        self._amounts = lru_cache(_CACHED)(_amounts)

    def record(self, thing: Thing) -> None:
        """Adds what a mechanism, or one with this guarantee, spends."""
        amounts, delta = self._amounts(checked(thing))
        with self._lock:
            self._times += 1
            self._delta.add(delta)
            for index, amount in enumerate(amounts):
                running = self._sums[index]
                if amount is None or running is None:
                    self._sums[index] = None
                else:
                    running.add(amount)

    @property
    def reading(self) -> Reading:
        """What has been recorded so far. Not a guarantee."""
        with self._lock:
            epsilon, rho, mu_squared = (None if each is None else each.total for each in self._sums)
            return Reading(self._times, epsilon, rho, mu_squared, self._delta.total)


def _amounts(thing: object) -> tuple[tuple[Fraction | None, ...], Fraction]:
    """In each currency the least that is proven, beside the least delta there is."""
    found = [parted(promise) for promise in kept_by(cast(Thing, thing)).promises]
    least = min((delta for _, delta in found), default=Fraction(0))
    cores = [core for core, delta in found if delta == least]
    return (_least(_epsilon, cores), _least(_rho, cores), _least(_mu_squared, cores)), least


def _least(amount: Callable[[Promise], Fraction | None], cores: Iterable[Promise]) -> Fraction | None:
    return min((found for core in cores if (found := amount(core)) is not None), default=None)


def _epsilon(core: Promise) -> Fraction | None:
    return enclosure(core.epsilon)[1] if isinstance(core, PureDP) else None


def _rho(core: Promise) -> Fraction | None:
    try:
        return as_zero_concentrated(core).rho
    except InvalidParameter:
        return None


def _mu_squared(core: Promise) -> Fraction | None:
    try:
        return as_gaussian(core).mu ** 2
    except InvalidParameter:
        return None


def _implied(
    currency: type[PureDP] | type[ZeroConcentratedDP] | type[GaussianDP], level: Fraction, room: Fraction
) -> Bracket:
    if room < 0 or level > LARGEST_EPSILON:
        return Bracket(math.inf, math.inf)
    return epsilon_at(currency(level), room)


def _root_above(square: Fraction) -> Fraction:
    """A number not below the root."""
    return Fraction(math.nextafter(math.sqrt(float_above(square)), math.inf))

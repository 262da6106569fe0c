"""Parallel composition: a database in disjoint parts, each with a filter of its own.

Which part a record belongs to must depend on the record alone. A record more or less then changes one part; what is
answered about the others has the same law either way, and is to the filter of that part no more than coins of the
analyst's. So the whole keeps the worst of the claims. Replacing one record by another is one record less and one more,
perhaps in two different parts: two steps, hence the worst of the claims for a group of two (for pure claims,
epsilon doubles).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from typing import Generic, Literal, TypeVar, cast

from indistinct.composition.filters.filter import Filter, charge_together
from indistinct.composition.filters.group import group_privacy
from indistinct.composition.filters.prices import checked
from indistinct.composition.guarantees import ApproximateDP, GaussianDP, Promise, RenyiDP, ZeroConcentratedDP
from indistinct.composition.losses.law import Adjacency as LossAdjacency
from indistinct.composition.losses.law import PrivacyLoss
from indistinct.composition.parts import Thing, loss_of
from indistinct.errors import InvalidParameter
from indistinct.numbers import Epsilon
from indistinct.numbers.logarithm import sign_of_sum

__all__ = ["Adjacency", "Part", "Partition"]

Part = TypeVar("Part", bound=Hashable)
"""The name of a part."""

Adjacency = Literal["add-remove", "replace-one"]
"""Which databases are neighbours of the whole: one has a record more, or one other record."""


class Partition(Generic[Part]):
    """Filters by part. The guarantees charged must hold for a record more or less in the part.

    >>> from indistinct import PureDP
    >>> from indistinct.composition.filters import BasicFilter
    >>> parts = Partition({"north": BasicFilter(1, 0), "south": BasicFilter(2, 0)})
    >>> parts.charge("north", PureDP("0.5"))
    >>> parts.charge_all(PureDP("0.5"))
    >>> parts.filters["north"].remaining, parts.filters["south"].remaining
    (Spending(epsilon=0, delta=0), Spending(epsilon=1.5, delta=0))
    >>> parts.claim
    ApproximateDP(2, 0)
    """

    def __init__(self, filters: Mapping[Part, Filter], *, adjacency: Adjacency = "add-remove") -> None:
        if not filters:
            raise InvalidParameter("filters", filters, "hold a filter for at least one part")
        if adjacency not in ("add-remove", "replace-one"):
            raise InvalidParameter("adjacency", adjacency, "be 'add-remove' or 'replace-one'")
        self.filters = dict(filters)
        self.adjacency = adjacency
        self.claim = self._claim()

    def charge(self, part: Part, thing: Thing) -> None:
        """Charges one part, or raises BudgetExceeded and changes nothing."""
        self._filter(part).charge(_for_a_record(thing))

    def charge_all(self, thing: Thing, parts: Iterable[Part] | None = None) -> None:
        """Charges all parts, or those given, as a query with a GROUP BY does: every one of them or none."""
        wanted = self.filters if parts is None else parts
        _for_a_record(thing)
        charge_together([(self._filter(part), thing) for part in wanted])

    def fits(self, part: Part, thing: Thing) -> bool:
        """Whether a charge to one part would be accepted now."""
        return self._filter(part).fits(_for_a_record(thing))

    def explain(self) -> str:
        """The promise, its reason and its conditions in words."""
        step = (
            "a record more or less touches one part, so the whole keeps the worst claim of a part"
            if self.adjacency == "add-remove"
            else "replacing a record is one less and one more, perhaps in two parts, so the whole keeps the worst "
            "claim of a part for a group of two"
        )
        return (
            f"Promises {self.claim!r} for everything answered about all {len(self.filters):,} parts: {step}. "
            "A record's part must depend on that record alone, and each guarantee charged must hold for a record "
            "more or less in its part."
        )

    def _filter(self, part: Part) -> Filter:
        try:
            return self.filters[part]
        except KeyError:
            raise InvalidParameter("part", part, f"be one of the {len(self.filters):,} parts") from None

    def _claim(self) -> Promise:
        worst = _worst([each.claim for each in self.filters.values()])
        return worst if self.adjacency == "add-remove" else group_privacy(worst, 2)


def _for_a_record(thing: Thing) -> Thing:
    """The same, if it may hold for a record more or less in a part."""
    checked(thing)
    loss = loss_of(thing)
    if isinstance(loss, PrivacyLoss) and loss.adjacency is LossAdjacency.REPLACE_ONE:
        raise InvalidParameter("a charge to a part", thing, "hold for a record more or less in it")
    return thing


def _worst(claims: list[object]) -> Promise:
    """A guarantee that is no stronger than any of these."""
    kinds = {type(claim) for claim in claims}
    match claims[0]:
        case ApproximateDP() if kinds == {ApproximateDP}:
            approximate = cast(list[ApproximateDP], claims)
            epsilon = _largest([each.epsilon for each in approximate])
            return ApproximateDP(epsilon, max(each.delta for each in approximate))
        case ZeroConcentratedDP() if kinds == {ZeroConcentratedDP}:
            return max(cast(list[ZeroConcentratedDP], claims), key=lambda each: each.rho)
        case GaussianDP() if kinds == {GaussianDP}:
            return max(cast(list[GaussianDP], claims), key=lambda each: each.mu)
        case RenyiDP() if kinds == {RenyiDP}:
            renyi = cast(list[RenyiDP], claims)
            return RenyiDP(min(each.order for each in renyi), max(each.epsilon for each in renyi))
    raise InvalidParameter("filters", sorted(kind.__name__ for kind in kinds), "claim guarantees of one kind")


def _largest(epsilons: list[Epsilon]) -> Epsilon:
    largest: Epsilon = Fraction(0)
    for epsilon in epsilons:
        if sign_of_sum((1, epsilon), (-1, largest)) > 0:
            largest = epsilon
    return largest

"""What an answer costs by a rule: of all that a mechanism keeps, whatever the rule has the lowest price for."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Protocol, cast

from indistinct.composition.filters.spending import Spending
from indistinct.composition.guarantees import ApproximateDP, GaussianDP, Promise, PureDP, RenyiDP, ZeroConcentratedDP
from indistinct.composition.kept import Kept, kept_by
from indistinct.composition.losses.law import Adjacency
from indistinct.composition.parts import Mechanism, Thing
from indistinct.errors import InvalidParameter
from indistinct.regions import DiscretePair

__all__ = ["Priced", "checked", "lowest", "priced", "together"]

Priced = tuple[Spending, Adjacency | None]
"""A cost, and the only kind of neighbouring databases for which it is proven, if there is but one."""


class Pricing(Protocol):
    """The part of a rule that prices."""

    @property
    def core(self) -> Promise:
        """What all answers together keep."""
        ...

    def cost(self, guarantee: Promise) -> Spending:
        """What an answer with a guarantee costs; InvalidParameter if the rule has no price for it."""
        ...


def priced(rule: Pricing, thing: object) -> Priced:
    """What a use of a thing costs; InvalidParameter if nothing proven of it has a price.

    >>> from indistinct import Laplace
    >>> from indistinct.composition.filters import BasicRule
    >>> priced(BasicRule(1, 0), Laplace(scale=10))
    (Spending(epsilon='0.1', delta=0), None)
    """
    if isinstance(thing, PureDP | ApproximateDP | ZeroConcentratedDP | GaussianDP | RenyiDP):
        return rule.cost(thing), None
    kept = kept_by(cast(Thing, thing))
    return lowest(rule, kept, thing), kept.adjacency


def lowest(rule: Pricing, kept: Kept, thing: object) -> Spending:
    """The lowest price: the least delta first, then the least amount."""
    costs, refusals = [], []
    for promise in _candidates(rule, kept):
        try:
            costs.append(rule.cost(promise))
        except InvalidParameter as refusal:
            refusals.append(refusal)
    if costs:
        return min(costs, key=lambda cost: (cost.delta, cost.amount))
    if len(kept.promises) == 1 and refusals:
        raise refusals[0]
    raise InvalidParameter(
        "a charge", thing, "keep a guarantee that has a price here", instead="Charge one that is proven of it."
    )


def _candidates(rule: Pricing, kept: Kept) -> Iterable[Promise]:
    """All that is kept, the divergence of a rule's own order included."""
    yield from kept.promises
    if isinstance(rule.core, RenyiDP):
        own = kept.at_order(rule.core.order)
        if own is not None:
            yield own


def together(before: Adjacency | None, asked: Adjacency | None, thing: object) -> Adjacency | None:
    """The kind of neighbours for which all hold; InvalidParameter if there is none."""
    if before is not None and asked is not None and before is not asked:
        raise InvalidParameter(
            "a charge",
            thing,
            f"hold for neighbours that {before.value}, as charges before do",
            instead="What holds for one kind of neighbours says nothing of the other.",
        )
    return asked if before is None else before


def checked(thing: object) -> Hashable:
    """The guarantee or mechanism, if it is one."""
    if isinstance(thing, PureDP | ApproximateDP | ZeroConcentratedDP | GaussianDP | RenyiDP):
        return thing
    if isinstance(thing, type) or not isinstance(thing, Mechanism | DiscretePair) or not isinstance(thing, Hashable):
        raise InvalidParameter(
            "a charge", thing, "be a guarantee such as PureDP('0.1'), or a mechanism such as Laplace(scale=10)"
        )
    return thing

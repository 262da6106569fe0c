"""The Renyi divergence of one order, fixed in advance, adds up (Feldman and Zrnic 2021, Theorem 3.1).

Only one order: to go on while *any* of several orders allows it is no filter.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from indistinct.composition.conversions import as_renyi, largest_renyi
from indistinct.composition.filters.concentrated import room_beside
from indistinct.composition.filters.filter import Filter
from indistinct.composition.filters.spending import Approximately, Claim, Spending, parted
from indistinct.composition.guarantees import ApproximateDP, Promise, RenyiDP
from indistinct.errors import InvalidParameter
from indistinct.numbers.reading import read_delta

__all__ = ["RenyiFilter", "RenyiRule"]


@dataclass(frozen=True, slots=True)
class RenyiRule:
    """The sum of divergences of one order stays within a budget; made by the `of_` methods."""

    order: Fraction
    divergence: Fraction
    black_box: Fraction
    claim: Claim

    @classmethod
    def of_claim(cls, order: object, epsilon: object, delta: object, *, black_box: object = 0) -> RenyiRule:
        """The largest budget that keeps (epsilon, delta), with `black_box` of delta set aside for black boxes."""
        wanted, failing = ApproximateDP(epsilon, delta), read_delta("black_box", black_box)
        divergence = largest_renyi(order, wanted.epsilon, room_beside(wanted.delta, failing))
        if not divergence:
            raise InvalidParameter("order", order, "be higher for this epsilon and delta", instead=_INSTEAD)
        return cls(RenyiDP(order, 0).order, divergence, failing, wanted)

    @classmethod
    def of_divergence(cls, order: object, divergence: object, *, black_box: object = 0) -> RenyiRule:
        """A budget of the divergence itself, and one of delta for black boxes."""
        core, failing = RenyiDP(order, divergence), read_delta("black_box", black_box)
        return cls(core.order, core.epsilon, failing, Approximately(core, failing) if failing else core)

    @property
    def limit(self) -> Spending:
        """The whole budget."""
        return Spending("divergence", self.divergence, self.black_box)

    @property
    def core(self) -> RenyiDP:
        """What the answers keep where no black box fails."""
        return RenyiDP(self.order, self.divergence)

    @property
    def theorem(self) -> str:
        """Why the promise holds."""
        return (
            f"The Renyi divergences of the order {self.order}, fixed in advance, add up to no more than a budget, "
            "which is a filter (Feldman and Zrnic 2021, Theorem 3.1); the deltas of black boxes are added apart."
        )

    @property
    def only_sequential(self) -> str:
        """Concurrent use is proven for one order (Lyu 2022; Haney et al. 2023), but not with deltas beside it."""
        if not self.black_box:
            return ""
        return "Concurrent use is not proven for Renyi divergences and deltas together: take black_box=0."

    def cost(self, guarantee: Promise) -> Spending:
        """The divergence of this order, rounded up where it is irrational, and delta."""
        core, delta = parted(guarantee)
        return Spending("divergence", as_renyi(core, self.order).epsilon, delta)


_INSTEAD = "At least 1 + log(1/delta) / epsilon, about."


class RenyiFilter(Filter):
    """Refuses before the sum of divergences of one order passes what (epsilon, delta) allows; for a budget of the
    divergence itself take `Filter(RenyiRule.of_divergence(order, divergence))`.

    >>> budget = RenyiFilter(32, 1, "1e-6")
    >>> budget.charge(RenyiDP(32, "0.5"))
    >>> float(budget.remaining.amount)
    0.197884...
    """

    def __init__(
        self,
        order: object,
        epsilon: object,
        delta: object,
        *,
        black_box: object = 0,
        scope: str = "",
        concurrent: bool = False,
    ) -> None:
        rule = RenyiRule.of_claim(order, epsilon, delta, black_box=black_box)
        super().__init__(rule, scope=scope, concurrent=concurrent)

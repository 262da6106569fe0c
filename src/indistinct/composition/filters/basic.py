"""Epsilons add up, and so do deltas.

Rogers, Roth, Ullman and Vadhan 2016: the plain sums are a filter. Haney, Shoemate, Tian, Vadhan, Vyrros, Xu and Zhang
2023: every filter in (epsilon, delta) extends to interactive mechanisms that are used concurrently.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from indistinct.composition.filters.filter import Filter
from indistinct.composition.filters.spending import Spending, parted
from indistinct.composition.guarantees import ApproximateDP, Promise, PureDP
from indistinct.errors import InvalidParameter
from indistinct.numbers import Epsilon, NaturalLog
from indistinct.numbers.logarithm import enclosure, sign_of_sum

__all__ = ["BasicFilter", "BasicRule"]


@dataclass(frozen=True, slots=True, init=False)
class BasicRule:
    """The sum of the epsilons stays within epsilon, that of the deltas within delta."""

    claim: ApproximateDP

    def __init__(self, epsilon: object, delta: object) -> None:
        object.__setattr__(self, "claim", ApproximateDP(epsilon, delta))

    @property
    def limit(self) -> Spending:
        """The whole budget; an irrational epsilon rounded down."""
        return Spending("epsilon", enclosure(self.claim.epsilon)[0], self.claim.delta)

    @property
    def core(self) -> PureDP:
        """What the pure parts keep."""
        return PureDP(self.claim.epsilon)

    @property
    def theorem(self) -> str:
        """Why the promise holds."""
        return (
            "The epsilons charged add up to no more than epsilon and the deltas to no more than delta: basic "
            "composition with levels chosen on the way (Rogers, Roth, Ullman and Vadhan 2016), which also holds "
            "for concurrent use (Haney et al. 2023)."
        )

    @property
    def only_sequential(self) -> str:
        """Concurrent use is proven."""
        return ""

    def cost(self, guarantee: Promise) -> Spending:
        """(epsilon, delta); an irrational epsilon rounded up, unless it is a simple share of an irrational budget.

        Of a budget of ln(9), twice ln(3) is all: each costs half of the limit. (As the limit is rounded down,
        what other charges may take together is below what is truly left.)
        """
        match parted(guarantee):
            case PureDP(epsilon), delta:
                share = _share_of(epsilon, self.claim.epsilon)
                amount = enclosure(epsilon)[1] if share is None else share * self.limit.amount
                return Spending("epsilon", amount, delta)
            case _:
                raise InvalidParameter("a charge", guarantee, "have an epsilon and a delta here", instead=_INSTEAD)


def _share_of(part: Epsilon, whole: Epsilon) -> Fraction | None:
    """part / whole, where both are logarithms and this is a simple fraction."""
    if not isinstance(part, NaturalLog) or not isinstance(whole, NaturalLog):
        return None
    (low, high), (least, most) = enclosure(part), enclosure(whole)
    share = ((low + high) / (least + most)).limit_denominator(_SIMPLE)
    if not 0 < share.numerator <= _SIMPLE:
        return None
    return share if sign_of_sum((share.denominator, part), (-share.numerator, whole)) == 0 else None


_SIMPLE = 1000
_INSTEAD = "Choose a delta, and charge ApproximateDP(epsilon_at(guarantee, delta).upper, delta)."


class BasicFilter(Filter):
    """Refuses before the sum of epsilons passes epsilon, or that of deltas delta.

    >>> budget = BasicFilter(1, "1e-6")
    >>> for _ in range(10):
    ...     budget.charge(ApproximateDP("0.1", "1e-7"))
    >>> budget.fits(PureDP("1e-30"))
    False
    """

    def __init__(self, epsilon: object, delta: object, *, scope: str = "", concurrent: bool = False) -> None:
        super().__init__(BasicRule(epsilon, delta), scope=scope, concurrent=concurrent)

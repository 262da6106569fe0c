"""What a charge costs, and what a budget has, in the two accounts that every filter keeps."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from indistinct.composition.guarantees import ApproximateDP, Promise, PureDP, spelled

__all__ = ["Approximately", "Claim", "Spending", "parted"]


@dataclass(frozen=True, slots=True)
class Spending:
    """An amount of a filter's currency, and the deltas of black boxes beside it."""

    currency: str
    amount: Fraction
    delta: Fraction = Fraction(0)

    def __repr__(self) -> str:
        return f"Spending({self.currency}={spelled(self.amount)}, delta={spelled(self.delta)})"


@dataclass(frozen=True, slots=True)
class Approximately:
    """A guarantee that holds but for an event of probability delta.

    The law on each database is a mixture of weight 1 - delta of laws that keep the guarantee, and of anything
    with weight delta (for zero-concentrated privacy: Bun and Steinke 2016, Definition 8.1).
    """

    guarantee: Promise
    delta: Fraction

    def __repr__(self) -> str:
        return f"Approximately({self.guarantee!r}, {spelled(self.delta)})"


Claim = Promise | Approximately
"""What a filter may promise."""


def parted(guarantee: Promise) -> tuple[Promise, Fraction]:
    """An (epsilon, delta) guarantee as a pure one and the delta with which it fails; others as they are.

    KOV, section 5.1: a mechanism with the guarantee is a mixture, of weights 1 - delta and delta, of an
    epsilon-private one and of anything. A composition of such mixtures contains the composition of the pure parts
    with weight prod (1 - delta_i) >= 1 - sum delta_i, on every path on which the deltas add up to no more: so it
    is enough to add the deltas in an account of their own.

    >>> parted(ApproximateDP("0.1", "1e-9"))
    (PureDP('0.1'), Fraction(1, 1000000000))
    """
    match guarantee:
        case ApproximateDP(epsilon, delta):
            return PureDP(epsilon), delta
        case _:
            return guarantee, Fraction(0)

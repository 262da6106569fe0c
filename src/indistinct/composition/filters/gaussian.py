r"""Gaussian privacy adds up: mu^2 by mu^2, with no loss at all against levels fixed in advance.

Smith and Thakurta 2022. In one sentence: an answer that is mu_i-GDP can be made from the increment, over a time
mu_i^2, of a Brownian motion with drift 0 or 1; while the times add up to no more than mu^2 on every path, all answers
can be made from the motion up to time mu^2, whose end, N(0, mu^2) or N(mu^2, mu^2), is a sufficient statistic.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from indistinct.composition.conversions import as_gaussian, largest_mu
from indistinct.composition.filters.concentrated import room_beside
from indistinct.composition.filters.filter import Filter
from indistinct.composition.filters.spending import Approximately, Claim, Spending, parted
from indistinct.composition.guarantees import ApproximateDP, GaussianDP, Promise
from indistinct.numbers.reading import read_delta

__all__ = ["GaussianFilter", "GaussianRule"]


@dataclass(frozen=True, slots=True)
class GaussianRule:
    """The sum of mu^2 stays within a budget; made by the `of_` methods."""

    mu: Fraction
    black_box: Fraction
    claim: Claim

    @classmethod
    def of_claim(cls, epsilon: object, delta: object, *, black_box: object = 0) -> GaussianRule:
        """The largest budget that keeps (epsilon, delta), with `black_box` of delta set aside for black boxes."""
        wanted, failing = ApproximateDP(epsilon, delta), read_delta("black_box", black_box)
        return cls(largest_mu(wanted.epsilon, room_beside(wanted.delta, failing)), failing, wanted)

    @classmethod
    def of_mu(cls, mu: object, *, black_box: object = 0) -> GaussianRule:
        """A budget of mu, and one of delta for black boxes."""
        core, failing = GaussianDP(mu), read_delta("black_box", black_box)
        return cls(core.mu, failing, Approximately(core, failing) if failing else core)

    @property
    def limit(self) -> Spending:
        """The whole budget."""
        return Spending("mu^2", self.mu**2, self.black_box)

    @property
    def core(self) -> GaussianDP:
        """What the answers keep where no black box fails."""
        return GaussianDP(self.mu)

    @property
    def theorem(self) -> str:
        """Why the promise holds."""
        return (
            "The mu^2 charged add up to no more than a budget fixed in advance, which is a filter (Smith and "
            "Thakurta 2022), concurrent use included (Haney et al. 2023, for trade-off curves); a pure guarantee "
            "is charged the mu at which the Gaussian trade-off curve goes through its corner."
        )

    @property
    def only_sequential(self) -> str:
        """Trade-off curves compose concurrently, those of black boxes too (Vadhan and Zhang 2023)."""
        return ""

    def cost(self, guarantee: Promise) -> Spending:
        """mu^2, rounded up where it is irrational, and delta."""
        core, delta = parted(guarantee)
        return Spending("mu^2", as_gaussian(core).mu ** 2, delta)


class GaussianFilter(Filter):
    """Refuses before the sum of mu^2 passes that of a mu; for a budget in (epsilon, delta) take
    `Filter(GaussianRule.of_claim(epsilon, delta))`.

    >>> budget = GaussianFilter(1)
    >>> for _ in range(4):
    ...     budget.charge(GaussianDP("0.5"))
    >>> budget.remaining.amount, budget.claim
    (Fraction(0, 1), GaussianDP(1))
    >>> print(budget.epsilon("1e-6"))
    4.88655411747
    """

    def __init__(self, mu: object, *, black_box: object = 0, scope: str = "", concurrent: bool = False) -> None:
        super().__init__(GaussianRule.of_mu(mu, black_box=black_box), scope=scope, concurrent=concurrent)

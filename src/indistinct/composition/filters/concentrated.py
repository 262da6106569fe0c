r"""Zero-concentrated privacy adds up: the default filter.

A mechanism of rho_i, chosen in the light of all answers before, multiplies E e^(t L) by at most
e^(rho_i t (t + 1)), for every t > 0 at once. While the rho_i add up to no more than rho on every path, the product
e^(t L - t (t + 1) sum rho_i) is a supermartingale, and all answers together are rho-zero-concentrated
(Feldman and Zrnic 2021, for one order; Whitehouse, Ramdas, Rogers and Wu 2023, Theorem 1, deltas included).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from indistinct.composition.conversions import as_zero_concentrated, largest_rho
from indistinct.composition.filters.filter import Filter
from indistinct.composition.filters.spending import Approximately, Claim, Spending, parted
from indistinct.composition.guarantees import ApproximateDP, Promise, ZeroConcentratedDP
from indistinct.errors import InvalidParameter
from indistinct.numbers.reading import read_delta

__all__ = ["ConcentratedFilter", "ConcentratedRule", "room_beside"]


@dataclass(frozen=True, slots=True)
class ConcentratedRule:
    """The sum of rho stays within a budget; the deltas of black boxes within another. Made by the `of_` methods."""

    rho: Fraction
    black_box: Fraction
    claim: Claim

    @classmethod
    def of_claim(cls, epsilon: object, delta: object, *, black_box: object = 0) -> ConcentratedRule:
        """The largest budget that keeps (epsilon, delta), with `black_box` of delta set aside for black boxes.

        >>> float(ConcentratedRule.of_claim(5, "2.89612280938e-6").rho)
        0.499999999...
        """
        wanted, failing = ApproximateDP(epsilon, delta), read_delta("black_box", black_box)
        return cls(largest_rho(wanted.epsilon, room_beside(wanted.delta, failing)), failing, wanted)

    @classmethod
    def of_rho(cls, rho: object, *, black_box: object = 0) -> ConcentratedRule:
        """A budget of rho, and one of delta for black boxes."""
        core, failing = ZeroConcentratedDP(rho), read_delta("black_box", black_box)
        return cls(core.rho, failing, Approximately(core, failing) if failing else core)

    @property
    def limit(self) -> Spending:
        """The whole budget."""
        return Spending("rho", self.rho, self.black_box)

    @property
    def core(self) -> ZeroConcentratedDP:
        """What the answers keep where no black box fails."""
        return ZeroConcentratedDP(self.rho)

    @property
    def theorem(self) -> str:
        """Why the promise holds."""
        return (
            "The rho charged (epsilon tanh(epsilon/2) for a pure guarantee, mu^2/2 for a Gaussian one) adds up to no "
            "more than a budget fixed in advance, which is a filter (Feldman and Zrnic 2021; Whitehouse et al. 2023, "
            "Theorem 1); rho becomes (epsilon, delta) by Canonne, Kamath and Steinke 2020, and the deltas of black "
            "boxes are added to that."
        )

    @property
    def only_sequential(self) -> str:
        """Concurrent use is proven order by order (Haney et al. 2023), but not with deltas beside it."""
        if not self.black_box:
            return ""
        return (
            "Concurrent use is proven for Renyi divergences and for (epsilon, delta), not for the two together: "
            "take black_box=0, or a BasicFilter."
        )

    def cost(self, guarantee: Promise) -> Spending:
        """rho, rounded up where it is irrational, and delta."""
        core, delta = parted(guarantee)
        return Spending("rho", as_zero_concentrated(core).rho, delta)


class ConcentratedFilter(Filter):
    """Refuses before the sum of rho passes what (epsilon, delta) allows; for a budget in rho itself take
    `Filter(ConcentratedRule.of_rho(rho))`.

    `black_box` is the part of delta that is set aside for the deltas of ApproximateDP charges.

    >>> from indistinct import PureDP
    >>> budget = ConcentratedFilter(1, "1e-6")
    >>> asked = 0
    >>> while budget.fits(PureDP("0.01")):
    ...     budget.charge(PureDP("0.01"))
    ...     asked += 1
    >>> asked
    487
    """

    def __init__(
        self, epsilon: object, delta: object, *, black_box: object = 0, scope: str = "", concurrent: bool = False
    ) -> None:
        rule = ConcentratedRule.of_claim(epsilon, delta, black_box=black_box)
        super().__init__(rule, scope=scope, concurrent=concurrent)


def room_beside(delta: Fraction, black_box: Fraction) -> Fraction:
    """What is left of delta for the rest."""
    if not black_box < delta:
        raise InvalidParameter("black_box", black_box, "be below delta")
    return delta - black_box

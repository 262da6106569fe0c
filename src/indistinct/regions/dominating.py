r"""The pair of laws that tells as much as (epsilon, delta) allows, and how it simulates all others.

Source: Kairouz, Oh, Viswanath, equations (12) and (13): outcomes 0 and 3 give the database away, with
probability delta; 1 and 2 are randomised response. Its region is R(epsilon, delta), so by Theorem 2.5 every
(epsilon, delta)-private mechanism on two databases is a stochastic map of its outcome.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from indistinct.errors import InternalError
from indistinct.numbers import Epsilon
from indistinct.numbers.reading import read_delta, read_epsilon
from indistinct.regions.domination import Domination, dominates
from indistinct.regions.kernel import StochasticMap
from indistinct.regions.laws import DiscretePair
from indistinct.regions.ratios import epsilon_of, ratio_above, rational_ratio
from indistinct.regions.region import Region

__all__ = ["Simulator", "dominating_pair", "simulator"]


def dominating_pair(epsilon: object, delta: object = 0) -> DiscretePair:
    """The 4-point pair of KOV equations (12)-(13): outcomes 0, 1, 2, 3.

    Exact where e^epsilon is rational, as for "ln(3)"; else e^epsilon is rounded up by a share of at most
    2^-128, so that the pair still dominates every (epsilon, delta)-private mechanism.

    >>> dominating_pair("ln(3)", "1/5").null
    (Fraction(1, 5), Fraction(3, 5), Fraction(1, 5), Fraction(0, 1))
    """
    return _four_points(ratio_above(read_epsilon("epsilon", epsilon)), read_delta("delta", delta))


@dataclass(frozen=True, slots=True)
class Simulator:
    """`kernel` turns outcomes of the 4-point pair `source` into those of `target`, both laws exactly.

    `source` is the dominating pair at (`epsilon`, `delta`).
    """

    source: DiscretePair
    target: DiscretePair
    epsilon: Epsilon
    delta: Fraction
    kernel: StochasticMap

    def verify(self) -> bool:
        """Whether the map reproduces the target."""
        return self.kernel.apply(self.source) == self.target


def simulator(pair: DiscretePair, epsilon: object, delta: object = 0) -> Simulator:
    """Reproduce any (epsilon, delta)-private pair from the 4-point pair.

    Where e^epsilon is rational the source is the dominating pair at epsilon itself. Else it is the one at
    the least epsilon that suffices for this delta, an exact logarithm not above the epsilon given, and
    so itself a stochastic map of the pair at that epsilon.

    >>> made = simulator(DiscretePair(["3/5", "2/5"], ["2/5", "3/5"]), "ln(3)")
    >>> made.kernel.probability(1, 0)
    Fraction(7, 10)
    >>> simulator(made.target, 1, "1/100").epsilon
    ln(59/40)
    """
    level, failure = read_epsilon("epsilon", epsilon), read_delta("delta", delta)
    least = Region.of(pair).profile().sufficient_ratio(epsilon, delta)
    ratio = rational_ratio(level) or least
    source = _four_points(ratio, failure)
    found = dominates(source, pair)
    if not isinstance(found, Domination):
        raise InternalError("the 4-point pair does not dominate a pair that is as private as it is")
    return Simulator(source, pair, epsilon_of(ratio), failure, found.kernel)


def _four_points(ratio: Fraction, delta: Fraction) -> DiscretePair:
    likely, unlikely = (1 - delta) * ratio / (1 + ratio), (1 - delta) / (1 + ratio)
    return DiscretePair([delta, likely, unlikely, 0], [0, unlikely, likely, delta])

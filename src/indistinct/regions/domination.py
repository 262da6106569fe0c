r"""Which mechanism tells more: Blackwell's theorem for two hypotheses, constructively.

Source: Kairouz, Oh, Viswanath, Theorems 2.4 and 2.5 (Blackwell 1953). A mechanism dominates another, that
is, the second can be produced from the outcome of the first without the database, if and only if the
region of the second lies inside the region of the first.

The map is built as follows. Give outcome i the mass m_i = P0(i) + P1(i) at the position x_i = P0(i)/m_i.
Inclusion of the regions is convex order of these two distributions of mass, and a map from `first` to
`second` is a way to cut the mass of `first` into pieces, one for each outcome j of `second`, of mass m_j and
centre of gravity x_j. Taking the pieces by rising x_j, each as the "shadow" of its atom in what is left - the
interval around x_j with the right mass and balance - never gets stuck (Beiglboeck & Juillet 2016). To grow
the interval, take from the nearest masses left and right in balance; every step uses up a mass or
completes a piece, so there are at most as many steps as outcomes in both, after sorting.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from indistinct.errors import InternalError
from indistinct.regions.kernel import StochasticMap
from indistinct.regions.laws import DiscretePair, Outcome, by_likelihood
from indistinct.regions.region import Region
from indistinct.regions.tangent import Tangent
from indistinct.regions.testing import Errors, errors_of

__all__ = ["Domination", "SeparatingTest", "dominates"]


@dataclass(frozen=True, slots=True)
class Domination:
    """The first mechanism dominates: `kernel` turns its outcomes into the second's. True."""

    first: DiscretePair
    second: DiscretePair
    kernel: StochasticMap

    def __bool__(self) -> bool:
        return True

    def verify(self) -> bool:
        """Whether the map sends both laws of the first to those of the second, exactly."""
        return self.kernel.apply(self.first) == self.second


@dataclass(frozen=True, slots=True)
class SeparatingTest:
    """A test on the second mechanism that no test on the first equals, so it does not dominate. False.

    The errors of rejecting on `rejection` break the bound `tangent`, which every test on the first obeys,
    by `margin`.
    """

    first: DiscretePair
    second: DiscretePair
    rejection: frozenset[Outcome]
    errors: Errors
    tangent: Tangent
    margin: Fraction

    def __bool__(self) -> bool:
        return False

    def verify(self) -> bool:
        """Whether the test has these errors, and the first's region is bounded by the tangent they break."""
        errors = errors_of(self.second, self.rejection)
        bound = Region.of(self.first).profile().delta_at_ratio(self.tangent.ratio, "null")
        broken = -self.tangent.slack(errors.missed_detection, errors.false_alarm)
        return errors == self.errors and bound <= self.tangent.delta and broken == self.margin > 0


def dominates(first: DiscretePair, second: DiscretePair) -> Domination | SeparatingTest:
    """Whether the second mechanism can be produced from the first; with the map, or the test that forbids it.

    Decided exactly; a map is checked before it is returned. O(n log n) for n outcomes in both.

    >>> clear = DiscretePair(["3/4", "1/4"], ["1/4", "3/4"])
    >>> dim = DiscretePair(["3/5", "2/5"], ["2/5", "3/5"])
    >>> dominates(clear, dim).kernel.probability(0, 0)
    Fraction(7, 10)
    >>> bool(dominates(dim, clear)), dominates(dim, clear).rejection
    (False, frozenset({1}))
    """
    bounds = Region.of(first).tangents()
    profile = Region.of(second).profile()
    margins = [profile.delta_at_ratio(bound.ratio, "null") - bound.delta for bound in bounds]
    margin = max(margins, default=Fraction(0))
    if margin > 0:
        return _separation(first, second, bounds[margins.index(margin)], margin)
    found = Domination(first, second, _shadow_map(first, second))
    if not found.verify():
        raise InternalError("a stochastic map does not produce the laws that it was built for")
    return found


def _separation(first: DiscretePair, second: DiscretePair, bound: Tangent, margin: Fraction) -> SeparatingTest:
    """The test on the second that minimises false_alarm + ratio * missed_detection."""
    rejection = frozenset(
        outcome
        for outcome, p, q in zip(second.outcomes, second.null, second.alternative, strict=True)
        if p < bound.ratio * q
    )
    return SeparatingTest(first, second, rejection, errors_of(second, rejection), bound, margin)


def _shadow_map(first: DiscretePair, second: DiscretePair) -> StochasticMap:
    """The map of the essay above; `first` is known to dominate `second`."""
    mass = [p + q for p, q in zip(first.null, first.alternative, strict=True)]
    place = [p / m if m else Fraction(0) for p, m in zip(first.null, mass, strict=True)]
    left_over = mass.copy()
    pieces: list[dict[Outcome, Fraction]] = [{} for _ in mass]
    behind: list[int] = []
    ahead = [index for group in reversed(by_likelihood(first)) for index in reversed(group)]

    for target in (index for group in by_likelihood(second) for index in group):
        outcome = second.outcomes[target]
        wanted = second.null[target] + second.alternative[target]
        centre = second.null[target] / wanted
        while ahead and place[ahead[-1]] < centre:
            behind.append(ahead.pop())
        while wanted:
            right = ahead[-1]
            gap = place[right] - centre
            shares = {right: Fraction(1)}
            if gap:
                left = behind[-1]
                width = place[right] - place[left]
                shares = {left: gap / width, right: 1 - gap / width}
            taken = min(wanted, *(left_over[index] / share for index, share in shares.items()))
            wanted -= taken
            for index, share in shares.items():
                pieces[index][outcome] = pieces[index].get(outcome, Fraction(0)) + taken * share
                left_over[index] -= taken * share
                if not left_over[index]:
                    (ahead if index == right else behind).pop()

    impossible = {second.outcomes[0]: Fraction(1)}
    rows = {
        outcome: {y: piece / m for y, piece in pieces[index].items()} if m else impossible
        for index, (outcome, m) in enumerate(zip(first.outcomes, mass, strict=True))
    }
    return StochasticMap(rows, second.outcomes)

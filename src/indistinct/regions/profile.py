r"""The privacy profile: delta as a function of epsilon.

For two laws P0, P1 and a ratio r > 0 let delta(r) = max_S P0(S) - r P1(S). This is the least delta for
which the line of ratio r bounds the region (Kairouz, Oh, Viswanath, equation 14); it is convex and piecewise
linear in r, starts at delta(0) = 1, and its corners are the edges of the region. The other direction,
max_S P1(S) - r P0(S) = 1 - r (1 - delta(1/r)), is read from the same corners.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from indistinct.errors import InvalidParameter
from indistinct.numbers import Bracket, Epsilon
from indistinct.numbers.reading import read_delta, read_epsilon, read_number
from indistinct.regions.polyline import edges, least_sum, steepness_reaching
from indistinct.regions.ratios import epsilon_of, order, ratio_above, ratio_below
from indistinct.regions.tangent import Tangent

if TYPE_CHECKING:
    from indistinct.regions.region import Region
    from indistinct.regions.tradeoff import TradeOff

__all__ = ["Direction", "PolygonProfile"]

Direction = Literal["null", "alternative", "both"]
"""Which law is bounded by e^epsilon times the other plus delta; "both" is differential privacy."""


@dataclass(frozen=True, slots=True)
class PolygonProfile:
    """The profile of a region with finitely many corners; exact.

    >>> from indistinct.regions import Region
    >>> profile = Region.of_guarantees([("ln(3)", 0), (0, "1/4")]).profile()
    >>> profile.delta_at_ratio(2)
    Fraction(1, 8)
    >>> profile.epsilon("1/8"), profile.epsilon("1/2"), profile.epsilon(0)
    (ln(2), Fraction(0, 1), ln(3))
    """

    source: Region

    @property
    def knots(self) -> tuple[Tangent, ...]:
        """The corners of the profile as (ratio, delta), by rising ratio; `Region.of_tangents` turns back.

        Before the first the profile falls in a line from (0, 1), after the last it is level; no corner at
        all means delta = 1 everywhere.
        """
        return tuple(Tangent(steepness, 1 - height) for steepness, height in reversed(edges(self.source.vertices)))

    def delta_at_ratio(self, ratio: object, direction: Direction = "both") -> Fraction:
        """The least delta at e^epsilon = ratio, any ratio above 0; exact."""
        exact = read_number("ratio", ratio)
        if not exact > 0:
            raise InvalidParameter("ratio", ratio, "be above 0")
        match direction:
            case "null":
                return 1 - least_sum(self.source.vertices, exact)
            case "alternative":
                return 1 - exact * least_sum(self.source.vertices, 1 / exact)
            case "both":
                return max(self.delta_at_ratio(exact, "null"), self.delta_at_ratio(exact, "alternative"))
            case _:
                raise InvalidParameter("direction", direction, "be 'null', 'alternative' or 'both'")

    def delta(self, epsilon: object, direction: Direction = "both") -> Bracket:
        """The least delta at an epsilon, to a relative width of 2^-50 or less.

        >>> from indistinct.regions import Region
        >>> Region.of_guarantee("ln(3)").profile().delta("ln(2)")
        Bracket(lower=0.25, upper=0.25)
        """
        level = read_epsilon("epsilon", epsilon)
        last = self._last_ratio(direction)
        if order(last, level) <= 0:
            return Bracket.exactly(self.delta_at_ratio(last, direction))
        bits = 128
        while True:
            # Below the last corner the profile falls strictly, so it is above 0 and the loop ends.
            lower = self.delta_at_ratio(ratio_above(level, bits), direction)
            upper = self.delta_at_ratio(ratio_below(level, bits), direction)
            if lower * (1 + Fraction(1, 1 << 60)) >= upper:
                return Bracket(Bracket.exactly(lower).lower, Bracket.exactly(upper).upper)
            bits *= 2

    def least_ratio(self, delta: object, direction: Direction = "both") -> Fraction | float:
        """The least ratio at which delta suffices, exact; infinity if none does.

        In one direction it may lie anywhere in [0, infinity]; in both together it is at least 1.
        """
        allowed = read_delta("delta", delta)
        match direction:
            case "null":
                ratio = steepness_reaching(self.source.vertices, 1 - allowed)
                return math.inf if ratio is None else ratio
            case "alternative":
                return self.swapped().least_ratio(allowed, "null")
            case "both":
                directed = self.least_ratio(allowed, "null"), self.least_ratio(allowed, "alternative")
                return max(Fraction(1), *directed)
            case _:
                raise InvalidParameter("direction", direction, "be 'null', 'alternative' or 'both'")

    def epsilon(self, delta: object, direction: Direction = "both") -> Epsilon | float:
        """The least epsilon >= 0 at which delta suffices: 0, an exact logarithm, or infinity."""
        ratio = max(Fraction(1), self.least_ratio(delta, direction))
        return epsilon_of(ratio) if isinstance(ratio, Fraction) else ratio

    def is_within(self, epsilon: object, delta: object = 0, direction: Direction = "both") -> bool:
        """Whether delta suffices at epsilon; exact, also where e^epsilon is irrational."""
        level = read_epsilon("epsilon", epsilon)
        ratio = self.least_ratio(delta, direction)
        return isinstance(ratio, Fraction) and order(ratio, level) <= 0

    def sufficient_ratio(self, epsilon: object, delta: object, direction: Direction = "both") -> Fraction:
        """`least_ratio`, where it is at most e^epsilon; refused where it is not, with the delta it takes."""
        level = read_epsilon("epsilon", epsilon)
        ratio = self.least_ratio(delta, direction)
        if isinstance(ratio, Fraction) and order(ratio, level) <= 0:
            return ratio
        own = self.delta(level, direction)
        raise InvalidParameter("delta", delta, f"be at least {own}, the pair's own delta at epsilon = {level}")

    def swapped(self) -> PolygonProfile:
        """The profile with the two databases exchanged."""
        return PolygonProfile(self.source.swapped())

    def region(self) -> Region:
        """The region whose profile this is."""
        return self.source

    def tradeoff(self) -> TradeOff:
        """The trade-off function of the same region."""
        return self.source.tradeoff()

    def _last_ratio(self, direction: Direction) -> Fraction:
        """From this ratio on the profile is level; at least 1."""
        last = Fraction(1)
        vertices = self.source.vertices
        if len(vertices) > 1 and direction != "alternative":
            last = max(last, *(steepness for steepness, _ in edges(vertices[:2])))
        if len(vertices) > 1 and direction != "null":
            last = max(last, *(1 / steepness for steepness, _ in edges(vertices[-2:])))
        return last

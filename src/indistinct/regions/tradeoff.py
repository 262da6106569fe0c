"""The trade-off function: the least missed detection that a false alarm buys."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from indistinct.errors import InvalidParameter
from indistinct.numbers.reading import read_probability
from indistinct.regions.polyline import Point, is_boundary, value_at

if TYPE_CHECKING:
    from indistinct.regions.profile import PolygonProfile
    from indistinct.regions.region import Region

__all__ = ["TradeOff"]


@dataclass(frozen=True, slots=True)
class TradeOff:
    """f(false_alarm) = the least missed detection of any test, by its corners.

    Corners are (false_alarm, missed_detection), from (0, f(0)) to the first point where f is 0. Exact at
    every rational number.

    >>> from indistinct.regions import Region
    >>> tradeoff = Region.of_guarantee("ln(3)").tradeoff()
    >>> tradeoff("1/8"), tradeoff("1/2")
    (Fraction(5, 8), Fraction(1, 6))
    """

    points: tuple[Point, ...]

    def __post_init__(self) -> None:
        if not is_boundary(self.points):
            raise InvalidParameter(
                "points",
                self.points,
                "be the corners of a convex line falling from (0, y) to (x, 0) in the unit square",
            )

    def __call__(self, false_alarm: object) -> Fraction:
        """The least missed detection at this false alarm."""
        return value_at(self.points, read_probability("false_alarm", false_alarm))

    def inverse(self) -> TradeOff:
        """The least false alarm by missed detection: the trade-off with the databases exchanged."""
        return TradeOff(tuple((y, x) for x, y in reversed(self.points)))

    def region(self) -> Region:
        """The region above this function; nothing is lost."""
        from indistinct.regions.region import Region

        return Region(self.inverse().points)

    def profile(self) -> PolygonProfile:
        """The privacy profile, delta as a function of epsilon; nothing is lost."""
        return self.region().profile()

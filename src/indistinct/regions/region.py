r"""The privacy region: every pair of errors that a test between two databases can have.

Source: Kairouz, Oh, Viswanath, equations (2) and (3), Theorem 2.1, Corollary 2.3, Remark 5.1. As there, a
point is (missed_detection, false_alarm). A region contains the line from (0, 1) to (1, 0), the tests that
ignore the output, and is symmetric about (1/2, 1/2), since every test has a complement. So its lower
boundary says everything: a convex falling line from (0, y0) to (x0, 0), kept by its exact corners.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from indistinct.errors import InvalidParameter
from indistinct.numbers.reading import read_delta, read_epsilon, read_probability
from indistinct.regions.laws import DiscretePair, by_likelihood, integers
from indistinct.regions.polyline import Point, edges, is_boundary, lower_hull, value_at
from indistinct.regions.profile import PolygonProfile
from indistinct.regions.ratios import ratio_above
from indistinct.regions.tangent import Tangent
from indistinct.regions.tradeoff import TradeOff

__all__ = ["Region"]

_CORNERS = ((Fraction(0), Fraction(1)), (Fraction(1), Fraction(0)))


@dataclass(frozen=True, slots=True)
class Region:
    """A closed convex set of points (missed_detection, false_alarm), by the corners of its lower boundary.

    Build one with `of`, `of_guarantee`, `of_guarantees`, `of_tangents` or `of_vertices`.

    >>> survey = DiscretePair(["3/4", "1/4"], ["1/4", "3/4"])
    >>> Region.of(survey).vertices[1]
    (Fraction(1, 4), Fraction(1, 4))
    >>> Region.of(survey) == Region.of_guarantee("ln(3)")
    True
    """

    vertices: tuple[Point, ...]

    def __post_init__(self) -> None:
        if not is_boundary(self.vertices):
            raise InvalidParameter(
                "vertices",
                self.vertices,
                "be the corners of a convex line falling from (0, y) to (x, 0) in the unit square",
                instead="Region.of_vertices takes any points and makes their convex hull.",
            )

    @classmethod
    def of(cls, pair: DiscretePair) -> Region:
        """The region of a mechanism on two databases: KOV equation (3). Exact, O(n log n).

        >>> Region.of(DiscretePair([1, 0], ["1/2", "1/2"])).vertices
        ((Fraction(0, 1), Fraction(1, 1)), (Fraction(1, 2), Fraction(0, 1)))
        """
        null, null_total = integers(pair.null)
        alternative, alternative_total = integers(pair.alternative)
        missed, alarm = 0, null_total
        points = [(missed, alarm)]
        # Retain first what speaks most for the null hypothesis, one likelihood ratio at a time.
        for group in reversed(by_likelihood(pair)):
            missed += sum(alternative[index] for index in group)
            alarm -= sum(null[index] for index in group)
            points.append((missed, alarm))
        if points[1][0] == 0:
            del points[0]
        if len(points) > 1 and points[-2][1] == 0:
            del points[-1]
        return cls(tuple((Fraction(x, alternative_total), Fraction(y, null_total)) for x, y in points))

    @classmethod
    def of_guarantee(cls, epsilon: object, delta: object = 0) -> Region:
        """R(epsilon, delta), what (epsilon, delta)-differential privacy promises: KOV equation (2).

        Exact where e^epsilon is rational, as for "ln(3)"; else e^epsilon is rounded up by a share of at
        most 2^-128, so that the region is never smaller than the truth. `is_within` decides with no
        rounding at all.
        """
        return cls.of_guarantees([(epsilon, delta)])

    @classmethod
    def of_guarantees(cls, guarantees: Iterable[tuple[object, object]]) -> Region:
        """The region left by several guarantees (epsilon, delta) together (KOV Remark 5.1).

        Rounded as in `of_guarantee`.

        >>> Region.of_guarantees([("ln(3)", 0), (0, "1/4")]).vertices[1:-1]
        ((Fraction(1, 8), Fraction(5, 8)), (Fraction(5, 8), Fraction(1, 8)))
        """
        tangents = []
        for epsilon, delta in guarantees:
            tangent = Tangent(ratio_above(read_epsilon("epsilon", epsilon)), read_delta("delta", delta))
            tangents += [tangent, tangent.swapped()]
        return cls.of_tangents(tangents)

    @classmethod
    def of_tangents(cls, tangents: Iterable[Tangent]) -> Region:
        """The points on the allowed side of every line; lines that touch nothing are dropped."""
        # As points (ratio, delta) the lines that bound are the corners of a lower hull, up to its lowest, and
        # the edge between two of them, as a line 1 - y - ratio x, is the corner (x, y) of the region.
        hull = lower_hull([_CORNERS[0], *((line.ratio, line.delta) for line in tangents)])
        lowest = min(hull, key=lambda knot: knot[1])
        falling = hull[: hull.index(lowest) + 1]
        corners = [(x, 1 - height) for x, height in reversed(edges(falling))]
        return cls(((Fraction(0), 1 - lowest[1]), *corners))

    @classmethod
    def of_vertices(cls, points: Iterable[tuple[object, object]]) -> Region:
        """The smallest region that contains the points (missed_detection, false_alarm).

        >>> Region.of_vertices([("1/4", "1/4"), ("1/2", "1/2")]) == Region.of_guarantee("ln(3)")
        True
        """
        below = [*_CORNERS]
        for missed, alarm in points:
            point = read_probability("missed_detection", missed), read_probability("false_alarm", alarm)
            below.append(point if sum(point) <= 1 else _mirrored(point))
        hull = lower_hull(below)
        return cls(tuple(hull[: 1 + next(index for index, (_, y) in enumerate(hull) if y == 0)]))

    def polygon(self) -> tuple[Point, ...]:
        """The whole outline, counterclockwise from (0, y0), ending where it began.

        >>> [(float(x), float(y)) for x, y in Region.of_guarantee("ln(3)").polygon()]
        [(0.0, 1.0), (0.25, 0.25), (1.0, 0.0), (0.75, 0.75), (0.0, 1.0)]
        """
        upper = tuple(_mirrored(vertex) for vertex in self.vertices)
        outline = (*self.vertices, _CORNERS[1], *upper, _CORNERS[0], self.vertices[0])
        return (*dict.fromkeys(outline), self.vertices[0])

    def contains(self, missed_detection: object, false_alarm: object) -> bool:
        """Whether some test between these databases can have these errors; exact."""
        x = read_probability("missed_detection", missed_detection)
        y = read_probability("false_alarm", false_alarm)
        return self._is_above(x, y) and self._is_above(1 - x, 1 - y)

    def includes(self, other: Region) -> bool:
        """Whether the other region lies inside this one; exact."""
        return all(self._is_above(x, y) for x, y in other.vertices)

    def intersection(self, other: Region) -> Region:
        """The points of both regions."""
        return Region.of_tangents(self.tangents() + other.tangents())

    def __and__(self, other: Region) -> Region:
        return self.intersection(other)

    def swapped(self) -> Region:
        """The region with the two databases exchanged: its mirror image in the diagonal."""
        return Region(tuple((y, x) for x, y in reversed(self.vertices)))

    def is_symmetric(self) -> bool:
        """Whether exchanging the two databases changes nothing."""
        return self == self.swapped()

    def is_within(self, epsilon: object, delta: object = 0) -> bool:
        """Whether the region lies inside R(epsilon, delta) (KOV Corollary 2.3); exact for every epsilon.

        >>> Region.of_guarantee("ln(3)").is_within(1.0986122886681096)
        False
        >>> Region.of_guarantee("ln(3)").is_within(1.0986122886681098)
        True
        """
        return self.profile().is_within(epsilon, delta)

    def tangents(self) -> tuple[Tangent, ...]:
        """The lines that bound the region, by rising ratio, none of them superfluous."""
        return self.profile().knots

    def profile(self) -> PolygonProfile:
        """The privacy profile, delta as a function of epsilon; nothing is lost."""
        return PolygonProfile(self)

    def tradeoff(self) -> TradeOff:
        """The trade-off function, least missed detection by false alarm; nothing is lost."""
        return TradeOff(self.swapped().vertices)

    def _repr_svg_(self) -> str:
        """The region as a picture, for notebooks."""
        corners = " ".join(f"{float(x) * 200:.2f},{200 - float(y) * 200:.2f}" for x, y in self.polygon())
        return (
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="-4 -4 208 208" width="208">'
            '<rect width="200" height="200" fill="none" stroke="gray"/>'
            f'<polygon points="{corners}" fill="steelblue" fill-opacity=".4" stroke="steelblue"/></svg>'
        )

    def _is_above(self, x: Fraction, y: Fraction) -> bool:
        return y >= value_at(self.vertices, x)


def _mirrored(point: Point) -> Point:
    """The errors of the complementary test."""
    return 1 - point[0], 1 - point[1]

"""Convex falling broken lines, exact: the one shape behind region, profile and trade-off.

Points from left to right, falling, ever less steep, and level after the last one. Slopes are compared as
unreduced pairs of integers: reducing a fraction costs far more than multiplying it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise

__all__ = [
    "Point",
    "edges",
    "is_boundary",
    "is_convex_falling",
    "least_sum",
    "lower_hull",
    "steepness_reaching",
    "value_at",
]

Point = tuple[Fraction, Fraction]


def edges(points: Sequence[Point]) -> list[tuple[Fraction, Fraction]]:
    """(steepness, height at zero) of the line through each two neighbours."""
    return [_edge(points, index) for index in range(len(points) - 1)]


def is_convex_falling(points: Sequence[Point]) -> bool:
    """Whether the points fall strictly from left to right, and every point is a corner."""
    before = None
    for left, right in pairwise(points):
        slope = _slope(left, right)
        if not slope[1] > 0 > slope[0] or (before and not before[0] * slope[1] < slope[0] * before[1]):
            return False
        before = slope
    return True


def is_boundary(points: Sequence[Point]) -> bool:
    """Whether the points bound a region: convex, falling from (0, y) to (x, 0) in the unit square."""
    if not points:
        return False
    (left, top), (right, bottom) = points[0], points[-1]
    return left == 0 == bottom and top <= 1 >= right and is_convex_falling(points)


def value_at(points: Sequence[Point], x: Fraction) -> Fraction:
    """The height of the line at an x that is not left of the first point."""
    after = bisect_right(points, x, key=_abscissa)
    if after == len(points):
        return points[-1][1]
    (left_x, left_y), (right_x, right_y) = points[after - 1], points[after]
    return left_y + (right_y - left_y) * (x - left_x) / (right_x - left_x)


def least_sum(points: Sequence[Point], ratio: Fraction) -> Fraction:
    """The minimum of y + ratio x over the line; O(log n), as edges are sorted by steepness."""
    index = bisect_left(range(len(points) - 1), -ratio, key=lambda index: -_edge(points, index)[0])
    x, y = points[index]
    return y + ratio * x


def steepness_reaching(points: Sequence[Point], height: Fraction) -> Fraction | None:
    """The least ratio >= 0 with y + ratio x >= height on the whole line, else None; height <= 1."""
    index = bisect_right(range(len(points) - 1), -height, key=lambda index: -_edge(points, index)[1])
    x, y = points[index]
    if x == 0:
        return Fraction(0) if height <= y else None
    return (height - y) / x


def lower_hull(points: Iterable[Point]) -> list[Point]:
    """The corners of the lower convex hull, from left to right (Andrew's monotone chain)."""
    hull: list[Point] = []
    slopes = [(0, 0)]
    for point in sorted(points):
        if hull and hull[-1][0] == point[0]:
            continue
        while hull:
            slope = _slope(hull[-1], point)
            if len(hull) == 1 or slopes[-1][0] * slope[1] < slope[0] * slopes[-1][1]:
                slopes.append(slope)
                break
            hull.pop()
            slopes.pop()
        hull.append(point)
    return hull


def _edge(points: Sequence[Point], index: int) -> tuple[Fraction, Fraction]:
    (x, y), (next_x, next_y) = points[index], points[index + 1]
    steepness = (y - next_y) / (next_x - x)
    return steepness, y + steepness * x


def _slope(left: Point, right: Point) -> tuple[int, int]:
    """Rise over run, not reduced."""
    (x, y), (next_x, next_y) = left, right
    rise = next_y.numerator * y.denominator - y.numerator * next_y.denominator
    run = next_x.numerator * x.denominator - x.numerator * next_x.denominator
    return rise * x.denominator * next_x.denominator, run * y.denominator * next_y.denominator


def _abscissa(point: Point) -> Fraction:
    return point[0]

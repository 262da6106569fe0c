from fractions import Fraction
from itertools import pairwise, product

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from indistinct.errors import InvalidParameter
from indistinct.numbers import ln
from indistinct.regions import DiscretePair, Region, StochasticMap, Tangent
from tests.exact import to_fraction
from tests.regions.pairs import all_errors, deltas, epsilons, kernels, pairs, ratios

ZERO, ONE = Fraction(0), Fraction(1)
GRID = [Fraction(i, 12) for i in range(13)]
regions = pairs().map(Region.of)


@st.composite
def tangents(draw: st.DrawFn) -> Tangent:
    ratio = draw(ratios)
    least = max(Fraction(0), 1 - ratio)
    return Tangent(ratio, least + (1 - least) * draw(deltas))


@given(pairs())
def test_the_polygon_is_the_hull_of_all_tests(pair: DiscretePair) -> None:
    points = {(errors.missed_detection, errors.false_alarm) for errors in all_errors(pair)}
    region = Region.of(pair)
    assert region == Region.of_vertices(points)
    assert set(region.polygon()) <= points
    assert all(region.contains(*point) for point in points)
    if pair.null != pair.alternative:
        outline = region.polygon()
        twice = sum(x * next_y - y * next_x for (x, y), (next_x, next_y) in pairwise(outline))
        hull = ConvexHull([(float(x), float(y)) for x, y in points])
        assert float(twice) / 2 == pytest.approx(hull.volume, rel=1e-12)


@given(st.lists(tangents(), max_size=5))
def test_a_region_of_tangents_is_where_all_hold(lines: list[Tangent]) -> None:
    region = Region.of_tangents(lines)
    for x, y in product(GRID, GRID):
        allowed = all(line.slack(x, y) >= 0 and line.slack(1 - x, 1 - y) >= 0 for line in lines)
        assert region.contains(x, y) == allowed
    assert set(region.tangents()) <= set(lines)


@given(regions, regions)
def test_inclusion_and_intersection(first: Region, second: Region) -> None:
    both = first & second
    assert first.includes(both)
    assert second.includes(both)
    assert first.includes(second) == (both == second)
    assert first.includes(second) == all(first.contains(*vertex) for vertex in second.polygon())
    for x, y in product(GRID, GRID):
        assert both.contains(x, y) == (first.contains(x, y) and second.contains(x, y))


@given(regions)
def test_nothing_is_lost_on_the_way_through_profile_and_tradeoff(region: Region) -> None:
    assert Region.of_tangents(region.tangents()) == region
    assert Region.of_tangents(region.profile().knots) == region
    assert Region.of_vertices(region.vertices) == region
    assert region.profile().region() == region
    assert region.tradeoff().region() == region
    assert region.tradeoff().profile() == region.profile()
    assert region.profile().tradeoff() == region.tradeoff()
    assert region.swapped().swapped() == region


@given(st.data(), pairs())
def test_data_processing_shrinks_the_region(data: st.DataObject, pair: DiscretePair) -> None:
    kernel: StochasticMap = data.draw(kernels(len(pair)))
    assert Region.of(pair).includes(Region.of(kernel.apply(pair)))


@given(pairs(3), pairs(3))
def test_a_second_output_only_adds(first: DiscretePair, second: DiscretePair) -> None:
    both = Region.of(first.tensor(second))
    assert both.includes(Region.of(first))
    assert both.includes(Region.of(second))
    assert both == Region.of(second.tensor(first))


@given(pairs(), epsilons, deltas)
def test_corollary_2_3(pair: DiscretePair, epsilon: object, delta: Fraction) -> None:
    region = Region.of(pair)
    within = region.is_within(epsilon, delta)
    bound = Region.of_guarantee(epsilon, delta)
    assert bound.is_symmetric()
    if within:
        assert bound.includes(region)
    elif isinstance(epsilon, str):
        assert not bound.includes(region)


def test_figure_1_of_kov() -> None:
    # ((1 - delta) / (1 + e^epsilon), the same) is the corner, (0, 1 - delta) the end.
    delta, corner = Fraction(1, 5), Fraction(4, 5) / 4
    assert Region.of_guarantee(ln(3), delta).vertices == (
        (ZERO, 1 - delta),
        (corner, corner),
        (1 - delta, ZERO),
    )


def test_remark_5_1_several_guarantees_are_an_intersection() -> None:
    guarantees = [("ln(4)", 0), ("ln(2)", "1/10"), (0, "1/4")]
    together = Region.of_guarantees(guarantees)
    first, second, third = (Region.of_guarantee(*guarantee) for guarantee in guarantees)
    assert together == first & second & third


def test_an_irrational_guarantee_is_rounded_outwards() -> None:
    corner = Region.of_guarantee(1).vertices[1]
    with mpmath.workdps(50):
        truth = to_fraction(1 / (1 + mpmath.e))
    assert 0 < truth - corner[0] < Fraction(1, 2**128)
    with pytest.raises(InvalidParameter, match="epsilon must be at most 20,000"):
        Region.of_guarantee(10**6)


def test_the_two_extremes() -> None:
    blind, open_book = Region.of(DiscretePair([1], [1])), Region.of(DiscretePair([1, 0], [0, 1]))
    assert blind.vertices == ((ZERO, ONE), (ONE, ZERO))
    assert blind == Region.of_guarantee(0)
    assert open_book.vertices == ((ZERO, ZERO),)
    assert open_book == Region.of_guarantee(0, 1) == Region.of_tangents([])
    assert open_book.tangents() == ()
    assert open_book.includes(blind)
    assert not blind.includes(open_book)
    assert open_book.polygon() == tuple((Fraction(x), Fraction(y)) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1), (0, 0)))
    assert not open_book.is_within(100, "0.99")


@given(regions, st.data())
def test_a_lowered_vertex_is_noticed(region: Region, data: st.DataObject) -> None:
    x, y = data.draw(st.sampled_from(region.vertices))
    lowered = x * Fraction(9, 10), y * Fraction(9, 10)
    larger = Region.of_vertices([*region.vertices, lowered])
    if lowered != (x, y):
        assert larger.includes(region)
        assert not region.includes(larger)
        assert not region.contains(*lowered)


@pytest.mark.parametrize(
    "vertices",
    [
        (),
        ((0, Fraction(1, 2)),),
        ((0, 1), (Fraction(1, 2), Fraction(1, 2)), (1, 0)),
        ((0, Fraction(1, 2)), (Fraction(1, 2), Fraction(1, 2)), (1, 0)),
        ((0, 2), (1, 0)),
        ((1, 0), (0, 1)),
    ],
)
def test_what_is_no_boundary_is_refused(vertices: tuple[tuple[Fraction, Fraction], ...]) -> None:
    with pytest.raises(InvalidParameter, match=r"Region\.of_vertices takes any points"):
        Region(tuple((Fraction(x), Fraction(y)) for x, y in vertices))


def test_bad_input_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="ratio must be above 0, but is 0"):
        Tangent(0, 0)  # type: ignore[arg-type]  # any number is read
    with pytest.raises(InvalidParameter, match=r"delta must lie in \[1/2, 1\], but is 0"):
        Tangent(Fraction(1, 2), Fraction(0))
    with pytest.raises(InvalidParameter, match=r"delta must lie in \[0, 1\]"):
        Region.of_guarantee(1, 2)
    with pytest.raises(InvalidParameter, match="missed_detection must lie in"):
        Region.of_vertices([(2, 0)])
    with pytest.raises(InvalidParameter, match="false_alarm must lie in"):
        Region.of_guarantee(1).contains(0, "3/2")


def test_many_vertices() -> None:
    count = 10_000
    weights = [2 * i + 1 for i in range(count)]
    rising = [Fraction(weight, count**2) for weight in weights]
    region = Region.of(DiscretePair(rising, rising[::-1]))
    assert len(region.vertices) == count + 1
    assert region & region == region
    assert region.is_symmetric()


def test_the_picture_is_drawn() -> None:
    assert 'points="0.00,0.00 50.00,150.00 200.00,200.00 ' in Region.of_guarantee(ln(3))._repr_svg_()

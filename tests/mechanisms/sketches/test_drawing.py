"""What is drawn has the law of the definition: exact laws of its quadratic forms, and faults that are noticed."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from indistinct.mechanisms.sketches.accuracy import failure_of
from indistinct.mechanisms.sketches.drawing import GRID_BITS, graph_grid, grid_for, sketch_rows
from indistinct.mechanisms.sketches.graph import Edges, read_graph
from indistinct.mechanisms.sketches.normals import normals
from indistinct.noise import SYSTEM
from tests.mechanisms.sketches.dense import Floats, edge_arrays, random_weights, reweighted
from tests.noise.budget import band, share
from tests.noise.sources import RepeatableBits

ROWS = 40_000


def graph(weights: Floats) -> Edges:
    return read_graph(edge_arrays(weights), len(weights))


def within(rows: int, tests: int) -> float:
    """How far chi/r of so many tests may be from 1, for one share of the budget."""
    target, low, high = share() / tests, 0.0, 1.0
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (low, middle) if failure_of(rows, middle).upper < target else (middle, high)  # type: ignore[arg-type]
    return high


def directions(nodes: int) -> list[Floats]:
    """All e_i and e_i - e_j + e_k, whose squares determine a covariance, and then some."""
    units = np.identity(nodes)
    pairs = [units[i] - units[j] for i, j in combinations(range(nodes), 2)]
    return [*units, *pairs, *(units[i] + units[j] for i, j in combinations(range(nodes), 2))]


def off(drawn: NDArray[Any], expected: Floats, tolerance: float) -> bool:
    """Whether some direction's sum of squares is further from its expectation than chance allows."""
    ways = [way for way in directions(len(expected)) if way @ expected @ way > 1e-9]
    ratios = [np.sum((way @ drawn) ** 2) / drawn.shape[1] / (way @ expected @ way) for way in ways]
    return bool(np.max(np.abs(np.array(ratios) - 1)) > tolerance)


@pytest.mark.parametrize(("nodes", "w"), [(2, 0.5), (4, 1.5), (6, 3.0)])
def test_the_covariance_is_that_of_the_dense_definition(nodes: int, w: float) -> None:
    """(x^T y)^2 summed over the rows is chi-square, exactly, in any direction x; so it is for sums of two rows."""
    weights = random_weights(nodes, nodes, share=0.7)
    weights[0, 1] = weights[1, 0] = 0.75
    drawn: NDArray[Any] = sketch_rows(graph(weights), ROWS, Fraction(w), SYSTEM) * graph_grid(nodes, Fraction(w))
    expected = reweighted(weights, w)
    tolerance = within(ROWS // 2, 3 * nodes**2)
    assert not off(drawn, expected, tolerance)
    for one, other in ((drawn[:, ::2], drawn[:, 1::2]), (drawn[:, : ROWS // 2], drawn[:, ROWS // 2 :])):
        assert not off((one + other) / math.sqrt(2), expected, tolerance)
        assert not off((one - other) / math.sqrt(2), expected, tolerance)
    # Faults: noise 20% too small or too large, one edge forgotten, the graph not scaled down, rows used twice.
    assert tolerance < 0.1
    assert off(drawn * 0.8, expected, tolerance)
    assert off(drawn * 1.2, expected, tolerance)
    assert off((drawn[:, ::2] + drawn[:, ::2]) / math.sqrt(2), expected, tolerance)
    forgotten = weights.copy()
    forgotten[0, 1] = forgotten[1, 0] = 0
    assert off(drawn, reweighted(forgotten, w), tolerance)
    unscaled = expected + w / nodes * (expected - reweighted(np.zeros_like(weights), w)) / (1 - w / nodes)
    assert off(drawn, unscaled, tolerance)


def test_many_chunks_of_edges_and_blocks_of_rows() -> None:
    """A graph of more edges than a chunk holds: degrees in the diagonal, to chance."""
    random = np.random.default_rng(4)
    nodes, w, rows = 300, 20.0, 150
    weights = np.triu(random.random((nodes, nodes)), 1)
    edges = read_graph(edge_arrays(weights + weights.T), nodes)
    assert edges.count > 2 * (1 << 14)
    drawn = sketch_rows(edges, rows, Fraction(w), SYSTEM) * graph_grid(nodes, Fraction(w))
    expected = reweighted(weights + weights.T, w)
    values, vectors = np.linalg.eigh(expected)
    white = (vectors[:, 1:] / np.sqrt(values[1:])).T @ drawn  # independent standard normals, all of them
    assert abs(np.mean(white**2) - 1) < within(white.size, 1)
    along = np.mean(white**2, axis=1)
    assert np.max(np.abs(along - 1)) < within(rows, nodes)
    across = np.mean(white**2, axis=0)
    assert np.max(np.abs(across - 1)) < within(nodes - 1, rows)
    assert abs(np.mean((0.8 * white) ** 2) - 1) > within(white.size, 1)


def test_columns_add_up_to_nothing() -> None:
    """But for rounding: each row is orthogonal to the constants."""
    drawn = sketch_rows(graph(random_weights(50, 1)), 64, Fraction(5), SYSTEM)
    assert np.max(np.abs(np.sum(drawn, axis=0, dtype=np.int64))) <= 50


def test_the_normal_numbers_are_normal() -> None:
    count = 2_000_000
    drawn = np.sort(normals(SYSTEM, count).astype(np.float64))

    def distance(values: Floats) -> float:
        from scipy.special import ndtr

        law = ndtr(values)
        steps = np.arange(count + 1) / count
        return float(max(np.max(np.abs(law - steps[:-1])), np.max(np.abs(law - steps[1:]))))

    allowed = band(count)
    assert distance(drawn) < allowed
    assert distance(drawn * 1.2) > allowed
    assert distance(drawn / 1.2) > allowed
    assert distance(drawn + 0.02) > allowed


def test_every_word_makes_a_finite_number_of_the_right_moments() -> None:
    """A million radii spread over all words: none beyond 6.8, second and fourth moment as they should be."""

    class Grid:
        def words(self, count: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
            radii = np.linspace(0, 2**32 - 1, count).astype(np.uint64)
            angles = (np.arange(count, dtype=np.uint64) * np.uint64(2654435769)) % np.uint64(2**32)
            return np.concatenate([radii, angles]).astype(np.uint32).view(np.uint64)

    drawn = normals(Grid(), 2 * 2**20).astype(np.float64)
    assert np.all(np.isfinite(drawn))
    assert np.max(np.abs(drawn)) <= 6.8
    assert np.mean(drawn**2) == pytest.approx(1, abs=5e-5)
    assert np.mean(drawn**4) == pytest.approx(3, abs=3e-3)
    assert normals(RepeatableBits(1), 7).size == 7


def test_the_grid_depends_on_what_is_public() -> None:
    w = 141.0
    step = grid_for(math.sqrt(w))
    assert step == 2.0 ** (4 - GRID_BITS)
    empty, full = (graph(random_weights(20, 1, share=part)) for part in (0.0, 1.0))
    assert empty.count == 0
    for edges in (empty, full):
        drawn = sketch_rows(edges, 8, Fraction(10), SYSTEM)
        assert drawn.dtype == np.int32
        assert drawn.shape == (20, 8)
        assert np.max(np.abs(drawn)) * graph_grid(20, Fraction(10)) < 100


def test_the_grid_has_room_for_every_number() -> None:
    """With next to no noise, and a node that all others are joined to."""
    nodes, w = 2000, Fraction(1, 10**9)
    star = read_graph((np.zeros(nodes - 1, dtype=int), np.arange(1, nodes)), nodes)
    drawn = sketch_rows(star, 64, w, SYSTEM)
    assert 1.0 < np.max(np.abs(drawn[0])) * graph_grid(nodes, w) / math.sqrt(nodes) < 10
    assert np.max(np.abs(drawn)) < 2**30
    for size in (2, 10**4, 10**8):
        for weight in (Fraction(1, 10**12), Fraction(size, 2)):
            assert 12 * math.sqrt(weight + size) < graph_grid(size, weight) * 2**31


def test_nothing_is_drawn_twice() -> None:
    edges = graph(random_weights(6, 1))
    first, second = (sketch_rows(edges, 100, Fraction(1), SYSTEM) for _ in range(2))
    assert not np.any(first == second)
    columns = first[0].tolist()
    assert len(set(columns)) == len(columns)

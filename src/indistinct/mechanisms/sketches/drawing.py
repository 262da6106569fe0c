r"""The rows of a sketch, drawn without the matrix that defines them.

The definition multiplies r rows of C(n, 2) Gaussian numbers with the incidence matrix of the complete graph whose pair
(i, j) has weight w/n + (1 - w/n) w_ij. Each row of the product is Gaussian with the Laplacian of that graph as its
covariance, w (I - 1 1^T / n) + (1 - w/n) L. The same law has

    sqrt(w) (z - mean z) + sqrt(1 - w/n) * sum over edges e = (u, v) of sqrt(w_e) g_e (e_u - e_v)

with independent standard Gaussian z (one for each node) and g (one for each edge), since z - mean z has covariance
I - 1 1^T / n and the edges' terms add up to L. That is r (n + m) numbers.

Blocks of rows are drawn in threads of their own, edges in chunks that stay in the processor's cache; within a chunk the
terms of a node are added up where they are next to each other, as they are for u, and in an order found once, for v.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from indistinct.mechanisms.sketches.graph import Edges
from indistinct.mechanisms.sketches.normals import Singles, normals
from indistinct.noise import BitSource

__all__ = ["GRID_BITS", "Sketched", "graph_grid", "grid_for", "sketch_rows"]

Sketched = NDArray[np.int32]
"""One row for each node, one column for each row of the sketch; in steps of the grid."""

GRID_BITS = 18
"""The grid is 2^-18 of the added noise's size, rounded up to a power of two, or what the range of numbers needs."""

_CHUNK = 1 << 14
_SLAB = 1 << 16
_BLOCK_NUMBERS = 1 << 25
_LARGEST = np.iinfo(np.int32).max


def grid_for(deviation: float, largest: float = 0.0, bits: int = 31) -> float:
    """The step to which a sketch is rounded: it depends on what is public alone.

    `deviation` is that of the noise in each number, `largest` one that no number can have; sixteen of those must be
    within so many bits.

    >>> grid_for(11.9)
    6.103515625e-05
    """
    fine, coarse = math.ceil(math.log2(deviation)) - GRID_BITS, -(10**6)
    if largest:
        coarse = math.ceil(math.log2(16 * largest)) - bits
    return math.ldexp(1.0, max(fine, coarse))


def graph_grid(nodes: int, weight: Fraction) -> float:
    """The step for a graph: a node's number has a variance of at most w, and 1 for each other node."""
    return grid_for(math.sqrt(weight), math.sqrt(weight + nodes))


@dataclass(frozen=True, slots=True)
class _Scales:
    """What the noise, the graph and the rounding are multiplied with."""

    noise: float
    graph: float
    step: float


@dataclass(frozen=True, eq=False, slots=True)
class _Chunk:
    """Some edges, and where the terms of each of their nodes are."""

    roots: Singles | None
    """The roots of the weights, unless all are 1."""
    size: int
    u: NDArray[np.int64]
    u_starts: NDArray[np.int64]
    v: NDArray[np.int64]
    v_starts: NDArray[np.int64]
    order: NDArray[np.int32]
    """That of the edges by v."""


def sketch_rows(
    edges: Edges, rows: int, weight: Fraction, source: BitSource, tell: Callable[[float], None] = lambda _: None
) -> Sketched:
    """The sketch, rounded to its grid; `tell` hears which share of it is done."""
    found = np.empty((edges.nodes, rows), dtype=np.int32)
    chunks = [_chunk(edges, start) for start in range(0, edges.count, _CHUNK)]
    width = min(max(_BLOCK_NUMBERS // edges.nodes, 8), 64, rows)
    starts = range(0, rows, width)
    scales = _Scales(math.sqrt(weight), math.sqrt(1 - weight / edges.nodes), graph_grid(edges.nodes, weight))
    done = 0

    def draw(start: int) -> int:
        end = min(start + width, rows)
        _draw(chunks, scales, source, found[:, start:end])
        return end - start

    with ThreadPoolExecutor(min(len(starts), os.cpu_count() or 1, 8)) as pool:
        for columns in pool.map(draw, starts):
            done += columns
            tell(done / rows)
    return found


def _chunk(edges: Edges, start: int) -> _Chunk:
    part = slice(start, start + _CHUNK)
    u, v, weight = edges.u[part], edges.v[part], edges.weight[part]
    order = np.argsort(v, kind="stable").astype(np.int32)
    u_starts, v_starts = _runs(u), _runs(v[order])
    roots = None if np.all(weight == 1) else np.sqrt(weight)
    return _Chunk(roots, u.size, u[u_starts], u_starts, v[order][v_starts], v_starts, order)


def _runs(sorted_nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each node begins."""
    return np.flatnonzero(np.concatenate([[True], sorted_nodes[1:] != sorted_nodes[:-1]]))


def _draw(chunks: list[_Chunk], scales: _Scales, source: BitSource, columns: Sketched) -> None:
    nodes, width = columns.shape
    total = np.zeros((nodes, width))
    for chunk in chunks:
        terms = normals(source, chunk.size * width).reshape(chunk.size, width)
        if chunk.roots is not None:
            terms *= chunk.roots[:, None]
        total[chunk.u] += np.add.reduceat(terms, chunk.u_starts, axis=0, dtype=np.float64)
        total[chunk.v] -= np.add.reduceat(terms[chunk.order], chunk.v_starts, axis=0, dtype=np.float64)
    total *= scales.graph
    slabs = [slice(start, min(start + _SLAB, nodes)) for start in range(0, nodes, _SLAB)]
    sums = np.zeros(width)
    for slab in slabs:
        count = slab.stop - slab.start
        noise = normals(source, count * width).reshape(count, width) * scales.noise
        sums += np.sum(noise, axis=0, dtype=np.float64)
        total[slab] += noise
    total -= sums / nodes
    for slab in slabs:
        columns[slab] = np.clip(np.rint(total[slab] / scales.step), -_LARGEST, _LARGEST)

"""Random graphs to try things on. They are no noise: a seed makes them again, and nothing private comes of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indistinct.errors import InvalidParameter
from indistinct.mechanisms.sketches.graph import MOST_NODES, Edges, read_graph
from indistinct.numbers import read_count, read_number

__all__ = ["erdos_renyi", "planted_partition", "preferential_attachment"]

Pairs = NDArray[np.int64]


def erdos_renyi(nodes: object, degree: object, *, seed: int = 0) -> Edges:
    """Each pair of nodes with the same probability, so that nodes have `degree` neighbours on average.

    >>> graph = erdos_renyi(1000, 10)
    >>> 4500 < graph.count < 5500
    True
    """
    n, mean = _size(nodes), _degree(degree, nodes)
    random = np.random.default_rng(seed)
    return _distinct(n, int(random.binomial(n * (n - 1) // 2, mean / (n - 1))), random, None)


def planted_partition(nodes: object, degree: object, *, across: object = "0.1", seed: int = 0) -> Edges:
    """Two communities, the first half of the nodes and the others, with a share of the edges between them.

    >>> graph = planted_partition(1000, 10, across="0.1")
    >>> 0.05 < graph.cut(np.arange(1000) < 500) / graph.count < 0.15
    True
    """
    n, mean, share = _size(nodes), _degree(degree, nodes), float(read_number("across", across))
    if not 0 <= share <= 1:
        raise InvalidParameter("across", across, "lie in [0, 1]")
    random = np.random.default_rng(seed)
    return _distinct(n, round(n * mean / 2), random, share)


def preferential_attachment(nodes: object, links: object, *, seed: int = 0) -> Edges:
    """Each node comes with so many links to earlier ones, chosen by how many links they have (Barabasi and Albert).

    A link's other end is any end of the links so far, its own beginning included, with equal chances; a link that
    comes back to its own node is dropped.

    >>> graph = preferential_attachment(1000, 3)
    >>> int(np.bincount(graph.v, minlength=1000).max()) <= 3 < int(np.bincount(graph.u).max())
    True
    """
    n, each = _size(nodes), read_count("links", links, least=1)
    if each > n - 1:
        raise InvalidParameter("links", links, f"be at most {n - 1}, one less than the nodes")
    random = np.random.default_rng(seed)
    # Link j has the ends 2 j, the newcomer's, and 2 j + 1, a copy of an end from 0 to 2 j: those are followed back to
    # newcomers' all at once (Batagelj and Brandes 2005).
    newcomers = np.repeat(np.arange(n), each)
    ends = random.integers(0, 2 * np.arange(newcomers.size) + 1)
    while np.any(copies := ends % 2 == 1):
        ends[copies] = ends[ends[copies] // 2]
    return read_graph((newcomers, newcomers[ends // 2]), n)


def _distinct(n: int, count: int, random: np.random.Generator, share: float | None) -> Edges:
    """So many different pairs, drawn again where they repeat."""
    keys = np.zeros(0, dtype=np.int64)
    while keys.size < count:
        u, v = _pairs(n, count - keys.size + 16, random, share)
        proper = u != v
        u, v = np.minimum(u, v)[proper], np.maximum(u, v)[proper]
        fresh = np.sort(np.concatenate([keys, u * n + v]))
        fresh = fresh[np.concatenate([[True], fresh[1:] > fresh[:-1]])]
        keys = fresh if fresh.size <= count else np.sort(random.permutation(fresh)[:count])
    return read_graph((keys // n, keys % n), n)


def _pairs(n: int, count: int, random: np.random.Generator, share: float | None) -> tuple[Pairs, Pairs]:
    u, v = random.integers(0, n, (2, count))
    if share is None:
        return u, v
    half = n // 2
    first = u < half
    crosses = random.random(count) < share
    inside_first = first ^ crosses
    low, high = np.where(inside_first, 0, half), np.where(inside_first, half, n)
    return u, random.integers(low, high)


def _size(nodes: object) -> int:
    n = read_count("nodes", nodes, least=4)
    if n > MOST_NODES:
        raise InvalidParameter("nodes", nodes, f"be at most {MOST_NODES:,}")
    return n


def _degree(degree: object, nodes: object) -> float:
    mean, n = float(read_number("degree", degree)), _size(nodes)
    if not 0 <= mean <= n / 4:
        raise InvalidParameter("degree", degree, f"lie in [0, {n / 4:g}], a quarter of the nodes")
    return mean

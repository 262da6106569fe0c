"""Graphs, read from whatever they come in: each pair of nodes once, its weight in [0, 1].

A pair's weight is the sum of all that is said about it, clipped to [0, 1]; negative weights become 0. Loops cross no
cut and are left out. What is malformed is refused, and it does not matter to privacy: nothing is released then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indistinct.errors import InvalidParameter
from indistinct.noise.given import PRIVATE

__all__ = ["MOST_NODES", "Edges", "Integers", "read_graph"]

Integers = NDArray[np.int64]

MOST_NODES = 100_000_000


@dataclass(frozen=True, eq=False, slots=True)
class Edges:
    """The pairs u < v of weight above 0, sorted by u and then v."""

    nodes: int
    u: Integers
    v: Integers
    weight: NDArray[np.float32]
    names: tuple[str | int, ...] | None = None
    """What the nodes are called, where they are not called 0, 1, 2, ..."""

    @property
    def count(self) -> int:
        """How many there are."""
        return self.u.size

    def cut(self, inside: NDArray[np.bool_]) -> float:
        """The true weight between a set of nodes and the others: nothing private about it."""
        crossing = inside[self.u] != inside[self.v]
        return float(np.sum(self.weight[crossing], dtype=np.float64))


def read_graph(graph: Any, nodes: int) -> Edges:
    """An undirected graph of a known number of nodes.

    From edge arrays (u, v) or (u, v, weight) of nodes counted from 0; a SciPy sparse or NumPy adjacency matrix, which
    must be symmetric; or a NetworkX graph, whose nodes are sorted: their own order tells which edges came first.

    >>> read_graph(([0, 1, 2, 2], [1, 0, 2, 1], [0.5, 0.25, 1, 7]), 3).weight.tolist()
    [0.75, 1.0]
    """
    match graph:
        case Edges():
            if graph.nodes != nodes:
                raise _of_other_size(graph.nodes, nodes)
            # Read as all others are: anybody may have made it.
            return replace(_of_arrays(nodes, graph.u, graph.v, graph.weight), names=graph.names)
        case _ if callable(getattr(graph, "tocoo", None)):
            return _of_matrix(graph.tocoo(), nodes)
        case np.ndarray() if graph.ndim == 2 and graph.shape[0] == graph.shape[1]:
            return _of_dense(graph, nodes)
        case _ if callable(getattr(graph, "adjacency", None)) and hasattr(graph, "is_directed"):
            return _of_networkx(graph, nodes)
        case Sequence() if len(graph) in (2, 3) and not isinstance(graph, str):
            return _of_arrays(nodes, *graph)
    raise InvalidParameter(
        "graph",
        type(graph).__name__,
        "be edge arrays (u, v) or (u, v, weight), a symmetric matrix or a NetworkX graph",
    )


def _of_arrays(nodes: int, u: Any, v: Any, weight: Any = None) -> Edges:
    first, second = _indices("u", u, nodes), _indices("v", v, nodes)
    weights = np.ones(first.size, dtype=np.float32) if weight is None else _weights(weight)
    if not first.size == second.size == weights.size:
        raise InvalidParameter("the lengths of the edge arrays", PRIVATE, "be the same")
    return _merged(nodes, first, second, weights)


def _of_matrix(matrix: Any, nodes: int) -> Edges:
    """From coordinates in which each pair occurs twice, once either way round."""
    if tuple(matrix.shape) != (nodes, nodes):
        raise _of_other_size(matrix.shape, nodes)
    row, column = _indices("a row", matrix.row, nodes), _indices("a column", matrix.col, nodes)
    weights = _weights(matrix.data)
    upper = row < column
    above = _merged(nodes, row[upper], column[upper], weights[upper])
    lower = row > column
    below = _merged(nodes, row[lower], column[lower], weights[lower])
    if not all(np.array_equal(a, b) for a, b in ((above.u, below.u), (above.v, below.v), (above.weight, below.weight))):
        raise InvalidParameter("the matrix", "not", "be symmetric", instead="An edge is written either way round.")
    return above


def _of_dense(matrix: NDArray[Any], nodes: int) -> Edges:
    if matrix.shape != (nodes, nodes):
        raise _of_other_size(matrix.shape, nodes)
    weights = _weights(matrix.ravel()).reshape(matrix.shape)
    if not np.array_equal(weights, weights.T):
        raise InvalidParameter("the matrix", "not", "be symmetric", instead="An edge is written either way round.")
    u, v = np.nonzero(np.triu(weights, 1))
    return _merged(nodes, u, v, weights[u, v])


def _of_networkx(graph: Any, nodes: int) -> Edges:
    if graph.is_directed():
        raise InvalidParameter("graph", "directed", "be undirected", instead="graph.to_undirected() is.")
    if len(graph) != nodes:
        raise _of_other_size(len(graph), nodes)
    if not all(isinstance(name, str | int) for name in graph):
        raise InvalidParameter("a node's name", "neither", "be text or a whole number")
    names = tuple(sorted(graph, key=lambda name: (isinstance(name, str), name)))
    plain = names == tuple(range(nodes))
    places = {name: place for place, name in enumerate(names)}
    u, v, weight = [], [], []
    for one, other, value in graph.edges(data="weight", default=1.0):
        u.append(places[one])
        v.append(places[other])
        weight.append(value)
    found = _of_arrays(nodes, u, v, weight)
    return found if plain else replace(found, names=names)


def _indices(name: str, values: Any, nodes: int) -> Integers:
    array = np.asarray(values)
    if array.size == 0:
        return np.zeros(0, dtype=np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InvalidParameter(name, PRIVATE, "be a list of whole numbers, the places of the nodes")
    if array.min() < 0 or array.max() >= nodes:
        raise InvalidParameter(name, PRIVATE, f"be nodes from 0 to {nodes - 1}")
    return array.astype(np.int64)


def _weights(values: Any) -> NDArray[np.float32]:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidParameter("weight", type(values).__name__, "be a list of numbers") from None
    if array.ndim != 1:
        raise InvalidParameter("weight", PRIVATE, "be a list of numbers")
    if np.any(np.isnan(array)):
        raise InvalidParameter("weight", float("nan"), "be a number on every edge")
    return np.asarray(np.clip(array, -1e9, 1e9), dtype=np.float32)


def _merged(nodes: int, one: Integers, other: Integers, weights: NDArray[np.float32]) -> Edges:
    """Each pair once, sorted; weights added up and clipped."""
    proper = one != other
    if not np.all(proper):
        one, other, weights = one[proper], other[proper], weights[proper]
    u, v = np.minimum(one, other), np.maximum(one, other)
    keys = u * nodes + v
    if not np.all(keys[1:] > keys[:-1]):
        order = np.argsort(keys, kind="stable")
        keys, weights = keys[order], weights[order]
        starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if keys.size else keys
        weights = np.add.reduceat(weights, starts, dtype=np.float64).astype(np.float32) if keys.size else weights
        keys = keys[starts]
        u, v = keys // nodes, keys % nodes
    weights = np.clip(weights, 0, 1)
    some = weights > 0
    if not np.all(some):
        u, v, weights = u[some], v[some], weights[some]
    return Edges(nodes, u, v, weights)


def _of_other_size(shape: object, nodes: int) -> InvalidParameter:
    return InvalidParameter(
        "the number of nodes of the graph",
        shape,
        f"be {nodes}, as the sketch was planned for",
        instead="It is public, and must be known before the graph is looked at.",
    )

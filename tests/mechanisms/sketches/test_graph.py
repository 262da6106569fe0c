"""Graphs from all that they come in, and random ones."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from indistinct import CutSketch
from indistinct.errors import InvalidParameter, MissingExtra
from indistinct.mechanisms.sketches.files import read_edges
from indistinct.mechanisms.sketches.generators import erdos_renyi, planted_partition, preferential_attachment
from indistinct.mechanisms.sketches.graph import Edges, read_graph
from tests.mechanisms.sketches.dense import edge_arrays, random_weights

NODES = 12
WEIGHTS = random_weights(NODES, 2)
EXAMPLES = Path(__file__).parents[3] / "examples"


def same(one: Edges, other: Edges) -> bool:
    return all(np.array_equal(a, b) for a, b in ((one.u, other.u), (one.v, other.v), (one.weight, other.weight)))


def test_a_graph_is_the_same_in_every_form(tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    u, v, weight = edge_arrays(WEIGHTS)
    expected = read_graph((u, v, weight), NODES)
    order = np.random.default_rng(1).permutation(u.size)
    parquet.write_table(pa.table({"from": v, "to": u, "w": weight}), tmp_path / "edges.parquet")
    np.savetxt(tmp_path / "edges.csv", np.c_[u, v, weight], delimiter=",", fmt=["%d", "%d", "%.17g"])
    (tmp_path / "named.csv").write_text("# edges\nu, v, weight\n" + (tmp_path / "edges.csv").read_text())
    forms: list[Any] = [
        (v[order], u[order], weight[order]),
        [u.tolist(), v.tolist(), weight.tolist()],
        sparse.csr_array(WEIGHTS),
        sparse.coo_matrix(WEIGHTS),
        WEIGHTS,
        nx.from_numpy_array(WEIGHTS),
        read_edges(tmp_path / "edges.parquet", NODES),
        read_edges(tmp_path / "edges.csv", NODES),
        read_edges(tmp_path / "named.csv", NODES),
    ]
    for form in forms:
        assert same(read_graph(form, NODES), expected)


def test_pairs_are_added_up_and_clipped() -> None:
    graph = read_graph(([0, 1, 0, 2, 3, 1], [1, 0, 2, 0, 3, 2], [0.5, 0.25, 3, 0.1, 1, -2]), 4)
    assert list(zip(graph.u, graph.v, graph.weight, strict=True)) == [(0, 1, 0.75), (0, 2, 1.0)]
    assert read_graph(([], []), 4).count == 0
    assert read_graph(([0], [1], [math.inf]), 2).weight.tolist() == [1.0]
    assert graph.cut(np.array([True, False, False, False])) == 1.75


def test_edges_of_ones_own_making_are_read_like_all_others() -> None:
    """Weights beyond 1, a pair twice: what would break the promise."""
    u, v = np.array([1, 0, 0]), np.array([0, 1, 2])
    made = Edges(3, u, v, np.array([5, 5, 0.25], dtype=np.float32), ("a", "b", "c"))
    graph = read_graph(made, 3)
    assert list(zip(graph.u, graph.v, graph.weight, strict=True)) == [(0, 1, 1.0), (0, 2, 0.25)]
    assert graph.names == ("a", "b", "c")
    with pytest.raises(InvalidParameter, match="planned for"):
        read_graph(made, 4)


def test_the_order_in_which_networkx_met_the_nodes_is_forgotten() -> None:
    """It is that of the edges: neighbours would be told apart by it."""
    edges = [("carol", "dave"), ("alice", "bob"), ("bob", "carol"), ("alice", "dave")]
    for some in (edges, edges[1:], edges[::-1]):
        assert read_graph(nx.Graph(some), 4).names == ("alice", "bob", "carol", "dave")
    whole = nx.Graph([(3, 1), (0, 2)])
    assert read_graph(whole, 4).names is None
    assert list(zip(*(side.tolist() for side in (read_graph(whole, 4).u, read_graph(whole, 4).v)), strict=True)) == [
        (0, 2),
        (1, 3),
    ]


@pytest.mark.parametrize(
    ("graph", "sentence"),
    [
        (([0], [4]), "nodes from 0 to 3, but is not"),
        (([-1], [2]), "nodes from 0 to 3, but is not"),
        (([0, 1], [2]), "lengths"),
        (([0.5], [2]), "whole numbers"),
        ((["a"], ["b"]), "whole numbers"),
        (([0], [1], [math.nan]), "a number on every edge"),
        (([0], [1], ["x"]), "list of numbers"),
        (([0], [1], [[1]]), "list of numbers"),
        (np.triu(np.ones((4, 4))), "symmetric"),
        (sparse.csr_array(np.triu(np.ones((4, 4)))), "symmetric"),
        (np.ones((3, 3)), "as the sketch was planned for"),
        (sparse.csr_array((5, 5)), "as the sketch was planned for"),
        (nx.Graph([(0, 1)]), "as the sketch was planned for"),
        (nx.DiGraph([(0, 1), (2, 3)]), "undirected"),
        (nx.Graph([((0, 1), "b"), ("c", "d")]), "name"),
        ("0,1", "edge arrays"),
        (7, "edge arrays"),
        (None, "edge arrays"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_graph_is_refused(graph: Any, sentence: str) -> None:
    with pytest.raises(InvalidParameter, match=sentence):
        CutSketch(4, 5, 1).release(graph)


@pytest.mark.parametrize(
    "text",
    ["a,b\nc,d\n", "0\n1\n", "0,1,2,3\n", "0,1\n2\n", "0.5,1\n", "0,nine\n", "0,1e300\n", "u,v\n0,1\n-1,2\n", "0,9\n"],
)
def test_files_that_hold_no_edges_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text(text)
    with pytest.raises(InvalidParameter):
        read_edges(tmp_path / "edges.csv", 4)


def test_parquet_is_an_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "edges.parquet").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"indistinct\[arrow\]"):
        read_edges(tmp_path / "edges.parquet", 4)


def test_other_files(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="exist"):
        read_edges(tmp_path / "nothing.csv", 4)
    (tmp_path / "edges.parquet").write_text("no Parquet")
    with pytest.raises(InvalidParameter, match="columns"):
        read_edges(tmp_path / "edges.parquet", 4)
    (tmp_path / "empty.csv").write_text("u,v\n")
    assert read_edges(tmp_path / "empty.csv", 4).count == 0


def test_the_karate_club() -> None:
    graph = read_edges(EXAMPLES / "karate.csv", 34)
    known = nx.karate_club_graph()
    assert set(zip(graph.u.tolist(), graph.v.tolist(), strict=True)) == {tuple(sorted(edge)) for edge in known.edges}
    assert graph.count == 78


# Random graphs.


def test_random_graphs_have_their_sizes_and_are_made_again() -> None:
    n = 3000
    flat, split, grown = erdos_renyi(n, 10), planted_partition(n, 10, across="0.2"), preferential_attachment(n, 5)
    for graph in (flat, split, grown):
        assert graph.nodes == n
        assert np.all(graph.u < graph.v)
        assert np.all(graph.weight == 1)
    assert abs(flat.count - 15_000) < 1000
    assert split.count == 15_000
    assert abs(split.cut(np.arange(n) < n // 2) / split.count - 0.2) < 0.03
    assert 0.95 * 5 * (n - 1) < grown.count <= 5 * (n - 1)
    degrees = np.bincount(np.concatenate([grown.u, grown.v]))
    assert degrees.max() > 10 * degrees.mean()  # hubs, which the others have none of
    assert np.bincount(np.concatenate([flat.u, flat.v])).max() < 4 * 10
    assert same(erdos_renyi(n, 10), flat)
    assert not same(erdos_renyi(n, 10, seed=1), flat)


def test_links_go_to_nodes_by_their_links() -> None:
    """A node's expected degree falls as the root of its place: about sqrt(100 / 3) apart here, on average of many."""
    first, later = [], []
    for seed in range(60):
        graph = preferential_attachment(400, 1, seed=seed)
        degrees = np.bincount(np.concatenate([graph.u, graph.v]), minlength=400)
        first.append(degrees[1:5].mean())
        later.append(degrees[81:120].mean())
    assert 4 < np.mean(first) / np.mean(later) < 8  # ends chosen evenly would give some 2.5


@pytest.mark.parametrize("make", [erdos_renyi, planted_partition, preferential_attachment])
def test_sizes_that_are_none_are_refused(make: Any) -> None:
    for nodes, other in [(3, 1), (100, 200), ("x", 1), (100, -1), (10**9, 2)]:
        with pytest.raises(InvalidParameter):
            make(nodes, other)
    with pytest.raises(InvalidParameter, match="across"):
        planted_partition(10, 2, across=2)

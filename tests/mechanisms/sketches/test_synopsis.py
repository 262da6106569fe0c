"""What a synopsis answers, how far it is off in a thousand draws, and how it is kept."""

from __future__ import annotations

import json
import math
import pickle
import zipfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from indistinct import CovarianceSketch, CutSketch
from indistinct.errors import InvalidParameter
from indistinct.mechanisms.sketches import CovarianceSynopsis, CutSynopsis, read_graph
from indistinct.mechanisms.sketches.accuracy import failure_of
from indistinct.mechanisms.sketches.drawing import grid_for
from tests.mechanisms.sketches.dense import edge_arrays, laplacian, random_weights
from tests.noise.budget import share
from tests.noise.sources import RepeatableBits

NODES = 30
F = Fraction


@pytest.fixture(scope="module")
def weights() -> Any:
    return random_weights(NODES, 7, share=0.4)


@pytest.fixture(scope="module")
def synopsis(weights: Any) -> CutSynopsis:
    return CutSketch(NODES, 64, 5).release(edge_arrays(weights), source=RepeatableBits(1))


def debiased(synopsis: CutSynopsis, inside: Any) -> float:
    """1/(1 - w/n) (1^T L~ 1 - w s (n - s)/n), as the paper has it, from the numbers themselves."""
    n, w = synopsis.sketch.nodes, float(synopsis.sketch.w)
    y = synopsis.numbers.T * synopsis.grid
    released = y.T @ y / len(y)
    s = np.count_nonzero(inside)
    return float((inside @ released @ inside - w * s * (n - s) / n) / (1 - w / n))


@pytest.mark.parametrize("size", [1, 2, 7, 15])
def test_a_cut_is_the_papers_formula(synopsis: CutSynopsis, size: int) -> None:
    inside = np.zeros(NODES)
    inside[np.random.default_rng(size).choice(NODES, size, replace=False)] = 1
    found = synopsis.cut(np.flatnonzero(inside))
    assert found == pytest.approx(debiased(synopsis, inside), rel=1e-5)  # but for rounding, of one side or the other
    outside = 1 - inside
    assert synopsis.cut(inside == 1) == found == synopsis.cut(outside == 1) == synopsis.cut(np.flatnonzero(outside))
    assert synopsis.form(inside) == pytest.approx(found, abs=1e-2)
    assert synopsis.form(inside + 3) == pytest.approx(synopsis.form(inside), rel=1e-9)
    assert synopsis.form(2 * inside) == pytest.approx(4 * synopsis.form(inside), rel=1e-9)


def test_many_cuts_are_each(synopsis: CutSynopsis) -> None:
    from scipy import sparse

    inside = np.random.default_rng(3).random((20, NODES)) < np.linspace(0, 1, 20)[:, None]
    one_by_one = [synopsis.cut(row) for row in inside]
    assert synopsis.cuts(inside).tolist() == one_by_one
    assert synopsis.cuts(inside.astype(int).tolist()).tolist() == one_by_one
    assert synopsis.cuts(sparse.csr_array(inside.astype(float))).tolist() == one_by_one
    assert synopsis.cuts(sparse.coo_matrix(inside)).tolist() == one_by_one
    assert synopsis.cut([]) == synopsis.cut(range(NODES)) == 0


def test_names_stand_for_nodes() -> None:
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(["Ann", "Bob", 3])
    graph.add_edge("Ann", "Bob", weight=0.5)
    graph.add_edge(3, "Bob")
    synopsis = CutSketch(3, 5000, "0.1").release(graph)
    assert synopsis.cut(["Bob"]) == pytest.approx(1.5, abs=0.3)
    assert synopsis.cut(["Ann"]) == pytest.approx(0.5, abs=0.3)
    assert synopsis.cut(["Ann", 3]) == synopsis.cut(["Bob"])
    with pytest.raises(InvalidParameter, match="by its name"):
        synopsis.cut(["Eve"])


# Utility.


@pytest.mark.parametrize("size", [1, 5, 15])
def test_the_promise_is_kept_in_a_thousand_draws(weights: Any, size: int) -> None:
    """At least 1 - nu of the draws are within (eta, tau); and the exact promise fails as often as it says.

    The number of failures at the exact eta is binomial: bounded both ways with a share of the false-alarm budget. A
    sketch whose noise is 20% too large in scale fails the promise much more often than one time in twenty.
    """
    draws, nu = 1000, F(1, 20)
    plan = CutSketch.plan(nodes=NODES, epsilon=3, delta="1e-3", eta="0.5", nu=nu)
    inside = np.arange(NODES) < size
    edges = read_graph(edge_arrays(weights), NODES)
    truth = float(inside @ laplacian(weights) @ inside)
    assert edges.cut(inside) == pytest.approx(truth, rel=1e-6)
    answers = np.array([plan.release(edges, progress=False).cut(inside) for _ in range(draws)])
    promise = plan.accuracy(size)

    def failures(found: Any, eta: float, tau: float) -> int:
        return int(np.sum((found < (1 - eta) * truth - tau) | (found > (1 + eta) * truth + tau)))

    assert failures(answers, promise.eta, promise.tau) <= float(nu) * draws
    exact = failures(answers, promise.exact_eta, promise.exact_tau)
    spread = math.sqrt(math.log(2 / share()) / (2 * draws))
    assert abs(exact / draws - float(nu)) < spread
    w, n = float(plan.w), NODES
    added = w * size * (n - size) / n
    too_loud = ((answers * (1 - w / n) + added) * 1.44 - added) / (1 - w / n)
    assert failures(too_loud, promise.exact_eta, promise.exact_tau) / draws > float(nu) + 2 * spread
    intervals = [promise.interval(answer) for answer in answers]
    assert sum(not low <= truth <= high for low, high in intervals) <= exact


def test_the_answers_have_the_exact_law_of_a_chi_square(weights: Any) -> None:
    """The mean of 1,000 draws of r = 74 rows is that of 74,000: within the exact law's bound for those."""
    plan = CutSketch.plan(nodes=NODES, epsilon=3, delta="1e-3", eta="0.5", nu="0.2")
    inside = np.arange(NODES) % 2 == 0
    edges = read_graph(edge_arrays(weights), NODES)
    mean = np.mean([plan.release(edges, progress=False).cut(inside) for _ in range(1000)])
    w, n, s = float(plan.w), NODES, NODES // 2
    added = w * s * (n - s) / n
    whole = edges.cut(inside) * (1 - w / n) + added
    ratio = (mean * (1 - w / n) + added) / whole
    eta = F(1, 30)
    assert failure_of(1000 * plan.r, eta).upper < share()
    assert abs(ratio - 1) < float(eta)
    assert abs(1.2**2 * ratio - 1) > float(eta)
    assert abs(0.8**2 * ratio - 1) > float(eta)


# Files.


def test_it_is_kept_and_read_again(synopsis: CutSynopsis, tmp_path: Path) -> None:
    synopsis.save(tmp_path / "graph.synopsis")
    again = CutSynopsis.load(tmp_path / "graph.synopsis")
    assert again.sketch == synopsis.sketch
    assert np.array_equal(again.numbers, synopsis.numbers)
    assert again.cut([1, 2]) == synopsis.cut([1, 2])
    named = CutSynopsis(synopsis.sketch, synopsis.numbers, (*(f"node {i}" for i in range(NODES - 1)), 7))
    named.save(tmp_path / "named")
    assert CutSynopsis.load(tmp_path / "named").cut(["node 1", "node 2", 7]) == synopsis.cut([1, 2, NODES - 1])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["graph.synopsis", "named"]


def header_changed(path: Path, **changes: object) -> Path:
    with zipfile.ZipFile(path) as archive:
        header, numbers = json.loads(archive.read("header.json")), archive.read("numbers.npy")
    other = path.with_name("changed")
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("header.json", json.dumps(header | changes))
        archive.writestr("numbers.npy", numbers)
    return other


def test_what_is_not_an_undamaged_synopsis_is_refused(synopsis: CutSynopsis, tmp_path: Path) -> None:
    path = tmp_path / "synopsis"
    synopsis.save(path)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"version": 2}, "version of the file must be 1"),
        ({"kind": "covariance"}, "kind of the synopsis"),
        ({"kind": "unknown"}, "kind of the synopsis"),
        ({"format": "other"}, "undamaged"),
        ({"sha256": "0" * 64}, "undamaged"),
        ({"nodes": 31}, "undamaged"),
        ({"w": "1/0"}, "undamaged"),
        ({"w": "40"}, "undamaged"),
        ({"names": ["one"]}, "undamaged"),
        ({"names": [["one"]] * 30}, "undamaged"),
        ({"w": "1/1000"}, "undamaged"),
    ]
    for changes, sentence in wrong:
        with pytest.raises(InvalidParameter, match=sentence):
            CutSynopsis.load(header_changed(path, **changes))
    whole = path.read_bytes()
    for damaged in (b"", b"PK", whole[: len(whole) // 2], whole[:300] + b"\0\0\0\0" + whole[304:]):
        path.write_bytes(damaged)
        with pytest.raises(InvalidParameter, match="undamaged"):
            CutSynopsis.load(path)
    with pytest.raises(InvalidParameter, match="exist"):
        CutSynopsis.load(tmp_path / "nothing")
    with pytest.raises(InvalidParameter, match="can be written"):
        synopsis.save(tmp_path / "no" / "such" / "folder")


def test_a_file_that_would_run_something_is_not_run(synopsis: CutSynopsis, tmp_path: Path) -> None:
    path = tmp_path / "synopsis"
    synopsis.save(path)
    with zipfile.ZipFile(path) as archive:
        header = archive.read("header.json")
    objects = np.array([[object()]], dtype=object)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", header)
        with archive.open("numbers.npy", "w") as member:
            np.lib.format.write_array(member, np.array([[pickle.dumps(1)]], dtype=object), allow_pickle=True)
    with pytest.raises(InvalidParameter, match="undamaged"):
        CutSynopsis.load(path)
    assert objects.size == 1


@pytest.mark.parametrize(
    "nodes", [[NODES], [-1], [0.5], ["one"], np.ones(3, dtype=bool), np.ones((2, 2), dtype=int)], ids=repr
)
def test_nodes_that_are_none_are_refused(synopsis: CutSynopsis, nodes: Any) -> None:
    with pytest.raises(InvalidParameter):
        synopsis.cut(nodes)


WRONG_MATRICES: list[Any] = [np.ones(NODES), np.ones((2, 5)), np.full((2, NODES), 0.5), [["a"] * NODES]]
WRONG_ROWS: list[Any] = [
    *(np.ones(3), np.ones((2, 4)), np.full((1, 3), math.inf)),
    *([[1, 2, math.nan]], "text", 5, [["a"] * 3]),
]


@pytest.mark.parametrize("matrix", WRONG_MATRICES, ids=str)
def test_indicators_that_are_none_are_refused(synopsis: CutSynopsis, matrix: Any) -> None:
    with pytest.raises(InvalidParameter, match="indicators"):
        synopsis.cuts(matrix)
    with pytest.raises(InvalidParameter, match="finite"):
        synopsis.form(np.full(NODES, math.nan))


# Matrices.


def test_a_covariance_has_the_law_of_its_definition() -> None:
    """Any direction's answer is chi-square, exactly; rows longer than the bound count as if they ended there."""
    random = np.random.default_rng(1)
    matrix = random.standard_normal((200, 4))
    matrix[0] *= 1000
    lengths = np.linalg.norm(matrix, axis=1)
    clipped = matrix * np.minimum(1, 2 / lengths)[:, None]
    rows, w = 40_000, 3.0
    sketch = CovarianceSketch(4, rows, 3, bound=2)
    released = sketch.release(iter([matrix[:50], matrix[50:51], matrix[51:51], matrix[51:]]))
    eta = F(1, 10)
    assert failure_of(rows, eta).upper * 12 < share()
    for way in [*np.identity(4), *random.standard_normal((8, 4))]:
        true, added = float(way @ clipped.T @ clipped @ way), w**2 * float(way @ way)
        measured = released.variance(way) + added
        assert abs(measured / (true + added) - 1) < float(eta)
        assert abs(1.44 * measured / (true + added) - 1) > float(eta)
        assert released.matrix() @ way @ way == pytest.approx(released.variance(way), rel=1e-6)


def test_a_covariance_is_kept(tmp_path: Path) -> None:
    released = CovarianceSketch(3, 10, "1.5").release(np.identity(3))
    released.save(tmp_path / "file")
    again = CovarianceSynopsis.load(tmp_path / "file")
    assert again.sketch == released.sketch
    assert again.variance([1, 2, 3]) == released.variance([1, 2, 3])
    assert released.grid == grid_for(1.5)
    with pytest.raises(InvalidParameter, match="kind"):
        CutSynopsis.load(tmp_path / "file")
    with pytest.raises(InvalidParameter, match="undamaged"):
        CovarianceSynopsis.load(header_changed(tmp_path / "file", bound="x"))


@pytest.mark.parametrize("rows", WRONG_ROWS, ids=str)
def test_rows_that_are_none_are_refused(rows: Any) -> None:
    with pytest.raises(InvalidParameter, match="rows"):
        CovarianceSketch(3, 10, 1).release(rows if isinstance(rows, np.ndarray) else [rows])

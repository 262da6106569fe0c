"""MWEM: exact answers, what it spends, what it learns, and the law of a round."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import sparse

from indistinct import MWEM, ExponentialMechanism, PureDP, compose
from indistinct.errors import InvalidParameter
from indistinct.mechanisms.workload import Workload
from tests.mechanisms.selection_laws import exponential_law
from tests.noise.budget import band
from tests.noise.sources import RepeatableBits

F = Fraction
TRIALS = 6_000


def intervals(cells: int) -> Any:
    return np.array([[low <= x < high for x in range(cells)] for high in range(1, cells + 1) for low in range(high)])


def test_a_round_chooses_and_measures_by_the_exact_laws() -> None:
    """One round on three cells: the weights of the choice from exact scores, the noise of the measurement."""
    histogram, queries = [9, 1, 2], [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    mechanism = MWEM(2, rounds=1)
    assert mechanism.each_epsilon == 1
    measured = [mechanism.release(histogram, queries, total=12).measured[0] for _ in range(TRIALS)]
    scores, allowed = [5, 3, 2], band(TRIALS)  # against four in each cell
    found = np.cumsum(np.bincount([at for at, _ in measured], minlength=3)) / TRIALS
    with mpmath.workdps(15):
        truth, narrow, wide = (
            np.cumsum([float(p) for p in exponential_law(scores, scale)]) for scale in (2, F(6, 5), 4)
        )
    assert np.abs(found - truth).max() <= allowed
    assert np.abs(found - narrow).max() > allowed
    assert np.abs(found - wide).max() > allowed

    noise = np.array([answer - 9 for at, answer in measured if at == 0])
    places, q = np.arange(-9, 3), math.exp(-1)  # the answer is kept within 12 of zero
    counted = np.array([(noise <= place).mean() for place in places])
    law = np.array([1 - q ** (x + 1) / (1 + q) if x >= 0 else q ** (-x) / (1 + q) for x in places])
    within = band(len(noise))
    assert np.abs(counted - law).max() <= within
    assert set((noise - np.floor(noise)).tolist()) == {0}


def test_the_answers_are_learned() -> None:
    """With much epsilon, 60 rounds on 55 intervals of ten cells come near to all of them."""
    histogram = np.array([5, 80, 300, 20, 0, 0, 400, 90, 100, 5])
    queries = intervals(10).astype(np.int64)
    released = MWEM(1000, rounds=60).release(histogram, queries, total=1000)
    uniform = np.abs(queries @ np.full(10, 100) - queries @ histogram).max()
    error = np.abs(released.answers - queries @ histogram).max()
    assert error < uniform / 2
    assert error <= MWEM(1000, rounds=60).accuracy("1e-9", cells=10, queries=55, total=1000).alpha
    assert released.cells.sum() == pytest.approx(1000)
    assert released.answer(queries[7]) == pytest.approx(released.answers[7])
    assert len(released.measured) == 60
    # Measured queries are known to within the noise of 120 / 1000, nearly always.
    assert np.mean([abs(answer - queries[at] @ histogram) <= 1 for at, answer in released.measured]) > 0.9
    with pytest.raises(InvalidParameter, match="each of the 10 cells"):
        released.answer([1, 0])


def test_all_forms_of_queries_are_the_same() -> None:
    histogram, queries = [3, 1, 4, 1, 5], intervals(5).astype(np.float64) * 0.5
    forms: list[tuple[Any, Any]] = [
        (queries, None),
        (queries.tolist(), 15),
        (sparse.csr_array(queries), None),
        (sparse.coo_matrix(queries), None),
        (lambda at: queries[at], 15),
    ]
    released = [
        MWEM(5, rounds=4).release(histogram, form, total=14, count=count, source=RepeatableBits(2))
        for form, count in forms
    ]
    for other in released[1:]:
        assert other.measured == released[0].measured
        assert np.allclose(other.answers, released[0].answers, rtol=1e-12)


@pytest.mark.parametrize("scale", [1, 2**42])
def test_true_answers_are_exact(scale: int) -> None:
    """In floats where they are whole numbers below 2^53, in integers beyond."""
    generator = np.random.default_rng(5)
    histogram = generator.integers(0, 1000, 40) * scale + generator.integers(0, 3, 40)
    matrix = generator.integers(-8, 9, (600, 40)) / 8
    for queries in (matrix, sparse.csr_array(matrix)):
        workload = Workload.read(queries, 40, F(1), None)
        assert workload.unit == F(1, 8)
        truth = [sum(int(8 * q) * int(x) for q, x in zip(row, histogram, strict=True)) for row in matrix]
        assert workload.exact_answers(histogram, 2**60).tolist() == truth
        assert workload.exact_answers(histogram, 1000).tolist() == [min(max(each, -1000), 1000) for each in truth]
        assert workload.row(7).tolist() == (8 * matrix[7]).tolist()


def test_what_is_charged() -> None:
    mechanism = MWEM("0.4", rounds=20, sensitivity=2)
    assert mechanism.loss == PureDP("0.4")
    assert mechanism.parts == {ExponentialMechanism("0.01", 2): 20, PureDP("0.01"): 20}
    assert compose(mechanism.parts).epsilon("1e-6").upper < 0.4


def test_a_person_changes_scores_and_measurements_by_the_sensitivity() -> None:
    """The scale of the choice and of the measurement follow the declared sensitivity: twice as much noise for two."""
    histogram, queries = [900, 100], [[1, 0], [0, 1]]
    errors = []
    for sensitivity in (1, 8):
        mechanism = MWEM(2, rounds=1, sensitivity=sensitivity)
        answers = [mechanism.release(histogram, queries, total=1000).measured[0] for _ in range(TRIALS // 4)]
        errors.append(np.mean([abs(answer - histogram[at]) for at, answer in answers]))
    assert errors[1] / errors[0] == pytest.approx(8, rel=0.5)


def test_theorem_2_2() -> None:
    """As printed, at beta = 2 rounds / queries, but for the lattices' 2."""
    n, cells, queries, rounds, epsilon = 5000, 64, 2000, 12, 0.7
    mechanism = MWEM("0.7", rounds)
    beta = F(2 * rounds, queries)
    found = mechanism.accuracy(beta, cells=cells, queries=queries, total=n)
    printed = 2 * n * math.sqrt(math.log(cells) / rounds) + 10 * rounds * math.log(queries) / epsilon
    assert found.alpha == pytest.approx(printed + 2, rel=1e-12)
    back = mechanism.failure(found.alpha, cells=cells, queries=queries, total=n)
    assert back.beta == pytest.approx(float(beta), rel=1e-9)


def test_the_total_is_never_read_from_the_data() -> None:
    """The same bits, another histogram with the same answers to what is asked: the same release."""
    queries = [[1, 1, 0], [0, 0, 1]]
    one, other = (
        MWEM(1, rounds=3).release(histogram, queries, total=10, source=RepeatableBits(1))
        for histogram in ([4, 2, 4], [1, 5, 4])
    )
    assert one.measured == other.measured
    assert one.cells.tolist() == other.cells.tolist()


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("histogram", {"histogram": [1.0, 2.0]}),
        ("histogram", {"histogram": [-1, 2]}),
        ("histogram", {"histogram": []}),
        ("histogram", {"histogram": [[1, 2]]}),
        ("histogram", {"histogram": [[1], [2, 3]]}),
        ("queries", {"queries": [[1, 0, 0]]}),
        ("queries", {"queries": []}),
        ("queries", {"queries": [[1, 2]]}),
        ("queries", {"queries": [[1, math.nan]]}),
        ("queries", {"queries": [[1, math.inf]]}),
        ("queries", {"queries": [[1, 0.1]]}),
        ("queries", {"queries": [["a", "b"]]}),
        ("queries", {"queries": sparse.csr_array(np.ones((2, 3)))}),
        ("queries", {"queries": sparse.csr_array(np.ones((2, 2)) * 3)}),
        ("queries", {"queries": lambda at: [1, 0, at], "count": 2}),
        ("count", {"queries": lambda at: [1, at]}),
        ("count", {"count": 3}),
        ("histogram", {"histogram": [True, 4]}),
        ("histogram", {"histogram": [3, 4.0]}),
        ("histogram", {"histogram": np.ma.masked_array([3, 4], [True, False])}),
        ("total", {"total": 0}),
        ("total", {"total": "1e-20"}),
        ("total", {"total": "0.99"}),
        ("total", {"total": math.inf}),
        ("total", {"total": 10**17}),
    ],
)
def test_bad_input_is_refused(name: str, changed: dict[str, Any]) -> None:
    given: dict[str, Any] = {"histogram": [3, 4], "queries": [[1, 0], [0, 1]], "total": 7}
    with pytest.raises(InvalidParameter, match=name):
        MWEM(1, rounds=2).release(**(given | changed))


def test_bad_parameters_are_refused() -> None:
    for wrong in ({"rounds": 0}, {"epsilon": 0}, {"epsilon": math.inf}, {"sensitivity": 0}, {"rounds": 10**6}):
        with pytest.raises(InvalidParameter, match=next(iter(wrong))):
            MWEM(**{"epsilon": 1, "rounds": 3, **wrong})
    assert "rounds" in MWEM(1, 3)._repr_html_()


@pytest.mark.parametrize("sensitivity", ["1", "1e-5", "1000"])
@pytest.mark.parametrize("cells", [[0, 0], [10**6, 2], [2**62 - 1, 0]])
def test_the_least_total_gives_a_histogram_whatever_the_data(sensitivity: str, cells: list[int]) -> None:
    """Warnings are errors here: weights stay finite, and their sum the total."""
    size = float(sensitivity)
    unit = 2.0 ** math.floor(math.log2(size)) if size < 1 else 1.0
    for queries in ([[unit, 0], [0, unit]], [[unit, unit], [-unit, unit]], [[0, 0], [0, 0]]):
        released = MWEM(1, 40, sensitivity).release(cells, queries, total=1)
        assert np.isfinite(released.cells).all()
        assert released.cells.sum() == pytest.approx(1)


@pytest.mark.parametrize("largest", [2**40, 2**61, 2**62 - 1])
def test_no_histogram_is_refused_for_what_it_holds(largest: int) -> None:
    """Answers beyond what 64 bits hold are moved to the nearest that fit: neighbours stay neighbours."""
    queries = [[1, 0.5], [-1, 1]]
    for cells in ([largest, largest], [largest, largest - 1], [0, largest]):
        assert MWEM(1, rounds=2).release(cells, queries, total=10).cells.shape == (2,)
    workload = Workload.read(queries, 2, F(1), None)
    near, far = (workload.exact_answers(np.array([largest, x]), 2**50) for x in (largest, largest - 1))
    assert abs(near - far).max() <= 2

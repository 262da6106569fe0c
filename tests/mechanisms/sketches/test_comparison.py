"""The contest: errors by law against errors measured, laws by enumeration, and the crossings by brute force."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from indistinct import CutSketch, PureDP, compose
from indistinct.composition.planning.formulas import Question, pure_levels
from indistinct.errors import InvalidParameter
from indistinct.mechanisms.sketches.comparison import (
    CutContest,
    contest,
    laplace_error,
    response_error,
    sketch_error,
)
from indistinct.mechanisms.sketches.generators import erdos_renyi, planted_partition
from indistinct.mechanisms.sketches.graph import read_graph
from indistinct.mechanisms.sketches.plan import CutPlan
from tests.noise.sources import RepeatableBits


def plan(nodes: int, **changed: object) -> CutPlan:
    asked: dict[str, Any] = {"epsilon": 1, "delta": "1e-6", "eta": "0.25", "nu": "0.05", **changed}
    return CutSketch.plan(nodes=nodes, **asked)


@pytest.fixture(scope="module")
def found() -> CutContest:
    graph = planted_partition(200, 20)
    return contest(graph, plan(200), cuts=400, sizes=(1, 10, 100), repeats=10, source=RepeatableBits(3))


def test_all_that_the_papers_compare_take_part(found: CutContest) -> None:
    assert [contender.name for contender in found.contenders] == [
        "Laplace, basic composition",
        "Laplace, advanced composition",
        "Laplace, optimal composition",
        "exponential mechanism",
        "randomised response",
        "sketch",
    ]
    assert all(contender.measured is not None for contender in found.contenders)


def test_what_is_measured_is_what_the_laws_say(found: CutContest) -> None:
    """A thousand numbers each (the sketch's cuts of half the nodes hang together: 4,730 rows in ten draws)."""
    for contender in found.contenders:
        if contender.expected is not None:
            assert contender.measured is not None
            for expected, measured in zip(contender.expected, contender.measured, strict=True):
                assert measured == pytest.approx(expected, rel=0.3)


def test_laplace_noise_is_that_of_its_theorem(found: CutContest) -> None:
    levels = {f.theorem: f.value.lower for f in pure_levels(Question(Fraction(1), Fraction("1e-6"), 400, Fraction(1)))}
    for place, theorem in enumerate(("basic", "advanced", "optimal")):
        expected = found.contenders[place].expected
        assert expected is not None
        decay = math.exp(-levels[theorem])
        law = [(1 - decay) / (1 + decay) * decay ** abs(x) for x in range(-200_000, 200_001)]
        assert sum(law) == pytest.approx(1)
        variance = sum(p * x * x for p, x in zip(law, range(-200_000, 200_001), strict=True))
        assert expected[0] == pytest.approx(math.sqrt(variance), rel=1e-6)
    assert compose({PureDP(levels["optimal"]): 400}).delta(1).upper <= 1e-6
    sizes = [found.contenders[place].expected for place in range(3)]
    assert sizes == sorted(sizes, reverse=True)  # type: ignore[type-var]  # none is None


def test_the_exponential_mechanism_has_its_law() -> None:
    """With little noise it is discrete Laplace noise of scale 2 / epsilon_0; with much, even over all possible cuts."""
    graph = planted_partition(200, 20)
    quiet = contest(graph, plan(200, epsilon=3), cuts=3, sizes=(100,), repeats=60, source=RepeatableBits(5))
    each = next(c for c in quiet.contenders if c.name == "exponential mechanism")
    assert each.measured is not None
    scale = float(each.detail.removeprefix("scale "))
    assert each.measured[0] == pytest.approx(laplace_error(scale), rel=0.2)
    loud = contest(graph, plan(200, epsilon="0.01"), cuts=10**6, sizes=(1,), repeats=10, source=RepeatableBits(5))
    each = next(c for c in loud.contenders if c.name == "exponential mechanism")
    assert each.measured is not None
    degrees = np.bincount(np.concatenate([graph.u, graph.v]))
    even = math.sqrt(float(np.mean([np.mean((np.arange(200) - degree) ** 2) for degree in degrees])))
    assert each.measured[0] == pytest.approx(even, rel=0.1)


def test_a_response_has_the_variance_of_its_law() -> None:
    p = 1 / (1 + math.exp(1.5))
    one_told = [((1 - p) / (1 - 2 * p), 1 - p), (-p / (1 - 2 * p), p)]  # of an edge: value and probability
    mean = sum(value * chance for value, chance in one_told)
    assert mean == pytest.approx(1)
    variance = sum((value - mean) ** 2 * chance for value, chance in one_told)
    assert response_error(Fraction(3, 2), 101, 1) == pytest.approx(math.sqrt(100 * variance), rel=1e-9)


def test_the_crossings_are_where_the_errors_cross(found: CutContest) -> None:
    the_plan, edges, crossovers = found.plan, found.edges, found.crossovers
    for size, sentence in zip(found.sizes, crossovers, strict=False):
        from_on = int(sentence.split("from ")[1].split(" cuts")[0].replace(",", ""))
        own = sketch_error(the_plan, edges, size)

        def laplace(cuts: int) -> float:
            levels = pure_levels(Question(Fraction(1), Fraction("1e-6"), cuts, Fraction(1)))
            return laplace_error(1 / levels[-1].value.lower)

        assert laplace(from_on) > own >= laplace(from_on - 1)
    better = [s for s in range(1, 101) if sketch_error(the_plan, edges, s) < response_error(the_plan.epsilon, 200, s)]
    assert f"up to {len(better)} node" in crossovers[-1] or not better
    assert better == list(range(1, len(better) + 1))


def test_it_says_who_wins(found: CutContest) -> None:
    text = str(found)
    assert "200 nodes, 2,000 edges; (1, 1e-06)-private; 400 cuts" in text
    assert "the sketch is better than" in text
    flat = contest(planted_partition(2000, 20), plan(2000, epsilon="0.1"), cuts=1, sizes=(1,))
    assert "for cuts of any size" in flat.crossovers[-1] or "up to" in flat.crossovers[-1]


def test_large_graphs_are_not_answered_pair_by_pair() -> None:
    found = contest(erdos_renyi(5000, 4), plan(5000, eta="0.9", nu="0.5"), cuts=10)
    responses = next(c for c in found.contenders if c.name == "randomised response")
    assert responses.measured is None
    assert responses.expected is not None
    assert found.sizes == (1, 50, 2500)


@pytest.mark.parametrize("nodes", [12, 34])
def test_small_graphs_are_answered_by_multiplicative_weights_too(nodes: int) -> None:
    found = contest(erdos_renyi(nodes, 2), plan(nodes, epsilon=10), cuts=20, sizes=(1, 3), repeats=20)
    each = next(c for c in found.contenders if c.name == "multiplicative weights")
    assert each.measured is not None
    assert all(0 < error < nodes for error in each.measured)


def test_what_cannot_be_compared_is_refused() -> None:
    graph = erdos_renyi(200, 4)
    with pytest.raises(InvalidParameter, match="all be 1"):
        contest(read_graph(([0], [1], [0.5]), 200), plan(200))
    with pytest.raises(InvalidParameter, match="be 300"):
        contest(graph, plan(300))
    with pytest.raises(InvalidParameter, match="half the nodes"):
        contest(graph, plan(200), sizes=(101,))
    with pytest.raises(InvalidParameter, match="cuts"):
        contest(graph, plan(200), cuts=0)

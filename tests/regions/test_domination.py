from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from indistinct.errors import InvalidParameter
from indistinct.numbers import ln
from indistinct.regions import (
    DiscretePair,
    Domination,
    Region,
    SeparatingTest,
    Simulator,
    StochasticMap,
    dominates,
    dominating_pair,
    satisfies,
    simulator,
)
from tests.regions.pairs import deltas, epsilons, kernels, pairs

CLEAR = DiscretePair(["3/4", "1/4"], ["1/4", "3/4"])
DIM = DiscretePair(["3/5", "2/5"], ["2/5", "3/5"])


def distance_of_best_map(first: DiscretePair, second: DiscretePair) -> float:
    """The least total error of any stochastic map from first to second, by linear programming."""
    m, n = len(first), len(second)
    p, q = (np.array(law, dtype=float) for law in (first.null, first.alternative))
    produce = np.vstack([np.kron(p, np.eye(n)), np.kron(q, np.eye(n))])
    targets = np.array([*second.null, *second.alternative], dtype=float)
    slack = np.eye(2 * n)
    rows = np.hstack([np.kron(np.eye(m), np.ones(n)), np.zeros((m, 4 * n))])
    result = linprog(
        np.concatenate([np.zeros(m * n), np.ones(4 * n)]),
        A_eq=np.vstack([np.hstack([produce, slack, -slack]), rows]),
        b_eq=np.concatenate([targets, np.ones(m)]),
    )
    assert result.success
    return float(result.fun)


@given(pairs(), st.data())
def test_what_a_map_produces_is_dominated(pair: DiscretePair, data: st.DataObject) -> None:
    image = data.draw(kernels(len(pair))).apply(pair)
    found = dominates(pair, image)
    assert isinstance(found, Domination)
    assert found
    assert found.kernel.apply(pair) == image


@given(pairs(), pairs())
def test_the_decision_is_theorem_2_5(first: DiscretePair, second: DiscretePair) -> None:
    found = dominates(first, second)
    assert found.verify()
    assert bool(found) == Region.of(first).includes(Region.of(second))
    if isinstance(found, SeparatingTest):
        assert not Region.of(first).contains(found.errors.missed_detection, found.errors.false_alarm)
        assert found.margin > 0


@settings(max_examples=60)
@given(pairs(4), pairs(4))
def test_linear_programming_agrees(first: DiscretePair, second: DiscretePair) -> None:
    found, distance = dominates(first, second), distance_of_best_map(first, second)
    match found:
        case Domination():
            assert distance < 1e-6
        case SeparatingTest(tangent=tangent, margin=margin):
            # No map comes closer, since a law that misses by this much moves delta by at most as much.
            assert distance > float(margin / max(Fraction(1), tangent.ratio)) - 1e-6


@given(pairs())
def test_domination_is_an_order(pair: DiscretePair) -> None:
    assert dominates(pair, pair)
    assert dominates(pair, DiscretePair([1], [1]))
    assert dominates(DiscretePair([1, 0], [0, 1]), pair)
    assert dominates(pair.tensor(DIM), pair)


def test_planted_faults_are_noticed() -> None:
    found = dominates(CLEAR, DIM)
    assert isinstance(found, Domination)
    moved = {x: dict(row) for x, row in found.kernel.rows.items()}
    moved[0][0] -= Fraction(1, 10**12)
    moved[0][1] += Fraction(1, 10**12)
    assert found.verify()
    assert not replace(found, kernel=StochasticMap(moved, found.kernel.outputs)).verify()

    refuted = dominates(DIM, CLEAR)
    assert isinstance(refuted, SeparatingTest)
    assert refuted.verify()
    assert not replace(refuted, rejection=frozenset({0})).verify()
    assert not replace(refuted, margin=refuted.margin * 2).verify()
    assert not replace(refuted, first=CLEAR).verify()


def test_thousands_of_outcomes() -> None:
    places = np.linspace(-6, 7, 1500)
    laws = [np.exp(-((places - shift) ** 2) / 2) for shift in (0, 1)]
    wide = DiscretePair(*(law / law.sum() for law in laws))
    rows = {x: {x // 3: Fraction(2, 3), (7 * x) % 500: Fraction(1, 3)} for x in range(1500)}
    rows = {x: row if len(row) == 2 else {x // 3: Fraction(1)} for x, row in rows.items()}
    found = dominates(wide, StochasticMap(rows, tuple(range(500))).apply(wide))
    assert isinstance(found, Domination)
    assert sum(map(len, found.kernel.rows.values())) <= 2 * 2000


@given(pairs(), epsilons, deltas)
def test_every_private_pair_is_simulated(pair: DiscretePair, epsilon: object, delta: Fraction) -> None:
    if not satisfies(pair, epsilon, delta):
        with pytest.raises(InvalidParameter, match=r"delta must be at least .*, the pair's own delta at epsilon = "):
            simulator(pair, epsilon, delta)
        return
    made = simulator(pair, epsilon, delta)
    assert made.verify()
    assert made.kernel.apply(made.source) == pair
    assert made.source == dominating_pair(made.epsilon, delta)
    assert dominates(dominating_pair(epsilon, delta), made.source)
    assert not isinstance(epsilon, str) or made.source == dominating_pair(epsilon, delta)


@given(epsilons, deltas)
def test_the_region_of_the_dominating_pair_is_the_guarantee(epsilon: object, delta: Fraction) -> None:
    assert Region.of(dominating_pair(epsilon, delta)) == Region.of_guarantee(epsilon, delta)


def test_equations_12_and_13() -> None:
    pair = dominating_pair(ln(3), "1/5")
    assert pair.null == (Fraction(1, 5), Fraction(3, 5), Fraction(1, 5), Fraction(0))
    assert pair.alternative == (Fraction(0), Fraction(1, 5), Fraction(3, 5), Fraction(1, 5))
    wrong = Simulator(
        pair, CLEAR, ln(3), Fraction(1, 5), StochasticMap({x: {0: Fraction(1)} for x in range(4)}, (0, 1))
    )
    assert not wrong.verify()
    assert satisfies(dominating_pair(1, 0), 1 + Fraction(1, 2**128))
    assert not satisfies(dominating_pair(1, 0), 1)

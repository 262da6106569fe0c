"""Mechanisms with exact laws: what they declare holds, and what they release follows the law exactly."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indistinct import ApproximateDP, DiscretePair, PureDP, Region
from indistinct.composition.mechanism import (
    Database,
    ExactLaw,
    FiniteMechanism,
    four_point,
    geometric,
    leaking,
    randomized_response,
)
from indistinct.errors import InvalidParameter
from indistinct.regions import satisfies
from tests.composition.seeds import seeded

EPSILONS = ["ln(3)", "ln(3/2)", "0.1", 1, 0, "1e-60"]
DELTAS = [0, "1/5", "1e-9"]


class EveryNumber(Random):
    """Gives every whole number below a bound in turn, and records the bounds."""

    def __init__(self) -> None:
        super().__init__(0)
        self.bounds: set[int] = set()
        self.next = 0

    def randrange(self, *arguments: int) -> int:  # type: ignore[override]  # all that is called
        (bound,) = arguments
        self.bounds.add(bound)
        self.next += 1
        return self.next - 1


def many(database: Database) -> int:
    return len(database)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6).filter(any))
def test_draws_follow_the_law_exactly(weights: list[int]) -> None:
    total = sum(weights)
    law = ExactLaw({outcome: Fraction(weight, total) for outcome, weight in enumerate(weights)})
    random = EveryNumber()
    law.draw(random)
    (bound,) = random.bounds
    drawn = Counter(law.draw(random) for _ in range(1, bound))
    random.next = 0
    drawn[law.draw(random)] += 1
    assert drawn == {outcome: Fraction(w, total) * bound for outcome, w in enumerate(weights) if w}


def test_a_law_sums_to_one() -> None:
    with pytest.raises(InvalidParameter, match="the sum of a law must be one exactly"):
        ExactLaw({0: Fraction(1, 2), 1: Fraction(1, 3)})


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("most", [1, 2, 5])
def test_every_mechanism_keeps_what_it_declares(epsilon: object, delta: object, most: int) -> None:
    people = tuple(range(most))
    for mechanism in (leaking(geometric(epsilon, most), delta), four_point(epsilon, delta)):
        for here in range(most if mechanism.table.keys() != {0, 1} else 1):
            laws = mechanism.laws(many, people[:here], people[: here + 1])
            assert satisfies(laws, epsilon, delta)
            assert mechanism.guarantee in (PureDP(epsilon), ApproximateDP(epsilon, delta))


@pytest.mark.parametrize("epsilon", ["ln(3)", "ln(3/2)"])
@pytest.mark.parametrize("delta", DELTAS)
def test_every_mechanism_tells_as_much_as_its_guarantee_allows(epsilon: object, delta: object) -> None:
    whole = Region.of_guarantee(epsilon, delta)
    people = tuple(range(5))
    assert Region.of(four_point(epsilon, delta).laws(many, (), (1,))) == whole
    for here in range(5):
        counted = leaking(geometric(epsilon, 5), delta).laws(many, people[:here], people[: here + 1])
        assert Region.of(counted) == whole


def test_a_smaller_guarantee_does_not_hold() -> None:
    assert not satisfies(four_point("0.1", "1/5").laws(many, (), (1,)), "0.0999999999999", "1/5")
    assert not satisfies(four_point("0.1", "1/5").laws(many, (), (1,)), "0.1", "0.1999999999999")


@pytest.mark.parametrize("most", [1, 2, 7])
def test_geometric_is_two_sided_geometric_noise_moved_into_the_range(most: int) -> None:
    decay = Fraction(2, 3)

    def noise(z: int) -> Fraction:
        return (1 - decay) / (1 + decay) * decay ** abs(z)

    for count, row in geometric("ln(3/2)", most).table.items():
        assert isinstance(count, int)
        for y in range(1, most):
            assert row[y] == noise(y - count)
        at_most = {0: Fraction(1, 2) + noise(0) / 2}  # P(Z <= -c), by symmetry
        for c in range(most):
            at_most[c + 1] = at_most[c] - noise(c)
        assert row[0] == at_most[count]
        assert row[most] == at_most[most - count]


def test_randomized_response_is_the_two_coin_survey() -> None:
    assert randomized_response("ln(3)").table == {
        0: {0: Fraction(3, 4), 1: Fraction(1, 4)},
        1: {0: Fraction(1, 4), 1: Fraction(3, 4)},
    }


def test_leaks_add_up() -> None:
    twice = leaking(leaking(randomized_response("ln(3)"), "1/5"), "1/2")
    assert twice.guarantee == ApproximateDP("ln(3)", "3/5")
    plain = randomized_response("ln(3)")
    assert leaking(plain, 0) is plain


def test_laws_cover_the_outcomes_of_either_database() -> None:
    mechanism = FiniteMechanism(ApproximateDP(0, 1), {0: {"a": Fraction(1)}, 1: {"b": Fraction(1)}})
    laws = mechanism.laws(many, (), (1,))
    assert laws == DiscretePair({"a": 1, "b": 0}, {"a": 0, "b": 1})


def test_an_answer_outside_the_table_is_refused() -> None:
    with pytest.raises(InvalidParameter, match=r"the answer of the query must be one of 0, 1, but is 2\."):
        randomized_response(1).release(many, (1, 2), seeded(1))

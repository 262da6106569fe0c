"""Decimals read as floats: enclosed by two lattices that differ in the last place."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indistinct import ln
from indistinct.composition.lattice import Lattice
from indistinct.composition.responses import Responses
from indistinct.composition.rounding import RoundedComposition
from indistinct.composition.transform import TransformedComposition
from indistinct.numbers import Epsilon
from indistinct.numbers.balls import arb, bracket_of, precision
from tests.composition.oracles import convolved, faults, outcomes

F = Fraction
Parts = list[tuple[Epsilon, int]]
NARROW = 1e-10


def near(parts: Parts) -> RoundedComposition:
    found = RoundedComposition.near_decimals(Responses.of(parts))
    assert found is not None
    return found


def wrong(evaluator: RoundedComposition, parts: Parts, places: list[Epsilon], width: float = NARROW) -> list[str]:
    found = []
    with precision(192):
        for at in places:
            bracket = bracket_of(evaluator.delta(at))
            found += [f"at {at}: {fault}" for fault in faults(bracket, outcomes(parts, at), width)]
    return found


ORDINARY: Parts = [(F(0.3), 3), (F(0.7), 4), (F(0.1), 2), (F(1.1), 1)]
PLACES: list[Epsilon] = [F(0), F(0.25), ln(2), F(1), ln(5), F(3)]


def test_ordinary_parts() -> None:
    assert wrong(near(ORDINARY), ORDINARY, PLACES) == []


@given(
    st.lists(st.tuples(st.integers(1, 60).map(lambda m: F(m / 20)), st.integers(1, 3)), min_size=1, max_size=4),
    st.floats(0, 1),
)
@settings(max_examples=50, deadline=None)
def test_any_decimals_hold_the_truth(parts: Parts, share: float) -> None:
    place = F(share) * F(float(Responses.of(parts).largest_loss()))
    found = wrong(near(parts), parts, [place, F(0), parts[0][0]])
    assert [fault for fault in found if "width" not in fault] == []


def test_decimals_read_as_floats_are_as_good_as_exact() -> None:
    multiples = [20 + 7 * i for i in range(30)]
    spacing = F(1, 1000)
    evaluator = near([(F(m / 1000), 1) for m in multiples])
    assert any(m * spacing != F(m / 1000) for m in multiples)
    for at, tilt in ((F(1), 1.0), (F(2), 6.0)):
        truth = F(*convolved(spacing, multiples, at, tilt=tilt).as_integer_ratio())
        with precision(192):
            bracket = bracket_of(evaluator.delta(at))
        assert faults(bracket, truth, NARROW, doubt=F(1, 10**13)) == []


def test_a_place_off_is_still_near_and_more_is_not() -> None:
    """The two lattices reach one last place to either side."""
    tenth = F(0.1)
    assert RoundedComposition.near_decimals(Responses.of([(tenth, 1)])) is not None
    assert RoundedComposition.near_decimals(Responses.of([(F(1, 10) * (1 + F(1, 2**51)), 1)])) is None
    assert RoundedComposition.near_decimals(Responses.of([(F(1, 10) * (1 - F(1, 2**51)), 1)])) is None
    assert RoundedComposition.near_decimals(Responses.of([(tenth, 1), (F(0.1234567891234), 1)])) is None
    assert RoundedComposition.near_decimals(Responses.of([(ln(2), 1)])) is None


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("places", [F(1, 2), F(1), F(99, 100)])
def test_the_reach_is_enough(sign: int, places: F) -> None:
    """As far from the decimals as is accepted, all to one side."""
    parts: Parts = [(F(m, 10) * (1 + sign * places / 2**52), 2) for m in (1, 3, 7)]
    if RoundedComposition.near_decimals(Responses.of(parts)) is not None:
        assert wrong(near(parts), parts, PLACES[:-1]) == []


# Planted faults.


class OnlyBelow(RoundedComposition):
    """Both bounds from the shrunken lattice."""

    def delta(self, epsilon: Epsilon) -> arb:
        return self._below.delta(epsilon)


class Unstretched(RoundedComposition):
    """The decimals themselves, though the epsilons are floats."""

    def __init__(self, responses: Responses, spacing: Fraction) -> None:
        super().__init__(responses, spacing)
        multiples = [round(bound / float(spacing)) for bound in responses.epsilons.tolist()]
        times = [group.times for group in responses.groups]
        self._below = self._above = TransformedComposition(Lattice.of_multiples(spacing, multiples, times))


@pytest.mark.parametrize("kind", [OnlyBelow, Unstretched])
def test_bounds_on_one_side_only_are_noticed(kind: type[RoundedComposition]) -> None:
    planted = kind.near_decimals(Responses.of(ORDINARY))
    assert planted is not None
    assert [fault for fault in wrong(planted, ORDINARY, PLACES) if "width" not in fault] != []


def test_a_lost_count_is_noticed() -> None:
    assert wrong(near(ORDINARY[1:]), ORDINARY, PLACES) != []

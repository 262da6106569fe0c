"""Lattices: what lies on them, and where a loss passes an epsilon, to the last tie."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indistinct import ln
from indistinct.composition.lattice import LARGEST_MULTIPLE, Lattice, common_spacing
from indistinct.composition.responses import Response, Responses
from indistinct.numbers import Epsilon, NaturalLog
from indistinct.numbers.logarithm import sign_of_sum

F = Fraction


def on(*parts: tuple[Epsilon, int]) -> Lattice:
    lattice = Lattice.common(Responses.of(parts))
    assert lattice is not None
    return lattice


def test_the_coarsest_common_lattice() -> None:
    lattice = on((F(1, 10), 3), (F(1, 4), 2))
    assert lattice.spacing == F(1, 20)
    assert lattice.multiples == (2, 5)
    assert lattice.top == 3 * 2 + 2 * 5


@given(st.lists(st.fractions(F(1, 50), 5, max_denominator=50), min_size=1, max_size=6))
def test_all_epsilons_are_whole_multiples_without_a_common_factor(epsilons: list[F]) -> None:
    spacing = common_spacing(epsilons)
    if spacing is None:
        return
    multiples = [epsilon / spacing for epsilon in epsilons]
    assert all(multiple.denominator == 1 for multiple in multiples)
    assert not any(all((multiple / factor).denominator == 1 for multiple in multiples) for factor in range(2, 60))


def test_a_lattice_that_is_too_fine_is_none() -> None:
    assert common_spacing([F(1), F(1, LARGEST_MULTIPLE)]) == F(1, LARGEST_MULTIPLE)
    assert common_spacing([F(1), F(1, LARGEST_MULTIPLE + 1)]) is None
    assert common_spacing([F(1, 3**3000), F(1, 5**2000)]) is None
    assert Lattice.common(Responses.of([(F(0.1), 1), (F(0.3), 1)])) is None
    assert Lattice.common(Responses.of([(F(1), 1), (ln(3), 1)])) is None


def test_multiples_of_nothing_are_left_out_and_equal_ones_joined() -> None:
    lattice = Lattice.of_multiples(F(1, 8), [3, 0, 3, 5], [1, 100, 2, 4])
    assert lattice.multiples == (3, 5)
    assert [(group.epsilon, group.times) for group in lattice.responses.groups] == [(F(3, 8), 3), (F(5, 8), 4)]
    assert lattice.top == 29


def is_first_above(lattice: Lattice, first: int, epsilon: Epsilon) -> bool:
    """Whether the loss at `first` is above epsilon and the one before is not, exactly."""
    steps = 2 * first - lattice.top
    above = sign_of_sum((steps, lattice.spacing), (-1, epsilon)) > 0
    return above and not sign_of_sum((steps - 2, lattice.spacing), (-1, epsilon)) > 0


@given(
    st.one_of(
        st.fractions(F(1, 100), 10, max_denominator=100),
        st.floats(1e-3, 10).map(F),
        st.integers(2, 50).map(lambda x: NaturalLog(F(x))),
        st.integers(2, 50).map(lambda x: NaturalLog(F(x, x - 1))),
    ),
    st.integers(1, 10**15),
    st.one_of(
        st.floats(0, 1e6).map(F),
        st.fractions(0, 100, max_denominator=1000),
        st.integers(1, 10**6).map(lambda x: NaturalLog(F(x)) if x > 1 else F(0)),
    ),
)
@settings(max_examples=200, deadline=None)
def test_the_first_loss_above(spacing: Epsilon, times: int, epsilon: Epsilon) -> None:
    lattice = Lattice.of_equal(Response(spacing, times))
    assert is_first_above(lattice, lattice.first_above(epsilon), epsilon)


@pytest.mark.parametrize("ratio", [F(3), F(3, 2), F(1001, 1000)])
@pytest.mark.parametrize("times", [1, 2, 9, 10])
def test_ties_of_logarithms(ratio: F, times: int) -> None:
    lattice = Lattice.of_equal(Response(NaturalLog(ratio), times))
    for j in range((times + 1) // 2, times + 1):
        knot = ratio ** (2 * j - times)
        for epsilon, first in ((knot, j + 1), (knot * (1 + F(1, 10**200)), j + 1), (knot * (1 - F(1, 10**200)), j)):
            if epsilon >= 1:
                assert lattice.first_above(NaturalLog(epsilon) if epsilon != 1 else F(0)) == first


@pytest.mark.parametrize("times", [1, 2, 5, 10**6, 10**15])
def test_ties_of_fractions(times: int) -> None:
    lattice = Lattice.of_equal(Response(F(1, 10), times))
    tiny = F(1, 10**300)
    for j in (times, times - 1, (times + 1) // 2):
        knot = F(2 * j - times, 10)
        if knot >= 0:
            assert lattice.first_above(knot) == j + 1
            assert lattice.first_above(knot + tiny) == j + 1
            assert lattice.first_above(knot - tiny) == j


def test_one_too_few_is_noticed() -> None:
    lattice = on((F(1, 2), 5))
    first = lattice.first_above(F(1, 2))
    assert is_first_above(lattice, first, F(1, 2))
    assert not is_first_above(lattice, first - 1, F(1, 2))  # as >= would give
    assert not is_first_above(lattice, first + 1, F(1, 2))


def test_losses_lie_symmetrically() -> None:
    lattice = on((F(1, 10), 3), (F(1, 4), 2))
    assert lattice.loss(0).overlaps(-lattice.loss(lattice.top))
    assert lattice.loss(lattice.top).overlaps(lattice.responses.largest_loss())
    assert lattice.loss(lattice.top // 2) == 0

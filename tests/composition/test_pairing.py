"""Meeting in the middle against plain enumeration."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from indistinct import ln
from indistinct.composition import pairing
from indistinct.composition.pairing import LARGEST_HALF, PairedComposition, outcomes_of_halves
from indistinct.composition.responses import Responses
from indistinct.numbers import Epsilon, NaturalLog
from indistinct.numbers.balls import bracket_of, precision
from tests.composition.oracles import convolved, equal, faults, outcomes

F = Fraction
NARROW = 1e-11
Floats = NDArray[np.float64]
Parts = list[tuple[Epsilon, int]]

ORDINARY: Parts = [(F(0.3), 2), (ln(2), 1), (F(1, 3), 3), (F(11, 10), 1)]
PLACES: list[Epsilon] = [F(0), F(1, 4), ln(2), F(1), ln(5), F(2), F(3), F(7, 2)]


def wrong(parts: Parts, places: list[Epsilon], width: float = NARROW, times: int = 1) -> list[str]:
    """What a composition of these parts, each so often, gets wrong at some epsilons."""
    evaluator = PairedComposition(Responses.of([(epsilon, n * times) for epsilon, n in parts]))
    found = []
    with precision(192):
        for at in places:
            bracket = bracket_of(evaluator.delta(at))
            found += [f"at {at}: {fault}" for fault in faults(bracket, outcomes(parts, at), width)]
    return found


def test_ordinary_parts() -> None:
    assert wrong(ORDINARY, PLACES) == []


epsilons = st.one_of(
    st.fractions(F(1, 10), 5, max_denominator=30),
    st.floats(0.1, 5).map(F),
    st.integers(2, 100).map(lambda x: NaturalLog(F(x))),
)


@given(st.lists(st.tuples(epsilons, st.integers(1, 4)), min_size=1, max_size=5), st.floats(0, 0.99))
@settings(max_examples=80, deadline=None)
def test_any_parts(parts: Parts, share: float) -> None:
    largest = F(share) * F(float(Responses.of(parts).largest_loss()))
    assert wrong(parts, [largest, F(0), parts[0][0]], width=1e-9) == []


wild = st.one_of(
    st.fractions(F(1, 10**6), 100, max_denominator=10**6),
    st.floats(1e-6, 100).map(F),
    st.integers(2, 10**9).map(lambda x: NaturalLog(F(x, x - 1))),
)


@given(st.lists(st.tuples(wild, st.integers(1, 4)), min_size=1, max_size=4), st.floats(0, 1))
@settings(max_examples=80, deadline=None)
def test_wild_parts_hold_the_truth(parts: Parts, share: float) -> None:
    largest = F(share) * F(float(Responses.of(parts).largest_loss()))
    found = wrong(parts, [largest, F(0), parts[0][0]])
    assert [fault for fault in found if "width" not in fault] == []


@pytest.mark.parametrize("at", [0, 1, 5, 10, 20, 30])
def test_many_equal_ones_in_each_half(at: int) -> None:
    evaluator = PairedComposition(Responses.of([(F(1, 10), 500)]))
    with precision(192):
        bracket = bracket_of(evaluator.delta(F(at)))
    assert faults(bracket, equal(F(1, 10), 500, F(at)), 5e-11) == []


def test_forty_different_ones() -> None:
    """2^40 outcomes; on a lattice, so that they can be convolved densely."""
    multiples = [100 + 37 * i for i in range(40)]
    spacing = F(1, 5000)
    evaluator = PairedComposition(Responses.of((m * spacing, 1) for m in multiples))
    for at, tilt in ((F(0), 0.0), (F(2), 1.0), (F(4), 5.0)):
        truth = convolved(spacing, multiples, at, tilt=tilt)
        with precision(192):
            bracket = bracket_of(evaluator.delta(at))
        assert faults(bracket, F(*truth.as_integer_ratio()), NARROW, doubt=F(100, 2**60)) == []


def test_one_half_may_be_empty() -> None:
    assert wrong([(F(1), 1)], [F(0), F(1, 2), F(99, 100)]) == []


def test_exactly_nothing_from_the_largest_loss_on() -> None:
    evaluator = PairedComposition(Responses.of([(F(1, 10), 3), (F(1, 4), 2)]))
    assert evaluator.delta(F(8, 10)) == 0
    assert evaluator.kept(F(8, 10)) == 1
    assert PairedComposition(Responses.of([(ln(2), 1), (ln(3), 1)])).delta(ln(6)) == 0


def test_kept_is_the_complement() -> None:
    evaluator = PairedComposition(Responses.of(ORDINARY))
    with precision(192):
        for at in PLACES:
            assert (evaluator.kept(at) + evaluator.delta(at)).contains(1)


def test_the_halves() -> None:
    def halves(*times: int) -> tuple[int, int] | None:
        return outcomes_of_halves(Responses.of((F(i + 1, 7), n) for i, n in enumerate(times)))

    assert halves(3) == (4, 1)
    assert halves(1, 1) == (2, 2)
    assert halves(5, 1, 1) == (6, 4)
    assert halves(*[1] * 44) == (1 << 22, 1 << 22)
    assert halves(*[1] * 45) is None
    assert halves(*[1] * 65) is None
    assert halves(LARGEST_HALF - 1) == (LARGEST_HALF, 1)
    assert halves(LARGEST_HALF) is None


# Planted faults.


def test_a_lost_count_is_noticed() -> None:
    assert wrong(ORDINARY, PLACES, times=2) != []
    parts, evaluator = ORDINARY, PairedComposition(Responses.of(ORDINARY[:-1]))
    with precision(192):
        assert faults(bracket_of(evaluator.delta(F(1))), outcomes(parts, F(1)), NARROW) != []


def test_a_lost_outcome_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    honest: Callable[[Floats, Floats, float], tuple[Floats, Floats]] = pairing._suffixes  # noqa: SLF001  # to break it

    def careless(v: Floats, p: Floats, tilt: float) -> tuple[Floats, Floats]:
        return honest(v, np.where(np.arange(p.size) == p.size // 2, 0.0, p), tilt)

    monkeypatch.setattr(pairing, "_suffixes", careless)
    assert wrong(ORDINARY, PLACES) != []


def test_weights_that_are_a_little_wrong_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    honest: Callable[[int, float], Floats] = pairing._binomial  # noqa: SLF001  # to break it

    def careless(times: int, log_odds: float) -> Floats:
        return honest(times, log_odds * (1 + 1e-9))

    monkeypatch.setattr(pairing, "_binomial", careless)
    assert wrong(ORDINARY, PLACES) != []

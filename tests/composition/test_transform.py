"""The lattice transform against enumeration, direct sums and dense convolution, and against planted faults."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from indistinct import ln
from indistinct.composition import decay, transform
from indistinct.composition.evaluators import Evaluator
from indistinct.composition.lattice import Lattice
from indistinct.composition.responses import Response, Responses
from indistinct.composition.transform import Contour, Piece, TransformedComposition
from indistinct.numbers import Epsilon, NaturalLog
from indistinct.numbers.balls import arb, ball, bracket_of, precision
from tests.composition.oracles import convolved, equal, faults, outcomes
from tests.exact import to_fraction

F = Fraction
NARROW = 4e-15


def wrong(evaluator: Evaluator, cases: Sequence[tuple[Epsilon, Fraction]]) -> list[str]:
    """What an evaluator gets wrong, of cases (epsilon, true delta)."""
    found = []
    with precision(192):
        for at, truth in cases:
            found += [f"at {at}: {fault}" for fault in faults(bracket_of(evaluator.delta(at)), truth, NARROW)]
    return found


def of_equal(epsilon: Epsilon, times: int) -> TransformedComposition:
    return TransformedComposition(Lattice.of_equal(Response(epsilon, times)))


def of(*parts: tuple[Epsilon, int]) -> TransformedComposition:
    lattice = Lattice.common(Responses.of(parts))
    assert lattice is not None
    return TransformedComposition(lattice)


@pytest.mark.parametrize("times", [1, 2, 3, 10, 99, 100, 2000])
@pytest.mark.parametrize("epsilon", [F(1, 100), F(1, 10), F(0.1), F(1), F(7), ln(2), ln(F(11, 10))])
def test_equal_responses(epsilon: Epsilon, times: int) -> None:
    e = float(Responses.of([(epsilon, 1)]).epsilons[0])
    mean, deviation = times * e * math.tanh(e / 2), math.sqrt(times) * e / math.cosh(e / 2)
    floats = [0.0, mean / 2, mean, mean + deviation, mean + 5 * deviation, mean + 12 * deviation, times * e * 0.999]
    places = [F(x) for x in floats if x < times * e * (1 - 1e-9)]
    knots = [epsilon * j for j in range(times % 2, times, max(times // 4, 2))] if isinstance(epsilon, Fraction) else []
    evaluator = of_equal(epsilon, times)
    assert wrong(evaluator, [(at, equal(epsilon, times, at)) for at in (*places, *knots)]) == []


@given(
    st.lists(st.tuples(st.integers(1, 60).map(lambda m: F(m, 20)), st.integers(1, 4)), min_size=2, max_size=4),
    st.floats(0, 0.999),
)
@settings(max_examples=60, deadline=None)
def test_different_responses_on_a_lattice(parts: list[tuple[F, int]], share: float) -> None:
    total = sum((epsilon * times for epsilon, times in parts), F(0))
    knot = total - 2 * parts[0][0]
    places = [F(share) * total, F(0), parts[0][0], *([knot] if knot >= 0 else [])]
    evaluator = of(*parts)
    assert wrong(evaluator, [(at, outcomes(parts, at)) for at in places if at < total]) == []


def test_a_thousand_different_responses() -> None:
    """An arithmetic progression, whose transform comes back to life far from the origin."""
    multiples = [20 + 38 * i // 100 for i in range(1, 1001)]
    spacing = F(1, 4000)
    evaluator = of(*((m * spacing, 1) for m in multiples))
    for at, tilt in ((F(5), 1.0), (F(12), 3.0), (F(30), 8.0)):
        truth = convolved(spacing, multiples, at, tilt=tilt)
        with precision(192):
            bracket = bracket_of(evaluator.delta(at))
        assert faults(bracket, F(*truth.as_integer_ratio()), NARROW, doubt=F(1000, 2**60)) == []


@pytest.mark.parametrize("times", [1, 2, 5, 1000, 10**15])
def test_exactly_nothing_from_the_largest_loss_on(times: int) -> None:
    largest = F(times, 10)
    assert of_equal(F(1, 10), times).delta(largest) == 0
    assert of_equal(F(1, 10), times).delta(largest + 1) == 0
    assert of_equal(F(1, 10), times).kept(largest) == 1


@pytest.mark.parametrize("times", [1, 2, 3, 8])
def test_exactly_nothing_from_the_largest_logarithm_on(times: int) -> None:
    assert of_equal(ln(3), times).delta(ln(3**times)) == 0
    just_before = bracket_of(of_equal(ln(3), times).delta(ln(F(3**times) - F(1, 10**30))))
    assert just_before.lower <= F(3, 4) ** times / 3**times / 10**30 <= just_before.upper


@pytest.mark.parametrize("at", [F(0), F(1), F(5), F(10), F(20), F(40), F(60)])
def test_kept_is_the_complement(at: F) -> None:
    evaluator = of_equal(F(1, 10), 1000)
    with precision(192):
        assert (evaluator.kept(at) + evaluator.delta(at)).contains(1)


def test_what_is_kept_is_accurate_where_it_is_little() -> None:
    """delta(0) of 1000 times 1: 1 - delta is some 1e-53, and must be right relative to itself."""
    with mpmath.workdps(60):
        e = mpmath.e
        terms = (math.comb(1000, ups) * e ** min(ups, 1000 - ups) / (1 + e) ** 1000 for ups in range(1001))
        truth = to_fraction(sum(terms, mpmath.mpf(0)))
    with precision(192):
        bracket = bracket_of(of_equal(F(1), 1000).kept(F(0)))
    assert faults(bracket, truth, NARROW) == []
    assert bracket.upper < 1e-50


def test_one_evaluator_answers_all_over_the_range_and_back() -> None:
    """The contour in hand is used only where it serves."""
    evaluator = of_equal(F(1, 10), 500)
    places = [F(i, 7) for i in (0, 300, 10, 100, 101, 99, 340, 1, 0, 345)]
    assert wrong(evaluator, [(at, equal(F(1, 10), 500, at)) for at in places]) == []


def test_it_answers_between_two_losses_and_across_them_in_any_order() -> None:
    """Which sum over the nodes is in hand makes no difference."""
    evaluator = of_equal(F(1, 10), 500)  # the losses are the multiples of 1/5
    places = [F(i, 30) for i in (90, 91, 95, 96, 89, 92, 97, 84, 93, 102, 90)]
    assert wrong(evaluator, [(at, equal(F(1, 10), 500, at)) for at in places]) == []


def test_the_nodes_are_summed_once_between_two_losses(monkeypatch: pytest.MonkeyPatch) -> None:
    sums: list[int] = []
    honest = TransformedComposition._piece_of  # noqa: SLF001  # counted

    def counted(evaluator: TransformedComposition, contour: Contour, first: int) -> Piece:
        sums.append(first)
        return honest(evaluator, contour, first)

    monkeypatch.setattr(TransformedComposition, "_piece_of", counted)
    evaluator = of_equal(F(1, 10), 500)
    for i in range(12):
        evaluator.delta(F(30 + i, 10))
    assert len(sums) == len(set(sums)) == 6


def test_it_costs_no_more_to_repeat_more() -> None:
    """10^15 uses of 1e-7 are a Gaussian mechanism with mu = sqrt(10), but for some 1e-14."""
    evaluator = of_equal(F(1, 10**7), 10**15)
    with mpmath.workdps(40):
        mu, at = mpmath.sqrt(10), mpmath.mpf(15)
        truth = mpmath.ncdf(mu / 2 - at / mu) - mpmath.exp(at) * mpmath.ncdf(-mu / 2 - at / mu)
    with precision(192):
        delta = bracket_of(evaluator.delta(F(15)))
    assert delta.relative_width < NARROW
    assert delta.upper == pytest.approx(float(truth), rel=1e-6, abs=0)


# Planted faults. Each must be caught by the comparisons above.

TWENTY = [(F(i, 2), equal(F(1, 2), 20, F(i, 2))) for i in range(20)]


def test_the_checks_accept_the_truth() -> None:
    assert wrong(of_equal(F(1, 2), 20), [*TWENTY, (F(10), F(0))]) == []


def test_a_dropped_node_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = decay.active_nodes

    def careless(*arguments: object) -> NDArray[np.int64]:
        found = honest(*arguments)  # type: ignore[arg-type]  # as they come
        return np.asarray(found[found != 1])

    monkeypatch.setattr(transform, "active_nodes", careless)
    assert wrong(of_equal(F(1, 2), 20), TWENTY) != []


def test_a_lost_count_is_noticed() -> None:
    assert wrong(of_equal(F(1, 2), 19), TWENTY) != []
    assert wrong(of_equal(F(1, 2), 21), TWENTY) != []


def test_a_probability_that_is_a_little_wrong_is_noticed() -> None:
    assert wrong(of_equal(F(1, 2) * (1 + F(1, 10**13)), 20), TWENTY) != []


class StalePiece(TransformedComposition):
    """Keeps the first sum over the nodes for all epsilons."""

    def _on(self, contour: Contour, epsilon: Epsilon, first: int) -> arb:
        return super()._on(contour, epsilon, first if self._piece is None else self._piece.first)


def test_a_stale_sum_is_noticed() -> None:
    assert wrong(StalePiece(Lattice.of_equal(Response(F(1, 2), 20))), TWENTY) != []


class OneTooEarly(Lattice):
    """>= instead of >: the loss at epsilon itself adds nothing, but at the top it is not exactly nothing."""

    def first_above(self, epsilon: Epsilon) -> int:
        return super().first_above(epsilon) - 1


class OneTooLate(Lattice):
    def first_above(self, epsilon: Epsilon) -> int:
        return super().first_above(epsilon) + 1


@pytest.mark.parametrize("kind", [OneTooEarly, OneTooLate])
def test_a_first_loss_one_off_is_noticed(kind: type[Lattice]) -> None:
    evaluator = TransformedComposition(kind.of_equal(Response(F(1, 2), 20)))
    assert wrong(evaluator, [*TWENTY, (F(10), F(0))]) != []


class SmallWindow(TransformedComposition):
    """A window of a few lattice points, and nobody asks what lies outside."""

    def _contours(self, epsilon: Epsilon, first: int) -> Iterator[Contour]:
        yield self._contour_at(max(self.responses.tilt_to(float(ball(epsilon))), 1e-6), first, 8)  # type: ignore[arg-type]

    def _outside(self, *_: object) -> arb:
        return ball(0)


class SmallWindowAsked(SmallWindow):
    """The same window, with the bound in place: wide, but true."""

    def _outside(self, contour: Contour, first: int) -> arb:  # type: ignore[override]
        return TransformedComposition._outside(self, contour, first)  # noqa: SLF001  # the parent's own


def test_a_window_too_small_is_noticed() -> None:
    cases = [(F(i, 2), equal(F(1, 2), 400, F(i, 2))) for i in range(100, 200, 10)]
    lattice = Lattice.of_equal(Response(F(1, 2), 400))
    assert [fault for fault in wrong(SmallWindow(lattice), cases) if "width" not in fault] != []
    honest = wrong(SmallWindowAsked(lattice), cases)
    assert honest != []
    assert [fault for fault in honest if "width" not in fault] == []


class WrongSign(TransformedComposition):
    """Takes the complement for the thing itself."""

    def delta(self, epsilon: Epsilon) -> arb:
        return self._evaluate(epsilon)[1]


def test_a_complement_taken_for_the_thing_is_noticed() -> None:
    far_below_the_mean = [(F(at), equal(F(1), 400, F(at))) for at in (0, 10)]
    lattice = Lattice.of_equal(Response(F(1), 400))
    assert wrong(TransformedComposition(lattice), far_below_the_mean) == []
    assert wrong(WrongSign(lattice), far_below_the_mean) != []


# Hard places.


@pytest.mark.parametrize("epsilon", [F(1, 10**3), F(1, 10**8), F(1, 10**10)])
@pytest.mark.parametrize("times", [1, 2, 100])
def test_small_epsilons_hold_the_truth(epsilon: F, times: int) -> None:
    evaluator = of_equal(epsilon, times)
    for at in (F(0), epsilon / 2, epsilon * (times - 1)):
        truth = equal(epsilon, times, at)
        with precision(192):
            assert [fault for fault in faults(bracket_of(evaluator.delta(at)), truth) if "width" not in fault] == []


@given(st.integers(2, 10**6).map(lambda x: NaturalLog(F(x, x - 1))), st.integers(1, 30), st.floats(0, 1))
@settings(max_examples=50, deadline=None)
def test_logarithms(epsilon: NaturalLog, times: int, share: float) -> None:
    at = F(share) * F(float(epsilon)) * times
    truth = equal(epsilon, times, at)
    with precision(192):
        bracket = bracket_of(of_equal(epsilon, times).delta(at))
    assert [fault for fault in faults(bracket, truth) if "width" not in fault] == []

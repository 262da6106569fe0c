"""A user's own discrete pair against exact enumeration, in both directions."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indistinct import Bracket, DiscretePair, PureDP, compose, ln
from indistinct.composition.contour import ContourComposition
from indistinct.composition.enumerated import EnumeratedComposition
from indistinct.composition.losses.atoms import AtomsLoss
from indistinct.composition.losses.pair import discrete_loss
from indistinct.numbers.balls import bracket_of

F = Fraction


def delta_of(pair: DiscretePair, times: int, ratio: F) -> F:
    """The exact delta at epsilon = ln(ratio), the larger of both directions."""
    total = Counter({(F(1), F(1)): 1})
    points = list(zip(pair.null, pair.alternative, strict=True))
    for _ in range(times):
        following: Counter[tuple[F, F]] = Counter()
        for ((p, q), count), (more, other) in product(total.items(), points):
            following[p * more, q * other] += count
        total = following
    sides = (((p, q), (q, p)) for p, q in total)
    counts = total.values()
    forward, backward = zip(
        *(
            (count * max(a[0] - ratio * a[1], F(0)), count * max(b[0] - ratio * b[1], F(0)))
            for (a, b), count in zip(sides, counts, strict=True)
        ),
        strict=True,
    )
    return max(sum(forward, F(0)), sum(backward, F(0)))


laws = st.lists(st.integers(0, 6), min_size=2, max_size=4)


@st.composite
def pairs(draw: st.DrawFn) -> DiscretePair:
    size = draw(st.integers(2, 4))
    first, second = (
        draw(st.lists(st.integers(0, 6), min_size=size, max_size=size).filter(lambda law: sum(law) > 0))
        for _ in range(2)
    )
    return DiscretePair([F(x, sum(first)) for x in first], [F(x, sum(second)) for x in second])


@given(pairs(), st.integers(1, 3), st.integers(10, 90))
@settings(max_examples=120, deadline=None)
def test_few_uses_contain_the_exact_delta(pair: DiscretePair, times: int, tenths: int) -> None:
    ratio = F(tenths, 10)
    found = compose({pair: times}).delta(ln(ratio))
    exact = delta_of(pair, times, ratio)
    assert F(found.lower) <= exact <= F(found.upper)
    assert found.width <= 1e-11


@pytest.mark.parametrize("times", [20, 200])
def test_many_uses_contain_the_exact_delta(times: int) -> None:
    """Three outcomes, one of them impossible under the alternative, one under the null; too many to enumerate."""
    pair = DiscretePair(["1/1000", "2/5", "599/1000", 0], [0, "1/2", "499/1000", "1/1000"])
    ratio = F(3, 2)
    exact = F(0)
    for i in range(times + 1):
        p = math.comb(times, i) * pair.null[1] ** i * pair.null[2] ** (times - i)
        q = math.comb(times, i) * pair.alternative[1] ** i * pair.alternative[2] ** (times - i)
        exact += max(p - ratio * q, F(0))
    forward = 1 - (1 - pair.null[0]) ** times + exact
    backward = F(0)
    for i in range(times + 1):
        p = math.comb(times, i) * pair.null[1] ** i * pair.null[2] ** (times - i)
        q = math.comb(times, i) * pair.alternative[1] ** i * pair.alternative[2] ** (times - i)
        backward += max(q - ratio * p, F(0))
    backward += 1 - (1 - pair.alternative[3]) ** times
    found = compose({pair: times}).delta(ln(ratio))
    assert F(found.lower) <= max(forward, backward) <= F(found.upper)
    assert found.relative_width < 1e-6


@pytest.mark.parametrize("times", [1, 7, 1000, 10**6, 10**9])
def test_randomised_response_written_as_a_pair_is_one(times: int) -> None:
    """However often it is used, the truth stays inside; the truth is that of the exact lattice."""
    found = compose({DiscretePair(["3/4", "1/4"], ["1/4", "3/4"]): times})
    for share in ("0.5", "0.55"):
        epsilon = F(share) * times
        exact = compose({PureDP(ln(3)): times}).delta(epsilon)
        ours = found.delta(epsilon)
        assert ours.lower <= exact.lower
        assert exact.upper <= ours.upper
        assert ours.relative_width < 1e-13 * times + 1e-11


def test_small_losses_a_billion_times() -> None:
    odds = F(100_001, 100_000)
    pair = DiscretePair([odds / (1 + odds), 1 / (1 + odds)], [1 / (1 + odds), odds / (1 + odds)])
    ours, exact = compose({pair: 10**9}).delta(1), compose({PureDP(ln(odds)): 10**9}).delta(1)
    assert ours.lower <= exact.lower <= exact.upper <= ours.upper
    assert ours.relative_width < 1e-4


def test_disclosure_is_found_in_the_direction_that_has_it() -> None:
    pair = DiscretePair(["1/4", "3/4"], [0, 1])
    profile = compose({pair: 2})
    assert F(7, 16) in Bracket(profile.disclosure.lower, profile.disclosure.upper)
    assert profile.delta(5).lower == pytest.approx(7 / 16, rel=1e-12)
    assert profile.epsilon("0.4") == Bracket(math.inf, math.inf)


def test_certain_and_empty_pairs() -> None:
    assert compose({DiscretePair([1, 0], [0, 1]): 2}).delta(3) == Bracket(1, 1)
    assert compose({DiscretePair(["1/2", "1/2"], ["1/2", "1/2"]): 10**6}).delta(0) == Bracket(0, 0)


def test_powers_of_one_ratio_are_a_lattice_and_others_are_not() -> None:
    eights = discrete_loss(DiscretePair(["8/11", "2/11", "1/11"], ["1/11", "2/11", "8/11"])).forward
    others = discrete_loss(DiscretePair(["1/2", "1/3", "1/6"], ["1/6", "1/2", "1/3"])).forward
    assert isinstance(eights, AtomsLoss)
    assert isinstance(others, AtomsLoss)
    assert eights.lattice is not None
    assert float(eights.lattice.exact_spacing) == pytest.approx(math.log(8), rel=1e-15)
    assert others.lattice is None


def test_a_lost_disclosure_is_seen() -> None:
    """The planted fault: conditional laws without their disclosed part."""
    pair = DiscretePair(["1/4", "3/4"], [0, 1])
    assert delta_of(pair, 1, F(2)) == F(1, 4)
    assert compose({DiscretePair([1], [1]): 1}).delta(ln(2)).upper < F(1, 4)


def test_outcomes_one_by_one_agree_with_the_transform() -> None:
    pair = DiscretePair(["1/2", "1/3", "1/6"], ["1/6", "1/2", "1/3"])
    laws = [(discrete_loss(pair).forward, 200)]
    one_by_one = EnumeratedComposition.of(laws)
    assert one_by_one is not None
    epsilon = F(90)
    found, other = (bracket_of(method.delta(epsilon)) for method in (one_by_one, ContourComposition(laws)))
    assert found.lower <= other.upper
    assert other.lower <= found.upper
    assert found.relative_width < 1e-9
    assert EnumeratedComposition.of([(laws[0][0], 10_000)]) is None


@pytest.mark.parametrize("reach", [1e-6, 0.01, 0.3, 3.0])
def test_no_modulus_within_reach_passes_the_bound(reach: float) -> None:
    law = discrete_loss(DiscretePair(["1/2", "1/3", "1/6"], ["1/6", "1/2", "1/3"])).forward
    centres = np.linspace(0, 60, 241)
    bound = law.log_bound(1.5, centres, reach)
    for share in (-1.0, -0.5, 0.0, 0.7, 1.0):
        assert np.all(law.log_ratio(1.5, np.abs(centres + share * reach)).real <= bound + 1e-11)
    assert np.all(law.log_bound(1.5, centres, 0.0) <= law.log_ratio(1.5, centres).real + 1e-9)

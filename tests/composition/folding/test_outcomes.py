"""What bounds a sum of losses: every step against exact sums, and steps to the wrong side noticed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from indistinct.composition.folding.outcomes import CERTAIN, Hinged, Outcomes, coalesced, merged, raised, summed
from indistinct.composition.losses.law import Floats

NOTHING = Outcomes(np.zeros(1), np.ones(1))


def delta(outcomes: Outcomes, epsilon: float) -> mpf:
    """E (1 - e^(epsilon - L))_+, term by term at 60 digits."""
    with mp.workdps(60):
        terms = zip(outcomes.losses.tolist(), outcomes.masses.tolist(), strict=True)
        return mp.fsum(mpf(mass) * -mp.expm1(mpf(epsilon) - mpf(loss)) for loss, mass in terms if loss > epsilon)


def exact_delta_of_sum(first: Outcomes, second: Outcomes, epsilon: float) -> mpf:
    """The same of all sums, which are not rounded."""
    with mp.workdps(60):
        total = mpf(0)
        for a, p in zip(first.losses.tolist(), first.masses.tolist(), strict=True):
            for b, q in zip(second.losses.tolist(), second.masses.tolist(), strict=True):
                away = mpf(a) + mpf(b) - mpf(epsilon)
                total += max(mpf(p) * mpf(q) * -mp.expm1(-away), mpf(0))
        return total


def law(seed: int, size: int, scale: float) -> Outcomes:
    """Random outcomes."""
    random = np.random.default_rng(seed)
    masses = random.random(size) ** 8
    return Outcomes(np.sort(random.normal(0, scale, size)), masses / np.sum(masses))


laws = st.builds(law, st.integers(0, 10**6), st.integers(1, 40), st.sampled_from([1e-15, 1e-6, 1.0, 50.0]))
shares = st.floats(-1.5, 1.5)


def points(outcomes: Outcomes, count: int, seed: int) -> Floats:
    """A grid over the outcomes and a little beyond, not evenly spaced."""
    low, high = outcomes.losses[0], outcomes.losses[-1]
    random = np.random.default_rng(seed)
    width = max(high - low, abs(high), 1e-300)
    return np.unique(np.concatenate([low - width / 100 + (high - low) * random.random(count), [high + width / 100]]))


@given(laws, st.integers(1, 60), st.integers(0, 100), shares)
@settings(max_examples=150, deadline=None)
def test_a_grid_bounds_from_its_side(outcomes: Outcomes, count: int, seed: int, share: float) -> None:
    grid = points(outcomes, count, seed)
    epsilon = float(share * max(abs(outcomes.losses[0]), abs(outcomes.losses[-1])))
    above, below = raised(outcomes, grid), merged(outcomes, grid)
    truth = delta(outcomes, epsilon)
    assert delta(above, epsilon) + above.lost >= truth >= delta(below, epsilon)


@given(laws, laws, shares)
@settings(max_examples=100, deadline=None)
def test_sums_and_meetings_bound_from_their_side(first: Outcomes, second: Outcomes, share: float) -> None:
    epsilon = float(share * (np.max(np.abs(first.losses)) + np.max(np.abs(second.losses))))
    truth = exact_delta_of_sum(first, second, epsilon)
    for side in (1, -1):
        whole = coalesced(summed(first, second, side), side)
        met = Hinged.of(second).delta_with(first, epsilon, side)
        assert (delta(whole, epsilon) - truth) * side >= 0
        assert (met - truth) * side >= 0
        assert abs(met - truth) <= abs(truth) * mpf(10) ** -11 + mpf(10) ** -12 * abs(epsilon)


def test_a_law_with_itself_is_added_in_half_the_work() -> None:
    one = law(3, 30, 1.0)
    twin = Outcomes(one.losses.copy(), one.masses.copy())
    together, apart = summed(one, one, 1), summed(one, twin, 1)
    assert (together.size, apart.size) == (465, 900)
    assert float(np.sum(together.masses)) == pytest.approx(float(np.sum(apart.masses)), rel=1e-14)
    for epsilon in (-1.0, 0.0, 0.5, 2.0):
        assert float(delta(together, epsilon)) == pytest.approx(float(delta(apart, epsilon)), rel=1e-13)


def test_what_is_beyond_a_grid_is_lost_and_what_tells_everything_stays() -> None:
    outcomes = Outcomes(np.array([-1.0, 0.5, 3.0, CERTAIN]), np.array([0.5, 0.25, 0.125, 0.125]))
    above = raised(outcomes, np.array([0.0, 1.0]))
    assert above.lost == pytest.approx(0.25)
    kept = raised(outcomes, np.array([0.0, 1.0, 4.0, CERTAIN]))
    assert kept.lost == 0
    assert kept.masses[-1] == pytest.approx(0.125)
    assert merged(outcomes, np.array([-2.0, 2.0, CERTAIN])).masses[-1] == pytest.approx(0.125)


def test_the_work_of_small_scales_is_not_lost_beside_large_ones() -> None:
    """Losses of 1e-18 beside one of 10: nothing is a difference of large numbers."""
    small = Outcomes(np.array([-2e-18, 1e-18, 10.0]), np.array([0.25, 0.75 - 2.0**-40, 2.0**-40]))
    truth = exact_delta_of_sum(small, small, 0.0)
    found = [Hinged.of(small).delta_with(small, 0.0, side) for side in (-1, 1)]
    assert found[0] <= truth <= found[1]
    assert found[1] - found[0] <= 1e-12 * found[1]


def test_a_step_to_the_wrong_side_is_noticed() -> None:
    """The checks above reject outcomes that are merged where they should be split, and a share that is rounded away."""
    outcomes = law(1, 40, 1.0)
    grid = points(outcomes, 5, 1)
    truth = delta(outcomes, 0.3)
    assert not delta(merged(outcomes, grid), 0.3) >= truth
    assert not delta(raised(outcomes, grid), 0.3) <= truth
    below = np.maximum(np.searchsorted(grid, outcomes.losses) - 1, 0)
    down = Outcomes(grid, np.bincount(below, outcomes.masses, grid.size) + np.zeros(grid.size))
    assert not delta(down, 0.3) >= truth

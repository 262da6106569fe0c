"""Lattices: neighbours stay as near as the noise pays for, and it pays for little."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indistinct import Gaussian, Laplace, Staircase
from indistinct.errors import InvalidParameter
from indistinct.mechanisms.values import array_onto_lattice

F = Fraction


@pytest.mark.parametrize("make", [Laplace, Gaussian])
@pytest.mark.parametrize("sensitivity", ["1", "0.1", "3", "1e-9", "7/3", "1e12"])
@pytest.mark.parametrize("share", ["1e-3", "1", "17.3", "1e6"])
def test_the_default_is_fine_and_pays_less_than_a_thousandth(make: Any, sensitivity: str, share: str) -> None:
    width = F(sensitivity)
    mechanism = make(width, width * F(share))
    nominal = mechanism.scale if make is Laplace else mechanism.sigma
    for count in (1, 2, 1000, 10**6):
        lattice = mechanism.lattice(count)
        assert nominal <= lattice.scale < nominal * (1 + F(1, 1000))
        assert lattice.granularity <= nominal / 2**10
        assert lattice.steps == lattice.scale / lattice.granularity
        whole = mechanism.lattice(count, whole=True)
        assert whole.scale == nominal
        assert whole.granularity <= min(nominal / 2**10, F(1))
    assert mechanism.granularity == mechanism.lattice().granularity
    assert mechanism.noise.draws(3).dtype == np.int64


def test_whole_sensitivities_cost_nothing() -> None:
    for mechanism in (Laplace(scale=10), Laplace(4, 10, granularity=2), Laplace("0.75", 10, granularity="1/4")):
        assert mechanism.lattice().scale == 10
    assert Laplace(1, 10, granularity=4).lattice().scale == 40
    assert Laplace(1, 10, granularity="1/2").lattice(6).scale == 10 * (1 + 3)
    assert Gaussian(1, 10, granularity="1/2").lattice(16).scale == pytest.approx(F(30), rel=1e-6)
    assert Gaussian(1, 10, granularity="1/2").lattice(16).scale > 30


def test_tiny_sensitivities_leave_the_noise_within_64_bits() -> None:
    for count in (1, 1000):
        assert Laplace("1e-8", scale=1000).lattice(count).steps <= 2**54
    lattice = Laplace("1e-8", scale=1000).lattice(10**6)
    assert 1000 * 30 < lattice.scale < 1000 * 200  # what could not be made fine enough is paid for
    with pytest.raises(InvalidParameter, match="the noise must be at most 2"):
        Laplace("1e-12", scale=1000).lattice(10**6)
    assert Laplace("1e-12", scale=1000).lattice(10**6, whole=True).scale == 1000


distances = st.lists(st.integers(-1000, 1000), min_size=1, max_size=6)


@given(
    values=st.lists(st.floats(-100, 100), min_size=6, max_size=6),
    moves=distances,
    exponent=st.integers(-6, 3),
)
def test_rounding_moves_neighbours_by_no_more_than_is_paid_for(
    values: list[float], moves: list[int], exponent: int
) -> None:
    """On exact floats: the moves are multiples of 2^-10 of values that are multiples of 2^-30."""
    first = np.round(np.array(values[: len(moves)]) * 2**30) / 2**30
    change = np.array(moves) / 2**10
    steps = np.abs(array_onto_lattice(first + change, exponent) - array_onto_lattice(first, exponent))
    h = F(2) ** exponent
    l1, l2 = sum(F(abs(move), 2**10) for move in moves), sum(F(move, 2**10) ** 2 for move in moves)
    for make, norm in ((Laplace, l1), (Gaussian, F(float(l2) ** 0.5 * (1 + 1e-12)))):
        if not norm:
            assert not steps.any()
            continue
        mechanism: Any = make(norm, norm * 2**20, granularity=h)
        lattice = mechanism.lattice(len(moves))
        paid = lattice.scale / (norm * 2**20) * norm / h  # the sensitivity that the noise is wide enough for, in steps
        assert (steps.sum() if make is Laplace else F(int((steps**2).sum()))) <= (paid if make is Laplace else paid**2)


def test_a_lattice_that_pays_nothing_would_be_caught() -> None:
    """Two numbers 1/2 apart may be a whole step apart; three may be three."""
    assert np.diff(array_onto_lattice(np.array([0.4, 0.9]), 0)).tolist() == [1]
    assert (array_onto_lattice(np.full(3, 0.6), 0) - array_onto_lattice(np.full(3, 0.4), 0)).sum() == 3
    assert Laplace("0.6", 10, granularity=1).lattice(3).scale == 10 * (F("0.6") + 3) / F("0.6")


def test_staircase_sensitivities_are_rounded_up_to_the_lattice() -> None:
    mechanism = Staircase("2.2", epsilon=1, granularity="1/4")
    assert mechanism.lattice().scale == F(9, 4)
    assert mechanism.noise.sensitivity == 9
    default = Staircase("0.1", epsilon=1)
    assert F("0.1") <= default.lattice().scale < F("0.1") * (1 + F(1, 1000))


@given(epsilon=st.floats(0.01, 20), gamma=st.floats(0.01, 0.99), exponent=st.integers(-9, -7))
def test_stairs_move_to_the_side_that_tells_less(epsilon: float, gamma: float, exponent: int) -> None:
    """The probability of the loss epsilon, in real arithmetic, at the gamma that is released and the one claimed."""
    mechanism = Staircase(epsilon=epsilon, gamma=gamma, granularity=F(2) ** exponent)
    noise = mechanism.noise
    released = F(2 * noise.step - 1, 2 * noise.sensitivity)
    assert abs(released - mechanism.gamma) <= F(1, noise.sensitivity)

    def certain(share: Fraction) -> Any:
        fall, g = mpmath.exp(-mpmath.mpf(epsilon)), mpmath.mpf(share.numerator) / share.denominator
        return min(g, 1 - g) * (1 - fall) / (2 * (g + fall * (1 - g)))

    with mpmath.workdps(40):
        assert certain(released) <= certain(mechanism.gamma)

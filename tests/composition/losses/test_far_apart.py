"""Sensitivities that are large against the noise: delta of two answers by enumeration at 60 digits."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest
from mpmath import mpf

from indistinct import DiscreteGaussian, Geometric, PoissonSubsampled, compose
from indistinct.composition.losses import AtomsLoss, PrivacyLoss, SubsampledLoss
from indistinct.composition.losses.enclosed import EnclosedLoss
from indistinct.composition.losses.grid import GridLoss
from indistinct.composition.losses.laplace_line import laplace_line
from indistinct.numbers import Bracket
from tests.composition.losses import truth

F = Fraction


def delta_of_two(p: list[mpf], q: list[mpf], epsilon: int) -> mpf:
    """The hockey-stick divergence of two draws, outcome by outcome."""
    odds = mpmath.exp(epsilon)
    return mpmath.fsum(
        max(a * c - odds * b * d, mpf(0)) for a, b in zip(p, q, strict=True) for c, d in zip(p, q, strict=True)
    )


def discrete_gaussian(width: int, sigma: Fraction) -> tuple[list[mpf], list[mpf]]:
    reach = int(17 * sigma) + 5
    mass = {
        x: mpmath.exp(-(mpf(x) ** 2) / (2 * truth.number(sigma) ** 2)) for x in range(-reach - width, reach + width + 1)
    }
    total = mpmath.fsum(mass.values())
    places = range(-reach, reach + width + 1)
    return [mass.get(x, mpf(0)) / total for x in places], [mass.get(x - width, mpf(0)) / total for x in places]


def sampled(p: list[mpf], q: list[mpf], rate: str) -> tuple[list[mpf], list[mpf]]:
    return [mpf(rate) * a + (1 - mpf(rate)) * b for a, b in zip(p, q, strict=True)], q


def holds(bracket: Bracket, exact: mpf) -> bool:
    return bool(bracket.lower <= exact * (1 + mpf(10) ** -25) and exact * (1 - mpf(10) ** -25) <= bracket.upper)


@pytest.mark.parametrize(
    ("width", "sigma", "epsilon"), [(3, "0.15", 1), (3, "0.3", 1), (8, "1", 1), (12, "1", 1), (12, "1", 30)]
)
def test_two_discrete_gaussian_answers(width: int, sigma: str, epsilon: int) -> None:
    with mpmath.workdps(60):
        exact = delta_of_two(*discrete_gaussian(width, F(sigma)), epsilon)
        assert holds(compose({DiscreteGaussian(width, sigma): 2}).delta(epsilon), exact)


@pytest.mark.parametrize(("width", "sigma", "rate"), [(3, "0.15", "0.01"), (1, "2", "0.999999")])
def test_two_discrete_gaussian_answers_on_a_sample(width: int, sigma: str, rate: str) -> None:
    with mpmath.workdps(60):
        mixed, other = sampled(*discrete_gaussian(width, F(sigma)), rate)
        exact = max(delta_of_two(mixed, other, 1), delta_of_two(other, mixed, 1))
        assert holds(compose({PoissonSubsampled(DiscreteGaussian(width, sigma), rate): 2}).delta(1), exact)


@pytest.mark.parametrize("epsilon", ["20", "800"])
def test_two_geometric_answers(epsilon: str) -> None:
    with mpmath.workdps(60):
        fall = mpmath.exp(-mpf(epsilon) / 2)
        unit = (1 - fall) / (1 + fall)
        p = [1 / (1 + fall), unit * fall, fall**2 / (1 + fall)]
        assert holds(compose({Geometric(2, epsilon=epsilon): 2}).delta(1), delta_of_two(p, p[::-1], 1))
        loss = Geometric(2, epsilon=epsilon).loss
        assert isinstance(loss, PrivacyLoss)
        law = loss.forward
        assert isinstance(law, AtomsLoss)
        balance = mpmath.fsum(
            mpmath.exp(mpf(a) - mpf(b)) for a, b in zip(law.log_probabilities, law.losses, strict=True)
        )
        assert abs(balance - 1) < 1e-10


@pytest.mark.parametrize("sigma", ["0.001", "0.02"])
@pytest.mark.parametrize("tilt", [1e-6, 1e-3, 0.5, 0.9])
def test_a_sampled_gaussian_of_little_noise(sigma: str, tilt: float) -> None:
    """The places of both records by themselves: nothing overlaps, so that the transform is a sum of two terms."""
    rate = F(1, 100)
    law = SubsampledLoss(F(sigma), rate, removing=True)
    with mpmath.workdps(60):
        t, q = mpf(tilt), truth.number(rate)
        far = q ** (t + 1) * mpmath.exp(t * (t + 1) / (2 * mpf(sigma) ** 2))
        exact = mpmath.log((1 - q) ** (t + 1) + far)
        assert abs(law.cumulants(tilt).value - exact) <= law.doubt(tilt).value + 1e-30


def test_a_lattice_far_finer_than_the_farthest_loss() -> None:
    """Laplace noise of scale 10^9 on a sample: cells of 1e-15 beside losses of 1e-9 and more take little memory."""
    upper, lower = EnclosedLoss(laplace_line(1e-9).sampled(0.1)).laws(0)
    for law in (upper.forward, upper.backward, lower.forward, lower.backward):
        assert isinstance(law, GridLoss)
        assert law.losses.size < 1 << 22
    assert upper.forward.largest >= math.log1p(0.1 * math.expm1(1e-9))

"""What the samplers accept, return and refuse, at the ends of their ranges."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from indistinct.errors import InvalidParameter
from indistinct.noise import (
    Bernoulli,
    BoundedGeometric,
    DiscreteGaussian,
    DiscreteLaplace,
    DiscreteStaircase,
    Exponential,
    Geometric,
    Logistic,
    RoundedGaussian,
    RoundedLaplace,
    Scale,
    UniformBelow,
)
from indistinct.noise.draws import accepted
from indistinct.noise.geometric import Digits, digits_of, joined
from indistinct.noise.table import BLOCK
from indistinct.numbers import ln
from tests.noise.sources import RepeatableBits, Scripted

SMALLEST, LARGEST = Fraction(1, 2**40), 2**60


@pytest.mark.parametrize("law", [DiscreteLaplace, Geometric, DiscreteGaussian, RoundedLaplace, RoundedGaussian])
def test_the_whole_range_of_scales(
    law: type[DiscreteLaplace | Geometric | DiscreteGaussian | RoundedLaplace | RoundedGaussian],
) -> None:
    assert law(SMALLEST).draws(1000).tolist() == [0] * 1000
    assert law(SMALLEST).draw() == 0
    for scale in (Fraction(1, 100), 2047, 2049, 2**54, 2**54 + 2**10, LARGEST):
        drawn = law(scale).draws((3, 5))
        assert drawn.shape == (3, 5)
        assert drawn.dtype == (object if scale > 2**54 else np.int64)
        assert type(law(scale).draw()) is int
    for bad in (SMALLEST / 2, 2 * LARGEST, 0, -1, float("nan"), float("inf"), "one", ln(3)):
        with pytest.raises(InvalidParameter):
            law(bad)


def test_an_extremely_unlikely_draw_is_still_drawn_exactly() -> None:
    """Scale 2^-40: a nonzero draw needs some 2^41 zero bits, and is not ruled out by a table."""
    assert DiscreteLaplace(SMALLEST).draws(2, Scripted([0, 1, 1, 5])).tolist() == [0, 0]
    assert DiscreteLaplace("0.02").draw(Scripted([0, 2**50, 3])) == 1  # 2 e^-50 = 2^-71 is above 2^-77


def test_a_draw_that_does_not_fit_makes_the_array_one_of_whole_numbers() -> None:
    high, low = np.array([3, 2**20]), np.array([5, 7])
    assert joined(high, low, 44, wide=False).tolist() == [3 * 2**44 + 5, 2**64 + 7]
    assert joined(high[:1], low[:1], 44, wide=False).dtype == np.int64


def test_digits_add_up() -> None:
    digits = digits_of(Scale(2**35))
    assert isinstance(digits, Digits)
    high, low = digits.draw(5000, RepeatableBits(4))
    assert digits.shift == 25
    assert 0 <= low.min() < 2**20 < low.max() < 2**25
    assert 500 < high.max() < 2**20


def test_shapes_and_blocks() -> None:
    law = DiscreteGaussian(3)
    for shape in (0, 1, BLOCK, BLOCK + 1, 3 * BLOCK - 1):
        assert law.draws(shape).shape == (shape,)
    assert law.draws(()).shape == ()
    assert Bernoulli("0.5").draws((2, 3)).dtype == bool
    assert UniformBelow(2**70).draws((2, 2)).dtype == object
    with pytest.raises(InvalidParameter, match="the shape"):
        law.draws(-1)


def test_coins_at_the_ends() -> None:
    assert Bernoulli(1).draws(100).all()
    assert not Bernoulli(0).draws(100).any()
    assert Bernoulli(1).draws(2, Scripted([2**64 - 1, 2**64 - 1, 2**64 - 1])).all()
    assert not Bernoulli(Exponential(2**60)).draws(100).any()
    assert Bernoulli(Logistic(2**60)).draws(100).all()
    assert Bernoulli("1e-30").draw(Scripted([0, 0, 5]))  # V < 2^-127
    assert type(Bernoulli("0.5").draw()) is bool
    for bad in (-0.1, 1.1, float("nan"), "x"):
        with pytest.raises(InvalidParameter):
            Bernoulli(bad)
    assert Bernoulli(Logistic(0, rivals=4)).draw(Scripted([2**64 // 5 - 2**20])) is True
    assert Bernoulli(Logistic(0, rivals=4)).draw(Scripted([2**64 // 5 + 2**20])) is False
    with pytest.raises(InvalidParameter, match="rivals"):
        Logistic(1, rivals=0)
    for times in (-1, 2**81):
        with pytest.raises(InvalidParameter, match="times"):
            Exponential(1, times)


def test_real_parameters_are_not_rounded() -> None:
    """ln 3 and its nearest float give tables that differ."""
    exact, rounded = DiscreteLaplace(Scale(1, ln(3))), DiscreteLaplace(Scale(1, float(ln(3))))
    assert exact != rounded
    threshold = 2**63 // 2  # P(|X| >= 1) = 2/(1 + 3) = 1/2 exactly
    assert abs(exact.draw(Scripted([2 * threshold, 5, 5]))) == 0
    assert abs(exact.draw(Scripted([2 * threshold - 2, 2**64 - 5, 5, 5]))) == 1
    assert DiscreteGaussian(variance=Scale(4, ln(3))).draws(10).dtype == np.int64
    assert DiscreteStaircase(3, ln(3), 2).draws(10).dtype == np.int64


def test_bounded_geometric_numbers_stay_below_the_bound() -> None:
    for bound, scale in ((1, 5), (2, LARGEST), (5000, 10), (5000, LARGEST), (2**62, 2**60), (2**62, 3)):
        drawn = BoundedGeometric(bound, scale).draws(2000)
        assert drawn.dtype == np.int64
        assert 0 <= drawn.min() <= drawn.max() < bound
    for bad in (0, 1.5, 2**62 + 1, -3):
        with pytest.raises(InvalidParameter, match="the bound"):
            BoundedGeometric(bad, 5)


def test_staircases_refuse_what_they_cannot_be() -> None:
    for arguments in ((0, 1, 1), (10, 0, 1), (10, 1, 0), (10, 1, 11), (2.5, 1, 1), (10, 1, 1.5), (1, 2.0**-70, 1)):
        with pytest.raises(InvalidParameter):
            DiscreteStaircase(*arguments)
    for n in (0, -1, 1.5):
        with pytest.raises(InvalidParameter, match="n must"):
            UniformBelow(n)
    with pytest.raises(InvalidParameter, match="either sigma or variance"):
        DiscreteGaussian(1, variance=1)


def test_every_word_of_a_uniform_number_counts_once() -> None:
    """Lemire's products and masks: each value has equally many words, enumerated at the edges of its interval."""
    n = 5
    edges = [(k << 64) // n for k in range(1, n)]
    words = [*(edge for edge in edges), *(edge + 1 for edge in edges)]
    assert UniformBelow(n).draws(8, Scripted(words)).tolist() == [0, 1, 2, 3, 1, 2, 3, 4]
    assert UniformBelow(n).draws(1, Scripted([0, *[2**63] * 16])).tolist() == [2]  # 0 would be one too many
    assert UniformBelow(2**40 + 1).draws(1, Scripted([2**64 - 1, *[2**30] * 16])).tolist() == [2**30 >> 23]
    assert UniformBelow(1).draws(2, Scripted([])).tolist() == [0, 0]


def test_rejections_are_made_up_for() -> None:
    rounds = iter([[1, 2], [], [3], [4, 5, 6, 7, 8]])
    assert accepted(5, lambda _: np.array(next(rounds), dtype=np.int64)).tolist() == [1, 2, 3, 4, 5]


NONE = 2**64 - 2  # V just below 1: nothing is below it, every digit is 0; and the last bit, a sign, is even


def test_large_laplace_noise_is_geometric_on_either_side_of_minus_one_half() -> None:
    """X >= 0 has probability 1 / (1 + e^(-1/scale)), then -1 - X is as likely as X: no zero is counted twice."""
    law = DiscreteLaplace(4000)
    share = 2**64 / (1 + math.exp(-1 / 4000))
    for coin, expected in ((2**30, 0), (int(share * 0.9999), 0), (int(share * 1.0001), -1), (NONE, -1)):
        assert law.draws(1, Scripted([NONE, NONE, coin])).tolist() == [expected]
    digit = int(2**64 * 0.6)  # of 0, 1, 2 and 3, almost alike, the second
    assert law.draws(1, Scripted([digit, NONE, 2**30])).tolist() == [1]
    assert law.draws(1, Scripted([digit, NONE, NONE])).tolist() == [-2]


def test_large_rounded_laplace_noise_is_nothing_or_one_more_than_a_geometric_number() -> None:
    """It is 0 with probability 1 - e^(-1 / 8000); the coin's last bit is the sign."""
    law = RoundedLaplace(4000)
    share = int(2**64 * math.exp(-1 / 8000)) // 2 * 2
    for coin, expected in ((2**30, 1), (2**30 + 1, -1), (share - 2**20, 1), (share + 2**20, 0), (NONE, 0)):
        assert law.draws(1, Scripted([NONE, NONE, coin])).tolist() == [expected]
    digit = int(2**64 * 0.6)  # of 0, 1, 2 and 3, almost alike, the second
    assert law.draws(2, Scripted([digit, digit, NONE, NONE, 2**30, 2**30 + 1])).tolist() == [2, -2]


def test_large_staircase_noise_rejects_minus_zero() -> None:
    law = DiscreteStaircase(10**6, 1, 400_000)
    nothing, half = 2**44, 2**63 + 2**30
    again = [*[NONE] * 16, *[half] * 16, *[nothing] * 16]
    assert law.draws(1, Scripted([NONE, nothing, nothing])).tolist() == [0]
    assert law.draws(1, Scripted([NONE + 1, nothing, nothing, *again])).tolist() == [200_000]
    assert law.draws(1, Scripted([NONE + 1, half, nothing])).tolist() == [-200_000]
    lower = int(2**64 * 0.5) | 1  # between the first period's P(>= 1) and its P(>= 2): the lower stair
    assert law.draws(1, Scripted([lower, half, half])).tolist() == [-700_000]

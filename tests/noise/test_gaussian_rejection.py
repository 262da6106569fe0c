"""The rejection behind large Gaussian noise: what is proposed, what is tested, and every decision of the test."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from indistinct.noise import DiscreteGaussian, Scale
from indistinct.noise.discrete_gaussian import fails, propose
from indistinct.noise.draws import table_of
from indistinct.noise.gaussian_law import GaussianLaw
from tests.exact import to_fraction
from tests.noise.sources import RepeatableBits, Scripted

SIGMA = 2**20
VARIANCE, SHIFT = Scale(SIGMA**2), 10


def failing(high: int, step: int, *, sigma: int = SIGMA, shift: int = SHIFT) -> Fraction:
    """1 - e^-t, from the definition: the weight of 2^k H + d by that of 2^k H."""
    with mpmath.workdps(80):
        start = high << shift
        return to_fraction(-mpmath.expm1(mpmath.mpf(start**2 - (start + step) ** 2) / (2 * sigma**2)))


@pytest.mark.parametrize("offset", [-3, -1, 1, 3])
def test_the_test_decides_next_to_its_threshold(offset: int) -> None:
    """The words on either side of 64 (1 - e^-t), which floats cannot tell apart, and their continuations."""
    random = RepeatableBits(2).words(60)
    high = (random[:30] % 7000).astype(np.int64)
    step = (random[30:] % 2**SHIFT).astype(np.int64) + 1
    fine = [int(64 * failing(h, d) * 2**128) + offset for h, d in zip(high.tolist(), step.tolist(), strict=True)]
    script = Scripted([*(value >> 64 for value in fine), *(value % 2**64 for value in fine)])
    result = fails(VARIANCE, SHIFT, high, step, script)
    assert result.tolist() == [offset < 0] * 30
    assert script.spent


def test_the_test_decides_far_from_its_threshold() -> None:
    random = RepeatableBits(3).words(6000)
    high, step = (random[:2000] % 7000).astype(np.int64), (random[2000:4000] % 2**SHIFT).astype(np.int64) + 1
    words = random[4000:]
    result = fails(VARIANCE, SHIFT, high, step, Scripted(words.tolist()))
    truth = [
        w < 64 * failing(h, d) * 2**64 for h, d, w in zip(high.tolist(), step.tolist(), words.tolist(), strict=True)
    ]
    assert result.tolist() == truth
    assert 50 < sum(truth) < 1950


def test_the_tested_share_is_enough_for_every_proposal_of_the_table() -> None:
    """64 (1 - e^-t) is a probability as far as the table reaches, for the smallest sigma' there is."""
    for sigma in (1281, 2561, SIGMA + 1):
        shift = int(np.ceil(np.log2(sigma / 1280)))
        law = GaussianLaw(Scale(Fraction(sigma**2, 4**shift)), Fraction(1))
        reach = int(np.count_nonzero(table_of(law).lower))
        assert 0.4 < 64 * failing(reach + 1, 2**shift, sigma=sigma, shift=shift) < 1


def test_one_proposal_in_64_is_tested_by_bits_that_say_nothing_else() -> None:
    count = 64
    table_words = [2**63 + (place % 2) for place in range(count)]
    choices = [(place + 1) * 2**54 + place for place in range(count)]  # the low digits, and the bits that choose
    proposed = propose(VARIANCE, SHIFT, count, Scripted([*table_words, *choices, 2**64 - 1]))
    assert len(proposed) == count  # the one tested passed
    assert np.array_equal(np.where(proposed < 0, ~proposed, proposed) % 2**SHIFT, np.arange(1, count + 1))
    rejected = propose(VARIANCE, SHIFT, count, Scripted([*table_words, *choices, 0]))
    assert np.array_equal(rejected, proposed[1:])  # it was the first, and it failed


def test_beyond_the_table_proposals_pass_an_exact_test_of_their_own() -> None:
    """A word of zeros, continued by zeros, is a distance of many sigma."""
    tiny = [1, 0, 0, 1, 2**63 + 12345]  # negative, and V = 2^-255: more than 18 sigma
    accepting, rejecting = (propose(Scale(1281**2), 1, 1, Scripted([*tiny, 1, word])) for word in (2**63, 0))
    assert len(accepting) == 1
    assert accepting[0] < -18 * 1281
    assert len(rejecting) == 0


def test_zero_isproposed_once() -> None:
    """H = 0 and D = 0 with either sign are 0 and -1."""
    words = [2**64 - 2, 2**64 - 1]
    assert propose(VARIANCE, SHIFT, 2, Scripted([*words, 1, 1])).tolist() == [0, -1]


def test_a_negative_number_is_one_farther_from_zero_than_its_digits() -> None:
    """With H = D = 0, the word 0 fails for -1, whose weight is less than that of H, and never for 0."""
    zero, minus_one = 2**64 - 2, 2**64 - 1
    assert propose(VARIANCE, SHIFT, 1, Scripted([zero, 0, 0])).tolist() == [0]
    assert propose(VARIANCE, SHIFT, 1, Scripted([minus_one, 0, 0])).tolist() == []
    assert propose(VARIANCE, SHIFT, 1, Scripted([minus_one, 0, 2**40])).tolist() == [-1]


def test_draws_fill_up_what_was_rejected() -> None:
    assert DiscreteGaussian(SIGMA).draws(100_003, RepeatableBits(5)).shape == (100_003,)

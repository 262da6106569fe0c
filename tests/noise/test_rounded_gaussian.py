"""The rejection behind large rounded Gaussian noise: every decision of the test, and what a proposal is rounded to."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from indistinct.noise import RoundedGaussian
from indistinct.noise.draws import table_of
from indistinct.noise.gaussian_law import GaussianLaw
from indistinct.noise.rounded_gaussian import fails, propose
from indistinct.noise.scale import Scale
from tests.exact import to_fraction
from tests.noise.sources import RepeatableBits, Scripted

REDUCED = Fraction(1024)
KNOWN = 58


def failing(high: int, rest: Fraction, reduced: Fraction = REDUCED) -> Fraction:
    """1 - e^-t from the definition: the density at H + U by that at H."""
    with mpmath.workdps(80):
        exponent = (Fraction(high) ** 2 - (high + rest) ** 2) / (2 * reduced**2)
        return to_fraction(-mpmath.expm1(mpmath.mpf(exponent.numerator) / exponent.denominator))


@pytest.mark.parametrize("offset", [-3, -1, 1, 3])
def test_the_test_decides_next_to_its_threshold_with_more_bits_of_both_numbers(offset: int) -> None:
    """V on either side of 64 (1 - e^-t), which floats cannot tell apart; U goes on with a word of its own."""
    random = RepeatableBits(2).words(60)
    high, words = (random[:30] % 7000).astype(np.int64), random[30:]
    further = 2**63 + 12345
    script = []
    for h, word in zip(high.tolist(), words.tolist(), strict=True):
        rest = Fraction(((word >> 6) << 64) + further, 2 ** (KNOWN + 64))
        fine = int(64 * failing(h, rest) * 2**128) + (offset << 10)  # farther than what U's own width moves it
        script.append((fine >> 64, fine % 2**64))
    # V's second word is drawn before U's second one.
    source = Scripted([*(first for first, _ in script), *(word for _, second in script for word in (second, further))])
    assert fails(REDUCED, high, words, source).tolist() == [offset < 0] * 30
    assert source.spent


def test_the_test_decides_far_from_its_threshold() -> None:
    random = RepeatableBits(3).words(6000)
    high, rest, words = (random[:2000] % 7000).astype(np.int64), random[2000:4000], random[4000:]
    result = fails(REDUCED, high, rest, Scripted(words.tolist()))
    truth = [
        w < 64 * failing(h, Fraction(u >> 6, 2**KNOWN)) * 2**64
        for h, u, w in zip(high.tolist(), rest.tolist(), words.tolist(), strict=True)
    ]
    assert result.tolist() == truth
    assert 50 < sum(truth) < 1950


def test_the_tested_share_is_enough_for_every_proposal_of_the_table() -> None:
    for sigma in (641, 1281, 2561, 2**20 + 1):
        shift = max(math.ceil(math.log2(sigma / 1280)), 0)
        reduced = Fraction(sigma, 2**shift)
        reach = int(np.count_nonzero(table_of(GaussianLaw(Scale(reduced**2), Fraction(1))).lower))
        assert 0.4 < 64 * failing(reach + 1, Fraction(1), reduced) < 1


def test_what_is_proposed_is_rounded_to_the_nearest() -> None:
    """With H = 0 and k = 3: U = 0.0625 is the half of a step, 2^k U = 1/2."""
    sigma, shift = REDUCED * 8, 3
    plus, minus = 2**64 - 2, 2**64 - 1
    bits = [0, 1, 2, 7, 8, 14, 15]  # the first shift + 1 bits of U, in sixteenths
    words = [(value << 60) + 2**58 + 1 for value in bits]  # the last bits: not tested
    expected = [math.floor(Fraction(value, 2) + Fraction(1, 2)) for value in bits]
    assert propose(sigma, shift, 7, Scripted([plus] * 7 + words)).tolist() == expected
    assert propose(sigma, shift, 7, Scripted([minus] * 7 + words)).tolist() == [-value for value in expected]


def test_without_low_digits_the_rest_alone_is_rounded() -> None:
    words = [2**58 + 1, 2**63 - 2**58 + 1, 2**63 + 1]
    assert propose(REDUCED, 0, 3, Scripted([2**64 - 2] * 3 + words)).tolist() == [0, 0, 1]


def test_one_proposal_in_64_is_tested_by_bits_that_say_nothing_else() -> None:
    sigma, shift, count = Fraction(2**20), 10, 64
    table_words = [2**63 + place % 2 for place in range(count)]
    choices = [(place + 1) * 2**53 + place for place in range(count)]
    proposed = propose(sigma, shift, count, Scripted([*table_words, *choices, 2**64 - 1]))
    assert len(proposed) == count
    rejected = propose(sigma, shift, count, Scripted([*table_words, *choices, 0]))
    assert np.array_equal(rejected, proposed[1:])


def test_beyond_the_table_proposals_pass_an_exact_test_of_their_own() -> None:
    tiny = [1, 0, 0, 1, 2**63 + 12345]  # negative, and V = 2^-255: more than 18 sigma
    accepting, rejecting = (
        propose(Fraction(2562), 2, 1, Scripted([*tiny, 2**63, *more])) for more in ((2**63, 1), (0, 1))
    )
    assert len(accepting) == 1
    assert accepting[0] < -18 * 2562
    assert len(rejecting) == 0


def test_draws_fill_up_what_was_rejected() -> None:
    assert RoundedGaussian(2**20).draws(100_003, RepeatableBits(5)).shape == (100_003,)

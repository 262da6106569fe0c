"""Survival functions summed from the definitions of the laws, at 80 digits: nothing is shared with the samplers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate

import mpmath

from indistinct.numbers import Epsilon, NaturalLog
from tests.exact import to_fraction

DIGITS = 80
Weight = Callable[[int], mpmath.mpf]


def real(value: Epsilon) -> mpmath.mpf:
    """An epsilon at the working precision."""
    if isinstance(value, NaturalLog):
        return mpmath.log(mpmath.mpf(value.argument.numerator) / value.argument.denominator)
    return mpmath.mpf(value.numerator) / value.denominator


def laplace_weight(width: Fraction, epsilon: Epsilon) -> Weight:
    rate = real(epsilon) / real(width)
    return lambda x: mpmath.exp(-abs(x) * rate)


def gaussian_weight(variance: Fraction) -> Weight:
    return lambda x: mpmath.exp(-(mpmath.mpf(x) ** 2) / (2 * real(variance)))


def staircase_weight(width: int, epsilon: Epsilon, step: int) -> Weight:
    def weight(x: int) -> mpmath.mpf:
        period, place = divmod(abs(x), width)
        return mpmath.exp(-real(epsilon) * (period + (place >= step)))

    return weight


def survivals(weight: Weight, *, two_sided: bool, terms: int) -> list[Fraction]:
    """P(M >= 1), P(M >= 2), ... for the magnitude (or the number from 0 on) of a law given by its weights.

    The sums stop after so many terms, which must leave a share of less than 10^-70 out.
    """
    with mpmath.workdps(DIGITS):
        weights = [weight(x) * (2 if two_sided and x else 1) for x in range(terms)]
        assert weights[-1] * terms < mpmath.mpf(10) ** -70 * weights[0]
        tails = list(accumulate(reversed(weights)))[::-1]
        return [to_fraction(tail / tails[0]) for tail in tails[1:]]

"""The exact laws of mechanisms that select, from their definitions: sums and integrals at 30 digits."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from typing import Any

import mpmath

DIGITS = 30


def real(value: Any) -> mpmath.mpf:
    number = Fraction(value)
    return mpmath.mpf(number.numerator) / number.denominator


def exponential_law(scores: Sequence[Any], scale: Any) -> list[mpmath.mpf]:
    """Weights e^(score / scale)."""
    weights = [mpmath.exp(real(score) / real(scale)) for score in scores]
    return [weight / sum(weights) for weight in weights]


def permute_and_flip_law(scores: Sequence[Any], scale: Any) -> list[mpmath.mpf]:
    """Over all orders: the first that is accepted."""
    best = max(real(score) for score in scores)
    accepted = [mpmath.exp((real(score) - best) / real(scale)) for score in scores]
    law = [mpmath.mpf(0)] * len(scores)
    orders = list(permutations(range(len(scores))))
    for order in orders:
        left = mpmath.mpf(1)
        for at in order:
            law[at] += left * accepted[at]
            left *= 1 - accepted[at]
    return [share / len(orders) for share in law]


def density(x: mpmath.mpf, scale: mpmath.mpf) -> mpmath.mpf:
    return mpmath.exp(-abs(x) / scale) / (2 * scale)


def below(x: mpmath.mpf, scale: mpmath.mpf) -> mpmath.mpf:
    """The distribution function of Laplace noise."""
    return mpmath.exp(x / scale) / 2 if x < 0 else 1 - mpmath.exp(-x / scale) / 2


def integral(function: Any, breaks: Sequence[mpmath.mpf], reach: mpmath.mpf) -> mpmath.mpf:
    """Over the line, cut where the function has a kink; beyond the reach there is nothing of weight."""
    cuts = sorted(set(breaks))
    return mpmath.quad(function, [cuts[0] - reach, *cuts, cuts[-1] + reach])


def noisy_max_law(scores: Sequence[Any], scale: Any) -> list[mpmath.mpf]:
    """Laplace noise: each candidate's chance to be above all others."""
    b, values = real(scale), [real(score) for score in scores]

    def wins(i: int) -> mpmath.mpf:
        def integrand(x: mpmath.mpf) -> mpmath.mpf:
            others = mpmath.mpf(1)
            for j, value in enumerate(values):
                if j != i:
                    others *= below(x - value, b)
            return density(x - values[i], b) * others

        return integral(integrand, values, 70 * b)

    return [wins(i) for i in range(len(values))]


def halting_law(values: Sequence[Any], threshold: Any, threshold_scale: Any, query_scale: Any) -> list[mpmath.mpf]:
    """AboveThreshold: the chance to halt at each query, and at none."""
    a, b, level = real(threshold_scale), real(query_scale), real(threshold)
    gaps = [real(value) - level for value in values]
    breaks = [mpmath.mpf(0), *gaps]

    def outcome(halt: int) -> mpmath.mpf:
        def integrand(r: mpmath.mpf) -> mpmath.mpf:
            chance = density(r, a)
            for gap in gaps[:halt]:
                chance *= below(r - gap, b)
            return chance * (below(gaps[halt] - r, b) if halt < len(gaps) else 1)

        return integral(integrand, breaks, 70 * max(a, b))

    return [outcome(halt) for halt in range(len(gaps) + 1)]


def worst_ratio(one: Sequence[mpmath.mpf], other: Sequence[mpmath.mpf]) -> mpmath.mpf:
    """The largest of the losses, either way."""
    return max(abs(mpmath.log(p / q)) for p, q in zip(one, other, strict=True))

"""Noise in the shape of a box: its law against the definition, its promise by enumeration, its time."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from indistinct.errors import InvalidParameter
from indistinct.noise import BoxNoise
from indistinct.noise.box import below_each, binomial_coefficients
from indistinct.noise.table import BITS
from tests.noise.budget import share
from tests.noise.sources import RepeatableBits

BOXES = [((1,), Fraction(1)), ((1, 1), Fraction(2)), ((1, 3), Fraction(3, 2)), ((2, 1, 5), Fraction(1, 2))]


def level(vector: tuple[int, ...], widths: tuple[int, ...]) -> int:
    """The box in which a vector lies, from the definition."""
    return max(-(-abs(number) // width) for number, width in zip(vector, widths, strict=True))


def law(widths: tuple[int, ...], scale: Fraction, reach: int) -> dict[tuple[int, ...], float]:
    """Of all vectors in a large box, by their weights alone."""
    sides = [range(-reach * width, reach * width + 1) for width in widths]
    weights = {vector: math.exp(-level(vector, widths) / scale) for vector in itertools.product(*sides)}
    total = sum(weights.values())
    return {vector: weight / total for vector, weight in weights.items()}


@pytest.mark.parametrize(("widths", "scale"), BOXES)
def test_vectors_have_their_law(widths: tuple[int, ...], scale: Fraction) -> None:
    draws = 100_000
    drawn = Counter(map(tuple, BoxNoise(widths, scale).draws(draws).tolist()))
    truth = law(widths, scale, 12 if len(widths) < 3 else 6)
    common = sorted(truth, key=lambda vector: -truth[vector])[:40]
    slack = math.sqrt(math.log(2 * len(common) / share()) / (2 * draws))
    assert all(abs(drawn[vector] / draws - truth[vector]) <= slack for vector in common)
    if len(widths) == 2:
        narrow = law(widths, scale * Fraction(4, 5), 12)
        assert any(abs(drawn[vector] / draws - narrow[vector]) > slack for vector in common)


@pytest.mark.parametrize("widths", [widths for widths, _ in BOXES[:3]])
def test_moving_every_coordinate_by_its_width_costs_one_epsilon(widths: tuple[int, ...]) -> None:
    """The largest difference of levels over all shifts of a unit: 1 exactly, not one for each coordinate."""
    sides = [range(-3 * width, 3 * width + 1) for width in widths]
    worst = 0
    for vector in itertools.product(*sides):
        for shift in itertools.product(*(range(-width, width + 1) for width in widths)):
            moved = tuple(a + b for a, b in zip(vector, shift, strict=True))
            worst = max(worst, abs(level(vector, widths) - level(moved, widths)))
    assert worst == 1
    wider = [level(tuple(2 * width for width in widths), widths) - level((0,) * len(widths), widths)]
    assert max(wider) == 2


def test_the_mixture_is_that_of_the_boxes() -> None:
    """The weights of k, drawn into weights of m, are q^m N(m): at 60 digits, for many m."""
    widths, scale = (1, 7, 1000), Fraction(3)
    with mpmath.workdps(60):
        decay = mpmath.exp(-1 / (mpmath.mpf(scale.numerator) / scale.denominator))
        coefficients = binomial_coefficients(widths)
        for m in (0, 1, 2, 5, 40):
            mixed = sum(c * math.comb(m, k) for k, c in enumerate(coefficients))
            assert mixed == math.prod(2 * width * m + 1 for width in widths)
        weights = [c * decay**k / (1 - decay) ** (k + 1) for k, c in enumerate(coefficients)]
        summed = mpmath.nsum(lambda m: decay**m * mpmath.fprod(2 * width * m + 1 for width in widths), [0, mpmath.inf])
        assert abs(sum(weights) / summed - 1) < mpmath.mpf(10) ** -40
        told = BoxNoise(widths, scale).law
        for i in range(1, 4):
            lower, upper = told.survival(i, BITS)
            assert lower <= 2**BITS * sum(weights[i:]) / sum(weights) <= upper


def test_numbers_below_each_bound() -> None:
    source = RepeatableBits(5)
    bounds = np.array([1, 2, 3, 10**6, 2**40 + 1, 2**61] * 4000, dtype=np.int64)
    found = below_each(bounds, source)
    assert ((found >= 0) & (found < bounds)).all()
    for bound in (2, 3):
        counts = np.bincount(found[bounds == bound], minlength=bound)
        assert abs(counts / 4000 - 1 / bound).max() <= math.sqrt(math.log(4 / share()) / 8000)
    large = found[bounds == 2**61] / 2**61
    assert abs(large.mean() - 0.5) < math.sqrt(math.log(2 / share()) / 8000)


@pytest.mark.parametrize(
    ("widths", "scale"), [((), 1), ((0,), 1), ((1,) * 65, 1), ((2**47,), 1), ((1,), "0.01"), ((1, 2), 10**9)]
)
def test_what_cannot_be_drawn_is_refused(widths: tuple[int, ...], scale: object) -> None:
    with pytest.raises(InvalidParameter):
        BoxNoise(widths, scale)

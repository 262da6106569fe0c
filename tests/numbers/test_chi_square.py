"""The tails of chi-square against mpmath's incomplete gamma function at 60 digits."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest

from indistinct.numbers.balls import ball, bracket_of, exact, precision
from indistinct.numbers.chi_square import chi_square_tails
from tests.exact import to_fraction

DEGREES = [1, 2, 3, 10, 119, 473, 4239]
PLACES = [
    Fraction(1, 10**6),
    Fraction(1, 4),
    Fraction(9, 10),
    Fraction(1),
    Fraction(11, 10),
    Fraction(5, 2),
    Fraction(9),
]


def truth(degrees: int, x: Fraction) -> tuple[Fraction, Fraction]:
    with mpmath.workdps(60):
        half, z = mpmath.mpf(degrees) / 2, mpmath.mpf(x.numerator) / x.denominator / 2
        below = mpmath.gammainc(half, 0, z, regularized=True)
        above = mpmath.gammainc(half, z, mpmath.inf, regularized=True)
        return to_fraction(below), to_fraction(above)


@pytest.mark.parametrize("degrees", DEGREES)
@pytest.mark.parametrize("place", PLACES)
def test_both_tails_hold_the_truth_and_are_narrow(degrees: int, place: Fraction) -> None:
    x = place * degrees
    with precision(192):
        found = chi_square_tails(degrees, ball(x))
        for tail, true in zip(found, truth(degrees, x), strict=True):
            slack = true / 10**50
            assert exact(tail.lower()) - slack <= true <= exact(tail.upper()) + slack
        assert min(found[0].rel_accuracy_bits(), found[1].rel_accuracy_bits()) >= 100 or min(map(float, found)) < 1e-20


@pytest.mark.parametrize("degrees", DEGREES)
def test_the_smaller_tail_is_narrow_relative_to_itself(degrees: int) -> None:
    with precision(128):
        deep = (
            chi_square_tails(degrees, ball(Fraction(degrees, 50)))[0],
            chi_square_tails(degrees, ball(9 * degrees))[1],
        )
        assert all(tail.rel_accuracy_bits() > 90 for tail in deep)


@pytest.mark.parametrize("degrees", [1, 2, 7, 8, 473])
def test_the_series_agree_where_they_meet(degrees: int) -> None:
    """On either side of the middle one series or the other is used, and the tails hardly move."""
    with precision(128):
        step = Fraction(1, 2**60)
        below, above = (chi_square_tails(degrees, ball(degrees + side * step)) for side in (-1, 1))
        for one, other in zip(below, above, strict=True):
            assert abs(one - other) < ball(step)


def test_a_neighbouring_number_of_degrees_is_told_apart() -> None:
    """The check above is no empty one."""
    with precision(128):
        found = bracket_of(chi_square_tails(473, ball(500))[1])
    assert truth(474, Fraction(500))[1] not in found
    assert truth(473, Fraction(500) + Fraction(1, 10**10))[1] not in found

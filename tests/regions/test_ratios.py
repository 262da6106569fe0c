from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indistinct.errors import InvalidParameter
from indistinct.numbers import ln
from indistinct.regions.ratios import epsilon_of, order, ratio_above, ratio_below
from tests.exact import to_fraction


@given(st.fractions(Fraction(1, 50), 300, max_denominator=50))
def test_rounding_goes_the_way_it_says(epsilon: Fraction) -> None:
    with mpmath.workdps(300):
        truth = to_fraction(mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator))
    assert ratio_below(epsilon) < truth < ratio_above(epsilon)
    assert ratio_above(epsilon) - ratio_below(epsilon) < truth / 2**128
    assert order(ratio_below(epsilon), epsilon) == -1
    assert order(ratio_above(epsilon), epsilon) == 1


def test_rational_ratios_are_exact() -> None:
    assert ratio_below(ln(3)) == ratio_above(ln(3)) == 3
    assert ratio_below(Fraction(0)) == ratio_above(Fraction(0)) == 1
    assert order(Fraction(1), Fraction(0)) == 0
    assert epsilon_of(Fraction(1)) == 0
    assert epsilon_of(Fraction(3)) == ln(3)


def test_an_enormous_ratio_is_compared_but_not_written_out() -> None:
    assert order(Fraction(10) ** 4000, Fraction(10**9)) == -1
    with pytest.raises(InvalidParameter, match="epsilon must be at most 20,000"):
        ratio_above(Fraction(20_001))

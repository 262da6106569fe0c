import math
from fractions import Fraction

import mpmath
from hypothesis import given
from hypothesis import strategies as st

from indistinct.numbers import Bracket, NaturalLog, ln
from indistinct.regions import (
    Region,
    dominating_pair,
    implied_delta,
    implied_epsilon,
    statistical_distance,
    total_variation_bound,
)
from tests.exact import to_fraction
from tests.regions.pairs import deltas

levels = st.fractions(1, 9, max_denominator=6)
rationals = st.fractions(Fraction(1, 8), 6, max_denominator=8)


@given(levels, deltas, levels, deltas)
def test_remark_a_1_a_is_inclusion_of_regions(r: Fraction, delta: Fraction, s: Fraction, other: Fraction) -> None:
    given_region = Region.of_guarantee(ln(r), delta)
    implied = Region.of_guarantee(ln(s), other).includes(given_region)
    assert implied == (other >= delta and (1 - delta) / (1 + r) >= (1 - other) / (1 + s))
    least = given_region.profile().delta_at_ratio(s)
    assert implied == (least <= other)
    assert implied_delta(ln(r), delta, ln(s)) == least
    assert implied_epsilon(ln(r), delta, other) == given_region.profile().epsilon(other)


@given(rationals, deltas, st.fractions(0, 6, max_denominator=8))
def test_at_irrational_ratios(epsilon: Fraction, delta: Fraction, asked: Fraction) -> None:
    result = implied_delta(epsilon, delta, asked)
    if asked >= epsilon or delta == 1:
        assert result == delta
        return
    assert isinstance(result, Bracket)
    with mpmath.workdps(50):
        e, d, a = (mpmath.mpf(x.numerator) / x.denominator for x in (epsilon, delta, asked))
        truth = to_fraction(1 - (1 - d) * (1 + mpmath.exp(a)) / (1 + mpmath.exp(e)))
    assert truth in result
    assert result.relative_width < 1e-15


@given(rationals, deltas, deltas)
def test_the_implied_epsilon_is_the_inverse(epsilon: Fraction, delta: Fraction, asked: Fraction) -> None:
    match implied_epsilon(epsilon, delta, asked):
        case Bracket() as bracket:
            below, above = Fraction(bracket.lower) * (1 - Fraction(1, 10**12)), Fraction(bracket.upper)
            at_below = implied_delta(epsilon, delta, max(below, 0))
            assert (at_below.upper if isinstance(at_below, Bracket) else at_below) > asked
            at_above = implied_delta(epsilon, delta, above)
            assert (at_above.lower if isinstance(at_above, Bracket) else at_above) <= asked
        case Fraction() as exact if exact == epsilon != 0:
            assert asked == delta
        case Fraction() as zero:
            assert zero == 0
            total = implied_delta(epsilon, delta, 0)
            assert (total.lower if isinstance(total, Bracket) else total) <= asked
        case infinite:
            assert infinite == math.inf
            assert asked < delta


@given(levels, deltas)
def test_remark_a_1_b_is_attained(ratio: Fraction, delta: Fraction) -> None:
    bound = total_variation_bound(ln(ratio), delta)
    assert bound == 1 - 2 * (1 - delta) / (1 + ratio)
    assert bound == statistical_distance(dominating_pair(ln(ratio), delta))


def test_the_edges() -> None:
    assert implied_epsilon(1, "1/2", "1/2") == 1
    assert implied_epsilon(1, 1, 1) == 0
    assert implied_epsilon(0, 0, 0) == 0
    assert implied_delta("ln(3)", "1/7", Fraction("1.0986122886681098")) == Fraction(1, 7)
    assert implied_delta(Fraction("1.0986122886681096"), "1/7", "ln(3)") == Fraction(1, 7)
    assert isinstance(implied_epsilon("ln(3)", 0, "1/100"), NaturalLog)
    tiny = implied_delta(1, 0, 1 - Fraction(1, 10**40))
    assert isinstance(tiny, Bracket)
    assert 0 < tiny.lower <= tiny.upper < 1e-39

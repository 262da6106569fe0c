import math
from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indistinct.errors import InvalidParameter
from indistinct.numbers import Bracket, NaturalLog, ln
from indistinct.regions import (
    DiscretePair,
    approximate_max_divergence,
    dominating_pair,
    hockey_stick,
    kl_bound,
    kl_divergence,
    kl_of_randomized_response,
    max_divergence,
    renyi_divergence,
    satisfies,
    statistical_distance,
)
from tests.exact import to_fraction
from tests.regions.pairs import all_rejections, brute_delta, deltas, epsilons, pairs

SURVEY = DiscretePair(["3/4", "1/4"], ["1/4", "3/4"])
TINY = Fraction(1, 10**30)
CLOSE = DiscretePair([Fraction(1, 2) + TINY, Fraction(1, 2) - TINY], ["1/2", "1/2"])


def real(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


def is_tight(bracket: Bracket, truth: mpmath.mpf) -> bool:
    """Whether the bracket holds the value and is two floats wide at most."""
    exact = to_fraction(truth)
    return exact in bracket and bracket.width <= 2 * math.ulp(bracket.upper)


def true_renyi(pair: DiscretePair, order: Fraction) -> mpmath.mpf:
    terms = [(real(p), real(q)) for p, q in zip(pair.null, pair.alternative, strict=True) if p and q]
    if order == 1:
        return mpmath.fsum(p * mpmath.log(p / q) for p, q in terms)
    a = real(order)
    return mpmath.log(mpmath.fsum(p**a * q ** (1 - a) for p, q in terms)) / (a - 1)


@given(pairs(), st.sampled_from(["1/3", "1/2", 1, "3/2", 2, 7]))
def test_renyi_and_kl_against_50_digits(pair: DiscretePair, order: object) -> None:
    bracket = renyi_divergence(pair, order)
    exact = Fraction(str(order))
    possible = [(p, q) for p, q in zip(pair.null, pair.alternative, strict=True)]
    if not any(p and q for p, q in possible) or (exact >= 1 and any(p and not q for p, q in possible)):
        assert bracket == Bracket(math.inf, math.inf)
    elif pair.null == pair.alternative:
        assert bracket == Bracket(0, 0)
    else:
        with mpmath.workdps(50):
            assert is_tight(bracket, true_renyi(pair, exact))
    assert order != 1 or bracket == kl_divergence(pair)


def test_divergences_of_laws_that_floats_cannot_tell_apart() -> None:
    with mpmath.workdps(200):
        assert is_tight(kl_divergence(CLOSE), true_renyi(CLOSE, Fraction(1)))
        assert is_tight(renyi_divergence(CLOSE, "5/2"), true_renyi(CLOSE, Fraction(5, 2)))
    assert max_divergence(CLOSE) == ln(1 + 2 * TINY)


@given(pairs())
def test_renyi_rises_with_the_order_up_to_the_max_divergence(pair: DiscretePair) -> None:
    values = [renyi_divergence(pair, order) for order in ("1/2", 1, 2, 5, math.inf)]
    assert all(a.lower <= b.upper for a, b in pairwise(values))


@given(pairs(), deltas)
def test_approximate_max_divergence_by_its_definition(pair: DiscretePair, delta: Fraction) -> None:
    law = list(zip(pair.null, pair.alternative, strict=True))
    best: Fraction | float = Fraction(0)
    for chosen in all_rejections(pair):
        p = sum((law[i][0] for i in chosen), Fraction(0))
        q = sum((law[i][1] for i in chosen), Fraction(0))
        if p > delta:
            best = max(best, (p - delta) / q if q else math.inf)
    match approximate_max_divergence(pair, delta):
        case NaturalLog(argument):
            assert argument == best
        case Fraction() as zero:
            assert zero == 0
            assert best == 1
        case edge:
            assert edge == (math.inf if best else -math.inf)
            assert best in (0, math.inf)
    assert max_divergence(pair) == approximate_max_divergence(pair, 0)


@given(pairs(), st.fractions(1, 6, max_denominator=6), deltas)
def test_remark_3_1(pair: DiscretePair, ratio: Fraction, delta: Fraction) -> None:
    def within(law: DiscretePair) -> bool:
        level = approximate_max_divergence(law, delta)
        return level <= 0 if not isinstance(level, NaturalLog) else level.argument <= ratio

    assert satisfies(pair, ln(ratio), delta) == (within(pair) and within(pair.swapped()))


@given(pairs(), epsilons)
def test_hockey_stick_and_total_variation(pair: DiscretePair, epsilon: object) -> None:
    assert statistical_distance(pair) == brute_delta(pair, Fraction(1)) == hockey_stick(pair, 0)
    match hockey_stick(pair, epsilon):
        case Fraction() as exact if isinstance(epsilon, str):
            assert exact == brute_delta(pair, Fraction(epsilon[3:-1]))
        case Fraction():
            assert epsilon == 0
        case bracket:
            assert isinstance(epsilon, Fraction)
            with mpmath.workdps(50):
                truth = brute_delta(pair, to_fraction(mpmath.exp(real(epsilon))))
            assert bracket.lower * (1 - 1e-14) <= truth <= bracket.upper * (1 + 1e-14)


@given(pairs(), st.fractions(Fraction(1, 100), 20, max_denominator=100))
def test_lemma_3_18(pair: DiscretePair, epsilon: Fraction) -> None:
    with mpmath.workdps(50):
        e = real(epsilon)
        assert is_tight(kl_bound(epsilon), e * mpmath.expm1(e))
        assert is_tight(kl_of_randomized_response(epsilon), e * mpmath.tanh(e / 2))
    if satisfies(pair, epsilon):
        assert kl_divergence(pair).lower <= kl_of_randomized_response(epsilon).upper <= kl_bound(epsilon).upper


def test_randomised_response_attains_the_worst_case() -> None:
    assert kl_divergence(dominating_pair("ln(3)")) == kl_of_randomized_response("ln(3)")
    assert kl_bound(0) == kl_of_randomized_response(0) == Bracket(0, 0)
    assert kl_bound(10**9).upper == math.inf
    assert 10**9 in kl_of_randomized_response(10**9)
    assert kl_bound(Fraction(1, 10**100)).relative_width < 1e-15


def test_bad_input() -> None:
    with pytest.raises(InvalidParameter, match=r"order must lie in \(0, 1000000\] or be infinite, but is 0"):
        renyi_divergence(SURVEY, 0)
    with pytest.raises(InvalidParameter, match="order must be finite"):
        renyi_divergence(SURVEY, math.nan)
    with pytest.raises(InvalidParameter, match="delta must lie in"):
        approximate_max_divergence(SURVEY, -1)
    with pytest.raises(InvalidParameter, match="epsilon must lie in"):
        kl_bound(-1)

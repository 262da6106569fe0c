"""How often something may be used: the answer fits, and one more does not."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from indistinct import ApproximateDP, Gaussian, Laplace, PureDP, ZeroConcentratedDP, compose, how_many
from indistinct.composition.compose import Part
from indistinct.errors import InvalidParameter
from indistinct.numbers.reading import LARGEST_COUNT


@pytest.mark.parametrize(
    ("thing", "epsilon", "delta"),
    [
        (PureDP("0.1"), 1, "1e-6"),
        (PureDP("0.01"), 1, "1e-6"),
        (PureDP("1e-6"), 1, "1e-6"),
        (PureDP("ln(3)"), "ln(81)", 0),
        (ApproximateDP("0.01", "1e-9"), 1, "1e-6"),
        (ApproximateDP("1e-9", "1e-9"), 1, "1e-6"),
        (Gaussian(sigma=10), 1, "1e-6"),
        (Gaussian(sigma=10**7), 1, "1e-6"),
        (Laplace(scale=100), 1, "1e-6"),
        (Laplace(scale=10), 1, 0),
    ],
    ids=repr,
)
def test_it_fits_and_one_more_does_not(thing: Part, epsilon: object, delta: str) -> None:
    most = how_many(thing, epsilon=epsilon, delta=delta)
    assert most.is_exact
    assert compose({thing: most.times}).delta(epsilon).upper <= Fraction(delta)
    assert compose({thing: most.times + 1}).delta(epsilon).lower > Fraction(delta)
    assert "one more is proven not to" in str(most)


def test_small_counts_by_trying_all() -> None:
    for level in ("0.5", "0.3", "0.2"):
        for delta in (Fraction(1, 100), Fraction(1, 10)):
            fitting = [k for k in range(1, 40) if compose({PureDP(level): k}).delta(1).upper <= delta]
            assert how_many(PureDP(level), epsilon=1, delta=delta).times == max(fitting) == len(fitting)


def test_gaussian_counts_in_closed_form() -> None:
    one = how_many(Gaussian(sigma=30), epsilon=1, delta="1e-6")
    # 133.5960767310 is the least sigma for a thousand of sensitivity 1, by the table of reference values.
    assert one.times == math.floor(1000 * (30 / 133.5960767310) ** 2)


def test_beside_and_compositions_as_one() -> None:
    beside = {Gaussian(sigma=20): 3}
    most = how_many(Gaussian(sigma=20), epsilon=1, delta="1e-6", beside=beside)
    assert most.times == how_many(Gaussian(sigma=20), epsilon=1, delta="1e-6").times - 3
    pair = compose({Gaussian(sigma=20): 2})
    assert how_many(pair, epsilon=1, delta="1e-6").times == (most.times + 3) // 2


def test_none_at_all_and_any_number() -> None:
    none = how_many(PureDP(9), epsilon=1, delta="1e-6")
    assert (none.times, none.too_many, none.profile) == (0, 1, None)
    assert none.spent.upper == 0
    every = how_many(PureDP(0), epsilon=1, delta="1e-6")
    assert (every.times, every.too_many) == (LARGEST_COUNT, None)
    assert "no number of uses is proven not to" in every._repr_html_()


def test_where_the_bracket_cannot_tell_it_says_so() -> None:
    most = how_many(Laplace(scale=10**6), epsilon=1, delta="1e-6")
    assert not most.is_exact
    assert most.too_many is not None
    assert most.times < most.too_many < most.times * (1 + 1e-7)
    assert "nothing is proven of what is between" in str(most)
    bound = how_many(ZeroConcentratedDP("0.001"), epsilon=1, delta="1e-6")
    assert bound.too_many is None
    assert compose({ZeroConcentratedDP("0.001"): bound.times + 1}).delta(1).upper > 1e-6


def test_bad_questions() -> None:
    with pytest.raises(InvalidParameter, match="the budget must be more than what is beside it spends"):
        how_many(PureDP("0.1"), epsilon=1, delta="1e-6", beside=[PureDP(3)])
    with pytest.raises(InvalidParameter, match="delta must be below 1"):
        how_many(PureDP("0.1"), epsilon=1, delta=1)
    with pytest.raises(InvalidParameter, match="a composed thing must be"):
        how_many("laplace", epsilon=1, delta="1e-6")  # type: ignore[arg-type]  # the mistake that is refused

import math
from fractions import Fraction
from itertools import chain

import numpy as np
import pytest
from hypothesis import given

from indistinct.errors import InvalidParameter
from indistinct.regions import DiscretePair
from indistinct.regions.laws import by_likelihood
from tests.regions.pairs import pairs


def test_mappings_are_aligned_by_outcome() -> None:
    pair = DiscretePair({"a": "0.25", "b": "0.75"}, {"b": 1, "a": 0})
    assert pair.null == (Fraction(1, 4), Fraction(3, 4))
    assert pair.alternative == (Fraction(0), Fraction(1))


def test_floats_are_normalised_by_their_exact_sum() -> None:
    pair = DiscretePair(np.full(10, 0.1), [0.1] * 10)
    assert pair.null == (Fraction(1, 10),) * 10
    assert sum(DiscretePair([0.1, 0.2, 0.7], [0.3, 0.3, 0.4]).null) == 1


def test_exact_numbers_are_not_normalised() -> None:
    nearly = 1 - Fraction(1, 10**40)
    with pytest.raises(InvalidParameter, match=r"the sum of the null law must be one.*too small by 1e-40"):
        DiscretePair([nearly, 0], [1, 0])


@pytest.mark.parametrize(
    ("null", "alternative", "message"),
    [
        ([0.5, -0.5], [1, 0], r"the null probability of 1 must lie in \[0, 1\], but is -0.5"),
        ([10**400], [1], r"the null probability of 0 must lie in \[0, 1\], but is a whole number"),
        ([math.nan, 1], [1, 0], "the null probability of 0 must be finite"),
        ([1], [math.inf], "the alternative probability of 0 must be finite"),
        (["half", 1], [1, 0], "the null probability of 0 must be a number"),
        ([0.5, 0.6], [1, 0], r"the sum of the null law must be one, but is 1.1. It is too large by 0.1"),
        ([0.5, 0.5 + 1e-12], [1, 0], "the sum of the null law must be one, .*too large by 9.99978e-13"),
        ([0.5, 0.5], [1], r"have as many outcomes as the null law \(2, not 1\)"),
        ({"a": 1}, {"a": 0, "b": 1}, "the null law must name the outcome 'b'.*probability 0"),
        ({"a": 1, "b": 0}, {"a": 1}, "the alternative law must name the outcome 'b'.*probability 0"),
        ({"a": 1}, [1], "the alternative law must be a mapping, as the null law is"),
        ([1], {"a": 1}, "the null law must be a mapping, as the alternative law is"),
        ([], [], "the null law must have at least one outcome"),
        (np.eye(2), [1, 0], "the null law must be one-dimensional"),
        (np.array(1.0), [1], "the null law must be one-dimensional"),
        (1, [1], "the null law must be a mapping or a sequence"),
        ("10", [1, 0], "the null law must be a mapping or a sequence"),
    ],
)
def test_bad_laws_are_refused_in_a_sentence(null: object, alternative: object, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        DiscretePair(null, alternative)  # type: ignore[arg-type]  # what is tested


@given(pairs())
def test_order_by_likelihood_is_exact(pair: DiscretePair) -> None:
    possible = [i for i in range(len(pair)) if pair.null[i] or pair.alternative[i]]
    places = [[pair.null[i] / (pair.null[i] + pair.alternative[i]) for i in g] for g in by_likelihood(pair)]
    assert sorted(chain(*by_likelihood(pair))) == possible
    assert all(len(set(group)) == 1 for group in places)
    assert [group[0] for group in places] == sorted({group[0] for group in places})


def test_order_by_likelihood_tells_ratios_apart_that_floats_do_not() -> None:
    tiny = Fraction(1, 10**60)
    pair = DiscretePair([Fraction(1, 2) + tiny, Fraction(1, 2) - tiny], ["1/2", "1/2"])
    assert by_likelihood(pair) == [[1], [0]]
    # k/(2k+1) and (k+1)/(2k+3) are as close as two fractions of their size can be.
    k = 10**15
    null, alternative = (k, k + 1, 2), (k + 1, k + 2, 0)
    pair = DiscretePair(*([Fraction(weight, 2 * k + 3) for weight in law] for law in (null, alternative)))
    assert by_likelihood(pair) == [[0], [1], [2]]


@given(pairs(3), pairs(3))
def test_tensor_is_the_product_law(first: DiscretePair, second: DiscretePair) -> None:
    both = first.tensor(second)
    assert len(both) == len(first) * len(second)
    assert both.null[len(second) - 1] == first.null[0] * second.null[-1]
    assert both.swapped() == first.swapped().tensor(second.swapped())

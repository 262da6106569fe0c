"""Pairs whose two laws differ by next to nothing, in exact fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from indistinct import DiscretePair, Laplace, PoissonSubsampled, RandomizedResponse, compose
from indistinct.errors import InvalidParameter

F = Fraction
LEAST = F(1, 10**80)


def delta_of_two(p: list[Fraction], q: list[Fraction]) -> Fraction:
    """delta(0), outcome by outcome."""
    return sum((max(a * c - b * d, F(0)) for (a, b), (c, d) in product(zip(p, q, strict=True), repeat=2)), F(0))


@pytest.mark.parametrize(
    ("p", "q"),
    [
        ([LEAST, 1 - LEAST], [F(0), F(1)]),
        *(([F(1, 2) + x, F(1, 2) - x], [F(1, 2), F(1, 2)]) for x in (F(1, 10**16), LEAST)),
    ],
)
def test_two_answers(p: list[Fraction], q: list[Fraction]) -> None:
    found = compose({DiscretePair(p, q): 2}).delta(0)
    exact = max(delta_of_two(p, q), delta_of_two(q, p))
    assert F(found.lower) <= exact <= F(found.upper) <= exact * (1 + F(1, 10**10))


def test_two_answers_on_a_sample_at_a_tiny_rate() -> None:
    p, q = [F(1, 4), F(1, 4), F(1, 2)], [F(2, 3), F(1, 3), F(0)]
    rate = F(1, 10**15)
    mixed = [rate * a + (1 - rate) * b for a, b in zip(p, q, strict=True)]
    found = compose({PoissonSubsampled(DiscretePair(p, q), rate): 2}).delta(0)
    exact = max(delta_of_two(mixed, q), delta_of_two(q, mixed))
    assert F(found.lower) <= exact <= F(found.upper) <= exact * (1 + F(1, 10**6))


def test_two_responses_of_a_tiny_epsilon() -> None:
    """Of first order in epsilon: +epsilon, -epsilon with 1/5 each, so that E (L1 + L2)_+ = (2/25 + 6/25) epsilon."""
    found = compose({RandomizedResponse("1e-80", 5): 2}).delta(0)
    assert found.lower <= 3.2e-81 * (1 + 1e-12)
    assert 3.2e-81 * (1 - 1e-12) <= found.upper <= 3.2e-81 * (1 + 1e-9)


def test_a_class_is_no_mechanism() -> None:
    with pytest.raises(InvalidParameter, match="a guarantee such as"):
        compose([Laplace])  # type: ignore[list-item]

"""Running sums are exact, and stay cheap when they cannot be."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from indistinct.composition.filters.tally import Tally

amounts = st.fractions(min_value=0, max_value=2, max_denominator=10**6)


@given(st.fractions(min_value=0, max_value=3, max_denominator=10**6), st.lists(amounts, max_size=12))
def test_sums_and_decisions_are_those_of_fractions(limit: Fraction, wanted: list[Fraction]) -> None:
    tally, total = Tally(limit), Fraction(0)
    for amount in wanted:
        assert (tally.units(amount) <= tally.free) == (total + amount <= limit)
        if total + amount <= limit:
            tally.add(amount)
            total += amount
        assert (tally.total, tally.left) == (total, limit - total)


def test_a_finer_unit_refines_what_was_added_before() -> None:
    """The unit must change before the sum is read: once it did not."""
    tally = Tally(Fraction(1))
    tally.add(Fraction(1))
    assert tally.units(Fraction(1, 10**9)) > tally.free
    tally = Tally()
    tally.add(Fraction(1))
    tally.add(Fraction(1, 3))
    assert tally.total == Fraction(4, 3)


def test_a_sum_that_would_grow_without_bound_is_rounded_up() -> None:
    primes = [n for n in range(2, 8000) if all(n % d for d in range(2, int(n**0.5) + 1))]
    tally = Tally(Fraction(10**6))
    for prime in primes:
        tally.add(Fraction(1, prime))
    true = sum(Fraction(1, prime) for prime in primes)
    assert true < tally.total < true * (1 + Fraction(1, 10**300))
    assert tally.total.denominator.bit_length() <= 4096


def test_nothing_costs_nothing() -> None:
    tally = Tally(Fraction(0))
    assert tally.units(Fraction(0)) == tally.free == 0
    assert tally.units(Fraction(1, 10**5000)) == 1


def test_a_sum_can_go_back() -> None:
    tally = Tally(Fraction(1))
    tally.add(Fraction(1, 3))
    before = tally.total
    tally.add(Fraction(1, 7))
    tally.back_to(before)
    assert tally.total == Fraction(1, 3)

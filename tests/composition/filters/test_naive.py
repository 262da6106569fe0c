"""Why there is no filter that composes each step's true curve and stops at the budget: it is beaten, twice.

The naive rule goes on while the optimal composition of everything charged so far, the next charge included, is within
(epsilon, delta). Every path it lets through is private on its own. An analyst who chooses levels from the answers
makes each path the one that suits the loss seen so far, and together the paths are not
(arXiv 2602.06756).
"""

from __future__ import annotations

import math
from fractions import Fraction

from scipy.stats import binom

from indistinct import PureDP, compose
from indistinct.composition.filters import ConcentratedFilter
from indistinct.errors import BudgetExceeded
from tests.composition.filters.interactions import Counts, strongest


def test_two_continuations_that_suit_the_first_answer() -> None:
    epsilon, delta = Fraction(2), 0.0877873
    menu = [PureDP("0.2"), PureDP(2), PureDP("0.4204374018")]
    assert compose({menu[0]: 1, menu[1]: 1}).delta(epsilon).upper <= delta
    assert compose({menu[0]: 1, menu[2]: 10}).delta(epsilon).upper <= delta

    def paths(counts: Counts) -> bool:
        return any(all(n <= most for n, most in zip(counts, path, strict=True)) for path in [(1, 1, 0), (1, 0, 10)])

    attained = strongest(menu, paths, epsilon)
    assert abs(attained - 0.1187988) < 5e-8
    assert attained > 1.35 * delta

    def naive(counts: Counts) -> bool:
        charged = {guarantee: times for guarantee, times in zip(menu, counts, strict=True) if times}
        return compose(charged).delta(epsilon).upper <= delta

    assert strongest(menu, naive, epsilon) >= attained


def test_no_filter_lets_that_interaction_through() -> None:
    for asked in ([PureDP("0.2"), PureDP(2)], [PureDP("0.2"), *[PureDP("0.4204374018")] * 10]):
        budget = ConcentratedFilter(2, "0.0877873")
        try:
            for guarantee in asked:
                budget.charge(guarantee)
        except BudgetExceeded:
            return
    raise AssertionError("both paths were let through")


def test_the_best_continuation_of_many_small_questions() -> None:
    """After 60 x RR(0.05) the analyst goes on with n x RR(e), as suits the loss; each n has its largest e."""
    epsilon, delta, small = 3.0, 1e-6, 0.05
    menu = [(n, largest(n, delta, int(epsilon))) for n in CONTINUATIONS]
    for n, level in menu:
        assert compose({PureDP("0.05"): 60, PureDP(level): n}).delta(int(epsilon)).upper <= delta
    total = 0.0
    for up in range(61):
        loss = (2 * up - 60) * small
        stopped = max(0.0, -math.expm1(epsilon - loss))
        continued = max(repeated(n, float(level), epsilon - loss) for n, level in menu)
        total += binom.pmf(up, 60, 1 / (1 + math.exp(-small))) * max(stopped, continued)
    assert total > 3.21e-6


CONTINUATIONS = (1, 2, 3, 5, 7, 10, 14, 20, 60, 200)


def largest(times: int, delta: float, epsilon: int) -> Fraction:
    """The largest level, in millionths, of so many more responses that the naive rule lets through."""
    low, high = 0, 3_000_000
    while high - low > 1:
        middle = (low + high) // 2
        parts = {PureDP("0.05"): 60, PureDP(Fraction(middle, 10**6)): times}
        low, high = (middle, high) if compose(parts).delta(epsilon).upper <= delta else (low, middle)
    return Fraction(low, 10**6)


def repeated(times: int, level: float, epsilon: float) -> float:
    """delta(epsilon) of so many equal responses, epsilon of any sign (KOV, Theorem 3.3)."""
    high = 1 / (1 + math.exp(-level))
    return float(
        sum(
            binom.pmf(up, times, high) * max(0.0, -math.expm1(epsilon - (2 * up - times) * level))
            for up in range(times + 1)
        )
    )

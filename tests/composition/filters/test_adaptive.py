"""No adaptive adversary gets past the claim of a filter: the strongest one is computed exactly."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from random import Random

import pytest

from indistinct import ApproximateDP, PureDP, compose
from indistinct.composition.filters import (
    BasicFilter,
    ConcentratedFilter,
    ConcentratedRule,
    DeclaredPlan,
    Filter,
    GaussianFilter,
    GaussianRule,
    PrivacyFilter,
    RenyiFilter,
)
from tests.composition.filters.interactions import allowed_by, strongest, within

Guarantee = PureDP | ApproximateDP

ROUNDING = 1 + 1e-12

FILTERS: dict[str, Callable[[], Filter]] = {
    "basic": lambda: BasicFilter("1.5", "0.03"),
    "concentrated": lambda: ConcentratedFilter(2, "0.05"),
    "concentrated with deltas": lambda: ConcentratedFilter(2, "0.08", black_box="0.03"),
    "concentrated by rho": lambda: Filter(ConcentratedRule.of_rho("0.3", black_box="0.02")),
    "Renyi": lambda: RenyiFilter(4, 2, "0.05"),
    "Renyi with deltas": lambda: RenyiFilter("3.5", 2, "0.09", black_box="0.03"),
    "Gaussian": lambda: GaussianFilter("0.9"),
    "Gaussian with deltas": lambda: Filter(GaussianRule.of_claim(2, "0.08", black_box="0.03")),
}


def random_menu(seed: int) -> list[Guarantee]:
    """Three guarantees, levels a multiple of 1/8, so that losses meet and the induction stays small."""
    random = Random(seed)  # noqa: S311  # test data
    menu: list[Guarantee] = [PureDP(Fraction(eighths, 8)) for eighths in random.sample(range(2, 13), 2)]
    return [*menu, ApproximateDP(Fraction(random.randrange(3, 9), 8), Fraction(random.randrange(1, 3), 100))]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("new", FILTERS.values(), ids=FILTERS)
def test_the_strongest_adversary_stays_within_the_claim(new: Callable[[], Filter], seed: int) -> None:
    menu, budget = random_menu(seed), new()
    for epsilon in (Fraction(1, 2), Fraction(1), Fraction(2)):
        assert strongest(menu, within(budget.rule, menu), epsilon) <= budget.delta(epsilon).upper * ROUNDING


@pytest.mark.parametrize("name", ["basic", "concentrated", "Renyi", "Gaussian with deltas"])
def test_the_promise_asked_for_is_what_is_kept(name: str) -> None:
    budget = FILTERS[name]()
    claim = budget.claim
    assert isinstance(claim, ApproximateDP)
    assert isinstance(claim.epsilon, Fraction)
    menu: list[Guarantee] = [PureDP("0.25"), PureDP("0.5"), PureDP(1)]
    attained = strongest(menu, within(budget.rule, menu), claim.epsilon)
    assert attained <= float(claim.delta) * ROUNDING
    assert budget.delta(claim.epsilon).upper <= float(claim.delta) * ROUNDING


def test_the_adversary_is_strong() -> None:
    """A rule that let through three times as much would be found out, so the tests above can fail."""
    menu: list[Guarantee] = [PureDP("0.25"), PureDP("0.5"), PureDP(1)]
    rule = ConcentratedFilter(2, "0.05").rule
    assert strongest(menu, within(ConcentratedRule.of_rho(3 * rule.limit.amount), menu), Fraction(2)) > 0.05


def test_a_filter_allows_what_its_rule_allows() -> None:
    menu: list[Guarantee] = [PureDP("0.5"), ApproximateDP("0.25", "0.01")]
    for new in FILTERS.values():
        by_rule, by_filter = within(new().rule, menu), allowed_by(new, menu)
        histories = [(first, second) for first in range(0, 12, 2) for second in range(5)]
        assert [by_rule(history) for history in histories] == [by_filter(history) for history in histories]


PLANS: list[dict[Guarantee, int]] = [
    {PureDP("0.25"): 4, PureDP("0.5"): 2, PureDP(1): 1},
    {PureDP("0.5"): 3, ApproximateDP("0.25", "0.01"): 3},
]


@pytest.mark.parametrize("slots", PLANS)
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(3, 2)])
def test_a_plan_gives_its_optimal_composition_and_no_more(slots: dict[Guarantee, int], epsilon: Fraction) -> None:
    def new() -> PrivacyFilter:
        return DeclaredPlan(slots)

    menu: list[Guarantee] = [*slots, PureDP("0.125")]
    promised = compose(slots).delta(epsilon)
    assert new().delta(epsilon) == promised
    assert strongest(menu, allowed_by(new, menu), epsilon) == pytest.approx(promised.upper, rel=1e-9)

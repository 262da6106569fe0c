"""What a charge costs: what the proven rule says, rounded up; and what is no cost is refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from indistinct import (
    ApproximateDP,
    DiscreteGaussian,
    ExponentialMechanism,
    Gaussian,
    GaussianDP,
    Geometric,
    Laplace,
    PoissonSubsampled,
    PureDP,
    RenyiDP,
)
from indistinct.composition.filters import BasicRule, ConcentratedRule, GaussianRule, RenyiRule
from indistinct.errors import BudgetExceeded, InvalidParameter
from indistinct.ledger import Budget, Ledger
from tests.ledger.books import TENTH, basic, spent

RULES = {
    "basic": BasicRule(1, "1e-6"),
    "zcdp": ConcentratedRule.of_claim(1, "1e-6", black_box="1e-7"),
    "rho": ConcentratedRule.of_rho("0.5"),
    "gaussian": GaussianRule.of_mu(1, black_box="1e-9"),
    "mu": GaussianRule.of_claim(1, "1e-6"),
    "renyi": RenyiRule.of_divergence(32, "0.5", black_box="1e-9"),
    "order": RenyiRule.of_claim(32, 1, "1e-6"),
}


def _asked(cost: object) -> Any:
    from indistinct.ledger.costs import read_cost

    return read_cost(cost)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_budget_comes_back_from_its_row(rule: Any) -> None:
    budget = Budget("hr", rule, analyst="ann", adjacency="replace-one", name="mine")
    again = Budget.decode(budget.encode())
    assert again.encode() == budget.encode()
    assert again.rule == rule


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_charge_costs_what_the_proven_rule_says_rounded_up(rule: Any) -> None:
    budget = Budget("hr", rule)
    for guarantee in (PureDP("0.0123"), PureDP("ln(1.1)"), ApproximateDP("0.1", "1e-10"), GaussianDP("0.2")):
        try:
            exact = rule.cost(guarantee)
        except InvalidParameter:
            continue
        (units,) = budget.prices(_asked(guarantee))
        assert 0 <= Fraction(units[exact.currency], 10**9) - exact.amount < Fraction(1, 10**9)
        assert 0 <= Fraction(units["delta"], 10**18) - exact.delta < Fraction(1, 10**18)
    assert 0 <= rule.limit.amount - Fraction(budget.caps[rule.limit.currency], 10**9) < Fraction(1, 10**9)
    assert 0 <= rule.limit.delta - Fraction(budget.caps["delta"], 10**18) < Fraction(1, 10**18)


def test_mechanisms_are_charged_the_least_that_is_proven() -> None:
    zcdp, plain = Budget("hr", ConcentratedRule.of_rho(1)), Budget("hr", BasicRule(10, 0))
    assert zcdp.prices(_asked(ExponentialMechanism("0.1")))[0]["rho"] == 1_250_000  # 0.1^2 / 8
    assert zcdp.prices(_asked(Gaussian(sigma=10)))[0]["rho"] == 5_000_000
    assert zcdp.prices(_asked(DiscreteGaussian(sigma=10, vector=True)))[0]["rho"] == 5_000_000
    assert zcdp.prices(_asked(DiscreteGaussian(3, sigma=10)))[0]["rho"] == 45_000_000
    assert plain.prices(_asked(Laplace(scale=10)))[0]["epsilon"] == 100_000_000
    assert plain.prices(_asked(Geometric(epsilon="0.1")))[0]["epsilon"] == 100_000_000
    sampled = plain.prices(_asked(PoissonSubsampled(Laplace(scale=1), "0.01")))[0]["epsilon"]
    assert sampled == pytest.approx(1e9 * 0.0170369, rel=1e-4)  # log(1 + q (e - 1))
    with pytest.raises(InvalidParameter, match="neighbours"):
        Budget("hr", BasicRule(1, 0), adjacency="replace-one").prices(
            _asked(PoissonSubsampled(Laplace(scale=1), "0.01"))
        )
    with pytest.raises(InvalidParameter, match="Choose a delta"):
        plain.prices(_asked(Gaussian(sigma=10)))


def test_a_declared_plan_is_spent_slot_by_slot(address: str) -> None:
    slots = {PureDP("0.1"): 2, PureDP("0.5"): 1}
    with Ledger.create(address, Budget("hr", slots)) as ledger:
        assert ledger.try_out(TENTH).times == 3
        for number in range(3):  # the third takes the larger slot
            ledger.charge(TENTH, key=str(number))
        with pytest.raises(BudgetExceeded, match="no slot that allows it"):
            ledger.charge(TENTH, key="3")
        ledger.grant("hr", {PureDP("0.5"): 1}, reason="one more")
        with pytest.raises(BudgetExceeded):
            ledger.charge(PureDP("0.6"), key="4")
        ledger.charge(PureDP("0.5"), key="5")
        with pytest.raises(InvalidParameter, match="name its guarantee"):
            ledger.charge(1, key="6")
        with pytest.raises(InvalidParameter, match="pure, approximate or Gaussian"):
            ledger.charge(RenyiDP(2, 1), key="7")
        ledger.verify()


@pytest.mark.parametrize(
    "cost",
    [-1, "-1e-9", float("nan"), float("inf"), "1" * 1001, "1e-4000", "0." + "3" * 950, {"gold": 1}, {}, True, "one"],
)
def test_hostile_costs_are_refused_in_a_sentence(address: str, cost: object) -> None:
    with basic(address) as ledger:
        rows = list(ledger.rows())
        with pytest.raises(InvalidParameter) as refusal:
            ledger.charge(cost, key="q")
        assert len(str(refusal.value)) < 250
        assert list(ledger.rows()) == rows


def test_the_smallest_costs_are_never_free_and_the_largest_never_fit(address: str) -> None:
    with basic(address) as ledger:
        for number, least in enumerate((5e-324, "1e-300", PureDP(1e-300), {"epsilon": Fraction(1, 10**200)})):
            ledger.charge(least, key=str(number))
        assert spent(ledger) == {("hr", "", "epsilon"): Fraction(4, 10**9)}
        for most in (1e308, 10**18, PureDP(10**9), {"epsilon": 0, "delta": 1e-300}):
            with pytest.raises(BudgetExceeded):
                ledger.charge(most, key="q")


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"epsilon": 1},
        {"rule": 7},
        {"rule": {}},
        {"rule": BasicRule(1, 0), "window": -1},
        {"rule": BasicRule(1, 0), "window": 1, "analyst": "ann"},
        {"rule": BasicRule(1, 0), "parts": ("a", "a")},
        {"rule": BasicRule(1, 0), "adjacency": "near"},
        {"rule": BasicRule("1e-10", 0)},
        {"rule": GaussianRule.of_mu(10**6)},
        {"rule": BasicRule(1, 0), "name": "a\nb"},
    ],
)
def test_budgets_not_well_put_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        Budget("hr", **arguments)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_no_grant_is_too_large_for_a_promise(address: str, rule: Any) -> None:
    budget = Budget("hr", rule)
    with Ledger.create(address, budget) as ledger:
        for account, most in {budget.currency: 10**9, "delta": 1}.items():
            left = most - Fraction(budget.caps[account], budget.units_of(account))
            with pytest.raises(InvalidParameter, match=f"keep the {account}".replace("^", r"\^")):
                ledger.grant("hr", {account: left + Fraction(1, budget.units_of(account))}, reason="x")
            ledger.grant("hr", {account: left}, reason="x")
            assert "neighbours" in ledger.promise("hr")
        ledger.verify()


def test_a_cost_in_an_unknown_currency_is_not_free(address: str) -> None:
    with Ledger.create(address, Budget("hr", epsilon=1, delta="1e-6")) as ledger:
        with pytest.raises(InvalidParameter, match="a cost's currency must be that of a budget"):
            ledger.charge({"rho": 0, "epsilon": 9}, key="q")
        ledger.charge({"rho": "0.001", "delta": 0}, key="q")

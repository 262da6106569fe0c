"""Whom and what a budget is for: analysts, windows of time, parts, grants; charged together or not at all."""

from __future__ import annotations

from fractions import Fraction

import pytest

from indistinct import (
    PureDP,
)
from indistinct.composition.filters import BasicRule, ConcentratedRule
from indistinct.errors import BudgetExceeded, InvalidParameter
from indistinct.ledger import Budget, Ledger
from tests.ledger.books import TENTH, basic, spent
from tests.ledger.conftest import NewAddress


def test_every_scope_is_charged_or_none(address: str) -> None:
    with basic(address) as ledger:
        ledger.add(Budget("hr", BasicRule("0.5", 0), analyst="ann"))
        ledger.add(Budget("hr", BasicRule("0.8", 0), analyst="bob"))
        ledger.add(Budget("hr", BasicRule("0.9", 0), window=86400))
        for number in range(5):
            ledger.charge(TENTH, key=f"a{number}", analyst="ann")
        before = spent(ledger)
        with pytest.raises(BudgetExceeded, match="'hr/ann'"):
            ledger.charge(TENTH, key="a5", analyst="ann")
        assert spent(ledger) == before
        for number in range(4):
            ledger.charge(TENTH, key=f"b{number}", analyst="bob")
        with pytest.raises(BudgetExceeded, match="'hr/86400s'"):
            ledger.charge(TENTH, key="b4", analyst="bob")
        assert spent(ledger)["hr", "", "epsilon"] == Fraction(9, 10)
        with pytest.raises(InvalidParameter, match="an analyst must have a budget of their own"):
            ledger.charge(TENTH, key="c", analyst="eve")
        with pytest.raises(InvalidParameter, match="an analyst must have a budget of their own"):
            ledger.charge(TENTH, key="c")


def test_a_mere_number_is_of_one_currency(address: str) -> None:
    with basic(address) as ledger:
        ledger.add(Budget("hr", ConcentratedRule.of_rho(1), analyst="ann"))
        with pytest.raises(InvalidParameter, match="be told in each of epsilon, rho"):
            ledger.charge("0.1", key="q", analyst="ann")
        ledger.charge({"epsilon": "0.1", "rho": "0.005"}, key="q", analyst="ann")
        assert spent(ledger) == {
            ("hr", "", "epsilon"): Fraction(1, 10),
            ("hr/ann", "", "rho"): Fraction(1, 200),
        }


def test_colluding_analysts_share_the_cap_of_the_dataset(address: str) -> None:
    with basic(address) as ledger:
        for analyst in ("ann", "bob"):
            ledger.add(Budget("hr", BasicRule("0.8", 0), analyst=analyst))
        for number in range(8):
            ledger.charge(TENTH, key=f"a{number}", analyst="ann")
        for number in range(2):
            ledger.charge(TENTH, key=f"b{number}", analyst="bob")
        with pytest.raises(BudgetExceeded, match="'hr'"):
            ledger.charge(TENTH, key="b2", analyst="bob")


def test_a_window_opens_again_and_a_clock_that_goes_back_opens_none(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_000_000
    monkeypatch.setattr("indistinct.ledger.group.time.time_ns", lambda: now * 10**9)
    with basic(address, 10) as ledger:
        ledger.add(Budget("hr", BasicRule("0.2", 0), window=100))
        asked = 0

        def fits() -> bool:
            nonlocal asked
            asked += 1
            try:
                ledger.charge(TENTH, key=str(asked))
            except BudgetExceeded:
                return False
            return True

        assert [fits(), fits(), fits()] == [True, True, False]
        now += 100
        assert [fits(), fits(), fits()] == [True, True, False]
        now -= 1000
        assert not fits()
        now += 950  # still before the latest row
        assert not fits()
        now += 150
        assert fits()
        times = [row.time for row in ledger.rows()]
        assert times == sorted(times)
        ledger.verify()


def test_disjoint_parts_have_budgets_of_their_own(address: str) -> None:
    with basic(address, parts=("north", "south")) as ledger:
        for number in range(10):
            ledger.charge(TENTH, key=f"n{number}", parts=["north"])
        for number in range(9):
            ledger.charge(TENTH, key=f"s{number}", parts=["south"])
        assert spent(ledger) == {
            ("hr", "north", "epsilon"): Fraction(1),
            ("hr", "south", "epsilon"): Fraction(9, 10),
        }
        with pytest.raises(BudgetExceeded, match="'hr:north'"):
            ledger.charge(TENTH, key="all")
        ledger.charge(TENTH, key="s9", parts=["south"])
        with pytest.raises(InvalidParameter, match="a part must be one of 'north', 'south'"):
            ledger.charge(TENTH, key="w", parts=["west"])
        ledger.grant("hr", "0.1", reason="one more", parts=["north"])
        ledger.charge(TENTH, key="n10", parts=["north"])
        ledger.verify()


def test_a_grant_adds_and_has_a_reason(address: str) -> None:
    with basic(address, 1, "1e-9") as ledger:
        ledger.charge(1, key="all")
        ledger.grant("hr", {"epsilon": "0.5", "delta": "1e-9"}, reason="the board agreed on 3 May")
        ledger.charge({"epsilon": "0.5", "delta": "2e-9"}, key="more")
        with pytest.raises(BudgetExceeded):
            ledger.charge("1e-9", key="even more")
        assert [row.body["reason"] for row in ledger.rows() if row.kind == "grant"] == ["the board agreed on 3 May"]
        for amount in (0, -1, "1e-10", float("nan"), {"rho": 1}, {}, "1e10"):
            with pytest.raises(InvalidParameter):
                ledger.grant("hr", amount, reason="why not")
        with pytest.raises(InvalidParameter, match="a reason"):
            ledger.grant("hr", 1, reason=" ")
        ledger.verify()


def test_budgets_of_other_processes_are_seen(address: str) -> None:
    with basic(address) as one, Ledger.open(address) as other:
        one.add(Budget("hr", BasicRule("0.2", 0), name="less"))
        other.charge("0.2", key="q")
        with pytest.raises(BudgetExceeded, match="'less'"):
            other.charge("1e-9", key="r")


def test_a_part_of_another_partition_may_be_any_part(address: str) -> None:
    """The fault that this was written for: a charge to "young" was deducted nowhere among north and south."""
    with basic(address, parts=("north", "south")) as ledger:
        ledger.add(Budget("hr", BasicRule(1, 0), name="age", parts=("young", "old")))
        ledger.charge("0.6", key="a", parts=["young"])
        expected = {("hr", "north"): 0.6, ("hr", "south"): 0.6, ("age", "young"): 0.6}
        assert {(name, part): float(amount) for (name, part, _), amount in spent(ledger).items()} == expected
        with pytest.raises(BudgetExceeded, match="'hr:north'"):
            ledger.charge("0.6", key="b", parts=["old"])
        ledger.charge("0.4", key="c", parts=["north", "young"])
        expected = {("hr", "north"): 1, ("hr", "south"): 1, ("age", "young"): 1, ("age", "old"): 0.4}
        assert {(name, part): float(amount) for (name, part, _), amount in spent(ledger).items()} == expected
        ledger.verify()


def test_a_part_that_an_analysts_budget_does_not_know_costs_all_of_it(address: str) -> None:
    with basic(address, parts=("north", "south")) as ledger:
        ledger.add(Budget("hr", BasicRule(9, 0), analyst="ann", parts=("North", "south")))
        with pytest.raises(BudgetExceeded, match="'hr:north'"):
            ledger.charge(5, key="k", analyst="ann", parts=["North"])
        with pytest.raises(BudgetExceeded, match="'hr:north'"):
            ledger.charge(5, key="l", analyst="ann", parts=["North", "south"])


def test_a_grant_of_nothing_is_refused(new_address: NewAddress) -> None:
    """The fault that this was written for: it made a ledger that no longer verified."""
    with basic(new_address(), 1, "1e-9") as ledger:
        for amount in ({"epsilon": "0.1", "delta": 0}, {"epsilon": 0, "delta": "1e-9"}):
            with pytest.raises(InvalidParameter, match="in each currency that it names"):
                ledger.grant("hr", amount, reason="x")
        ledger.verify()
    with Ledger.create(new_address(), Budget("hr", {TENTH: 5, PureDP(1): 2})) as ledger:
        with pytest.raises(InvalidParameter, match="in each currency that it names"):
            ledger.grant("hr", {TENTH: 1, PureDP(1): 0}, reason="x")
        ledger.verify()


def test_a_window_promises_the_largest_cap_it_ever_had(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [10**18]
    monkeypatch.setattr("indistinct.ledger.group.time.time_ns", lambda: now[0])
    with basic(address, 100) as ledger:
        ledger.add(Budget("hr", BasicRule(1, 0), window=60))
        ledger.grant("hr/60s", 2, reason="once")
        ledger.charge(3, key="a")
        before = ledger.promise("hr/60s")
        now[0] += 60 * 10**9
        ledger.charge("0.1", key="b")
        assert ledger.promise("hr/60s") == before
        assert "ApproximateDP(3, 0)" in before
        assert "is reserved in each stretch of 60 seconds" in before

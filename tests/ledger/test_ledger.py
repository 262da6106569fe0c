"""What a ledger promises to one caller: charges, keys, what is given back; on either store."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from indistinct import (
    PureDP,
    ZeroConcentratedDP,
)
from indistinct.composition.filters import BasicRule, ConcentratedRule
from indistinct.errors import BudgetExceeded, InvalidParameter, KeyReused, LedgerUnavailable
from indistinct.ledger import Budget, Ledger
from tests.ledger.books import TENTH, basic, spent


def test_a_charge_is_deducted_before_its_answer_and_the_answer_is_kept(address: str) -> None:
    with basic(address) as ledger, ledger.charge(TENTH, key="q") as charge:
        assert spent(ledger) == {("hr", "", "epsilon"): Fraction(1, 10)}
        assert charge.seal({"count": -3}) == {"count": -3}
    with Ledger.open(address) as again:
        assert again.charge(TENTH, key="q").answer == {"count": -3}
        assert spent(again) == {("hr", "", "epsilon"): Fraction(1, 10)}
        assert again.verify().charges == 1


def test_the_budget_is_spent_to_the_last_unit_and_no_further(address: str) -> None:
    with basic(address) as ledger:
        for number in range(10):
            ledger.charge(TENTH, key=str(number))
        rows = list(ledger.rows())
        with pytest.raises(BudgetExceeded, match=r"1/1000000000 of epsilon is asked, but 0 is left in 'hr'"):
            ledger.charge("1e-9", key="more")
        assert list(ledger.rows()) == rows


@pytest.mark.parametrize(
    ("cost", "request_", "analyst"),
    [(PureDP("0.2"), "a", "ann"), (TENTH, "b", "ann"), (TENTH, "a", "bob"), (TENTH, b"a", "ann"), ("0.1", "a", "ann")],
)
def test_a_key_is_for_one_request(address: str, cost: object, request_: object, analyst: str) -> None:
    with basic(address) as ledger:
        ledger.charge(TENTH, key="q", request="a", analyst="ann")
        rows = list(ledger.rows())
        with pytest.raises(KeyReused, match="'q' belongs to another request"):
            ledger.charge(cost, key="q", request=request_, analyst=analyst)
        assert list(ledger.rows()) == rows


def test_an_unfinished_charge_is_resumed_for_free_and_the_first_answer_stays(address: str) -> None:
    with basic(address) as ledger:
        one = ledger.charge(TENTH, key="q")
        other = ledger.charge(TENTH, key="q")
        assert [record.state for record in ledger.unfinished()] == ["start"]
        assert other.seal(2) == 2
        assert one.seal(1) == 2
        assert ledger.unfinished() == []
        assert spent(ledger) == {("hr", "", "epsilon"): Fraction(1, 10)}


def test_only_what_has_not_started_is_given_back(address: str) -> None:
    with basic(address) as ledger:
        reserved = ledger.reserve(TENTH, key="q")
        assert spent(ledger) == {("hr", "", "epsilon"): Fraction(1, 10)}
        reserved.void("the queue was too long")
        assert spent(ledger) == {}
        with pytest.raises(KeyReused, match="given back"):
            reserved.start()
        with pytest.raises(KeyReused, match="given back"):
            ledger.charge(TENTH, key="q")
        with pytest.raises(KeyReused):
            ledger.void("q", reason="twice")
        started = ledger.reserve(TENTH, key="r")
        with started.start() as charge:
            with pytest.raises(KeyReused, match="stays charged"):
                started.void("too late")
            charge.seal(1)
        with pytest.raises(KeyReused, match="stays charged"):
            ledger.void("r", reason="too late")
        assert spent(ledger) == {("hr", "", "epsilon"): Fraction(1, 10)}
        ledger.verify()


def test_a_dry_run_counts_exactly(address: str) -> None:
    with Ledger.create(address, Budget("hr", epsilon=1, delta="1e-6")) as ledger:
        trial = ledger.try_out(PureDP("0.05"))
        assert trial.times is not None
        for number in range(trial.times):
            ledger.charge(PureDP("0.05"), key=str(number))
        with pytest.raises(BudgetExceeded):
            ledger.try_out(PureDP("0.05"))
        with pytest.raises(BudgetExceeded):
            ledger.charge(PureDP("0.05"), key="more")
        assert ledger.try_out(PureDP(0)).times is None


@pytest.mark.parametrize("key", ["", "x" * 201, "line\nbreak", "nul\0", "\ud800", None, 7])
def test_keys_are_plain_text(address: str, key: Any) -> None:
    with basic(address) as ledger, pytest.raises(InvalidParameter, match="a key must be printable text"):
        ledger.charge(TENTH, key=key)


def test_unknown_names_are_refused(address: str) -> None:
    with Ledger.create(address) as ledger:
        with pytest.raises(InvalidParameter, match="the ledger has no budget"):
            ledger.charge(TENTH, key="q")
        ledger.add(Budget("hr", BasicRule(1, 0), analyst="ann"))
        with pytest.raises(InvalidParameter, match="for all answers together"):
            ledger.charge(TENTH, key="q", analyst="ann")
        ledger.add(Budget("hr", BasicRule(1, 0)))
        ledger.add(Budget("it", BasicRule(1, 0)))
        with pytest.raises(InvalidParameter, match="a dataset must be named: one of 'hr', 'it'"):
            ledger.charge(TENTH, key="q", analyst="ann")
        with pytest.raises(InvalidParameter, match="a dataset must be one of 'hr', 'it'"):
            ledger.charge(TENTH, key="q", dataset="pay")
        with pytest.raises(InvalidParameter, match="a budget must be one of"):
            ledger.grant("pay", 1, reason="no")
        with pytest.raises(InvalidParameter, match="must be new"):
            ledger.add(Budget("it", BasicRule(5, 0)))
        with pytest.raises(InvalidParameter, match="a key must be that of a charge"):
            ledger.void("never", reason="no")
        with pytest.raises(InvalidParameter, match="with an answer"):
            ledger.receipt("never")
        ledger.verify()


def test_a_ledger_with_two_budgets_of_one_name_is_not_begun(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="names must differ"):
        Ledger.create(tmp_path / "hr", Budget("hr", BasicRule(1, 0)), Budget("hr", BasicRule(2, 0)))
    assert not (tmp_path / "hr").exists()


def test_a_ledger_is_created_once_and_only_when_told_to(address: str) -> None:
    with pytest.raises(LedgerUnavailable, match="There is no ledger"):
        Ledger.open(address)
    basic(address).close()
    with pytest.raises(LedgerUnavailable, match="already"):
        Ledger.create(address)
    with Ledger.open(address) as ledger:
        ledger.charge(TENTH, key="q")
    with pytest.raises(LedgerUnavailable, match="is closed"):
        ledger.charge(TENTH, key="r")


def test_a_forked_process_opens_its_own(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with basic(address) as ledger, monkeypatch.context() as other:
        other.setattr("indistinct.ledger.store.os.getpid", lambda: -1)
        with pytest.raises(LedgerUnavailable, match="another process"):
            ledger.charge(TENTH, key="q")


def test_zero_concentrated_is_the_default(address: str) -> None:
    with Ledger.create(address, Budget("hr", epsilon=1, delta="1e-6")) as ledger:
        ledger.charge(ZeroConcentratedDP("0.01"), key="q")
        assert spent(ledger) == {("hr", "", "rho"): Fraction(1, 100)}
        assert ledger.standings()[0].budget.rule == ConcentratedRule.of_claim(1, "1e-6")

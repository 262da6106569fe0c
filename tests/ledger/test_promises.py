"""What a budget promises in words, after grants too: never more than what its caps allow."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from indistinct import ApproximateDP, PureDP, compose
from indistinct.composition.filters import BasicRule, ConcentratedRule, GaussianRule, RenyiRule
from indistinct.errors import InvalidParameter, LedgerUnavailable
from indistinct.ledger import Budget, Ledger


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "hr.ledger"


@pytest.mark.parametrize(
    ("rule", "amount", "before", "after"),
    [
        (
            BasicRule(1, "1e-6"),
            {"epsilon": 1, "delta": "1e-6"},
            "ApproximateDP(1, '1e-06')",
            "ApproximateDP(2, '2e-06')",
        ),
        (ConcentratedRule.of_rho("0.5"), "0.25", "ZeroConcentratedDP(0.5)", "ZeroConcentratedDP(0.75)"),
        (
            ConcentratedRule.of_claim(1, "1e-6", black_box="1e-7"),
            {"delta": "1e-7"},
            "ApproximateDP(1, '1e-06')",
            "Approximately(ZeroConcentratedDP('0.024129622'), '2e-07')",
        ),
        (GaussianRule.of_mu(1), 3, "GaussianDP(1)", "GaussianDP(2.0000000000000004)"),
        (RenyiRule.of_divergence(8, "0.5"), "0.5", "RenyiDP(8, 0.5)", "RenyiDP(8, 1)"),
    ],
)
def test_a_grant_weakens_the_promise(path: Path, rule: Any, amount: Any, before: str, after: str) -> None:
    with Ledger.create(path, Budget("hr", rule)) as ledger:
        assert ledger.promise("hr") == f"{before} for everything answered about hr, for add-remove neighbours."
        ledger.grant("hr", amount, reason="more")
        assert ledger.promise("hr") == f"{after} for everything answered about hr, for add-remove neighbours."


def test_parts_keep_the_worst_and_a_replaced_record_counts_twice(path: Path) -> None:
    with Ledger.create(path, Budget("hr", BasicRule(1, 0), parts=("n", "s"), adjacency="replace-one")) as ledger:
        assert ledger.promise("hr").startswith("ApproximateDP(2, 0) for everything answered about hr, for replace-one")
        ledger.grant("hr", 1, reason="north has more", parts=["n"])
        assert ledger.promise("hr").startswith("ApproximateDP(4, 0)")


def test_parts_of_other_rules_are_told_after_grants_too(path: Path) -> None:
    rule = ConcentratedRule.of_claim(1, "1e-6", black_box="1e-7")
    with Ledger.create(path, Budget("hr", rule, parts=("n", "s"))) as ledger:
        assert ledger.promise("hr").startswith("ApproximateDP(1, '1e-06') for")
        ledger.grant("hr", "0.1", reason="north has more", parts=["n"])
        assert ledger.promise("hr").startswith(
            "the worst of Approximately(ZeroConcentratedDP('0.124129622'), '1e-07'), "
        )
    with pytest.raises(InvalidParameter, match="for a declared plan in parts"):
        Budget("hr", {PureDP(1): 1}, parts=("n",), adjacency="replace-one")


def test_plans_windows_and_analysts(path: Path) -> None:
    with Ledger.create(path, Budget("hr", {PureDP("0.1"): 100})) as ledger:
        ledger.add(Budget("hr", {ApproximateDP("0.1", "1e-9"): 2}, analyst="ann"))
        ledger.add(Budget("hr", BasicRule(1, 0), window=60))
        assert f"{compose({PureDP('0.1'): 100}).epsilon('1e-6')} at delta = 1e-06" in ledger.promise("hr")
        assert ledger.promise("hr/ann").endswith("for everything answered to ann, for add-remove neighbours.")
        assert (
            "what is reserved in each stretch of 60 seconds, counted from 1970, and no more than that"
            in ledger.promise("hr/60s")
        )
        with pytest.raises(InvalidParameter, match="one of the ledger's"):
            ledger.promise("it")


def test_rows_may_be_read_while_the_ledger_is_used(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indistinct.ledger.ledger._AT_A_TIME", 2)
    with Ledger.create(path, Budget("hr", BasicRule(1, 0))) as ledger:
        ledger.charge("0.1", key="before")
        seen = []
        for row in ledger.rows():
            seen.append(row.number)
            if row.number == 2:
                ledger.charge("0.1", key="meanwhile")
        assert seen == [1, 2, 3, 4]


def test_an_anchor_that_cannot_be_kept_is_told(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    with Ledger.create(path, Budget("hr", BasicRule(1, 0)), anchor=folder / "anchor") as ledger:
        shutil.rmtree(folder)
        assert not folder.exists()
        with pytest.raises(LedgerUnavailable, match="cannot be written; the charges are in the ledger"):
            ledger.charge("0.1", key="q")
        assert [record.state for record in ledger.unfinished()] == ["start"]

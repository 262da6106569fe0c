"""The past, read from the end: the same as reading everything, a page at a time, and never more than a page."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import indistinct.ledger.past
from indistinct.composition.filters import BasicRule
from indistinct.errors import AnswerFailed
from indistinct.ledger import Budget, Ledger, Past, PastCharge


def filled(address: str) -> Ledger:
    """Charges of two analysts in every state there is, some of them to another data set."""
    budgets = [Budget(name, BasicRule(100, 0)) for name in ("hr", "shop")]
    analysts = [Budget("hr", BasicRule(50, 0), analyst=name) for name in ("ann", "bob")]
    ledger = Ledger.create(address, *budgets, *analysts)
    for number in range(30):
        who = ("ann", "bob", "bob")[number % 3]
        scope: dict[str, Any] = {"dataset": "hr", "analyst": who} if number % 5 else {"dataset": "shop"}
        key = f"q{number}"
        match number % 4:
            case 0:
                ledger.charge(1, key=key, **scope).seal(number)
            case 1:
                ledger.reserve(1, key=key, **scope).void("a test")
            case 2:
                with pytest.raises(AnswerFailed), ledger.charge(1, key=key, **scope):
                    raise RuntimeError
            case 3:
                ledger.reserve(2, key=key, **scope)
    ledger.grant("hr", 7, reason="more")
    return ledger


def everything(ledger: Ledger, analyst: str | None) -> list[PastCharge]:
    """All charges to "hr", by reading all rows in their order."""
    names = {"start": "started", "release": "answered", "fail": "failed", "void": "given back"}
    found: dict[int, PastCharge] = {}
    for row in ledger.rows():
        body = row.body
        if row.key is not None and body["dataset"] == "hr" and analyst in {None, body["analyst"]}:
            state = "reserved" if row.kind == "reserve" else "started"
            found[row.number] = PastCharge(row.number, row.key, body["analyst"], body["asked"], row.time, state)
        elif row.charge in found:
            charge = found[row.charge]
            found[row.charge] = PastCharge(
                charge.number, charge.key, charge.analyst, charge.asked, charge.time, names[row.kind]
            )
    return list(found.values())[::-1]


def pages(read: Callable[[int | None], Past]) -> list[Past]:
    found = [read(None)]
    while found[-1].before is not None:
        found.append(read(found[-1].before))
    return found


@pytest.mark.parametrize("analyst", [None, "ann", "bob", "nobody"])
@pytest.mark.parametrize("most", [1, 3, 1000])
def test_pages_hold_what_all_rows_tell(address: str, analyst: str | None, most: int) -> None:
    with filled(address) as ledger:
        found = pages(lambda before: ledger.past("hr", analyst=analyst, most=most, before=before))
        assert [charge for page in found for charge in page.charges] == everything(ledger, analyst)
        assert all(len(page.charges) <= most for page in found)
        assert {charge.state for charge in everything(ledger, None)} == {"answered", "given back", "failed", "reserved"}


def test_moves_end_where_the_balances_stand(address: str) -> None:
    with filled(address) as ledger:
        page = ledger.past("hr", most=1000)
        assert [move.number for move in page.moves] == sorted((move.number for move in page.moves), reverse=True)
        for standing in ledger.standings():
            place = standing.budget.name, standing.account
            latest = next((move for move in page.moves if (move.budget, move.account) == place), None)
            if standing.budget.dataset == "hr":
                assert latest is not None
                assert (latest.cap, latest.spent) == (standing.cap, standing.spent)
            else:
                assert latest is None
        assert ("hr", Fraction(107)) in {(move.budget, move.cap) for move in page.moves}


def test_one_sees_what_one_s_own_charges_moved_and_no_other_person_s(address: str) -> None:
    with filled(address) as ledger:
        page = ledger.past("hr", analyst="ann", most=1000)
        own = {charge.number for charge in everything(ledger, "ann")}
        others = {charge.number for charge in everything(ledger, "bob")}
        assert "hr/bob" not in {move.budget for move in page.moves}
        assert own <= {move.number for move in page.moves}
        assert not others & {move.number for move in page.moves}


def test_a_page_reads_so_many_rows_and_goes_on_from_there(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indistinct.ledger.past, "_AT_A_TIME", 2)
    monkeypatch.setattr(indistinct.ledger.past, "_MOST_READ", 4)
    with filled(address) as ledger:
        found = pages(lambda before: ledger.past("hr", analyst="ann", before=before))
        assert [charge for page in found for charge in page.charges] == everything(ledger, "ann")
        assert any(not page.charges for page in found)
        assert len(found) > 5

"""What is committed together is what would have been committed one after the other."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indistinct.composition.filters import BasicRule
from indistinct.errors import InvalidParameter, LedgerUnavailable
from indistinct.ledger import Budget, ChargeRecord, Ledger
from indistinct.ledger.bills import Bill
from indistinct.ledger.charge import Charge
from indistinct.ledger.costs import Amounts
from indistinct.ledger.group import _Ticket
from indistinct.ledger.operations import Fail, Grant, Operation, Release, Reserve, Start, Together, Void
from indistinct.ledger.page import Page
from indistinct.ledger.store import open_store
from tests.ledger.counts import count

KEYS = st.sampled_from("abc")
COSTS = st.integers(0, 3).map(lambda units: Amounts((("epsilon", Fraction(units, 10**9)),)))


def reserve(key: str, asked: Amounts, start: bool) -> Operation:
    return Reserve(key, repr(asked), Bill.of(asked, None, None, ()), start)


OPERATIONS: st.SearchStrategy[Operation] = st.one_of(
    st.builds(reserve, KEYS, COSTS, st.booleans()),
    st.builds(reserve, KEYS, COSTS, st.booleans()),
    st.builds(Start, KEYS),
    st.builds(Void, KEYS, st.just("test")),
    st.builds(Release, KEYS, st.sampled_from([b"1", b"2"]), st.just("json")),
    st.builds(Fail, KEYS),
    st.builds(Together, st.lists(st.builds(reserve, KEYS, COSTS, st.booleans()), max_size=4).map(tuple)),
    st.builds(Grant, st.just("hr"), st.just("1e-9"), st.just("test")),
)


def told(ticket: _Ticket) -> object:
    """What a caller learns; times are not compared."""
    if ticket.error is not None:
        return type(ticket.error), str(ticket.error)
    result = ticket.result
    if isinstance(result, list):
        return [of_record(each) for each in result]
    return of_record(result)


def of_record(result: object) -> object:
    if isinstance(result, ChargeRecord):
        return result.number, result.request, result.state, result.answer, result.form, result.seal
    return result


@settings(max_examples=count(40, 2000))
@given(st.lists(st.lists(OPERATIONS, min_size=1, max_size=6), min_size=1, max_size=5))
def test_together_is_as_one_by_one(batches: list[list[Operation]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        budget = Budget("hr", BasicRule("5e-9", 0))
        with Ledger.create(f"{folder}/a", budget) as together, Ledger.create(f"{folder}/b", budget) as alone:
            for batch in batches:
                tickets = [_Ticket(operation) for operation in batch]
                together._group._commit(tickets)  # noqa: SLF001  # as the leader of a group does
                singles = [_Ticket(operation) for operation in batch]
                for single in singles:
                    alone._group._commit([single])  # noqa: SLF001
                assert list(map(told, tickets)) == list(map(told, singles))
            shapes = [
                [(row.kind, row.charge, row.key, row.answer) for row in ledger.rows()] for ledger in (together, alone)
            ]
            assert shapes[0] == shapes[1]
            assert [each.spent for each in together.standings()] == [each.spent for each in alone.standings()]
            together.verify()
            alone.verify()


def test_a_charge_that_was_sealed_is_shown_whole() -> None:
    """The fault that this file was written for: a record without its seal looked like one that was changed."""
    with tempfile.TemporaryDirectory() as folder, Ledger.create(f"{folder}/a", Budget("hr", BasicRule(1, 0))) as ledger:
        charge = ledger.charge("0.1", key="q")
        again = ledger._reserve("0.1", "q", None, None, None, (), start=True)  # noqa: SLF001  # as `charge` makes it
        tickets = [_Ticket(Release("q", b"7", "json")), _Ticket(again)]
        ledger._group._commit(tickets)  # noqa: SLF001
        assert isinstance(charge, Charge)
        found = tickets[1].result
        assert isinstance(found, ChargeRecord)
        assert found.seal
        assert ledger.charge("0.1", key="q").answer == 7


def batched(ledger: Ledger, *calls: Callable[[], object]) -> list[object]:
    """What becomes of calls that share a commit."""
    found: list[object] = [None] * len(calls)
    ready, gate = threading.Event(), threading.Event()

    def wait(step: str) -> None:
        if step == "begun" and not ready.is_set():
            ready.set()
            gate.wait(10)

    def ask(place: int) -> None:
        try:
            found[place] = calls[place]()
        except Exception as error:
            found[place] = error

    ledger._group._watch = wait  # noqa: SLF001
    first = threading.Thread(target=ledger.charge, args=(0,), kwargs={"key": "first"})
    first.start()
    ready.wait(10)
    threads = [threading.Thread(target=ask, args=(place,)) for place in range(len(calls))]
    for thread in threads:
        thread.start()
    while len(ledger._group._open.tickets) < len(calls):  # noqa: SLF001
        time.sleep(0.001)
    gate.set()
    for thread in (first, *threads):
        thread.join(10)
    return found


def test_sixty_four_callers_share_commits(address: str) -> None:
    """On a disk that takes its time, each commit carries many charges, and nobody waits for more than two."""
    commits = 0

    def slow(step: str) -> None:
        nonlocal commits
        if step == "committed":
            commits += 1
            time.sleep(0.02)

    Ledger.create(address, Budget("hr", BasicRule(1, 0))).close()
    with Ledger(open_store(address), watch=slow) as ledger:

        def ask(caller: int) -> None:
            for number in range(5):
                ledger.charge("1e-9", key=f"{caller} {number}")

        threads = [threading.Thread(target=ask, args=(caller,)) for caller in range(64)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert ledger.verify().charges == 320
    assert commits <= 40


class Faulty(Void):
    """An operation with a fault of its own, before or after it has written something."""

    __slots__ = ()

    def apply(self, page: Page) -> None:
        if self.reason == "after":
            page.append("fail", {})
        raise TypeError("a private value")


def test_what_is_wrong_with_one_caller_is_not_told_to_another(tmp_path: Path) -> None:
    """The fault that this was written for: a TypeError of one caller failed all who shared the commit."""
    with Ledger.create(tmp_path / "a", Budget("hr", BasicRule(1, 0))) as ledger:
        good = [partial(ledger.charge, 0, key=str(number)) for number in range(2)]
        faulty = partial(ledger._group.run, Faulty("k", "before"))  # noqa: SLF001
        one, wrong, two = batched(ledger, good[0], faulty, good[1])
        assert isinstance(one, Charge)
        assert isinstance(two, Charge)
        assert isinstance(wrong, TypeError)
    with Ledger.create(tmp_path / "b", Budget("hr", BasicRule(1, 0))) as ledger:
        good = [partial(ledger.charge, 0, key=str(number)) for number in range(2)]
        faulty = partial(ledger._group.run, Faulty("k", "after"))  # noqa: SLF001
        found = batched(ledger, good[0], faulty, good[1])
        assert all(isinstance(each, LedgerUnavailable) and "private" not in str(each) for each in found)
    with Ledger.open(tmp_path / "b") as ledger:
        assert ledger.verify().charges == 1  # the first, alone in its commit


@pytest.mark.parametrize(
    "scope",
    [{"analyst": ["x"]}, {"analyst": 5}, {"dataset": b"hr"}, {"parts": "hr"}, {"parts": [("x", "y")]}, {"parts": 7}],
)
def test_arguments_are_checked_before_anybody_shares_them(tmp_path: Path, scope: dict[str, Any]) -> None:
    with Ledger.create(tmp_path / "a", Budget("hr", BasicRule(1, 0))) as ledger:
        for ask in (ledger.charge, ledger.reserve):
            with pytest.raises(InvalidParameter):
                ask(0, key="k", **scope)
        kept = ledger.reserve("1e-9", key="k")
        wrong: Any
        for wrong in ("", " ", 5, None):
            with pytest.raises(InvalidParameter, match="a reason must be text"):
                ledger.void("k", reason=wrong)
            with pytest.raises(InvalidParameter, match="a reason must be text"):
                kept.void(wrong)
            with pytest.raises(InvalidParameter, match="a reason must be text"):
                ledger.grant("hr", 1, reason=wrong)
        kept.void("not needed")

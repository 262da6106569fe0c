"""What is committed together is what would have been committed one after the other."""

from __future__ import annotations

import tempfile
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from indistinct.composition.filters import BasicRule
from indistinct.ledger import Budget, ChargeRecord, Ledger
from indistinct.ledger.charge import Charge
from indistinct.ledger.costs import Amounts
from indistinct.ledger.group import _Ticket
from indistinct.ledger.operations import Fail, Found, Grant, Operation, Release, Reserve, Start, Void
from tests.ledger.counts import count

KEYS = st.sampled_from("abc")
COSTS = st.integers(0, 3).map(lambda units: Amounts((("epsilon", Fraction(units, 10**9)),)))


def reserve(key: str, asked: Amounts, start: bool) -> Operation:
    return Reserve(key, repr(asked), asked, None, None, (), start)


OPERATIONS: st.SearchStrategy[Operation] = st.one_of(
    st.builds(reserve, KEYS, COSTS, st.booleans()),
    st.builds(reserve, KEYS, COSTS, st.booleans()),
    st.builds(Start, KEYS),
    st.builds(Void, KEYS, st.just("test")),
    st.builds(Release, KEYS, st.sampled_from([b"1", b"2"]), st.just("json")),
    st.builds(Fail, KEYS),
    st.builds(Grant, st.just("hr"), st.just("1e-9"), st.just("test")),
)


def told(ticket: _Ticket) -> object:
    """What a caller learns; times are not compared."""
    if ticket.error is not None:
        return type(ticket.error), str(ticket.error)
    result = ticket.result.record if isinstance(ticket.result, Found) else ticket.result
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
        assert isinstance(found, Found)
        assert found.record.seal
        assert ledger.charge("0.1", key="q").answer == 7

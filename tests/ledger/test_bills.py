"""What is spelled from pieces is what `canonical` spells, and a bill that is known is the one that would be made."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indistinct import ApproximateDP, Laplace, PureDP
from indistinct.errors import InvalidParameter
from indistinct.ledger.bills import Bill, Bills, request_of
from indistinct.ledger.canonical import canonical, fingerprint
from indistinct.ledger.costs import read_cost

NAMES = st.text(min_size=1, max_size=8).filter(str.strip)
COSTS = st.sampled_from([PureDP("0.1"), ApproximateDP("ln(3)", "1e-6"), "0.25", {"rho": "0.01", "delta": "1e-12"}])
BALANCES = st.lists(
    st.tuples(NAMES, st.text(max_size=4), st.integers(0), NAMES, st.integers(), st.integers(), st.integers())
)


@given(COSTS, st.none() | NAMES, st.none() | NAMES, st.lists(NAMES), st.text(), st.integers(0), BALANCES, st.booleans())
def test_a_deduction_is_spelled_canonically(
    cost: object,
    dataset: str | None,
    analyst: str | None,
    parts: list[str],
    key: str,
    time: int,
    balances: list[Any],
    start: bool,
) -> None:
    asked = read_cost(cost)
    bill = Bill.of(asked, dataset, analyst, tuple(parts))
    spelled = ",".join(map(canonical, balances))
    kind = "charge" if start else "reserve"
    assert bill.text(kind, spelled, key, "00ff", time) == canonical(
        {
            "kind": kind,
            "key": key,
            "time": time,
            "request": "00ff",
            "dataset": dataset,
            "analyst": analyst,
            "parts": parts,
            "asked": asked.encoded,
            "balances": balances,
        }
    )


@given(COSTS, st.none() | NAMES, st.lists(NAMES), st.none() | st.text() | st.binary() | st.lists(st.integers()))
def test_a_request_is_hashed_with_its_cost_and_scopes(
    cost: object, analyst: str | None, parts: list[str], request: object
) -> None:
    bill, plain = Bills().read(cost, "hr", analyst, parts)
    own = {"bytes": fingerprint(request)} if isinstance(request, bytes) else [request]
    told = [own, bill.asked.encoded, "hr", analyst, sorted(parts)]
    assert bill.request(request_of(request)) == fingerprint(canonical(told).encode())
    assert plain == bill.request(request_of(None))


def test_a_known_bill_is_of_the_same_cost_and_scopes() -> None:
    bills, cost = Bills(), PureDP("0.1")
    bill, plain = bills.read(cost, None, "ann", ())
    assert bills.read(cost, None, "ann", ()) == (bill, plain)
    for other in (
        bills.read(cost, None, "bob", ()),
        bills.read(cost, "ann", None, ()),
        bills.read(cost, None, "ann", ("north",)),
        bills.read(PureDP("0.2"), None, "ann", ()),
    ):
        assert other[0] is not bill
        assert other[1] != plain
    for number in range(5000):  # costs that are gone leave their identity to others
        assert bills.read(PureDP(number), None, "ann", ())[0].asked == read_cost(PureDP(number))


def test_what_may_change_is_read_every_time() -> None:
    bills, cost = Bills(), {"epsilon": "0.1"}
    first = bills.read(cost, None, None, ())[0]
    cost["epsilon"] = "0.2"
    assert bills.read(cost, None, None, ())[0].asked != first.asked
    assert bills.read(Laplace(scale=2), None, None, ())[0].asked == read_cost(Laplace(scale=2))


@pytest.mark.parametrize("scope", [(["x"], None, ()), (None, 5, ()), (None, "", ()), (None, None, ("a", 1))])
def test_what_is_no_text_is_refused_and_not_remembered(scope: Any) -> None:
    bills, cost = Bills(), PureDP("0.1")
    for _ in range(2):
        with pytest.raises(InvalidParameter):
            bills.read(cost, *scope)

"""Many charges in one call: as many calls would do it, all or none, with one commit."""

from __future__ import annotations

from fractions import Fraction

import pytest

from indistinct import PureDP
from indistinct.composition.filters import BasicRule
from indistinct.errors import AnswerFailed, BudgetExceeded, InvalidParameter, KeyReused, LedgerError, LedgerUnavailable
from indistinct.ledger import Budget, Charges, Ledger
from indistinct.ledger.store import open_store
from tests.ledger.conftest import NewAddress
from tests.ledger.test_group import batched

TENTH = PureDP("0.1")
MANY = {f"q{number}": TENTH for number in range(10)}


def basic(address: str, epsilon: object = 1) -> Ledger:
    return Ledger.create(address, Budget("hr", BasicRule(epsilon, 0)))


def spent(ledger: Ledger) -> Fraction:
    return ledger.standings()[0].spent


def test_many_in_one_call_are_as_in_many_calls(new_address: NewAddress, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indistinct.ledger.group.time.time_ns", lambda: 10**18)
    costs = {"a": TENTH, "b": "0.2", "c": {"epsilon": "0.05"}}
    requests = {"b": b"SELECT", "c": {"sql": "SELECT 1"}}
    with basic(new_address()) as together, basic(new_address()) as alone:
        charges = together.charge_many(costs, requests=requests, dataset="hr", analyst="ann")
        for key, cost in costs.items():
            alone.charge(cost, key=key, request=requests.get(key), dataset="hr", analyst="ann")
        assert isinstance(charges, Charges)
        assert list(charges) == charges.unanswered == list(costs)
        assert charges.seal({"c": 3, "a": None}) == {"c": 3, "a": None}
        alone.charge(costs["c"], key="c", request=requests["c"], dataset="hr", analyst="ann").seal(3)
        alone.charge(costs["a"], key="a", dataset="hr", analyst="ann").seal(None)
        rows = [[(row.text, row.key, row.answer) for row in ledger.rows()][2:] for ledger in (together, alone)]
        assert rows[0] == rows[1]
        assert charges.unanswered == ["b"]
        assert together.verify().charges == 3
        again = together.charge_many(costs, requests=requests, dataset="hr", analyst="ann")
        assert [each.number for each in again.values()] == [each.number for each in charges.values()]
        assert [(each.answered, each.answered and each.sealed) for each in again.values()] == [
            (True, b"null"),
            (False, False),
            (True, b"3"),
        ]
        assert again.seal({"a": 9, "b": 8}) == {"a": None, "b": 8}


def test_one_commit_charges_them_and_one_answers(new_address: NewAddress) -> None:
    address, steps = new_address(), list[str]()
    basic(address).close()
    with Ledger(open_store(address), watch=steps.append) as ledger:
        with ledger.charge_many(MANY) as charges:
            assert charges.seal(dict.fromkeys(MANY, 7)) == dict.fromkeys(MANY, 7)
        assert steps.count("committed") == 2
        assert ledger.charge_many({}).seal({}) == {}
        assert steps.count("committed") == 2
        assert spent(ledger) == 1


@pytest.mark.parametrize(
    ("more", "refusal"),
    [
        ({"more": TENTH}, BudgetExceeded),
        ({"taken": TENTH}, KeyReused),
        ({"given back": TENTH}, KeyReused),
        ({"failed": "0.05"}, AnswerFailed),
        ({"": TENTH}, InvalidParameter),
        ({"nan": float("nan")}, InvalidParameter),
        ({"gold": {"rho": 1}}, InvalidParameter),
    ],
)
def test_one_that_is_refused_refuses_all(
    new_address: NewAddress, more: dict[str, object], refusal: type[Exception]
) -> None:
    with basic(new_address(), "1.1") as ledger:
        ledger.charge("0.05", key="taken")
        ledger.reserve(TENTH, key="given back").void("not needed")
        with pytest.raises(AnswerFailed), ledger.charge("0.05", key="failed"):
            raise ValueError
        rows = list(ledger.rows())
        for costs in ({**MANY, **more}, {**more, **MANY}):
            with pytest.raises(refusal):
                ledger.charge_many(costs)
            assert list(ledger.rows()) == rows
        ledger.charge_many(MANY)
        assert spent(ledger) == Fraction(11, 10)
        ledger.verify()


def test_a_refusal_is_nobody_elses_in_the_same_commit(address: str) -> None:
    with basic(address) as ledger:
        refused, charged, alone = batched(
            ledger,
            lambda: ledger.charge_many({**MANY, "one too many": TENTH}),
            lambda: ledger.charge_many(dict(list(MANY.items())[:9])),
            lambda: ledger.charge(TENTH, key="q9").number,
        )
        assert isinstance(refused, BudgetExceeded)
        assert isinstance(charged, Charges)
        assert isinstance(alone, int)
        assert spent(ledger) == 1
        assert ledger.verify().charges == 11  # with the one for nothing that `batched` begins with


def test_a_block_that_fails_leaves_no_trace_and_keeps_what_was_sealed(address: str) -> None:
    with basic(address) as ledger:
        charges = ledger.charge_many(MANY)

        def answer_some() -> None:
            with charges:
                charges.seal({"q0": 0})
                charges["q1"].seal(1)
                raise ValueError("alice")

        with pytest.raises(AnswerFailed) as failure:
            answer_some()
        assert failure.value.__context__ is None
        assert [charge.failed for charge in charges.values()] == [False] * 2 + [True] * 8
        assert [ledger.charge(TENTH, key=f"q{number}").answer for number in range(2)] == [0, 1]
        with pytest.raises(AnswerFailed):
            ledger.charge(TENTH, key="q2")
        assert sum("alice" in row.text for row in ledger.rows()) == 0
        assert ledger.verify().charges == 10
    with Ledger.open(address) as ledger, pytest.raises(AnswerFailed):
        ledger.charge_many(MANY)


def test_answers_are_sealed_all_or_none(address: str) -> None:
    with basic(address) as ledger:
        charges = ledger.charge_many(MANY)
        rows = list(ledger.rows())
        for key, answer in (("q1", {1}), ("unknown", 2)):
            with pytest.raises(InvalidParameter):
                charges.seal({"q0": 1, key: answer})
        assert list(ledger.rows()) == rows
        with pytest.raises(LedgerError, match="10 charges were left without an answer: seal one for 'q0'"), charges:
            pass
        with pytest.raises(KeyboardInterrupt), charges:
            raise KeyboardInterrupt
        assert list(ledger.rows()) == rows
        with pytest.raises(InvalidParameter, match="be one of those that are charged"):
            ledger.charge_many(MANY, requests={"q11": 1})


def test_a_commit_that_fails_charges_none_of_them(new_address: NewAddress) -> None:
    def fail(step: str) -> None:
        if step == "written":
            raise LedgerUnavailable("the disk")

    address = new_address()
    basic(address).close()
    with Ledger(open_store(address), watch=fail) as ledger, pytest.raises(LedgerUnavailable, match="the disk"):
        ledger.charge_many(MANY)
    with Ledger.open(address) as ledger:
        assert ledger.verify().charges == 0
        assert len(ledger.charge_many({f"k{number}": "1e-9" for number in range(2000)})) == 2000
        assert ledger.verify().charges == 2000

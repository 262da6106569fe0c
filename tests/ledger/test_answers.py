"""Answers are kept as they are, and failures say nothing: of the data, of the reason, of each other."""

from __future__ import annotations

from fractions import Fraction

import pytest

from indistinct.errors import AnswerFailed, LedgerError
from tests.ledger.books import TENTH, basic, spent
from tests.ledger.conftest import NewAddress


@pytest.mark.parametrize("answer", [0, None, -1, False, "", [], 0.1, -0.0, b"", b"\0\xff", "é\0", 10**40])
def test_any_answer_is_kept_as_it_is(new_address: NewAddress, answer: object) -> None:
    with basic(new_address()) as ledger:
        with ledger.charge(TENTH, key="q") as charge:
            first = charge.seal(answer)
        replayed = ledger.charge(TENTH, key="q")
        assert replayed.answered
        assert replayed.answer == first == answer
        assert repr(replayed.answer) == repr(answer)
        assert replayed.sealed == charge.sealed
        assert replayed.seal("another") == answer


def test_a_failure_is_charged_and_says_nothing(address: str) -> None:
    with basic(address) as ledger:
        messages = set()
        for number, secret in enumerate((ZeroDivisionError("alice"), KeyError("bob"), RecursionError())):
            with pytest.raises(AnswerFailed) as failure, ledger.charge(TENTH, key=str(number)):
                raise secret
            assert failure.value.__cause__ is None
            assert failure.value.__context__ is None
            messages.add(str(failure.value))
        assert len(messages) == 1
        with pytest.raises(AnswerFailed):
            ledger.charge(TENTH, key="0")
        assert spent(ledger) == {("hr", "", "epsilon"): Fraction(3, 10)}
        assert {row.text.count("alice") for row in ledger.rows()} == {0}


def test_neighbouring_databases_leave_rows_that_differ_in_the_answer_alone(new_address: NewAddress) -> None:
    """Two runs whose data fail differently: what is stored has the same kinds and the same lengths."""
    shapes = []
    for data in ([1, 2], [1, 2, 0]):
        with basic(new_address()) as ledger:
            try:
                with ledger.charge(TENTH, key="q") as charge:
                    charge.seal(float("nan") if len(data) == 2 else sum(1 // each for each in data))
            except LedgerError as error:
                shapes.append((repr(error), str(error), [(row.kind, len(row.text)) for row in ledger.rows()]))
    assert shapes[0] == shapes[1]
    assert shapes[0][2][-1][0] == "fail"


def test_a_block_without_an_answer_is_told_and_may_be_repeated(address: str) -> None:
    with basic(address) as ledger:
        with pytest.raises(LedgerError, match="left without an answer"), ledger.charge(TENTH, key="q"):
            pass
        with pytest.raises(KeyboardInterrupt), ledger.charge(TENTH, key="q"):
            raise KeyboardInterrupt
        with ledger.charge(TENTH, key="q") as charge:
            charge.seal(1)
        assert spent(ledger) == {("hr", "", "epsilon"): Fraction(1, 10)}


class Told(LedgerError):
    """A block's own error that passes for one of the ledger."""


@pytest.mark.parametrize(
    "secret",
    [
        ValueError("alice"),
        SystemExit("alice"),
        KeyboardInterrupt("alice"),
        BaseExceptionGroup("alice", [KeyboardInterrupt()]),
        LedgerError("alice"),
        Told("alice"),
    ],
    ids=repr,
)
def test_a_failure_keeps_no_trace_of_its_reason(address: str, secret: BaseException) -> None:
    """The fault that this was written for: the traceback of AnswerFailed led back to the error."""
    with basic(address) as ledger:
        with pytest.raises(AnswerFailed) as failure, ledger.charge(TENTH, key="q"):
            raise secret
        assert failure.value.__cause__ is None
        assert failure.value.__context__ is None
        own = [
            each.frame for each in failure.traceback if "indistinct" in str(each.path) and "tests" not in str(each.path)
        ]
        assert own
        assert not [name for frame in own for name, value in frame.f_locals.items() if value is secret]
        with pytest.raises(AnswerFailed):
            ledger.charge(TENTH, key="q")


def interrupted_after_an_error() -> None:
    try:
        raise ValueError("alice")
    except ValueError:
        raise KeyboardInterrupt from None


def test_an_interruption_without_words_leaves_the_charge_to_be_asked_again(address: str) -> None:
    with basic(address) as ledger:
        with pytest.raises(KeyboardInterrupt) as told, ledger.charge(TENTH, key="q"):
            interrupted_after_an_error()
        assert told.value.__context__ is None
        assert ledger.charge(TENTH, key="q").seal(1) == 1

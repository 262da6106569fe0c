"""Several processes, and processes that are killed: nothing is spent twice, nothing lost, nothing answered free."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from indistinct.composition.filters import BasicRule
from indistinct.errors import BudgetExceeded, LedgerUnavailable
from indistinct.ledger import Budget, Ledger, verification
from indistinct.ledger.store import Reader, open_store
from tests.ledger.conftest import NewAddress
from tests.ledger.counts import count, tell

ROOT = Path(__file__).parents[2]


def driven(*arguments: str) -> Any:
    """What the driver says in the end."""
    ran = subprocess.run(
        [sys.executable, "-m", "tests.ledger.driver", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        timeout=3600,
        check=True,
    )
    return json.loads(ran.stdout)


def test_eight_processes_race_for_the_last_hundred_units(new_address: NewAddress) -> None:
    rounds = count(3, 1000)
    address = new_address()
    with Ledger.create(address, Budget("hr", BasicRule("50e-9", 0))) as ledger:
        ledger.charge("50e-9", key="before")
    taken = driven("race", address, "8", str(rounds))["taken"]
    assert [sum(each) for each in taken] == [100] * rounds
    with Ledger.open(address) as ledger:
        assert ledger.verify().charges == 1 + 100 * rounds
        assert [each.left for each in ledger.standings()] == [0, 0]
    tell(f"race on {address[:10]}...: {rounds:,} rounds, together 100 in every one, such as {taken[-1]}")


def test_killed_processes_neither_lose_nor_repeat_a_charge(new_address: NewAddress) -> None:
    address = new_address()
    with Ledger.create(address, Budget("hr", BasicRule(1, 0))):
        pass
    cycles = count(20, 1000)
    counts = driven("kill", address, str(cycles), "1")
    assert counts["killed"] >= cycles // 3, counts
    assert counts["sent"] > cycles // 3, counts
    tell(f"kill -9 on {address[:10]}..., {cycles:,} cycles: {counts}")


def test_threads_that_ask_at_once_share_commits_and_never_overspend(new_address: NewAddress) -> None:
    address = new_address()
    with Ledger.create(address, Budget("hr", BasicRule("100e-9", 0))) as ledger:
        outcomes: list[bool] = []

        def ask(thread: int) -> None:
            for number in range(10):
                try:
                    with ledger.charge("1e-9", key=f"{thread}-{number}") as charge:
                        charge.seal(number)
                    outcomes.append(True)
                except BudgetExceeded:
                    outcomes.append(False)

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (len(outcomes), sum(outcomes)) == (160, 100)
        ledger.verify()


def test_what_shares_a_commit_sees_what_came_before_it_there(new_address: NewAddress) -> None:
    """An answer that is sealed and asked for again in one transaction is the same as in two."""
    ready, gate = threading.Event(), threading.Event()

    def watch(step: str) -> None:
        if step == "written" and armed.is_set():
            armed.clear()
            ready.set()
            gate.wait(20)

    armed = threading.Event()
    address = new_address()
    Ledger.create(address, Budget("hr", BasicRule(1, 0))).close()
    with Ledger(open_store(address), watch=watch) as ledger:
        charge = ledger.charge("0.1", key="q")
        got: list[object] = []
        first = threading.Thread(target=lambda: ledger.charge("0.1", key="first"))
        both = [
            threading.Thread(target=lambda: got.append(charge.seal(7))),
            threading.Thread(target=lambda: got.append(ledger.charge("0.1", key="q").answer)),
        ]
        armed.set()
        first.start()
        assert ready.wait(20)
        group = ledger._group  # noqa: SLF001  # the test waits until both wait
        for waiting, thread in enumerate(both, start=1):
            thread.start()
            while len(group._open.tickets) < waiting:  # noqa: SLF001
                time.sleep(0.001)
        gate.set()
        for thread in (first, *both):
            thread.join()
        assert got == [7, 7]
        ledger.verify()


def test_one_key_from_many_threads_is_one_charge_and_one_answer(new_address: NewAddress) -> None:
    with Ledger.create(new_address(), Budget("hr", BasicRule(1, 0))) as ledger:
        answers = []

        def ask(thread: int) -> None:
            with ledger.charge("0.5", key="q") as charge:
                answers.append(charge.seal(thread))

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(answers) == 16
        assert len(set(answers)) == 1
        assert ledger.verify().charges == 1


def in_a_fork(work: Callable[[], object]) -> str:
    """What happens to a piece of work in a forked process: the words of its error, or none."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        told = "done"
        try:
            work()
        except BaseException as error:  # it is what is asked for
            told = f"{type(error).__name__}: {error}"
        os.write(writing, told.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        found = pipe.read()
    os.waitpid(child, 0)
    return found


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_a_forked_process_leaves_an_open_transaction_alone(new_address: NewAddress) -> None:
    """The fault that this was written for: its ROLLBACK took back a charge that was then said to be durable."""
    address = new_address()
    Ledger.create(address, Budget("hr", BasicRule(1, 0))).close()
    told: list[str] = []

    def fork(step: str) -> None:
        if step == "written":
            uses = (ledger.standings, ledger.unfinished, ledger.verify, lambda: list(ledger.rows()))
            more = (lambda: ledger.try_out(0), lambda: ledger.promise("hr"), lambda: ledger.receipt("q"))
            told.extend(in_a_fork(use) for use in (*uses, *more, ledger._store.reading().__enter__))  # noqa: SLF001
            told.append(in_a_fork(ledger.close))

    ledger = Ledger(open_store(address), watch=fork)
    ledger.charge("0.1", key="q")
    refused = "LedgerUnavailable: This ledger was opened by another process: open it again in this one."
    assert told == [refused] * 8 + ["done"]
    with Ledger.open(address) as again:
        assert again.verify().charges == 1
    assert ledger.charge("0.1", key="r").number
    ledger.close()


def test_a_process_that_forks_in_a_transaction_ends_it_itself(new_address: NewAddress) -> None:
    address = new_address()
    Ledger.create(address, Budget("hr", BasicRule(1, 0))).close()
    ledger = Ledger(open_store(address))
    told: list[int] = []

    def fork(step: str) -> None:
        if step == "written" and not told:
            told.append(os.fork())

    ledger._group._watch = fork  # noqa: SLF001
    try:
        ledger.charge("0.1", key="q")
    finally:
        if told and not told[0]:
            os._exit(0)
    os.waitpid(told[0], 0)
    with Ledger.open(address) as again:
        assert again.verify().charges == 1
    ledger.close()


def test_a_commit_of_nothing_is_no_commit(new_database: NewAddress) -> None:
    address = new_database()
    Ledger.create(address, Budget("hr", BasicRule(1, 0))).close()

    def end(step: str) -> None:
        if step == "written":
            ledger._store._connection.execute("ROLLBACK")  # type: ignore[attr-defined]  # noqa: SLF001

    ledger = Ledger(open_store(address), watch=end)
    with pytest.raises(LedgerUnavailable, match="ended by somebody else"):
        ledger.charge("0.1", key="q")
    with pytest.raises(LedgerUnavailable, match="is closed"):
        ledger.charge("0.1", key="q")
    ledger.close()
    with Ledger.open(address) as again:
        assert again.verify().charges == 0


def test_what_others_charge_while_it_is_opened_is_no_loss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault that this was written for: a mark, or an anchor, that was read after the rows knew of later ones."""
    path, anchor = tmp_path / "hr.ledger", tmp_path / "anchor"
    with Ledger.create(path, Budget("hr", BasicRule(1, 0)), anchor=anchor) as other:
        names = iter("abcdef")

        def check_end(reader: Reader) -> str:
            identity = verification.check_end(reader)
            other.charge("0.1", key=next(names))  # after the rows are read, before anything else is
            return identity

        monkeypatch.setattr("indistinct.ledger.ledger.check_end", check_end)
        for _ in range(2):
            with Ledger.open(path, anchor=anchor) as ledger:
                assert ledger.charge("0.1", key=next(names)).number

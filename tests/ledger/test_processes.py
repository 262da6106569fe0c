"""Several processes, and processes that are killed: nothing is spent twice, nothing lost, nothing answered free."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from indistinct.composition.filters import BasicRule
from indistinct.errors import BudgetExceeded
from indistinct.ledger import Budget, Ledger
from indistinct.ledger.store import open_store
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
    for _ in range(count(1, 20)):
        address = new_address()
        with Ledger.create(address, Budget("hr", BasicRule("150e-9", 0))) as ledger:
            ledger.charge("50e-9", key="before")
        taken = driven("race", address, "8")["taken"]
        assert sum(taken) == 100
        with Ledger.open(address) as ledger:
            assert ledger.verify().charges == 101
            assert [each.left for each in ledger.standings()] == [0, 0]
        tell(f"race on {address[:10]}...: {taken}, together 100")


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
            while len(group._waiting) < waiting:  # noqa: SLF001
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

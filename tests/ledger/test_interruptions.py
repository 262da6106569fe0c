"""Whoever is interrupted, at whatever line and however often, takes nothing with them and leaves nobody waiting."""

from __future__ import annotations

import ctypes
import linecache
import random
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import Any

import pytest

from indistinct.composition.filters import BasicRule
from indistinct.errors import LedgerUnavailable
from indistinct.ledger import Budget, Ledger
from tests.ledger.conftest import NewAddress
from tests.ledger.counts import count, tell

UNIT = "1e-9"


class Interruption:
    """Raises at one of the lines that are run, wherever they are: in ours, in `contextlib`, in psycopg.

    The interpreter handles signals as calls return, as functions begin, and as loops go round: so none at a mere `try`,
    nor between the end of a `with` block, which is told as its first line once more, and the block's own exit.
    """

    def __init__(self, at: int, kind: type[BaseException], *, armed: bool = True) -> None:
        self.left = at
        self.kind = kind
        self.armed = armed
        self.seen = 0
        self.place = ""
        self.entered: set[tuple[FrameType, int]] = set()

    def trace(self, frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code.co_filename == __file__:
            return self.trace
        if event == "line":
            line = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
            if line == "try:" or (frame, frame.f_lineno) in self.entered:
                return self.trace
            if line.startswith("with "):
                self.entered.add((frame, frame.f_lineno))
        if event == "line" and self.armed:
            self.seen += 1
            self.left -= 1
            if not self.left:
                self.place = f"{frame.f_code.co_qualname}, line {frame.f_lineno}"
                raise self.kind
        return self.trace

    @property
    def came(self) -> bool:
        return self.left <= 0

    def during(self, work: Callable[[], object]) -> None:
        """Works; what comes of it is not asked for."""
        sys.settrace(self.trace)
        try:
            work()
        except (KeyboardInterrupt, SystemExit, LedgerUnavailable):
            pass
        finally:
            sys.settrace(None)
            self.entered.clear()


class Callers:
    """Threads that charge, and what becomes of them."""

    def __init__(self) -> None:
        self.ended: dict[str, object] = {}
        self.threads: list[threading.Thread] = []

    def ask(self, ledger: Ledger, key: str) -> None:
        def charge() -> None:
            try:
                self.ended[key] = ledger.charge(UNIT, key=key).number
            except LedgerUnavailable as error:
                self.ended[key] = error

        self.threads.append(threading.Thread(target=charge, daemon=True))
        self.threads[-1].start()

    def check(self, ledger: Ledger, where: object) -> Ledger:
        """Nobody waits any longer, and who was told of a charge has one; returns a ledger that is open."""
        for thread in self.threads:
            thread.join(20)
        assert not any(thread.is_alive() for thread in self.threads), where
        return ledger


def usable(ledger: Ledger, address: str) -> Ledger:
    """The same, or opened again if it has closed itself; either must work at once."""
    try:
        ledger.charge(0, key="is it open?")
    except LedgerUnavailable:
        ledger.close()
        ledger = Ledger.open(address)
        ledger.charge(0, key="is it open?")
    return ledger


def told(address: str, ended: dict[str, object]) -> None:
    """Whoever was given a charge has one, and all is whole."""
    with Ledger.open(address) as ledger:
        ledger.verify()
        with ledger._store.reading() as reader:  # noqa: SLF001  # the test looks behind the ledger
            records = reader.charges(ended)
        for key, number in ended.items():
            assert isinstance(number, LedgerUnavailable) or records[key].number == number, key


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock that is left behind is told of soon."""
    for store in ("sqlite", "postgres"):
        monkeypatch.setattr(f"indistinct.ledger.{store}._PATIENCE", 3000)


def test_an_interruption_at_any_line_takes_nothing_with_it(new_address: NewAddress) -> None:
    """The fault that this was written for: a leader that was interrupted left all others waiting for ever."""
    address = new_address()
    ledger = Ledger.create(address, Budget("hr", BasicRule(1, 0)))
    whole = Interruption(0, KeyboardInterrupt)
    whole.during(lambda: ledger.charge(UNIT, key="all lines"))
    step = max(1, whole.seen // count(40, 10**9))
    came = 0
    for at in range(1 + random.Random(3).randrange(step), whole.seen + 1, step):  # noqa: S311  # test data
        interruption = Interruption(at, SystemExit if at % 2 else KeyboardInterrupt)
        interruption.during(partial(ledger.charge, UNIT, key=f"{at}"))
        came += interruption.came
        with Ledger.open(address) as other:  # no lock is left behind
            other.charge(UNIT, key=f"other {at}")
        callers = Callers()
        callers.ask(ledger, f"{at}")
        callers.check(ledger, interruption.place)
        ledger = usable(ledger, address)
        with ledger.charge(UNIT, key=f"{at}") as charge:
            charge.seal(at)
        told(address, callers.ended)
    ledger.close()
    with Ledger.open(address) as again:
        spent = sum(each.spent for each in again.standings())
        assert spent * 10**9 == again.verify().charges - 1  # each was charged once; one is for nothing
    assert came >= min(35, whole.seen // 2)
    tell(f"interrupted at {came:,} of {whole.seen:,} lines on {address[:10]}...: nobody left, nothing lost")


@pytest.mark.parametrize("first", ["begun", "written", "committed"])
def test_a_second_interruption_while_the_first_is_dealt_with_strands_nobody(
    new_address: NewAddress, first: str
) -> None:
    """Two who share the commit and one who comes later are let go, whichever line of the cleaning up is interrupted."""
    address = new_address()
    ledger = Ledger.create(address, Budget("hr", BasicRule(1, 0)))
    came = 0
    at, ended = 1, dict[str, object]()
    while True:
        second = Interruption(at, KeyboardInterrupt if at % 2 else SystemExit, armed=False)

        def interrupt(step: str, second: Interruption = second, at: int = at) -> None:
            if step == first and threading.current_thread().name == f"leader {at}" and not second.armed:
                second.armed = True
                raise KeyboardInterrupt

        group = ledger._group  # noqa: SLF001
        group._watch = interrupt  # noqa: SLF001
        callers = Callers()
        leader = threading.Thread(
            name=f"leader {at}",
            target=second.during,
            args=(partial(ledger.charge, UNIT, key=f"leader {at}"),),
            daemon=True,
        )
        with group.alone():
            company = group._open  # noqa: SLF001
            leader.start()
            for waiting in range(3):
                while len(company.tickets) <= waiting:
                    time.sleep(0.0005)
                if waiting < 2:
                    callers.ask(ledger, f"follower {waiting} {at}")
        callers.ask(ledger, f"later {at}")
        callers.threads.append(leader)
        callers.check(ledger, (first, at))
        came += second.came
        group._watch = lambda _: None  # noqa: SLF001
        ended |= callers.ended
        ledger = usable(ledger, address)
        if second.armed and not second.came:  # past the last line
            break
        at += 1
    ledger.close()
    told(address, ended)
    assert came > 5
    tell(f"a second interruption after {first!r} at {came:,} lines on {address[:10]}...: nobody left")


def test_callers_who_are_interrupted_again_and_again_strand_nobody(new_address: NewAddress) -> None:
    """As many interruptions as there may be, at any moment, as the interpreter itself delivers them."""
    address = new_address()
    ledger = Ledger.create(address, Budget("hr", BasicRule(1, 0)))
    chance, ended, came = random.Random(4), dict[str, object](), 0  # noqa: S311  # test data
    for at in range(rounds := count(25, 1000)):
        callers, victims = Callers(), list[threading.Thread]()
        going = threading.Event()

        def nagged(key: str, ledger: Ledger = ledger, going: threading.Event = going) -> None:
            nonlocal came
            with suppress(KeyboardInterrupt, LedgerUnavailable):
                going.wait(5)
                for number in range(5):
                    try:
                        ledger.charge(UNIT, key=f"{key} {number}")
                    except KeyboardInterrupt:
                        came += 1

        for number in range(3):
            victims.append(threading.Thread(target=nagged, args=(f"victim {at} {number}",), daemon=True))
            victims[-1].start()
        for number in range(3):
            callers.ask(ledger, f"caller {at} {number}")
        going.set()
        for _ in range(12):
            victim = chance.choice(victims).ident
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(victim or 0), ctypes.py_object(KeyboardInterrupt))
            time.sleep(chance.uniform(0, 0.002))
        callers.threads += victims
        callers.check(ledger, at)
        ended |= callers.ended
        ledger = usable(ledger, address)
    ledger.close()
    told(address, ended)
    assert came > rounds // 2
    tell(f"{came:,} interruptions in {rounds:,} rounds on {address[:10]}...: nobody left")

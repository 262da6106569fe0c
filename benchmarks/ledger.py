"""The ledger beside the bare database that it lives in: `.venv/bin/python benchmarks/ledger.py`.

Everything is measured in one run, on one disk, in turns, so that ratios mean something: a bare commit is one row
inserted and committed with the same settings, by the same SQLite. Each figure is the median of several turns. The
targets are those that the ledger was designed for; what misses one is marked. How much company helps depends on how
long a commit takes, so it is also measured as on slower disks: each commit, the bare one too, then takes longer.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import apsw

from indistinct import PureDP
from indistinct.composition.filters import BasicRule
from indistinct.errors import BudgetExceeded
from indistinct.ledger import Budget, Ledger
from indistinct.ledger.operations import Release, Reserve
from indistinct.ledger.page import Page
from indistinct.ledger.store import open_store

COST = PureDP("1e-6")
TURNS = 5
SINGLE, CALLERS, EACH = 200, 64, 40


def seconds(action: Callable[[], object]) -> float:
    """How long it takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def told(name: str, value: str, target: str, *, reached: bool) -> None:
    """One line of the table."""
    print(f"{name:<44}{value:>16}   {target:<24}{'' if reached else 'MISSED'}")


def rates(folder: Path, delay: float) -> None:
    """Bare commits, charges one at a time, charges of 64 callers at once and 64 in a call, in turns."""
    folder.mkdir()
    bare = apsw.Connection(str(folder / "bare"))
    bare.pragma("journal_mode", "WAL")
    bare.pragma("synchronous", "FULL")
    bare.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)")
    Ledger.create(folder / "rates.ledger", Budget("hr", BasicRule(1000, 0))).close()
    with Ledger(open_store(str(folder / "rates.ledger")), watch=lambda step: slower(step, delay)) as ledger:
        keys = map(str, count())
        actions: dict[str, tuple[Callable[[], None], int]] = {
            "bare": (lambda: commits(bare, delay), SINGLE),
            "alone": (lambda: charges(ledger, keys), SINGLE),
            "together": (lambda: charges_at_once(ledger, next(keys)), CALLERS * EACH),
            "in one call": (lambda: charges_in_calls(ledger, keys), CALLERS * EACH),
            "answered": (lambda: answers(ledger, keys), SINGLE),
        }
        for action, _ in actions.values():
            action()
        times: dict[str, list[float]] = {name: [] for name in actions}
        for _ in range(TURNS):
            for name, (action, number) in actions.items():
                times[name].append(seconds(action) / number)
    bare.close()
    each = {name: statistics.median(found) for name, found in times.items()}
    ratio = statistics.median(a / b for a, b in zip(times["alone"], times["bare"], strict=True))
    speeds = {
        name: statistics.median(a / b for a, b in zip(times["alone"], times[name], strict=True))
        for name in ("together", "in one call")
    }
    if delay:
        print(f"\nwith {1e3 * delay:g} ms more for every commit")
    told("a bare durable commit", f"{1e3 * each['bare']:.3f} ms", "", reached=True)
    told("a charge, one at a time", f"{1e3 * each['alone']:.3f} ms", "", reached=True)
    told("  beside a bare commit", f"{ratio:.2f} times", "at most 1.5 times", reached=ratio <= 1.5)
    told("a charge and its answer", f"{1e3 * each['answered']:.3f} ms", "", reached=True)
    told("charges a second, one at a time", f"{1 / each['alone']:,.0f}", "", reached=True)
    told("charges a second, 64 at once", f"{1 / each['together']:,.0f}", "", reached=True)
    speed = speeds["together"]
    told("  beside one at a time", f"{speed:.1f} times", "at least 20 times", reached=speed >= 20)
    told("charges a second, 64 in one call", f"{1 / each['in one call']:,.0f}", "", reached=True)
    told("  beside one at a time", f"{speeds['in one call']:.1f} times", "", reached=True)


def slower(step: str, delay: float) -> None:
    """A disk that takes longer."""
    if delay and step == "committed":
        time.sleep(delay)


def commits(bare: apsw.Connection, delay: float) -> None:
    """What SQLite itself needs."""
    for _ in range(SINGLE):
        with bare:
            bare.execute("INSERT INTO t (b) VALUES (?)", ("x" * 400,))
        slower("committed", delay)


def charges(ledger: Ledger, keys: Iterator[str]) -> None:
    """One caller."""
    for _ in range(SINGLE):
        ledger.charge(COST, key=next(keys))


def charges_at_once(ledger: Ledger, name: str) -> None:
    """Many callers."""

    def ask(caller: int) -> None:
        for number in range(EACH):
            ledger.charge(COST, key=f"{name}-{caller}-{number}")

    callers = [threading.Thread(target=ask, args=(caller,)) for caller in range(CALLERS)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()


def charges_in_calls(ledger: Ledger, keys: Iterator[str]) -> None:
    """One caller, who charges many at once."""
    for _ in range(EACH):
        ledger.charge_many({next(keys): COST for _ in range(CALLERS)})


def answers(ledger: Ledger, keys: Iterator[str]) -> None:
    """One caller, who also answers: two commits each."""
    for _ in range(SINGLE):
        with ledger.charge(COST, key=next(keys)) as charge:
            charge.seal(7)


def refusals(folder: Path) -> None:
    """How long a charge takes that does not fit."""
    with Ledger.create(folder / "spent.ledger", Budget("hr", BasicRule("1e-6", 0))) as ledger:
        ledger.charge(COST, key="all")

        def refused() -> None:
            try:
                ledger.charge(COST, key="more")
            except BudgetExceeded:
                return
            raise AssertionError("it was spent")

        needed = statistics.median(seconds(refused) for _ in range(500))
    told("a refusal", f"{1e3 * needed:.3f} ms", "at most 1 ms", reached=needed <= 1e-3)


def filled(path: Path, rows: int) -> None:
    """A ledger of so many rows, made by the ledger's own operations in large transactions."""
    with Ledger.create(path, Budget("hr", BasicRule(1000, 0))) as ledger:
        made, number = 2, 0
        while made < rows:
            with ledger._store.session() as session:  # noqa: SLF001  # in a hurry
                page = Page(session, ledger._group.shelf, time.time_ns() // 1000)  # noqa: SLF001
                for _ in range(5000):
                    if made >= rows:
                        break
                    key = f"question {number}"
                    template = ledger._reserve(COST, key, key, None, None, (), start=True)  # noqa: SLF001
                    for operation in (template, Release(key, b"12345", "json")):
                        if isinstance(operation, Reserve):
                            page.set_charge(key, None)
                        operation.apply(page)
                    made, number = made + 2, number + 1
                page.flush(session)


def large(folder: Path, rows: int) -> None:
    """Opening and verifying a large ledger."""
    path = folder / "large.ledger"
    filled(path, rows)
    opening = statistics.median(seconds(lambda: Ledger.open(path).close()) for _ in range(5))
    with Ledger.open(path) as ledger:
        verifying = seconds(ledger.verify)
        found = ledger.anchor.number
    told(f"opening {found:,} rows", f"{opening:.3f} s", "at most 0.5 s", reached=opening <= 0.5)
    told(f"verifying {found:,} rows", f"{verifying:.1f} s", "at most 20 s", reached=verifying <= 20)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10**6, help="how large the large ledger is")
    parser.add_argument("--slower", type=float, nargs="*", default=[1, 4], help="by how many milliseconds, each")
    parser.add_argument("--folder", help="on which disk (that of the temporary files)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = Path(name)
        for number, delay in enumerate((0.0, *arguments.slower)):
            rates(folder / str(number), delay / 1e3)
        print()
        refusals(folder)
        large(folder, arguments.rows)


if __name__ == "__main__":
    main()

"""A process that forks others, which charge a ledger and are killed; run by the tests, which read what it prints.

    python -m tests.ledger.driver race ADDRESS PROCESSES ROUNDS
    python -m tests.ledger.driver kill ADDRESS CYCLES SEED

It has imported everything before it forks, so a child costs milliseconds. A child reports through a pipe what it does:
that a charge returned, that it now touches the data, which answer it sent. After its death the ledger must agree.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from indistinct.errors import BudgetExceeded, KeyReused, LedgerError
from indistinct.ledger import Ledger
from indistinct.ledger.group import Watch, ignore
from indistinct.ledger.store import open_store

STEPS = ("begun", "written", "committed")
UNIT = {"epsilon": "1e-9"}


def race(address: str, processes: int, rounds: int) -> dict[str, object]:
    """In every round 100 units are granted, and every process takes units until there are none."""
    taken = []
    for at in range(rounds):
        with Ledger.open(address) as ledger:
            ledger.grant("hr", {"epsilon": "100e-9"}, reason=f"round {at}")
        taken.append(_raced(address, processes, at))
    return {"taken": taken}


def _raced(address: str, processes: int, at: int) -> list[int]:
    pipes = []
    start = time.monotonic() + 0.05
    for process in range(processes):
        reading, writing = os.pipe()
        if os.fork() == 0:
            os.close(reading)
            os.write(writing, b"%d" % _take_all(address, f"{at}-{process}", start))
            os._exit(0)
        os.close(writing)
        pipes.append(reading)
    taken = [int(Path(f"/dev/fd/{pipe}").read_text(encoding="ascii")) for pipe in pipes]
    for _ in pipes:
        os.wait()
    return taken


def _take_all(address: str, process: str, start: float) -> int:
    with Ledger.open(address) as ledger:
        time.sleep(max(0.0, start - time.monotonic()))
        taken = 0
        while True:
            try:
                ledger.charge(UNIT, key=f"{process}-{taken}")
            except BudgetExceeded:
                return taken
            taken += 1


def kill(address: str, cycles: int, seed: int) -> dict[str, object]:
    """Kills one child after the other, half of them at a named step, half at any moment."""
    chance = random.Random(seed)  # noqa: S311  # test data
    counts: Counter[str] = Counter()
    for cycle in range(cycles):
        at = (chance.choice(STEPS), chance.randrange(1, 12)) if cycle % 2 else None
        moment = chance.uniform(0.002, 0.06)
        child, reading = _child(address, f"{seed}-{cycle}", at)
        if at is None:
            time.sleep(moment)
            os.kill(child, signal.SIGKILL)
        with os.fdopen(reading, encoding="ascii") as pipe:
            told = [json.loads(line) for line in pipe if line.endswith("\n")]
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status):
            raise AssertionError(f"a child failed with {os.WEXITSTATUS(status)}")
        counts["killed"] += os.WIFSIGNALED(status)
        _check(address, told, counts, whole=cycle % 50 == 49 or cycle == cycles - 1)
    return dict(counts)


def _child(address: str, name: str, at: tuple[str, int] | None) -> tuple[int, int]:
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    try:
        os.close(reading)
        _work(address, name, writing, _bomb(*at) if at else ignore)
    except BaseException:
        os._exit(1)
    os._exit(0)


def _bomb(step: str, times: int) -> Watch:
    left = times

    def watch(seen: str) -> None:
        nonlocal left
        left -= seen == step
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)

    return watch


def _work(address: str, name: str, writing: int, watch: Watch) -> None:
    """Charges and answers until it is killed, and first finishes what others have left."""
    chance = random.Random(name)  # noqa: S311  # test data

    def tell(*what: object) -> None:
        os.write(writing, json.dumps(what).encode() + b"\n")

    ledger = Ledger(open_store(address), watch=watch)
    for record in ledger.unfinished():
        key = json.loads(record.text)["key"]
        if record.state == "reserve":
            try:
                ledger.void(key, reason="left behind")
                tell("voided", key)
            except KeyReused:
                pass
        else:
            _answer(ledger, key, chance, tell)
    for number in range(12):
        key = f"{name}-{number}"
        if chance.random() < 0.3:
            reservation = ledger.reserve(UNIT, key=key)
            tell("reserved", key)
            if chance.random() < 0.5:
                reservation.void("changed my mind")
                tell("voided", key)
                continue
        _answer(ledger, key, chance, tell)


def _answer(ledger: Ledger, key: str, chance: random.Random, tell: Any) -> None:
    with ledger.charge(UNIT, key=key) as charge:
        tell("touched", key)
        answer = charge.seal(chance.choice([0, None, -1, chance.random()]))
        tell("sent", key, answer)


def _check(address: str, told: list[list[Any]], counts: Counter[str], *, whole: bool) -> None:
    """No answer without a charge, no charge lost, no answer changed, nothing spent twice."""
    with Ledger.open(address) as ledger:
        store = ledger._store  # noqa: SLF001  # the test looks behind the ledger
        with store.reading() as reader:
            records = reader.charges({key for _, key, *_ in told})
        for event, key, *answer in told:
            counts[event] += 1
            record = records[key]
            match event:
                case "touched":
                    assert record.state in ("start", "release"), record
                case "sent":
                    assert record.state == "release", record
                    assert record.answer == json.dumps(answer[0]).encode(), record
                case "voided":
                    assert record.state == "void", record
        if whole:
            ledger.verify()
            with store.reading() as reader:
                rows = list(reader.rows())
            charged = sum(row.kind in ("reserve", "charge") for row in rows) - sum(row.kind == "void" for row in rows)
            (standing,) = (each for each in ledger.standings() if each.account == "epsilon")
            assert standing.spent * 10**9 == charged, (standing.spent, charged)
            counts["rows"] = len(rows)


def main(arguments: list[str]) -> None:
    """Runs a command and prints what came of it."""
    match arguments:
        case ["race", address, processes, rounds]:
            print(json.dumps(race(address, int(processes), int(rounds))))  # noqa: T201  # for the test
        case ["kill", address, cycles, seed]:
            print(json.dumps(kill(address, int(cycles), int(seed))))  # noqa: T201
        case _:
            raise LedgerError("unknown command")


if __name__ == "__main__":
    main(sys.argv[1:])

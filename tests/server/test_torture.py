"""Many clients ask a server that is killed again and again: no charge is lost, none is made twice, all are answered.

Twenty clients for fifteen seconds in `make test`; two hundred for ten minutes, with a kill every twenty seconds, in
`make torture`, which prints what happened. Several clients ask as one person, and ask some questions of each other
again, so that one charge has several who wait for it. A client knows nothing of kills: it asks the same again until it
is answered, and finds its charge by the key that the question has.
"""

from __future__ import annotations

import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from indistinct import connect
from indistinct.ledger import Ledger, PastCharge
from indistinct.server.client import RemoteAnswer, RemoteDatabase, RemoteRefusal
from indistinct.server.tokens import TokenBook
from tests.ledger.counts import count, tell

PROGRAM = Path(sys.executable).with_name("indistinct")
CLIENTS = count(20, 200)
PEOPLE = count(5, 20)
SECONDS = count(15, 600)
BETWEEN_KILLS = count(3, 20)
COST = "1e-6"
POLICY = """
version = 1
budget = {epsilon = 1000, delta = 1e-6}
[tables.people]
source = "people.csv"
unit = "person"
columns.person.type = "integer"
columns.age = {type = "integer", low = 0, high = 120}
"""


@dataclass(slots=True)
class Storm:
    """What all clients saw, and what they may still ask."""

    url: str
    asked: set[tuple[str, str]] = field(default_factory=set)
    answers: dict[tuple[str, str], RemoteAnswer] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    differing: list[tuple[str, str]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    stop: threading.Event = field(default_factory=threading.Event)

    def client(self, number: int, person: str, token: str) -> None:
        """Asks until the storm is over, and does not leave before its last question is answered."""
        database = connect(self.url, token, attempts=2, seconds=30)
        chance = random.Random(number)  # noqa: S311  # test data
        while not self.stop.is_set():
            last = (
                chance.randrange(200) if chance.random() < 0.25 else None
            )  # one that others ask as well, or a new one
            self._ask(database, person, last if last is not None else 1000 + chance.randrange(2**60))

    def _ask(self, database: RemoteDatabase, person: str, number: int) -> None:
        question = f"SELECT COUNT(*) FROM people WHERE age <> {number}"  # a number
        with self.lock:
            self.asked.add((person, question))
        answer = self._insist(database, question)
        with self.lock:
            first = self.answers.setdefault((person, question), answer)
            self.counts["answers"] += 1
            self.counts["free"] += answer.free
            if (first.rows, first.key) != (answer.rows, answer.key):
                self.differing.append((person, question))

    def _insist(self, database: RemoteDatabase, question: str) -> RemoteAnswer:
        while True:
            try:
                return database.sql(question, rho=COST)
            except RemoteRefusal as refusal:
                with self.lock:
                    self.counts[refusal.code] += 1


@contextmanager
def serving(policy: Path, port: int) -> Iterator[subprocess.Popen[str]]:
    """The program itself, killed when the block is left."""
    options = ["--port", str(port), "--tick", "0.005", "--rate", "100000", "--waiting", "512"]
    with subprocess.Popen(
        [PROGRAM, "serve", policy, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            assert process.stdout.readline().startswith("Serving people at"), process.stderr.read()
            yield process
        finally:
            process.send_signal(signal.SIGKILL)
            assert process.stderr is not None
            assert "Traceback" not in process.stderr.read()


def test_a_storm_of_clients_and_kills_loses_nothing_and_spends_nothing_twice(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("person,age\n" + "".join(f"{i},{20 + i % 60}\n" for i in range(200)))
    (tmp_path / "policy.toml").write_text(POLICY)
    book = TokenBook(tmp_path / "policy.toml.tokens")
    people = [f"p{number}" for number in range(PEOPLE)]
    tokens = [book.issue(person, "analyst") for person in people]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    storm = Storm(f"http://127.0.0.1:{port}")
    clients = [
        threading.Thread(
            target=storm.client, args=(number, people[number % PEOPLE], tokens[number % PEOPLE]), daemon=True
        )
        for number in range(CLIENTS)
    ]
    until, kills, chance = time.monotonic() + SECONDS, 0, random.Random(7)  # noqa: S311  # test data
    for client in clients:
        client.start()
    while time.monotonic() < until:
        with serving(tmp_path / "policy.toml", port):
            time.sleep(BETWEEN_KILLS * chance.uniform(0.7, 1.3))
        kills += 1
    storm.stop.set()
    with serving(tmp_path / "policy.toml", port):
        for client in clients:
            client.join(120)
        assert not any(client.is_alive() for client in clients)
    _check(storm, tmp_path / "people.csv.ledger", kills)


def _check(storm: Storm, address: Path, kills: int) -> None:
    """The ledger agrees with every client, and charged each question of a person once."""
    with Ledger.open(address) as ledger:
        verdict = ledger.verify()
        states = {charge.key: charge.state for charge in _all_charges(ledger)}
        spent = next(each.spent for each in ledger.standings() if each.account == "rho")
    lost = [key for key in (answer.key for answer in storm.answers.values()) if states.get(key) != "answered"]
    double = verdict.charges - len(storm.asked)
    tell(
        f"{storm.counts['answers']} answers to {len(storm.asked)} questions of {CLIENTS} clients in {SECONDS} s, "
        f"{storm.counts['free']} of them again for free; {kills} kills, {storm.counts['unreachable']} times nobody was "
        f"there, {storm.counts['busy']} times busy; {verdict.charges} charges, {len(lost)} lost, {double} twice"
    )
    assert kills >= SECONDS / (2 * BETWEEN_KILLS + 4)
    assert storm.counts["unreachable"] > 0
    assert storm.asked == set(storm.answers)
    assert storm.differing == []
    assert lost == []
    assert verdict.charges == len(storm.asked)
    assert spent == verdict.charges * Fraction(COST)
    assert len({answer.key for answer in storm.answers.values()}) == len(storm.asked)
    assert set(storm.counts) <= {"answers", "free", "unreachable", "busy", "ledger_unavailable", "too_slow"}


def _all_charges(ledger: Ledger) -> Iterator[PastCharge]:
    page = ledger.past("people", most=1000)
    yield from page.charges
    while page.before is not None:
        page = ledger.past("people", most=1000, before=page.before)
        yield from page.charges

"""Many clients ask a server that is killed again and again: no charge is lost, none is made twice, all are answered.

Twenty clients for fifteen seconds in `make test`; two hundred for ten minutes, with a kill every twenty seconds, in
`make torture`, which prints what happened. Several clients ask as one person, and ask some questions of each other
again, so that one charge has several who wait for it. A client knows nothing of kills: it asks the same again until it
is answered, and finds its charge by the key that the question has.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from indistinct import connect
from indistinct.ledger import Ledger, PastCharge
from indistinct.server.client import RemoteAnswer, RemoteDatabase, RemoteRefusal
from indistinct.server.tokens import TokenBook
from tests.ledger.counts import count, tell
from tests.server.programs import free_port, made, running

CLIENTS = count(20, 200)
PEOPLE = count(5, 20)
SECONDS = count(15, 600)
BETWEEN_KILLS = count(3, 20)
COST = "1e-6"
OPTIONS = ("--rate", "100000", "--waiting", "512")


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


def test_a_storm_of_clients_and_kills_loses_nothing_and_spends_nothing_twice(tmp_path: Path) -> None:
    policy = made(tmp_path, epsilon="1000")
    book = TokenBook(f"{policy}.tokens")
    people = [f"p{number}" for number in range(PEOPLE)]
    tokens = [book.issue(person, "analyst") for person in people]
    port = free_port()
    storm = Storm(f"http://127.0.0.1:{port}")
    clients = [
        threading.Thread(
            target=storm.client, args=(number, people[number % PEOPLE], tokens[number % PEOPLE]), daemon=True
        )
        for number in range(CLIENTS)
    ]
    until, kills, complaints = time.monotonic() + SECONDS, 0, ""
    chance = random.Random(7)  # noqa: S311  # test data
    for client in clients:
        client.start()
    while time.monotonic() < until:
        with running(policy, *OPTIONS, port=port) as (_, process):
            time.sleep(BETWEEN_KILLS * chance.uniform(0.7, 1.3))
            process.kill()
            complaints += process.stderr.read() if process.stderr is not None else ""
        kills += 1
    storm.stop.set()
    assert "Traceback" not in complaints
    with running(policy, *OPTIONS, port=port):
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

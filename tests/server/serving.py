"""A service in this process, over rows that are made up."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import indistinct
from indistinct.queries import (
    Analyst,
    Budget,
    Column,
    Policy,
    PrivateDatabase,
    PrivateTable,
)
from indistinct.server.running import Listening, make_server
from indistinct.server.tokens import TokenBook
from indistinct.server.work import Limits

COUNT = "SELECT COUNT(*) FROM people"
HOSTILE = '"; DROP TABLE people; --<script>window.harmed=1</script>'
JSON = {"Content-Type": "application/json"}


def rows(folder: Path, number: int = 300) -> Path:
    path = folder / "people.csv"
    lines = [f"{i},{20 + i % 60},{i % 7}" for i in range(number)]
    hostile = HOSTILE.replace('"', '""')
    path.write_text("\n".join([f'person,age,"{hostile}"', *lines]) + "\n")
    return path


def policy(epsilon: str = "1", delta: str = "1e-6") -> Policy:
    table = PrivateTable(
        name="people",
        unit="person",
        columns={
            "person": Column(type="integer"),
            "age": Column(type="integer", low=0, high=120),
            HOSTILE: Column(type="integer", low=0, high=10),
        },
    )
    whole = Budget(epsilon=Fraction(epsilon), delta=Fraction(delta))
    half = Budget(epsilon=Fraction(1, 2), delta=Fraction(1, 10**7))
    analysts = {"olga": whole, "ada": whole, "bob": half} if epsilon == "1" else {}
    return Policy(
        tables=(table,),
        budget=whole,
        analysts=tuple(Analyst(name=name, budget=budget) for name, budget in analysts.items()),
    )


@contextmanager
def database(folder: Path, *, epsilon: str = "1", delta: str = "1e-6", number: int = 300) -> Iterator[PrivateDatabase]:
    with indistinct.open(
        rows(folder, number), policy=policy(epsilon, delta), ledger=folder / "people.ledger"
    ) as opened:
        yield opened


@dataclass(slots=True)
class Served:
    """Where it is, and a token of each role."""

    url: str
    book: TokenBook
    owner: str
    ada: str
    bob: str
    auditor: str

    def send(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        token: str | None = "",
        headers: dict[str, str] | None = None,
        raw: bytes | None = None,
    ) -> tuple[int, Any]:
        """Status and JSON; as Ada unless another token is given, and with none at all for None."""
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=60)
        content = raw if raw is not None else None if body is None else json.dumps(body).encode()
        bearer = {} if token is None else {"Authorization": f"Bearer {token or self.ada}"}
        try:
            connection.request(method, path, content, {**JSON, **bearer, **(headers or {})})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()


@contextmanager
def serving(opened: PrivateDatabase, folder: Path, limits: Limits | None = None) -> Iterator[Served]:
    """The service on a port of its own, stopped gracefully at the end."""
    book = TokenBook(folder / "tokens.json")
    tokens = {
        name: book.issue(name, role) for name, role in (("olga", "owner"), ("ada", "analyst"), ("bob", "analyst"))
    }
    tokens["auditor"] = book.issue("ines", "auditor")
    chosen = limits or Limits(rate=10_000, tick=0.005)
    server = make_server(opened, book, chosen, Listening(port=0))
    # Said to be TCP, so that asyncio sends each answer at once: it does not ask what a socket without a protocol is.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        listening.bind(("127.0.0.1", 0))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        try:
            yield Served(url, book, tokens["olga"], tokens["ada"], tokens["bob"], tokens["auditor"])
        finally:
            server.should_exit = True
            thread.join(30)
            assert not thread.is_alive()

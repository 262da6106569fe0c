"""Where the ledgers of the tests live: files, and databases of a server that the project starts by itself."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import psycopg
import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "postgres"

_AT_A_TIME = 3

NewAddress = Callable[[], str]


@pytest.fixture(scope="session")
def new_database() -> Iterator[NewAddress]:
    """Makes empty databases, on one server for all tests of this process."""
    started = subprocess.run(
        [SCRIPT, "start", str(os.getpid())], stdout=subprocess.PIPE, text=True, timeout=600, check=True
    )
    directory, address = started.stdout.split()
    numbers = count()
    databases = [f"ledger_{number}" for number in range(_AT_A_TIME)]
    with psycopg.connect(address, autocommit=True) as connection:
        for name in databases:
            connection.execute(f"CREATE DATABASE {name}".encode())

    def new() -> str:
        """An empty one; after a few more it is used again, as making one takes long."""
        chosen = address.replace("/postgres?", f"/{databases[next(numbers) % _AT_A_TIME]}?")
        with psycopg.connect(chosen, autocommit=True) as connection:
            connection.execute("SET client_min_messages = warning")
            connection.execute("DROP SCHEMA IF EXISTS indistinct_ledger CASCADE")
        return chosen

    yield new
    subprocess.run([SCRIPT, "stop", directory], timeout=60, check=True)


@pytest.fixture(params=["sqlite", "postgres"])
def new_address(request: pytest.FixtureRequest, tmp_path: Path) -> NewAddress:
    """Makes addresses where there is no ledger yet, on either kind of store."""
    if request.param == "postgres":
        made: NewAddress = request.getfixturevalue("new_database")
        return made
    numbers = count(1)
    return lambda: str(tmp_path / f"{next(numbers)}.ledger")


@pytest.fixture
def address(new_address: NewAddress) -> str:
    """An address where there is no ledger yet."""
    return new_address()

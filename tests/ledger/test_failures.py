"""Power that fails, disks that are full or broken, servers that go away: the ledger closes rather than guesses."""

from __future__ import annotations

import random
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw
import psycopg
import pytest

from indistinct.composition.filters import BasicRule
from indistinct.errors import IndistinctError, LedgerError, LedgerUnavailable, MissingExtra
from indistinct.ledger import Budget, Ledger
from indistinct.ledger.sqlite import SQLiteStore
from tests.ledger.conftest import NewAddress
from tests.ledger.counts import count, tell
from tests.ledger.disks import Disk


@pytest.fixture
def disk() -> Iterator[Disk]:
    made = Disk(f"disk-{random.getrandbits(64)}")
    yield made
    made.unregister()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "hr.ledger"
    Ledger.create(made, Budget("hr", BasicRule(1, 0))).close()
    return made


def answered(ledger: Ledger, name: str, times: int) -> Iterator[tuple[str, int]]:
    """Answers until something fails; what it yields was sent."""
    for number in range(times):
        with ledger.charge("1e-9", key=f"{name}-{number}") as charge:
            sent = charge.seal(number)
        yield f"{name}-{number}", sent


def lost(path: Path, sent: dict[str, int]) -> int:
    """How many answers that were sent the ledger does not know; what it knows must be whole and right."""
    missing = 0
    with Ledger.open(path) as ledger:
        ledger.verify()
        with ledger._store.reading() as reader:  # noqa: SLF001  # the test looks behind the ledger
            records = reader.charges(sent)
        for key, answer in sent.items():
            record = records.get(key)
            if record is None or record.answer is None:
                missing += 1
            else:
                assert record.answer == str(answer).encode()
        charged = sum(each.spent * 10**9 for each in ledger.standings())
        assert charged == ledger.verify().charges
    return missing


def power_losses(disk: Disk, path: Path, cycles: int) -> tuple[int, int]:
    """How often the power went, and how many answers were lost."""
    chance = random.Random(7)  # noqa: S311  # test data
    sent: dict[str, int] = {}
    losses = forgotten = 0
    for cycle in range(cycles):
        with suppress(LedgerError, apsw.Error):
            ledger = Ledger(SQLiteStore(str(path), vfs=disk.name, exclusive=True))
            disk.arm(chance.randrange(1, 120))
            sent.update(answered(ledger, str(cycle), 8))
            disk.arm(0)
        losses += 1
        with suppress(LedgerError, apsw.Error):
            ledger.close()
        disk.restart(chance)
        path.with_name(f"{path.name}-mark").unlink()  # it is not synchronised, and would tell what is counted here
        missing = lost(path, sent)
        forgotten += missing
        if missing:
            sent.clear()
    return losses, forgotten


def test_a_loss_of_power_takes_no_charge_back(disk: Disk, path: Path) -> None:
    losses, forgotten = power_losses(disk, path, count(15, 200))
    tell(f"power lost {losses:,} times, {forgotten} answers forgotten")
    assert forgotten == 0


def test_without_full_synchronisation_it_would(disk: Disk, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutation synchronous=NORMAL is found out, so the test above can fail."""
    monkeypatch.setattr("indistinct.ledger.sqlite._SYNCHRONOUS", "NORMAL")
    losses, forgotten = power_losses(disk, path, 6)
    tell(f"synchronous=NORMAL: power lost {losses:,} times, {forgotten} answers forgotten")
    assert forgotten > 0


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (apsw.FullError, "the disk is full"),
        (apsw.IOError, "the disk fails"),
        (apsw.ReadOnlyError, "cannot be written"),
    ],
)
def test_a_disk_that_fails_closes_the_ledger(disk: Disk, path: Path, failure: type[apsw.Error], told: str) -> None:
    chance = random.Random(8)  # noqa: S311  # test data
    sent: dict[str, int] = {}
    failures = 0
    for cycle in range(count(8, 100)):
        ledger = Ledger(SQLiteStore(str(path), vfs=disk.name, exclusive=True))
        disk.arm(chance.randrange(1, 40), failure)
        messages = []
        try:
            sent.update(answered(ledger, str(cycle), 8))
        except LedgerUnavailable as error:
            messages.append(str(error))
        disk.disarm()
        if messages:
            failures += 1
            assert told in messages[0]
            with pytest.raises(LedgerUnavailable, match="is closed"):
                ledger.charge("1e-9", key="more")
        ledger.close()
        disk.contents.clear()
        assert lost(path, sent) == 0
    assert failures > 3
    tell(f"{failure.__name__}: {failures} failures, none lost")


def test_every_single_write_may_fail(disk: Disk, path: Path) -> None:
    """One charge and one answer, with the failure at each operation in turn; the same key ends well every time."""
    for at in range(1, 12):
        ledger = Ledger(SQLiteStore(str(path), vfs=disk.name, exclusive=True))
        disk.arm(at, apsw.FullError)
        with suppress(LedgerUnavailable), ledger.charge("1e-9", key=str(at)) as charge:
            charge.seal(at)
        disk.disarm()
        ledger.close()
        disk.contents.clear()
        with Ledger.open(path) as again, again.charge("1e-9", key=str(at)) as charge:
            assert charge.seal(at) == at
        assert lost(path, {str(at): at}) == 0


def test_a_busy_ledger_says_so_and_goes_on(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indistinct.ledger.sqlite._PATIENCE", 50)
    with Ledger.open(path) as ledger:
        other = apsw.Connection(str(path))
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerUnavailable, match="in use by another process"):
            ledger.charge("1e-9", key="q")
        other.execute("ROLLBACK")
        other.close()
        with ledger.charge("1e-9", key="q") as charge:
            charge.seal(1)
        assert ledger.verify().charges == 1


def test_an_interrupted_commit_charges_nothing(path: Path) -> None:
    def watch(step: str) -> None:
        if step == "written":
            raise KeyboardInterrupt

    with Ledger.open(path) as quiet:
        rows = list(quiet.rows())
    with Ledger(SQLiteStore(str(path)), watch=watch) as ledger, pytest.raises(KeyboardInterrupt):
        ledger.charge("1e-9", key="q")
    with Ledger.open(path) as quiet:
        assert list(quiet.rows()) == rows


def test_a_failed_commit_fails_for_all_who_shared_it(path: Path) -> None:
    gate = threading.Event()

    def watch(step: str) -> None:
        if step == "written":
            gate.wait(10)
            raise RuntimeError(step)

    outcomes: list[BaseException] = []
    with Ledger(SQLiteStore(str(path)), watch=watch) as ledger:

        def ask(number: int) -> None:
            try:
                ledger.charge("1e-9", key=str(number))
            except BaseException as error:
                outcomes.append(error)

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        gate.set()
        for thread in threads:
            thread.join()
    assert len(outcomes) == 8
    assert all(isinstance(each, RuntimeError | IndistinctError) for each in outcomes)
    with Ledger.open(path) as again:
        assert again.verify().charges == 0


def test_a_caller_who_is_interrupted_while_waiting_leaves_nobody_waiting(path: Path) -> None:
    first, gate = threading.Event(), threading.Event()

    def watch(step: str) -> None:
        if step == "written":
            first.set()
            gate.wait(20)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with Ledger(SQLiteStore(str(path)), watch=watch) as ledger:
            leader = threading.Thread(target=lambda: ledger.charge("1e-9", key="leader"))
            leader.start()
            assert first.wait(20)
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            with pytest.raises(KeyboardInterrupt):
                ledger.charge("1e-9", key="interrupted")
            gate.set()
            leader.join()
            ledger.charge("1e-9", key="after")
            assert ledger.verify().charges == 2
    finally:
        signal.signal(signal.SIGALRM, before)


# PostgreSQL

armed = threading.Event()


@contextmanager
def losing(address: str, folder: Path) -> Iterator[str]:
    """An address whose connections break once a COMMIT was carried out, before anybody is told."""
    host = address.split("host=")[1].split("&")[0]
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / ".s.PGSQL.5432"))
    listener.listen()

    def serve() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(f"{host}/.s.PGSQL.5432")
            swallow, swallowed = threading.Event(), threading.Event()
            answers = threading.Thread(target=_carry, args=(server, client, swallow, swallowed), daemon=True)
            answers.start()
            while data := _received(client):
                if b"COMMIT" in data and armed.is_set():
                    swallow.set()
                    server.sendall(data)
                    swallowed.wait(10)
                    break
                server.sendall(data)
            client.close()
            server.close()

    armed.clear()
    threading.Thread(target=serve, daemon=True).start()
    yield address.replace(host, str(folder))
    with suppress(OSError):
        listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def _received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(1 << 16)
    except OSError:
        return b""


def _carry(source: socket.socket, target: socket.socket, swallow: threading.Event, swallowed: threading.Event) -> None:
    while data := _received(source):
        if swallow.is_set():
            swallowed.set()
            return
        try:
            target.sendall(data)
        except OSError:
            return


def test_a_connection_lost_after_commit_leads_back_to_the_same_charge(new_database: NewAddress, tmp_path: Path) -> None:
    address = new_database()
    Ledger.create(address, Budget("hr", BasicRule("1e-9", 0))).close()
    with losing(address, tmp_path) as through:
        ledger = Ledger.open(through)
        armed.set()
        with pytest.raises(LedgerUnavailable, match="ask with the same key"):
            ledger.charge("1e-9", key="q")
        armed.clear()
        with pytest.raises(LedgerUnavailable, match="is closed"):
            ledger.charge("1e-9", key="q")
    with Ledger.open(address) as again:
        assert [record.state for record in again.unfinished()] == ["start"]  # it went through
        with again.charge("1e-9", key="q") as charge:
            charge.seal(1)
        assert again.verify().charges == 1


def test_a_server_that_goes_away_charges_nothing(new_database: NewAddress) -> None:
    address = new_database()
    with Ledger.create(address, Budget("hr", BasicRule(1, 0))) as ledger:
        with psycopg.connect(address, autocommit=True) as other:
            other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        with pytest.raises(LedgerUnavailable, match="went away"):
            ledger.charge("1e-9", key="q")
        with pytest.raises(LedgerUnavailable, match="is closed"):
            ledger.charge("1e-9", key="q")
    with Ledger.open(address) as again:
        assert again.verify().charges == 0
    with pytest.raises(LedgerUnavailable, match="cannot be reached"):
        Ledger.open("postgresql:///nothing?host=/no-server-here")


def test_a_server_that_may_forget_is_refused(new_database: NewAddress, monkeypatch: pytest.MonkeyPatch) -> None:
    from indistinct.ledger.postgres import PostgresStore

    address = new_database()
    Ledger.create(address).close()
    monkeypatch.setattr(PostgresStore, "_setting", lambda *_: "off")
    with pytest.raises(LedgerError, match="fsync off"):
        Ledger.open(address)


def test_a_writer_that_knows_no_lock_cannot_overspend_either(new_database: NewAddress) -> None:
    """The database itself refuses: its rows are no program's to change, and no balance passes its cap."""
    address = new_database()
    Ledger.create(address, Budget("hr", BasicRule(1, 0))).close()
    attempts = [
        "UPDATE indistinct_ledger.balance SET spent = cap + 1, entry = entry + 1 WHERE account = 'epsilon'",
        "UPDATE indistinct_ledger.balance SET spent = -1, entry = 1000 WHERE account = 'epsilon'",
        "UPDATE indistinct_ledger.balance SET spent = 0",
        "UPDATE indistinct_ledger.entry SET text = '{}'",
        "DELETE FROM indistinct_ledger.entry",
        "DELETE FROM indistinct_ledger.balance",
        "TRUNCATE indistinct_ledger.entry CASCADE",
    ]
    with psycopg.connect(address, autocommit=True) as connection:
        for attempt in attempts:
            with pytest.raises(psycopg.Error):
                connection.execute(attempt.encode())
    with Ledger.open(address) as ledger:
        ledger.verify()


def test_a_role_without_rights_is_told_so(new_database: NewAddress) -> None:
    address = new_database()
    with Ledger.create(address, Budget("hr", BasicRule(1, 0))) as ledger:
        with psycopg.connect(address, autocommit=True) as owner:
            owner.execute("DROP ROLE IF EXISTS visitor")
            owner.execute("CREATE ROLE visitor LOGIN")
        with pytest.raises(LedgerUnavailable, match="may not use the ledger"):
            Ledger.open(address.replace("user=ledger", "user=visitor"))
        ledger.verify()


def test_of_several_who_create_one_succeeds(new_address: NewAddress) -> None:
    address = new_address()
    outcomes: list[str] = []

    def create() -> None:
        try:
            Ledger.create(address, Budget("hr", BasicRule(1, 0))).close()
            outcomes.append("made")
        except LedgerUnavailable as error:
            outcomes.append(str(error).partition(" already")[1])

    threads = [threading.Thread(target=create) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == [" already"] * 3 + ["made"]
    with Ledger.open(address) as ledger:
        ledger.verify()


def test_postgres_without_its_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.delitem(sys.modules, "indistinct.ledger.postgres", raising=False)
    with pytest.raises(MissingExtra, match=r"pip install 'indistinct\[postgres\]'"):
        Ledger.open("postgresql:///anywhere")

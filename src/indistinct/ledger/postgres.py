"""A ledger in PostgreSQL, for processes on any number of hosts.

Every transaction begins by locking the one row of the table `version`, so writers come one after the other, and at
READ COMMITTED each statement after that sees all that was committed before. Balances move by a conditional UPDATE and
under a CHECK, and keys are unique: even a writer that does not know of the lock cannot overspend. A server that may
lose what it has committed (fsync or synchronous_commit off) is refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from indistinct.errors import IndistinctError, LedgerUnavailable, LedgerUntrusted, MissingExtra
from indistinct.ledger.entries import FORMAT
from indistinct.ledger.store import check_process
from indistinct.ledger.tables import scripts

try:
    import psycopg
    from psycopg.pq import TransactionStatus
except ImportError:
    raise MissingExtra("a ledger in PostgreSQL", "postgres") from None

from indistinct.ledger.postgres_session import Connection, PostgresSession  # these need psycopg too
from indistinct.ledger.postgres_tables import altered

__all__ = ["PostgresStore"]

_LOCK = "SELECT format FROM indistinct_ledger.version FOR UPDATE"
_PATIENCE = 30_000  # milliseconds that a writer waits for the others
_EXISTS = "There is a ledger in this database already; a ledger never replaces one."

_NO_TRANSACTION = "25P01"
"""The warning of a server that is told to commit where there is nothing to commit."""


class PostgresStore:
    """The store in a database; see `indistinct.ledger.store`."""

    def __init__(self, address: str, *, create: bool = False) -> None:
        self.broken = False
        self.mark = None
        self._process = os.getpid()
        self._astray = False
        with _told():
            self._connection: Connection = psycopg.connect(address, autocommit=True, connect_timeout=10)
        try:
            with _told():
                self._set_up(create=create)
        except BaseException:
            self._connection.close()
            raise

    @contextmanager
    def session(self) -> Iterator[PostgresSession]:
        """A transaction that excludes other writers."""
        self._check()
        try:
            with _told():
                self._connection.execute("BEGIN")
                self._connection.execute(_LOCK)
                yield PostgresSession(self._connection)
                check_process(self._process)
                self._commit()
        except GeneratorExit:  # an interruption came as it was entered, and `undo` has dealt with it
            raise
        except BaseException as error:
            if os.getpid() != self._process:
                raise
            self.undo()
            # After a connection that was lost nobody knows whether the last commit went through: the keys will tell.
            waited = isinstance(error.__cause__, psycopg.errors.LockNotAvailable)
            failed = isinstance(error, LedgerUnavailable | LedgerUntrusted) and not waited
            self.broken |= failed or self._connection.broken
            raise

    @contextmanager
    def reading(self) -> Iterator[PostgresSession]:
        """A consistent view."""
        self._check()
        try:
            with _told():
                self._connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                yield PostgresSession(self._connection)
        except GeneratorExit:  # as above
            raise
        except BaseException:
            self.undo()
            raise
        self.undo()

    def undo(self) -> None:
        """Takes back what an interruption has left open; nothing if all was ended."""
        if os.getpid() != self._process or self._connection.closed:
            return
        with suppress(psycopg.Error):
            if self._connection.info.transaction_status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
                self._connection.execute("ROLLBACK")
        if self._connection.info.transaction_status != TransactionStatus.IDLE:
            self.close()  # in the midst of a statement: the server takes back what was not committed

    def defects(self) -> Iterator[str]:
        """PostgreSQL checks its pages as it reads them."""
        return iter(())

    def alterations(self) -> Iterator[str]:
        """In what the tables are not those that the migrations make; compared in a transaction that is rolled back."""
        self._check()
        try:
            with _told():
                self._connection.execute("BEGIN")
                yield from altered(self._connection)
        finally:
            self.undo()

    def close(self) -> None:
        """Ends the connection, in the process that has begun it."""
        self.broken = True
        if os.getpid() != self._process:
            return
        with suppress(psycopg.Error):
            self._connection.close()

    def _check(self) -> None:
        check_process(self._process)
        if self.broken:
            raise LedgerUnavailable("The ledger in PostgreSQL is closed. Open it again, and ask with the same key.")
        self.undo()

    def _commit(self) -> None:
        """A commit is believed if the server says that it was one, and that there was something to commit."""
        self._astray = False
        done = self._connection.execute("COMMIT").statusmessage
        if done != "COMMIT" or self._astray:
            raise LedgerUnavailable(
                "The transaction was ended by somebody else, and what was written is not known. Open the ledger again, "
                "and ask with the same key."
            )

    def _noticed(self, notice: psycopg.errors.Diagnostic) -> None:
        self._astray |= notice.sqlstate == _NO_TRANSACTION

    def _set_up(self, *, create: bool) -> None:
        self._connection.add_notice_handler(self._noticed)
        self._connection.execute("SET client_min_messages = warning")
        if self._setting("fsync") != "on":
            raise LedgerUntrusted("The server runs with fsync off, so it may lose charges: set fsync to on.")
        self._connection.execute("SET synchronous_commit = on")
        self._connection.execute("SET default_transaction_isolation = 'read committed'")
        self._connection.execute(f"SET lock_timeout = {_PATIENCE}")
        exists = self._connection.execute("SELECT to_regnamespace('indistinct_ledger') IS NOT NULL").fetchone()
        if create:
            if exists == (True,):
                raise LedgerUnavailable(_EXISTS)
            self._migrate()
        elif exists != (True,):
            raise LedgerUnavailable(
                "There is no ledger in this database. Create one with 'indistinct ledger init' or Ledger.create."
            )
        version = self._connection.execute("SELECT format FROM indistinct_ledger.version").fetchone()
        if version != (FORMAT,):
            found = version[0] if version else "none"
            raise LedgerUntrusted(f"The ledger has the format {found}; this version of Indistinct reads {FORMAT}.")

    def _setting(self, name: str) -> str:
        row = self._connection.execute("SELECT current_setting(%s)", (name,)).fetchone()
        return str(row[0]) if row else ""

    def _migrate(self) -> None:
        try:
            with self._connection.transaction():
                for script in scripts("postgres"):
                    self._connection.execute(script.encode())
        except (psycopg.errors.DuplicateSchema, psycopg.errors.UniqueViolation):  # somebody was quicker
            raise LedgerUnavailable(_EXISTS) from None


@contextmanager
def _told() -> Iterator[Any]:
    """PostgreSQL's errors as ours; its messages may quote what is stored, and are left out."""
    try:
        yield
    except IndistinctError:
        raise
    except psycopg.errors.LockNotAvailable as error:
        raise LedgerUnavailable("The ledger in PostgreSQL is in use by another process for too long.") from error
    except psycopg.errors.DiskFull as error:
        raise LedgerUnavailable("The ledger in PostgreSQL cannot grow: the server's disk is full.") from error
    except psycopg.errors.InsufficientPrivilege as error:
        raise LedgerUnavailable("The role that connects may not use the ledger in this database.") from error
    except psycopg.errors.ReadOnlySqlTransaction as error:
        raise LedgerUnavailable("The ledger in PostgreSQL is on a server that cannot be written.") from error
    except (psycopg.errors.IntegrityError, psycopg.errors.RaiseException) as error:
        raise LedgerUntrusted("The ledger contradicts itself, so it was changed from outside.") from error
    except psycopg.errors.DataCorrupted as error:
        raise LedgerUntrusted("The ledger in PostgreSQL is damaged.") from error
    except psycopg.Error as error:
        raise LedgerUnavailable(
            "The ledger in PostgreSQL cannot be reached, or went away. Open it again, and ask with the same key."
        ) from error

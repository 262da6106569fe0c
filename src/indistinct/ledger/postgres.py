"""A ledger in PostgreSQL, for processes on any number of hosts.

Every transaction begins by locking the one row of the table `version`, so writers come one after the other, and at
READ COMMITTED each statement after that sees all that was committed before. Balances move by a conditional UPDATE and
under a CHECK, and keys are unique: even a writer that does not know of the lock cannot overspend. A server that may
lose what it has committed (fsync or synchronous_commit off) is refused.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import resources
from typing import Any

from indistinct.errors import IndistinctError, LedgerUnavailable, LedgerUntrusted, MissingExtra
from indistinct.ledger.entries import FORMAT, START, Balance, ChargeRecord, Head, Place, Row, record_of
from indistinct.ledger.store import check_process

try:
    import psycopg
    from psycopg.pq import TransactionStatus
except ImportError:
    raise MissingExtra("a ledger in PostgreSQL", "postgres") from None

__all__ = ["PostgresStore"]

_COLUMNS = "number, kind, charge, key, time, text, answer, hash"
_WITHOUT_ANSWER = "number, kind, charge, key, time, text, NULL::bytea, hash"
_LOCK = "SELECT format FROM indistinct_ledger.version FOR UPDATE"
_HEAD = "SELECT number, hash, time FROM indistinct_ledger.entry ORDER BY number DESC LIMIT 1"
_APPEND = f"""
    INSERT INTO indistinct_ledger.entry ({_COLUMNS})
    SELECT * FROM unnest(%s::bigint[], %s::text[], %s::bigint[], %s::text[], %s::bigint[], %s::text[], %s::bytea[],
                         %s::bytea[])
"""  # noqa: S608  # constants
_CHARGES = """
    SELECT r.number, r.key, r.text, s.kind, a.kind, a.answer, a.text FROM indistinct_ledger.entry r
    LEFT JOIN indistinct_ledger.entry s ON s.charge = r.number AND s.kind IN ('start', 'void')
    LEFT JOIN indistinct_ledger.entry a ON a.charge = r.number AND a.kind IN ('release', 'fail')
"""
_BY_KEY = _CHARGES + "WHERE r.key = ANY(%s)"
_UNFINISHED = (
    _CHARGES + "WHERE r.kind = 'reserve' AND a.kind IS NULL AND s.kind IS DISTINCT FROM 'void' ORDER BY r.number"
)
_OUTCOMES = """
    SELECT r.charge, s.kind, a.kind FROM unnest(%s::bigint[]) r(charge)
    LEFT JOIN indistinct_ledger.entry s ON s.charge = r.charge AND s.kind IN ('start', 'void')
    LEFT JOIN indistinct_ledger.entry a ON a.charge = r.charge AND a.kind IN ('release', 'fail')
"""
_AT = "budget = %s AND part = %s AND period = %s AND account = %s"
_MOVE = f"""
    UPDATE indistinct_ledger.balance SET cap = cap + %s, spent = spent + %s, entry = %s
    WHERE {_AT} AND entry = %s AND spent + %s <= cap + %s
"""  # noqa: S608  # constants
_CREATED = "INSERT INTO indistinct_ledger.balance VALUES (%s, %s, %s, %s, %s, %s, %s)"

_EXISTS = "There is a ledger in this database already; a ledger never replaces one."

_NO_TRANSACTION = "25P01"
"""The warning of a server that is told to commit where there is nothing to commit."""

Connection = psycopg.Connection[tuple[Any, ...]]


class PostgresStore:
    """The store in a database; see `indistinct.ledger.store`."""

    def __init__(self, address: str, *, create: bool = False) -> None:
        self.broken = False
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
            self.broken = True

    def defects(self) -> Iterator[str]:
        """PostgreSQL checks its pages as it reads them."""
        return iter(())

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
        self._connection.execute("SET lock_timeout = '30s'")
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
        folder = resources.files("indistinct.ledger") / "migrations" / "postgres"
        try:
            with self._connection.transaction():
                for script in sorted(folder.iterdir(), key=lambda each: each.name):
                    self._connection.execute(script.read_text(encoding="utf-8").encode())
        except (psycopg.errors.DuplicateSchema, psycopg.errors.UniqueViolation):  # somebody was quicker
            raise LedgerUnavailable(_EXISTS) from None


class PostgresSession:
    """What may be done in a transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def head(self) -> Head:
        """The last row."""
        row = self._connection.execute(_HEAD).fetchone()
        return Head(*row) if row else START

    def latest_budget(self) -> int:
        """The number of the last row about budgets."""
        query = "SELECT max(number) FROM indistinct_ledger.entry WHERE kind IN ('ledger', 'budget', 'grant')"
        row = self._connection.execute(query).fetchone()
        return int(row[0] or 0) if row else 0

    def rows(self, first: int = 1, last: int | None = None, kinds: Collection[str] = ()) -> Iterator[Row]:
        """Rows in their order, of some kinds or all."""
        chosen = " AND kind = ANY(%s)" if kinds else ""
        if kinds and set(kinds) <= {"ledger", "budget", "grant"}:
            chosen += " AND kind IN ('ledger', 'budget', 'grant')"  # as the index says
        query = f"SELECT {_COLUMNS} FROM indistinct_ledger.entry WHERE number BETWEEN %s AND %s{chosen} ORDER BY number"  # noqa: S608  # constants
        end = 2**63 - 1 if last is None else last
        with self._connection.cursor("rows") as cursor:
            cursor.itersize = 10_000
            cursor.execute(query.encode(), (first, end, list(kinds)) if kinds else (first, end))
            for row in cursor:
                yield Row(*row)

    def latest(self, kinds: Collection[str], before: int, most: int) -> list[Row]:
        """The last rows of some kinds before a number, the newest first; without their answers."""
        query = f"""
            SELECT {_WITHOUT_ANSWER} FROM indistinct_ledger.entry WHERE number < %s AND kind = ANY(%s)
            ORDER BY number DESC LIMIT %s
        """  # noqa: S608  # constants
        return [Row(*row) for row in self._connection.execute(query.encode(), (before, list(kinds), most))]

    def outcomes(self, charges: Collection[int]) -> dict[int, str]:
        """The tag of the last row of each charge, by the number of its reservation; none where that is all."""
        found = self._connection.execute(_OUTCOMES.encode(), (list(charges),))
        return {charge: ended or started for charge, started, ended in found if ended or started}

    def rows_at(self, numbers: Collection[int]) -> dict[int, Row]:
        """The rows that have these numbers."""
        query = f"SELECT {_COLUMNS} FROM indistinct_ledger.entry WHERE number = ANY(%s)"  # noqa: S608  # constants
        return {row[0]: Row(*row) for row in self._connection.execute(query.encode(), (list(numbers),))}

    def rows_of(self, charge: int) -> list[Row]:
        """The reservation and the rows that belong to it."""
        query = f"""
            SELECT {_COLUMNS} FROM indistinct_ledger.entry WHERE number = %s
            UNION ALL SELECT {_COLUMNS} FROM indistinct_ledger.entry WHERE charge = %s AND kind IN ('start', 'void')
            UNION ALL SELECT {_COLUMNS} FROM indistinct_ledger.entry WHERE charge = %s AND kind IN ('release', 'fail')
        """  # noqa: S608  # constants
        return [Row(*row) for row in self._connection.execute(query.encode(), (charge,) * 3)]

    def charges(self, keys: Iterable[str]) -> dict[str, ChargeRecord]:
        """The charges that have these keys."""
        found = self._connection.execute(_BY_KEY.encode(), (list(keys),))
        return {key: record_of(number, *rest) for number, key, *rest in found}

    def unfinished(self) -> list[ChargeRecord]:
        """Charges that were reserved, and neither voided nor answered."""
        return [record_of(number, *rest) for number, _, *rest in self._connection.execute(_UNFINISHED.encode())]

    def balance(self, place: Place) -> Balance | None:
        """What is left in a place."""
        query = f"SELECT cap, spent, entry FROM indistinct_ledger.balance WHERE {_AT}"  # noqa: S608  # constants
        row = self._connection.execute(query.encode(), place).fetchone()
        return Balance(*row) if row else None

    def balances(self) -> dict[Place, Balance]:
        """All of them."""
        query = "SELECT budget, part, period, account, cap, spent, entry FROM indistinct_ledger.balance"
        return {Place(*row[:4]): Balance(*row[4:]) for row in self._connection.execute(query)}

    def append(self, rows: Sequence[Row]) -> None:
        """Writes rows at the end of the chain, in one statement."""
        self._connection.execute(_APPEND.encode(), [list(column) for column in zip(*rows, strict=True)])

    def write(self, changes: Mapping[Place, tuple[Balance | None, Balance]]) -> None:
        """Replaces balances, each only if it is what it was and stays within its cap."""
        for place, (before, after) in sorted(changes.items()):
            if before is None:
                self._connection.execute(_CREATED, (*place, *after))
                continue
            more, by = after.cap - before.cap, after.spent - before.spent
            done = self._connection.execute(_MOVE.encode(), (more, by, after.row, *place, before.row, by, more))
            if done.rowcount != 1:
                raise LedgerUntrusted("A balance of the ledger is not what its rows say.")


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

"""A ledger in one file, for any number of processes on one host: SQLite, as apsw brings it.

Every commit waits until the disk has it: in the mode WAL that is synchronous=FULL, as with NORMAL a loss of power may
take back a charge whose answer is already out. `BEGIN IMMEDIATE` lets one writer in at a time, whatever process
it is in. SQLite before 3.51.3 could damage a write-ahead log that two connections reset at once, and is refused.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import resources
from pathlib import Path
from typing import Any

import apsw

from indistinct.errors import IndistinctError, LedgerUnavailable, LedgerUntrusted
from indistinct.ledger.entries import FORMAT, START, Balance, ChargeRecord, Head, Place, Row, record_of
from indistinct.ledger.store import check_process

__all__ = ["APPLICATION", "SQLiteStore"]

APPLICATION = 0x49444C47
"""What marks a file as a ledger ("IDLG")."""

_OLDEST = (3, 51, 3)
_SYNCHRONOUS = "FULL"
_PATIENCE = 30_000  # milliseconds that a writer waits for the others
_COLUMNS = "number, kind, charge, key, time, text, answer, hash"
_WITHOUT_ANSWER = "number, kind, charge, key, time, text, NULL, hash"
_HEAD = "SELECT number, hash, time FROM entry ORDER BY number DESC LIMIT 1"
_APPEND = f"""
    INSERT INTO entry ({_COLUMNS})
    SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, unhex(value ->> 6),
           unhex(value ->> 7)
    FROM json_each(?)
"""  # noqa: S608  # constants
_CHARGES = """
    SELECT r.number, r.key, r.text, s.kind, a.kind, a.answer, a.text FROM entry r
    LEFT JOIN entry s ON s.charge = r.number AND s.kind IN ('start', 'void')
    LEFT JOIN entry a ON a.charge = r.number AND a.kind IN ('release', 'fail')
"""
_BY_KEY = _CHARGES + "WHERE r.key IN (SELECT value FROM json_each(?))"  # noqa: S608  # constants
_UNFINISHED = _CHARGES + "WHERE r.kind = 'reserve' AND a.kind IS NULL AND s.kind IS NOT 'void' ORDER BY r.number"
_OUTCOMES = """
    SELECT r.value, s.kind, a.kind FROM json_each(?) r
    LEFT JOIN entry s ON s.charge = r.value AND s.kind IN ('start', 'void')
    LEFT JOIN entry a ON a.charge = r.value AND a.kind IN ('release', 'fail')
"""
_AT = "budget = ? AND part = ? AND period = ? AND account = ?"
_MOVE = f"""
    UPDATE balance SET cap = cap + ?, spent = spent + ?, entry = ?
    WHERE {_AT} AND entry = ? AND spent + ? <= cap + ?
"""  # noqa: S608  # constants
_CREATED = "INSERT INTO balance (budget, part, period, account, cap, spent, entry) VALUES (?, ?, ?, ?, ?, ?, ?)"


class SQLiteStore:
    """The store in a file; see `indistinct.ledger.store`.

    `exclusive` keeps all other processes out, for file systems and VFSs without shared memory.
    """

    def __init__(self, path: str, *, create: bool = False, vfs: str | None = None, exclusive: bool = False) -> None:
        _check_library(apsw.sqlite_lib_version())
        self.path = _real(path)
        self.broken = False
        self._process = os.getpid()
        if create:
            self._make_file()
        elif not self.path.is_file():
            raise LedgerUnavailable(
                f"There is no ledger at {str(self.path)!r}. Create one with 'indistinct ledger init' or Ledger.create."
            )
        self._check_names()
        with _told(self.path):
            flags = apsw.SQLITE_OPEN_READWRITE
            self._connection = apsw.Connection(str(self.path), flags=flags, vfs=vfs)
        try:
            with _told(self.path):
                self._set_up(create=create, exclusive=exclusive)
        except BaseException:
            self._connection.close()
            raise
        self._file = _identity(self.path)

    @contextmanager
    def session(self) -> Iterator[SQLiteSession]:
        """A transaction that excludes other writers."""
        self._check()
        begun = False
        try:
            with _told(self.path):
                self._connection.execute("BEGIN IMMEDIATE")
                begun = True
                yield SQLiteSession(self._connection)
                check_process(self._process)
                self._connection.execute("COMMIT")
        except GeneratorExit:  # an interruption came as it was entered, and `undo` has dealt with it
            raise
        except BaseException as error:
            if os.getpid() != self._process:
                raise
            # Whatever could not be undone, or may have reached the disk in part, is for the next opening to sort out.
            self.undo()
            waited = not begun and isinstance(error.__cause__, apsw.BusyError)
            self.broken |= isinstance(error, LedgerUnavailable | LedgerUntrusted) and not waited
            raise

    @contextmanager
    def reading(self) -> Iterator[SQLiteSession]:
        """A consistent view."""
        self._check()
        try:
            with _told(self.path):
                self._connection.execute("BEGIN")
                yield SQLiteSession(self._connection)
        except GeneratorExit:  # as above
            raise
        except BaseException:
            self.undo()
            raise
        self.undo()

    def undo(self) -> None:
        """Takes back what an interruption has left open; nothing if all was ended."""
        if os.getpid() != self._process or self.broken:
            return
        with suppress(apsw.Error):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        self.broken |= self._connection.in_transaction

    def defects(self) -> Iterator[str]:
        """What SQLite's own check of the file finds."""
        try:
            for (line,) in self._connection.execute("PRAGMA integrity_check(3)"):
                if line != "ok":
                    yield str(line)
        except apsw.Error as error:
            yield str(error)

    def close(self) -> None:
        """Closes the file, in the process that has opened it; what was committed is in it."""
        self.broken = True
        if os.getpid() != self._process:
            return
        with suppress(apsw.Error):
            self._connection.close()

    def _make_file(self) -> None:
        try:
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            raise LedgerUnavailable(
                f"There is a file at {str(self.path)!r} already; a ledger never replaces one."
            ) from None
        except OSError as error:
            raise LedgerUnavailable(f"The ledger {str(self.path)!r} cannot be created: {error.strerror}.") from None

    def _set_up(self, *, create: bool, exclusive: bool) -> None:
        connection = self._connection
        connection.set_busy_timeout(_PATIENCE)
        if exclusive:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        if not create:
            self._check_format()
        if connection.pragma("journal_mode", "WAL") != "wal":
            raise LedgerUnavailable(f"The ledger {str(self.path)!r} is on a file system without a write-ahead log.")
        connection.pragma("synchronous", _SYNCHRONOUS)
        connection.pragma("fullfsync", True)
        connection.pragma("checkpoint_fullfsync", True)
        connection.pragma("cell_size_check", True)
        connection.pragma("trusted_schema", False)
        connection.pragma("foreign_keys", True)
        if create:
            self._migrate()

    def _migrate(self) -> None:
        folder = resources.files("indistinct.ledger") / "migrations" / "sqlite"
        with self._connection:
            for script in sorted(folder.iterdir(), key=lambda each: each.name):
                self._connection.execute(script.read_text(encoding="utf-8"))
            self._connection.pragma("application_id", APPLICATION)
            self._connection.pragma("user_version", FORMAT)
        folder_of_file = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder_of_file)
        finally:
            os.close(folder_of_file)

    def _check_format(self) -> None:
        if self._connection.pragma("application_id") != APPLICATION:
            raise LedgerUntrusted(f"{str(self.path)!r} is not a ledger.")
        version = self._connection.pragma("user_version")
        if version != FORMAT:
            kind = "a newer" if version > FORMAT else "an older"
            raise LedgerUntrusted(
                f"The ledger {str(self.path)!r} has {kind} format, {version}; Indistinct reads {FORMAT} here."
            )

    def _check(self) -> None:
        check_process(self._process)
        if self.broken:
            raise LedgerUnavailable(
                f"The ledger {str(self.path)!r} is closed. Open it again, and ask with the same key."
            )
        self.undo()
        if _identity(self.path) != self._file:
            self.broken = True
            raise LedgerUntrusted(f"The file {str(self.path)!r} was replaced or removed while it was in use.")
        self._check_names()

    def _check_names(self) -> None:
        """SQLite keeps a write-ahead log beside every name: neither of two knows what the other has charged."""
        with suppress(OSError):
            if self.path.stat().st_nlink > 1:
                self.broken = True
                raise LedgerUntrusted(
                    f"The file {str(self.path)!r} has a second name (a hard link), where charges would be missed: "
                    "remove one of the names."
                )


class SQLiteSession:
    """What may be done in a transaction."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def head(self) -> Head:
        """The last row."""
        row = self._connection.execute(_HEAD).fetchone()
        return Head(*row) if row else START

    def latest_budget(self) -> int:
        """The number of the last row about budgets."""
        query = "SELECT max(number) FROM entry WHERE kind IN ('ledger', 'budget', 'grant')"
        return int(self._connection.execute(query).get or 0)

    def rows(self, first: int = 1, last: int | None = None, kinds: Collection[str] = ()) -> Iterator[Row]:
        """Rows in their order, of some kinds or all."""
        end = 2**63 - 1 if last is None else last
        query = f"SELECT {_COLUMNS} FROM entry WHERE number BETWEEN ? AND ?"  # noqa: S608  # constants
        if kinds:
            query += " AND kind IN (SELECT value FROM json_each(?))"
            if set(kinds) <= {"ledger", "budget", "grant"}:
                query += " AND kind IN ('ledger', 'budget', 'grant')"
        bindings = (first, end, json.dumps(list(kinds))) if kinds else (first, end)
        for row in self._connection.execute(query + " ORDER BY number", bindings):
            yield _sound(row)

    def latest(self, kinds: Collection[str], before: int, most: int) -> list[Row]:
        """The last rows of some kinds before a number, the newest first; without their answers."""
        query = f"""
            SELECT {_WITHOUT_ANSWER} FROM entry WHERE number < ? AND kind IN (SELECT value FROM json_each(?))
            ORDER BY number DESC LIMIT ?
        """  # noqa: S608  # constants
        return [_sound(row) for row in self._connection.execute(query, (before, json.dumps(list(kinds)), most))]

    def outcomes(self, charges: Collection[int]) -> dict[int, str]:
        """The tag of the last row of each charge, by the number of its reservation; none where that is all."""
        return {
            charge: ended or started
            for charge, started, ended in self._connection.execute(_OUTCOMES, (json.dumps(list(charges)),))
            if ended or started
        }

    def rows_at(self, numbers: Collection[int]) -> dict[int, Row]:
        """The rows that have these numbers."""
        query = f"SELECT {_COLUMNS} FROM entry WHERE number IN (SELECT value FROM json_each(?))"  # noqa: S608  # constants
        found = self._connection.execute(query, (json.dumps(list(numbers)),))
        return {row[0]: _sound(row) for row in found}

    def rows_of(self, charge: int) -> list[Row]:
        """The reservation and the rows that belong to it."""
        query = f"""
            SELECT {_COLUMNS} FROM entry WHERE number = ?1
            UNION ALL SELECT {_COLUMNS} FROM entry WHERE charge = ?1 AND kind IN ('start', 'void')
            UNION ALL SELECT {_COLUMNS} FROM entry WHERE charge = ?1 AND kind IN ('release', 'fail')
        """  # noqa: S608  # constants
        return [_sound(row) for row in self._connection.execute(query, (charge,))]

    def charges(self, keys: Iterable[str]) -> dict[str, ChargeRecord]:
        """The charges that have these keys."""
        found = self._connection.execute(_BY_KEY, (json.dumps(list(keys)),))
        return {key: record_of(number, *rest) for number, key, *rest in found}

    def unfinished(self) -> list[ChargeRecord]:
        """Charges that were reserved, and neither voided nor answered."""
        return [record_of(number, *rest) for number, _, *rest in self._connection.execute(_UNFINISHED)]

    def balance(self, place: Place) -> Balance | None:
        """What is left in a place."""
        query = f"SELECT cap, spent, entry FROM balance WHERE {_AT}"  # noqa: S608  # constants
        row = self._connection.execute(query, place).fetchone()
        return Balance(*row) if row else None

    def balances(self) -> dict[Place, Balance]:
        """All of them."""
        query = "SELECT budget, part, period, account, cap, spent, entry FROM balance"
        return {Place(*row[:4]): Balance(*row[4:]) for row in self._connection.execute(query)}

    def append(self, rows: Sequence[Row]) -> None:
        """Writes rows at the end of the chain, in one statement: nothing else runs in between."""
        spelled = [(*row[:6], row.answer.hex() if row.answer is not None else None, row.hash.hex()) for row in rows]
        self._connection.execute(_APPEND, (json.dumps(spelled),))

    def write(self, changes: Mapping[Place, tuple[Balance | None, Balance]]) -> None:
        """Replaces balances, each only if it is what it was and stays within its cap."""
        for place, (before, after) in changes.items():
            if before is None:
                self._connection.execute(_CREATED, (*place, *after))
                continue
            more, by = after.cap - before.cap, after.spent - before.spent
            self._connection.execute(_MOVE, (more, by, after.row, *place, before.row, by, more))
            if self._connection.changes() != 1:
                raise LedgerUntrusted("A balance of the ledger is not what its rows say.")


def _sound(row: tuple[Any, ...]) -> Row:
    """The row, if what is in its columns can be."""
    number, _, _, _, _, text, answer, chained = row
    if not (isinstance(text, str) and isinstance(chained, bytes) and isinstance(answer, bytes | None)):
        raise LedgerUntrusted(f"Row {number} is no row of a ledger.", number)
    return Row(*row)


def _real(path: str) -> Path:
    try:
        return Path(path).resolve()
    except (OSError, RuntimeError, ValueError):
        raise LedgerUnavailable(f"The ledger {path!r} cannot be opened.") from None


def _check_library(version: str) -> None:
    if tuple(map(int, version.split("."))) < _OLDEST:
        oldest = ".".join(map(str, _OLDEST))
        raise LedgerUnavailable(f"A ledger needs SQLite {oldest} or newer, and apsw here has {version}: upgrade apsw.")


def _identity(path: Path) -> tuple[int, int]:
    try:
        about = path.stat()
    except OSError:
        return (0, 0)
    return about.st_dev, about.st_ino


_REASONS: tuple[tuple[type[apsw.Error], str], ...] = (
    (apsw.BusyError, "is in use by another process for too long"),
    (apsw.LockedError, "is in use by another process for too long"),
    (apsw.FullError, "cannot grow: the disk is full"),
    (apsw.ReadOnlyError, "is on a disk, or in a file, that cannot be written"),
    (apsw.CantOpenError, "cannot be opened"),
    (apsw.PermissionsError, "cannot be opened"),
    (apsw.IOError, "cannot be read or written: the disk fails"),
)


@contextmanager
def _told(path: Path) -> Iterator[Any]:
    """SQLite's errors as ours."""
    try:
        yield
    except IndistinctError:
        raise
    except UnicodeDecodeError as error:
        raise LedgerUntrusted(f"{str(path)!r} is damaged.") from error
    except (apsw.NotADBError, apsw.CorruptError) as error:
        damaged = "is damaged" if isinstance(error, apsw.CorruptError) else "is not a ledger"
        raise LedgerUntrusted(f"{str(path)!r} {damaged}.") from error
    except apsw.ConstraintError as error:
        raise LedgerUntrusted(f"{str(path)!r} contradicts itself, so it was changed from outside.") from error
    except apsw.Error as error:
        reason = next((text for kind, text in _REASONS if isinstance(error, kind)), "cannot be used")
        raise LedgerUnavailable(f"The ledger {str(path)!r} {reason}.") from error

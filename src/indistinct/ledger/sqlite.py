"""A ledger in one file, for any number of processes on one host: SQLite, as apsw brings it.

Every commit waits until the disk has it: in the mode WAL that is synchronous=FULL, as with NORMAL a loss of power may
take back a charge whose answer is already out. `BEGIN IMMEDIATE` lets one writer in at a time, whatever process
it is in. SQLite before 3.51.3 could damage a write-ahead log that two connections reset at once, and is refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw

from indistinct.errors import IndistinctError, LedgerUnavailable, LedgerUntrusted
from indistinct.ledger.entries import FORMAT
from indistinct.ledger.sqlite_session import SQLiteSession
from indistinct.ledger.store import check_process
from indistinct.ledger.tables import Made, alterations, described, scripts

__all__ = ["APPLICATION", "SQLiteStore"]

APPLICATION = 0x49444C47
"""What marks a file as a ledger ("IDLG")."""

_OLDEST = (3, 51, 3)
_SYNCHRONOUS = "FULL"
_PATIENCE = 30_000  # milliseconds that a writer waits for the others


class SQLiteStore:
    """The store in a file; see `indistinct.ledger.store`.

    `exclusive` keeps all other processes out, for file systems and VFSs without shared memory.
    """

    def __init__(self, path: str, *, create: bool = False, vfs: str | None = None, exclusive: bool = False) -> None:
        _check_library(apsw.sqlite_lib_version())
        self.path = _real(path)
        self.mark = self.path.with_name(f"{self.path.name}-mark")
        self.broken = False
        self._process = os.getpid()
        if create:
            self._make_file()
        elif not self.path.is_file():
            raise LedgerUnavailable(
                f"There is no ledger at {str(self.path)!r}. Create one with 'indistinct ledger init' or Ledger.create."
            )
        self._check_names(_identity(self.path)[2])
        with _told(self.path):
            flags = apsw.SQLITE_OPEN_READWRITE
            self._connection = apsw.Connection(str(self.path), flags=flags, vfs=vfs)
        try:
            with _told(self.path):
                self._set_up(create=create, exclusive=exclusive)
        except BaseException:
            self._connection.close()
            raise
        self._file = [*_identity(self.path)[:2]]

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

    def alterations(self) -> Iterator[str]:
        """In what the tables, indexes and triggers are not those that the migrations make."""
        self._check()
        fresh = apsw.Connection(":memory:")
        for script in scripts("sqlite"):
            fresh.execute(script)
        with _told(self.path):
            yield from alterations(_tables(self._connection), _tables(fresh))

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
            self.mark.unlink(missing_ok=True)  # of one that was here before
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
        with self._connection:
            for script in scripts("sqlite"):
                self._connection.execute(script)
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
        *file, names = _identity(self.path)
        if file != self._file:
            self.broken = True
            raise LedgerUntrusted(f"The file {str(self.path)!r} was replaced or removed while it was in use.")
        self._check_names(names)

    def _check_names(self, names: int) -> None:
        """SQLite keeps a write-ahead log beside every name: neither of two knows what the other has charged."""
        if names > 1:
            self.broken = True
            raise LedgerUntrusted(
                f"The file {str(self.path)!r} has a second name (a hard link), where charges would be missed: remove "
                "one of the names."
            )


def _tables(connection: apsw.Connection) -> Made:
    """What there is, as it was written; what the planner gathers for itself is left out."""
    query = "SELECT type, name, coalesce(sql, tbl_name) FROM sqlite_schema WHERE name NOT GLOB 'sqlite_stat*'"
    return described((kind, name, definition) for kind, name, definition in connection.execute(query))


def _real(path: str) -> Path:
    try:
        return Path(path).resolve()
    except (OSError, RuntimeError, ValueError):
        raise LedgerUnavailable(f"The ledger {path!r} cannot be opened.") from None


def _check_library(version: str) -> None:
    if tuple(map(int, version.split("."))) < _OLDEST:
        oldest = ".".join(map(str, _OLDEST))
        raise LedgerUnavailable(f"A ledger needs SQLite {oldest} or newer, and apsw here has {version}: upgrade apsw.")


def _identity(path: Path) -> tuple[int, int, int]:
    """What tells a file from others, and how many names it has."""
    try:
        about = path.stat()
    except OSError:
        return 0, 0, 0
    return about.st_dev, about.st_ino, about.st_nlink


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

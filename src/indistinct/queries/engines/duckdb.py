"""DuckDB, in this process: files and frames, with no way out to other files and no way to change its settings."""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indistinct.errors import InvalidParameter
from indistinct.queries.engines.presenting import chosen_kind, name_of, presented
from indistinct.queries.engines.words import Dialect
from indistinct.queries.policy.terms import ColumnType

if TYPE_CHECKING:
    import duckdb

__all__ = ["DuckDBEngine"]

_DATABASES = {".duckdb", ".ddb", ".db"}
_CSV = {".csv", ".tsv", ".txt"}
_PARQUET = {".parquet", ".pq"}
_LARGEST_KEPT = 2**25
_COPIES = "copies"
"""The schema of what is held beside the tables of the policy, whatever these are called."""


class DuckDBEngine:
    """Tables from Parquet, CSV and DuckDB files, and from frames, by name.

    Files are read in place at each question; frames are copied, and so are CSV files of up to 32 MB, anew whenever they
    have changed: to find out how a CSV file is written takes longer than most questions. Columns of other types than
    those of the policy (lists, structures, blobs) are left out. `types` are those of the policy: of a CSV file they
    tell what it holds, which is otherwise what its rows look like when it is opened, and whole numbers are presented as
    real ones where it says so. `units` are the columns, by table, that say whose row it is: none of them is rounded.
    """

    def __init__(
        self,
        sources: Mapping[str, object],
        *,
        types: Mapping[str, Mapping[str, ColumnType]] | None = None,
        units: Mapping[str, str] | None = None,
        threads: int = 1,
    ) -> None:
        import duckdb

        self._lock = threading.Lock()
        self._files: list[Path] = []
        self._kept: dict[str, _Kept] = {}
        self._token = "" if all(isinstance(each, str | Path) for each in sources.values()) else secrets.token_hex(16)
        self._columns: dict[str, dict[str, ColumnType]] = {}
        settings: dict[str, str | bool | int | float | list[str]] = {
            "threads": str(threads),
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        }
        self._connection = duckdb.connect(":memory:", config=settings)
        try:
            self._connection.execute("SET GLOBAL TimeZone = 'UTC'")
            self._connection.execute(f"CREATE SCHEMA {_COPIES}")
            for number, (name, source) in enumerate(sources.items()):
                self._attach(number, name, source, (types or {}).get(name, {}), (units or {}).get(name))
            if self._files:
                paths = ", ".join(_text(str(path)) for path in self._files)
                self._connection.execute(f"SET allowed_paths = [{paths}]")
            self._connection.execute("SET enable_external_access = false")
            self._connection.execute("SET lock_configuration = true")
        except BaseException:
            self._connection.close()
            raise

    @property
    def dialect(self) -> Dialect:
        """DuckDB's."""
        return "duckdb"

    def columns(self, table: str) -> Mapping[str, ColumnType]:
        """The columns that can be asked about."""
        return self._columns[table]

    def run(self, statement: str, *, seconds: float) -> list[tuple[Any, ...]]:
        """The rows of the statement; interrupted when the time is over."""
        with self._lock:
            cursor = self._connection.cursor()
            done = threading.Event()
            watch = threading.Thread(target=_interrupt, args=(cursor, done, seconds), daemon=True)
            watch.start()
            try:
                self._keep_up(cursor)
                return cursor.execute(statement).fetchall()
            finally:
                done.set()
                watch.join()
                cursor.close()

    def snapshot(self) -> str:
        """The files' sizes and times, with what a database has written ahead; for frames, which are copied, a name."""
        told = [self._token]
        for path in self._files:
            told.append(_state(path))
            ahead = path.with_name(f"{path.name}.wal")
            if path.suffix.lower() in _DATABASES and ahead.exists():
                told.append(_state(ahead))
        return hashlib.sha256("\n".join(told).encode()).hexdigest()[:32]

    def close(self) -> None:
        """Ends all use."""
        self._connection.close()

    def _attach(
        self, number: int, name: str, source: object, types: Mapping[str, ColumnType], unit: str | None
    ) -> None:
        written = False
        if isinstance(source, str | Path):
            path = Path(source).expanduser().resolve()
            written = path.suffix.lower() in _CSV
            relation, natives = self._file(number, name, path)
        else:
            relation, natives = self._frame(number, source)
        columns: dict[str, ColumnType] = {}
        shown = []
        for column, native in natives.items():
            own = unit is not None and column.casefold() == unit.casefold()
            kind = chosen_kind(native, types.get(column), written=written, unit=own)
            if kind is not None:
                columns[column] = kind
                told = presented(column, native, kind, written=written, unit=own)
                shown.append(f"{told} AS {name_of(column)}")
        if not columns:
            raise InvalidParameter("source", source, "have a column of numbers, text, dates or truth values")
        small = written and self._files[-1].stat().st_size <= _LARGEST_KEPT
        view = f"{_COPIES}.{name_of(f'file {number}')}" if small else name_of(name)
        self._connection.execute(f"CREATE VIEW {view} AS SELECT {', '.join(shown)} FROM {relation}")  # noqa: S608  # quoted
        if small:
            self._kept[name] = _Kept(self._files[-1], view)
        self._columns[name] = columns

    def _keep_up(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Copies small files that are new, or are not what they were when they were copied."""
        for name, kept in self._kept.items():
            state = _state(kept.path)
            if state != kept.state:
                kept.state = ""
                copied = f"CREATE OR REPLACE TABLE {name_of(name)} AS SELECT * FROM {kept.view}"  # noqa: S608  # quoted
                connection.execute(copied)
                kept.state = state

    def _file(self, number: int, name: str, path: Path) -> tuple[str, dict[str, str]]:
        if not path.is_file():
            raise InvalidParameter("source", str(path), "be a file that exists")
        self._files.append(path)
        ending = path.suffix.lower()
        if ending in _PARQUET:
            relation = f"read_parquet({_text(str(path))})"
            return relation, self._described(relation, path)
        if ending in _CSV:
            guessed = self._described(f"read_csv({_text(str(path))}, sample_size=-1)", path)
            relation = f"read_csv({_text(str(path))}, all_varchar=true, header=true)"
            if list(guessed) != list(self._described(relation, path)):
                raise InvalidParameter("source", str(path), "name its columns in its first line")
            return relation, guessed
        if ending in _DATABASES:
            self._run(f"ATTACH {_text(str(path))} AS {name_of(f'source {number}')} (READ_ONLY)", path)
            tables = [
                row[0]
                for row in self._connection.execute(
                    "SELECT table_name FROM information_schema.tables"
                    " WHERE table_catalog = ? AND table_schema = 'main' ORDER BY 1",
                    [f"source {number}"],
                ).fetchall()
            ]
            table = name if name in tables else tables[0] if len(tables) == 1 else None
            if table is None:
                raise InvalidParameter(
                    "name", name, "name a table of the database", instead=f"It has: {', '.join(tables[:20])}."
                )
            relation = f"{name_of(f'source {number}')}.main.{name_of(table)}"
            return relation, self._described(relation, path)
        raise InvalidParameter(
            "source",
            str(path),
            "be a Parquet, CSV or DuckDB file",
            instead="Their names end in .parquet, .csv or .duckdb.",
        )

    def _frame(self, number: int, source: object) -> tuple[str, dict[str, str]]:
        handle, kept = f"frame {number}", f"{_COPIES}.{name_of(f'copy {number}')}"
        try:
            self._connection.register(handle, source)
            self._connection.execute(f"CREATE TABLE {kept} AS SELECT * FROM {name_of(handle)}")  # noqa: S608  # quoted
            self._connection.unregister(handle)
        except Exception as error:
            raise InvalidParameter(
                "source",
                type(source),
                "be a path, an Arrow table or a frame of pandas or polars",
                instead=str(error)[:200],
            ) from None
        return kept, self._described(kept, None)

    def _described(self, relation: str, path: Path | None) -> dict[str, str]:
        rows = self._run(f"DESCRIBE SELECT * FROM {relation}", path).fetchall()  # noqa: S608  # quoted
        return {row[0]: row[1] for row in rows}

    def _run(self, statement: str, path: Path | None) -> duckdb.DuckDBPyConnection:
        import duckdb

        try:
            return self._connection.execute(statement)
        except duckdb.Error:
            raise InvalidParameter("source", str(path), "be a file that DuckDB can read") from None


@dataclass(slots=True)
class _Kept:
    """A small file of which there is a copy, from when it was in this state."""

    path: Path
    view: str
    state: str = ""


def _state(path: Path) -> str:
    state = path.stat()
    return f"{path}:{state.st_size}:{state.st_mtime_ns}:{state.st_ino}"


def _interrupt(cursor: duckdb.DuckDBPyConnection, done: threading.Event, seconds: float) -> None:
    """Stops a statement when its time is over: again and again, as it may not have begun."""
    if not done.wait(seconds):
        while not done.wait(0.01):
            cursor.interrupt()


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"

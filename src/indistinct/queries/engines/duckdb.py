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
from indistinct.queries.engines.words import Dialect
from indistinct.queries.policy.terms import ColumnType

if TYPE_CHECKING:
    import duckdb

__all__ = ["DuckDBEngine"]

_DATABASES = {".duckdb", ".ddb", ".db"}
_CSV = {".csv", ".tsv", ".txt"}
_PARQUET = {".parquet", ".pq"}
_LARGEST_KEPT = 2**25
_INTEGERS = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
_REALS = {"FLOAT", "DOUBLE", "HUGEINT", "UHUGEINT", "UBIGINT", "BIGNUM"}
_SQL_TYPES: dict[ColumnType, str] = {
    "integer": "BIGINT",
    "real": "DOUBLE",
    "text": "VARCHAR",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
}


class DuckDBEngine:
    """Tables from Parquet, CSV and DuckDB files, and from frames, by name.

    Files are read in place at each question; frames are copied, and so are CSV files of up to 32 MB, anew whenever they
    have changed: to find out how a CSV file is written takes longer than most questions. Columns of other types than
    those of the policy (lists, structures, blobs) are left out. `types` tells those of a CSV file, where the policy
    does; otherwise they are what its rows look like when it is opened.
    """

    def __init__(
        self,
        sources: Mapping[str, object],
        *,
        types: Mapping[str, Mapping[str, ColumnType]] | None = None,
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
            for number, (name, source) in enumerate(sources.items()):
                self._attach(number, name, source, dict((types or {}).get(name, {})))
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
        """The files' sizes and times; for frames, which are copied, a name of their own."""
        told = [self._token]
        told += [_state(path) for path in self._files]
        return hashlib.sha256("\n".join(told).encode()).hexdigest()[:32]

    def close(self) -> None:
        """Ends all use."""
        self._connection.close()

    def _attach(self, number: int, name: str, source: object, types: dict[str, ColumnType]) -> None:
        if isinstance(source, str | Path):
            relation, found = self._file(number, name, Path(source), types)
        else:
            relation, found = self._frame(number, source)
        columns = {column: kind for column, kind in found.items() if kind is not None}
        if not columns:
            raise InvalidParameter("source", source, "have a column of numbers, text, dates or truth values")
        of_csv = isinstance(source, str | Path) and Path(source).suffix.lower() in _CSV
        shown = ", ".join(
            f"{_presented(column, kind, spelled=of_csv)} AS {_name(column)}" for column, kind in columns.items()
        )
        kept = f"file {number}" if of_csv and self._files[-1].stat().st_size <= _LARGEST_KEPT else name
        self._connection.execute(f"CREATE VIEW {_name(kept)} AS SELECT {shown} FROM {relation}")  # noqa: S608  # quoted
        if kept != name:
            self._kept[name] = _Kept(self._files[-1], kept)
        self._columns[name] = columns

    def _keep_up(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Copies small files that are new, or are not what they were when they were copied."""
        for name, kept in self._kept.items():
            state = _state(kept.path)
            if state != kept.state:
                kept.state = ""
                copied = f"CREATE OR REPLACE TABLE {_name(name)} AS SELECT * FROM {_name(kept.view)}"  # noqa: S608  # quoted
                connection.execute(copied)
                kept.state = state

    def _file(
        self, number: int, name: str, path: Path, types: dict[str, ColumnType]
    ) -> tuple[str, dict[str, ColumnType | None]]:
        path = path.expanduser().resolve()
        if not path.is_file():
            raise InvalidParameter("source", str(path), "be a file that exists")
        self._files.append(path)
        ending = path.suffix.lower()
        if ending in _PARQUET:
            relation = f"read_parquet({_text(str(path))})"
            return relation, self._described(relation, path)
        if ending in _CSV:
            sniffed = self._described(f"read_csv({_text(str(path))}, sample_size=-1)", path)
            unknown = {column: types.get(column, kind) for column, kind in sniffed.items()}
            return f"read_csv({_text(str(path))}, all_varchar=true, header=true)", unknown
        if ending in _DATABASES:
            self._run(f"ATTACH {_text(str(path))} AS {_name(f'source {number}')} (READ_ONLY)", path)
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
            relation = f"{_name(f'source {number}')}.main.{_name(table)}"
            return relation, self._described(relation, path)
        raise InvalidParameter(
            "source",
            str(path),
            "be a Parquet, CSV or DuckDB file",
            instead="Their names end in .parquet, .csv or .duckdb.",
        )

    def _frame(self, number: int, source: object) -> tuple[str, dict[str, ColumnType | None]]:
        handle, kept = f"frame {number}", f"copy {number}"
        try:
            self._connection.register(handle, source)
            self._connection.execute(f"CREATE TABLE {_name(kept)} AS SELECT * FROM {_name(handle)}")  # noqa: S608  # quoted
            self._connection.unregister(handle)
        except Exception as error:
            raise InvalidParameter(
                "source",
                type(source),
                "be a path, an Arrow table or a frame of pandas or polars",
                instead=str(error)[:200],
            ) from None
        return _name(kept), self._described(_name(kept), None)

    def _described(self, relation: str, path: Path | None) -> dict[str, ColumnType | None]:
        rows = self._run(f"DESCRIBE SELECT * FROM {relation}", path).fetchall()  # noqa: S608  # quoted
        return {row[0]: _kind(row[1]) for row in rows}

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


def _presented(column: str, kind: ColumnType, *, spelled: bool) -> str:
    """A column as a type of the policy, NULL where it has no such value; times with a zone are brought to UTC.

    What a CSV file spells passes through NULLIF: DuckDB otherwise takes the type from TRY_CAST into its reader of CSV,
    where a value that is none ends the whole question, so that whether there is an answer tells of a row.
    """
    told = f"NULLIF({_name(column)}, '')" if spelled and kind != "text" else _name(column)
    if kind == "timestamp":
        told = f"TRY_CAST({told} AS TIMESTAMPTZ)"
    return f"TRY_CAST({told} AS {_SQL_TYPES[kind]})"


def _kind(told: str) -> ColumnType | None:
    head = told.upper().partition("(")[0]
    if told.endswith("]"):
        return None
    if head in _INTEGERS:
        return "integer"
    if head in _REALS or head == "DECIMAL":
        return "real"
    if head in {"VARCHAR", "ENUM", "UUID"}:
        return "text"
    if head.startswith("TIMESTAMP"):
        return "timestamp"
    return {"BOOLEAN": "boolean", "DATE": "date"}.get(head)  # type: ignore[return-value]  # mypy does not see the literals


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"

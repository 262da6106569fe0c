"""DuckDB, in this process: files and frames, with no way out to other files and no way to change its settings."""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections.abc import Mapping
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

    Files are read in place at each question; frames are copied. Columns of other types than those of the policy
    (lists, structures, blobs) are left out. `types` tells those of a CSV file, where the policy does; otherwise they
    are what its rows look like when it is opened.
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
                return cursor.execute(statement).fetchall()
            finally:
                done.set()
                watch.join()
                cursor.close()

    def snapshot(self) -> str:
        """The files' sizes and times; for frames, which are copied, a name of their own."""
        told = [self._token]
        for path in self._files:
            state = path.stat()
            told.append(f"{path}:{state.st_size}:{state.st_mtime_ns}:{state.st_ino}")
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
        shown = ", ".join(f"{_presented(column, kind)} AS {_name(column)}" for column, kind in columns.items())
        self._connection.execute(f"CREATE VIEW {_name(name)} AS SELECT {shown} FROM {relation}")  # noqa: S608  # quoted
        self._columns[name] = columns

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
            named = self._described(f"read_csv({_text(str(path))}, all_varchar=true, header=true)", path)
            if list(sniffed) != list(named):
                raise InvalidParameter("source", str(path), "name its columns in its first line")
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
        handle, kept = f"frame {number}", f"{_name('copies')}.{_name(f'copy {number}')}"
        try:
            self._connection.execute(f"CREATE SCHEMA IF NOT EXISTS {_name('copies')}")
            self._connection.register(handle, source)
            self._connection.execute(f"CREATE TABLE {kept} AS SELECT * FROM {_name(handle)}")  # noqa: S608  # quoted
            self._connection.unregister(handle)
        except Exception as error:
            raise InvalidParameter(
                "source",
                type(source),
                "be a path, an Arrow table or a frame of pandas or polars",
                instead=str(error)[:200],
            ) from None
        return kept, self._described(kept, None)

    def _described(self, relation: str, path: Path | None) -> dict[str, ColumnType | None]:
        rows = self._run(f"DESCRIBE SELECT * FROM {relation}", path).fetchall()  # noqa: S608  # quoted
        return {row[0]: _kind(row[1]) for row in rows}

    def _run(self, statement: str, path: Path | None) -> duckdb.DuckDBPyConnection:
        import duckdb

        try:
            return self._connection.execute(statement)
        except duckdb.Error:
            raise InvalidParameter("source", str(path), "be a file that DuckDB can read") from None


def _interrupt(cursor: duckdb.DuckDBPyConnection, done: threading.Event, seconds: float) -> None:
    """Stops a statement when its time is over: again and again, as it may not have begun."""
    if not done.wait(seconds):
        while not done.wait(0.01):
            cursor.interrupt()


def _presented(column: str, kind: ColumnType) -> str:
    """A column as a type of the policy, NULL where it has no such value; times with a zone are brought to UTC.

    Days and times are those of the years 1 to 9999: of others Python knows nothing, nor do engines spell them alike.
    """
    if kind == "date":
        told = f"TRY_CAST({_name(column)} AS DATE)"
        return f"CASE WHEN {told} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN {told} END"
    if kind == "timestamp":
        told = f"TRY_CAST(TRY_CAST({_name(column)} AS TIMESTAMPTZ) AS TIMESTAMP)"
        within = f"{told} >= TIMESTAMP '0001-01-01' AND {told} < TIMESTAMP '10000-01-01'"
        return f"CASE WHEN {within} THEN {told} END"
    return f"TRY_CAST({_name(column)} AS {_SQL_TYPES[kind]})"


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

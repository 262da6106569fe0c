"""Spark: frames of one application, asked in a session of our own beside the user's.

The frames are handed to a new session of the same application, in which every setting that could change what a
statement means is pinned; the user's session keeps its own. Only the groups that may be shown come to the driver, and
nothing there grows with the others. A question is one group of jobs, which is cancelled when its time is over.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from indistinct.errors import IndistinctError, InvalidParameter, MissingExtra
from indistinct.queries.engines.words import Dialect
from indistinct.queries.policy.terms import ColumnType

try:
    from pyspark import InheritableThread
except ImportError:
    raise MissingExtra("private tables in Spark", "spark") from None

__all__ = ["SparkEngine", "table_of"]

_SETTINGS: dict[str, str] = {
    "spark.sql.ansi.enabled": "false",  # with it, a row can make a statement fail
    "spark.sql.ansi.enforceReservedKeywords": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.caseSensitive": "true",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.variable.substitute": "false",
    "spark.sql.legacy.consecutiveStringLiterals.enabled": "false",
    "spark.sql.legacy.ctePrecedencePolicy": "CORRECTED",
    "spark.sql.legacy.literal.pickMinimumPrecision": "true",
    "spark.sql.legacy.typeCoercion.datetimeToString.enabled": "false",
    "spark.sql.legacy.castComplexTypesToString.enabled": "false",
    "spark.sql.legacy.decimal.retainFractionDigitsOnTruncate": "false",
    "spark.sql.legacy.charVarcharAsString": "false",
    "spark.sql.crossJoin.enabled": "true",
}
"""What could change the meaning of a statement."""

_KEPT = (
    "spark.sql.shuffle.partitions",
    "spark.sql.adaptive.enabled",
    "spark.sql.adaptive.coalescePartitions.enabled",
    "spark.sql.autoBroadcastJoinThreshold",
    "spark.sql.files.maxPartitionBytes",
    "spark.sql.codegen.wholeStage",
    "spark.sql.codegen.factoryMode",
)
"""What only changes how fast a statement is: as in the user's session."""

_GRACE = 30.0


class SparkEngine:
    """Frames of Spark, by the names of the policy; all of one application, and not of Spark Connect.

    The columns are those of whole numbers, real and decimal numbers, text, truth values, dates and timestamps; others
    are left out. A frame is computed anew at each question, as its own plan says.
    """

    def __init__(self, sources: Mapping[str, Any]) -> None:
        for name, frame in sources.items():
            _check(name, frame)
        contexts = {id(frame.sparkSession.sparkContext) for frame in sources.values()}
        if len(contexts) != 1:
            raise InvalidParameter("source", sorted(sources), "be frames of one Spark application")
        theirs = next(iter(sources.values())).sparkSession
        self._session = theirs.newSession()
        self._context = self._session.sparkContext
        for key in _KEPT:
            if (value := theirs.conf.get(key, None)) is not None:
                self._session.conf.set(key, value)
        for key, value in _SETTINGS.items():
            self._session.conf.set(key, value)
        self._closed = False
        self._handles: list[str] = []
        self._views: list[str] = []
        self._columns: dict[str, dict[str, ColumnType]] = {}
        try:
            for name, frame in sources.items():
                self._attach(name, frame)
        except BaseException:
            self.close()
            raise

    @property
    def dialect(self) -> Dialect:
        """Spark's."""
        return "spark"

    def columns(self, table: str) -> Mapping[str, ColumnType]:
        """The columns that can be asked about."""
        return self._columns[table]

    def run(self, statement: str, *, seconds: float) -> list[tuple[Any, ...]]:
        """The rows of the statement; its jobs are cancelled when the time is over."""
        if self._closed:
            raise IndistinctError("The database is closed.")
        whole = f"WITH {', '.join(self._views)} SELECT * FROM ({statement}) AS `answer`"  # noqa: S608  # names are quoted
        group = f"indistinct {secrets.token_hex(8)}"
        found: list[list[tuple[Any, ...]]] = []
        errors: list[BaseException] = []

        def ask() -> None:
            try:
                self._context.setJobGroup(group, "a private question")
                found.append([tuple(row) for row in self._session.sql(whole).collect()])
            except BaseException as error:  # it is raised below, in the thread that asked
                errors.append(error)

        thread = InheritableThread(target=ask, daemon=True)
        thread.start()
        try:
            thread.join(min(max(0.0, seconds), threading.TIMEOUT_MAX))
        finally:
            self._end(thread, group)
        if errors:
            raise errors[0]
        if not found:
            raise TimeoutError
        return found[0]

    def snapshot(self) -> str:
        """Another one each time: that the sources of a frame have not changed is nothing that Spark knows."""
        return secrets.token_hex(16)

    def close(self) -> None:
        """Ends all use; the user's session stays."""
        self._closed = True
        while self._handles:
            with suppress(Exception):  # the application may have ended
                self._session.catalog.dropGlobalTempView(self._handles.pop())

    def _end(self, thread: threading.Thread, group: str) -> None:
        """Cancels what still runs, and again, as one job may follow another."""
        last = time.monotonic() + _GRACE
        while thread.is_alive() and time.monotonic() < last:
            with suppress(Exception):
                self._context.cancelJobGroup(group)
            thread.join(0.1)

    def _attach(self, name: str, frame: Any) -> None:
        columns = {field.name: _presented(field) for field in frame.schema.fields}
        shown = {column: told for column, told in columns.items() if told is not None}
        if not shown:
            raise InvalidParameter("source", name, "have a column of numbers, text, dates or truth values")
        handle = f"indistinct_{secrets.token_hex(8)}"
        frame.createGlobalTempView(handle)
        self._handles.append(handle)
        told = ", ".join(f"{expression} AS {_name(column)}" for column, (_, expression) in shown.items())
        database = self._session.conf.get("spark.sql.globalTempDatabase") or "global_temp"
        self._views.append(f"{_name(name)} AS (SELECT {told} FROM {_name(database)}.{_name(handle)})")  # noqa: S608  # quoted
        self._columns[name] = {column: kind for column, (kind, _) in shown.items()}


def table_of(session: Any, place: str) -> Any:
    """The frame of a session's table or view."""
    try:
        return session.table(place)
    except Exception:  # whatever its catalog says
        raise InvalidParameter("table", place, "name a table or view of the Spark session") from None


def _check(name: str, frame: Any) -> None:
    kind = type(frame)
    if kind.__module__.startswith("pyspark.sql.connect"):
        raise InvalidParameter(
            "source", name, "be a frame of this process", instead="Spark Connect has no jobs that can be cancelled."
        )
    if not any(each.__name__ == "DataFrame" for each in kind.__mro__):
        raise InvalidParameter("source", kind, "be a frame of Spark, or a SparkSession with table=")
    if frame.isStreaming:
        raise InvalidParameter("source", name, "be a frame that is not a stream")
    names = frame.columns
    if len(set(names)) < len(names):
        raise InvalidParameter("source", name, "have columns of different names")


def _presented(field: Any) -> tuple[ColumnType, str] | None:
    """A column as a type of the policy, NULL where it has no such value; times with a zone are brought to UTC."""
    name, kind = _name(field.name), field.dataType.typeName()
    match kind.partition("(")[0].partition(" ")[0]:
        case "byte" | "short" | "integer" | "long":
            return "integer", f"CAST({name} AS BIGINT)"
        case "float" | "double" | "decimal":
            return "real", f"CAST({name} AS DOUBLE)"
        case "string" | "varchar" | "char":
            # Of a collation, its letters count; of bytes that are no text, nothing.
            return "text", f"try_validate_utf8(COLLATE(CAST({name} AS STRING), 'UTF8_BINARY'))"
        case "boolean":
            return "boolean", name
        case "date":
            within = f"{name} BETWEEN DATE'0001-01-01' AND DATE'9999-12-31'"
            return "date", f"CASE WHEN {within} THEN {name} END"
        case "timestamp" | "timestamp_ntz":
            told = f"CAST({name} AS TIMESTAMP_NTZ)"
            low, high = "TIMESTAMP_NTZ'0001-01-01 00:00:00'", "TIMESTAMP_NTZ'9999-12-31 23:59:59.999999'"
            return "timestamp", f"CASE WHEN {told} BETWEEN {low} AND {high} THEN {told} END"
    return None


def _name(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"

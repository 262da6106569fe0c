"""PostgreSQL: tables and views of one database, asked in transactions that can only read.

A statement sees one state of the data (REPEATABLE READ, READ ONLY), within a time (`statement_timeout`), and with the
settings that could change what it means pinned. The tables are presented by sub-queries around it, so nothing is
created in the database: a role that may only SELECT is enough. Text compares by its bytes (COLLATE "C"), and a value
that a type of the policy cannot hold is NULL, so no row makes a statement fail.
"""

from __future__ import annotations

import hashlib
import math
import os
import secrets
import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from indistinct.errors import IndistinctError, InvalidParameter, MissingExtra
from indistinct.queries.engines.words import Dialect, shortened
from indistinct.queries.policy.terms import ColumnType

try:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict, make_conninfo
except ImportError:
    raise MissingExtra("private tables in PostgreSQL", "postgres") from None

__all__ = ["PostgresEngine"]

_INTEGERS = {"int2", "int4", "int8"}
_REALS = {"float4", "float8", "numeric"}
_TEXTS = {"text", "varchar", "bpchar", "name", "uuid"}
_TIMES = {"timestamp", "timestamptz"}

_SETTINGS: dict[str, str] = {
    "search_path": "pg_catalog, pg_temp",
    "TimeZone": "UTC",
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "extra_float_digits": "1",
    "standard_conforming_strings": "on",
    "transform_null_equals": "off",
    "client_min_messages": "error",
    "row_security": "on",
}
"""What could change the meaning of a statement; `row_security` is on so that the owner's rules for the role hold."""

_RELATION = """
    SELECT c.oid, n.nspname, c.relname, c.relkind IN ('r', 'p', 'm') AND c.relpersistence = 'p'
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.oid = pg_catalog.to_regclass(%s) AND c.relkind IN ('r', 'p', 'm', 'v', 'f')
"""
_PARTS = """
    WITH RECURSIVE parts(part) AS (
        SELECT inhrelid FROM pg_catalog.pg_inherits WHERE inhparent = %s
        UNION SELECT inhrelid FROM pg_catalog.pg_inherits JOIN parts ON inhparent = part
    )
    SELECT bool_and(relkind IN ('r', 'p') AND relpersistence = 'p') FROM pg_catalog.pg_class, parts WHERE oid = part
"""
# A domain is presented as the type beneath it.
_COLUMNS = """
    WITH RECURSIVE typed(attnum, attname, typ) AS (
        SELECT attnum, attname, atttypid FROM pg_attribute
        WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped
          AND has_column_privilege(attrelid, attnum, 'SELECT')
        UNION ALL
        SELECT attnum, attname, t.typbasetype FROM typed JOIN pg_type t ON t.oid = typ AND t.typtype = 'd'
    )
    SELECT attname, CASE WHEN t.typtype = 'e' THEN 'text' ELSE t.typname END FROM typed JOIN pg_type t ON t.oid = typ
    WHERE t.typtype = 'e' OR (t.typtype = 'b' AND t.typnamespace = 'pg_catalog'::regnamespace) ORDER BY attnum
"""
# Which transactions are seen, of which server: what equal snapshots of permanent tables see is equal.
_STATE = """
    SELECT pg_is_in_recovery(), concat_ws('/', (SELECT oid FROM pg_database WHERE datname = current_database()),
        (SELECT system_identifier FROM pg_control_system()), (SELECT timeline_id FROM pg_control_checkpoint()),
        pg_postmaster_start_time(), pg_current_snapshot(), current_user)
"""
_WAITING = 30.0
_GRACE = 5.0


class PostgresEngine:
    """Tables and views of a PostgreSQL database, by the names of the policy.

    `sources` says for each of them where it is: `postgresql://.../database#schema.table`. All are of one database. The
    columns are those that the role may read, of whole numbers, real and decimal numbers, text, enumerations, UUID,
    truth values, dates and timestamps; others are left out.
    """

    def __init__(self, sources: Mapping[str, str]) -> None:
        places = {name: place_of(source) for name, source in sources.items()}
        addresses = sorted({address for address, _ in places.values()})
        if len(addresses) != 1:
            raise InvalidParameter("source", [_told(each) for each in addresses], "be one database for all tables")
        self._address = addresses[0]
        self._lock = threading.Lock()
        self._closed = False
        self._columns: dict[str, dict[str, ColumnType]] = {}
        self._views: dict[str, str] = {}
        self._knowable = True
        self._identities: list[str] = []
        self._connection = self._connected()
        try:
            for name, (_, table) in places.items():
                self._attach(name, table or _name(name))
        except psycopg.Error as error:
            raise InvalidParameter(
                "source", _told(self._address), "be a database that this role may read", instead=_reason(error)
            ) from None
        finally:
            if not self._columns.keys() >= places.keys():
                self._connection.close()

    @property
    def dialect(self) -> Dialect:
        """PostgreSQL's."""
        return "postgres"

    def columns(self, table: str) -> Mapping[str, ColumnType]:
        """The columns that can be asked about."""
        return self._columns[table]

    def run(self, statement: str, *, seconds: float) -> list[tuple[Any, ...]]:
        """The rows of the statement; cancelled by the server when the time is over, and from here if it is not."""
        tables = ", ".join(self._views.values())
        return self._read(f'WITH {tables} SELECT * FROM ({statement}) AS "answer"', seconds)  # noqa: S608  # quoted

    def snapshot(self) -> str:
        """Which transactions are seen: while it is the same, so are permanent tables.

        Any transaction that writes, anywhere on the server, makes another one. Of views, of foreign, temporary and
        unlogged tables and of a standby it cannot be known that nothing has changed: each time is then another state.
        """
        with suppress(psycopg.errors.InsufficientPrivilege):
            if self._knowable:
                ((standby, told),) = self._read(_STATE, _WAITING)
                if not standby:
                    return hashlib.sha256("\n".join([told, *self._identities]).encode()).hexdigest()[:32]
        return secrets.token_hex(16)

    def close(self) -> None:
        """Ends all use."""
        self._closed = True
        self._connection.close()

    def _connected(self) -> psycopg.Connection[tuple[Any, ...]]:
        try:
            given = conninfo_to_dict(self._address)
            options: dict[str, Any] = {
                "connect_timeout": 10,
                "keepalives_idle": 30,
                "keepalives_interval": 10,
                "keepalives_count": 3,
                "application_name": "indistinct",
                **given,
                "client_encoding": "UTF8",
            }
            connection = psycopg.connect(make_conninfo(**options), autocommit=True, prepare_threshold=None)
        except psycopg.Error as error:
            raise InvalidParameter(
                "source", _told(self._address), "be a database that can be reached", instead=_reason(error)
            ) from None
        if connection.info.parameter_status("server_encoding") != "UTF8":
            connection.close()
            raise InvalidParameter("source", _told(self._address), "be a database in UTF8")
        if connection.info.server_version < 130000:
            connection.close()
            raise InvalidParameter("source", _told(self._address), "be PostgreSQL 13 or newer")
        return connection

    def _read(self, query: str, seconds: float) -> list[tuple[Any, ...]]:
        """What one query finds in a transaction of its own; after a failure the next one has a new connection."""
        with self._lock:
            if self._closed:
                raise IndistinctError("The database is closed.")
            if self._connection.closed:
                self._connection = self._connected()
            connection = self._connection
            done = threading.Event()
            watch = threading.Thread(target=_end, args=(connection, done, seconds + _GRACE), daemon=True)
            watch.start()
            try:
                _begin(connection, seconds)
                # In the binary format the server takes one statement only.
                rows = connection.execute(query.encode(), binary=True).fetchall()
                connection.execute("ROLLBACK")
                return rows
            except BaseException:
                connection.close()
                raise
            finally:
                done.set()
                watch.join()

    def _attach(self, name: str, table: str) -> None:
        connection = self._connection
        with connection.transaction(force_rollback=True):
            connection.execute("SET TRANSACTION READ ONLY")
            found = connection.execute(_RELATION, (table,)).fetchone()
            if found is None:
                raise InvalidParameter(
                    "table",
                    table,
                    "name a table or view of the database",
                    instead="Say table='schema.table'; names with capital letters are quoted.",
                )
            oid, schema, relation, lasting = found
            parts = connection.execute(_PARTS, (oid,)).fetchone()
            columns = dict(_presented(*each) for each in connection.execute(_COLUMNS, (oid,)))
        shown = {column: told for column, told in columns.items() if told is not None}
        if not shown:
            raise InvalidParameter(
                "table", table, "have a column of numbers, text, dates or truth values that this role may read"
            )
        self._knowable &= bool(lasting) and (parts is None or parts[0] is not False)
        self._identities.append(f"{name}\n{oid}\n{schema}\n{relation}")
        told = ", ".join(f"{expression} AS {_name(shortened(column))}" for column, (_, expression) in shown.items())
        source = f"{_name(schema)}.{_name(relation)}"
        self._views[name] = f"{_name(shortened(name))} AS NOT MATERIALIZED (SELECT {told} FROM {source})"  # noqa: S608  # quoted
        self._columns[name] = {column: kind for column, (kind, _) in shown.items()}


def place_of(source: str) -> tuple[str, str]:
    """The address of a database, and the table of it that is named behind #.

    >>> place_of("postgresql://reader@db/clinic#hospital.visits")
    ('postgresql://reader@db/clinic', 'hospital.visits')
    """
    address, _, table = source.partition("#")
    return address, table


def _presented(column: str, kind: str) -> tuple[str, tuple[ColumnType, str] | None]:
    """A column as a type of the policy, NULL where it has no such value; times with a zone are brought to UTC."""
    name = _name(column)
    if kind in _INTEGERS:
        return column, ("integer", f"CAST({name} AS BIGINT)")
    if kind == "numeric":
        # Not-a-number is above all numbers here; what is too small for a double is 0.
        double = f"CAST({name} AS DOUBLE PRECISION)"
        guarded = f"CASE WHEN abs({name}) < 1e-300 THEN 0.0::float8 WHEN abs({name}) < 1e308 THEN {double} END"
        return column, ("real", guarded)
    if kind in _REALS:
        return column, ("real", f"CAST({name} AS DOUBLE PRECISION)")
    if kind in _TEXTS:
        return column, ("text", f'CAST({name} AS TEXT) COLLATE "C"')
    if kind == "bool":
        return column, ("boolean", name)
    if kind == "date":
        return column, ("date", f"CASE WHEN {name} BETWEEN '0001-01-01' AND '9999-12-31' THEN {name} END")
    if kind in _TIMES:
        told = f"({name} AT TIME ZONE 'UTC')" if kind == "timestamptz" else name
        within = f"{told} >= '0001-01-01 00:00:00' AND {told} < '10000-01-01 00:00:00'"
        return column, ("timestamp", f"CASE WHEN {within} THEN {told}::timestamp END")
    return column, None


def _begin(connection: psycopg.Connection[tuple[Any, ...]], seconds: float) -> None:
    connection.execute("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
    most = math.ceil(min(max(1.0, 1000 * seconds), 2.0**31 - 1))
    settings = {**_SETTINGS, "statement_timeout": f"{most}ms"}
    told = ", ".join("pg_catalog.set_config(%s, %s, true)" for _ in settings)
    connection.execute(f"SELECT {told}".encode(), [each for pair in settings.items() for each in pair])


def _end(connection: psycopg.Connection[Any], done: threading.Event, seconds: float) -> None:
    """Ends a statement that the server did not end in time: first by asking, then by hanging up."""
    if not done.wait(seconds):
        with suppress(psycopg.Error):
            connection.cancel_safe(timeout=_GRACE)
        if not done.wait(_GRACE):
            with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(connection.fileno())) as line:
                line.shutdown(socket.SHUT_RDWR)


def _told(address: str) -> str:
    """An address without its password."""
    try:
        parts = conninfo_to_dict(address)
    except psycopg.Error:
        return "postgresql://..."
    return make_conninfo(**{key: str(value) for key, value in parts.items() if value is not None and key != "password"})


def _reason(error: psycopg.Error) -> str:
    """The first line of what the server or the library says, when nothing has been read yet."""
    lines = str(error).strip().splitlines()
    return f"It says: {lines[-1][:200]}." if lines else ""


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'

"""Rows that nobody gave: made from the policy alone, to try questions out."""

from __future__ import annotations

from collections.abc import Mapping

from indistinct.queries.engines.duckdb import DuckDBEngine
from indistinct.queries.policy.terms import Column, Key, Policy, PrivateTable

__all__ = ["made_up"]

_ROWS = 1000
_UNITS = 300
_FURTHEST = 2.0**62
"""Whole numbers that are made up stay among those that 64 bits hold."""


def made_up(policy: Policy) -> DuckDBEngine:
    """An engine with the policy's tables, each with a thousand rows of its columns' types, within their bounds."""
    import duckdb

    connection = duckdb.connect(":memory:")
    try:
        frames: dict[str, object] = {}
        for number, table in enumerate(policy.tables):
            unit = table.unit if isinstance(table, PrivateTable) else None
            columns = ", ".join(
                f'{_made(column, i, name == unit)} AS "{name.replace(chr(34), chr(34) * 2)}"'
                for i, (name, column) in enumerate(table.columns.items())
            )
            connection.execute(f"CREATE TABLE t{number} AS SELECT {columns} FROM range({_ROWS}) r(i)")  # noqa: S608  # quoted
            frames[table.name] = _Stream(connection, f"t{number}")
        return DuckDBEngine(frames)
    finally:
        connection.close()


class _Stream:
    """A table as an Arrow stream, for another connection."""

    def __init__(self, connection: object, table: str) -> None:
        self._connection = connection
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        table = self._connection.table(self._table)  # type: ignore[attr-defined]  # a connection of duckdb
        return table.__arrow_c_stream__(requested_schema)


def _made(column: Column, place: int, is_unit: bool) -> str:
    """SQL for a made-up value in row i: keys in turn, numbers spread over the bounds."""
    turn = f"(i * {2 * place + 7919} + {place}) % {_ROWS}"
    if is_unit:
        turn = f"(i * 7919) % {_UNITS}"
    if column.keys is not None:
        cases = " ".join(f"WHEN {index} THEN {_literal(key)}" for index, key in enumerate(column.keys[:_ROWS]))
        return f"CASE ({turn}) % {min(len(column.keys), _ROWS)} {cases} END"
    low, high = (0.0, 100.0) if column.low is None or column.high is None else (float(column.low), float(column.high))
    if column.type == "integer":
        low, high = (min(max(each, -_FURTHEST), _FURTHEST) for each in (low, high))
    share = high / _ROWS - low / _ROWS
    made: Mapping[str, str] = {
        "integer": f"CAST(floor({low!r} + ({turn}) * {share!r}) AS BIGINT)",
        "real": f"{low!r} + ({turn}) * {share!r}",
        "text": f"'value ' || CAST(({turn}) % {_UNITS} AS VARCHAR)",
        "boolean": f"({turn}) % 2 = 0",
        "date": f"DATE '2024-01-01' + CAST(({turn}) % 365 AS INTEGER)",
        "timestamp": f"TIMESTAMP '2024-01-01' + to_minutes(CAST(({turn}) * 500 AS BIGINT))",
    }
    if is_unit and column.type in {"integer", "real"}:
        return f"CAST({turn} AS BIGINT)"
    return made[column.type]


def _literal(key: Key) -> str:
    match key:
        case None:
            return "NULL"
        case bool():
            return str(key).upper()
        case int():
            return str(key)
        case str():
            return "'" + key.replace("'", "''") + "'"
    return f"DATE '{key.isoformat()}'"

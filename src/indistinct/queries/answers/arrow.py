"""Tables as Arrow streams, through the one engine that is always there: no Arrow library is needed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

__all__ = ["stream"]


def stream(columns: Sequence[str], rows: Sequence[Sequence[Any]], requested_schema: object) -> object:
    """A PyCapsule of an Arrow stream."""
    import duckdb

    connection = duckdb.connect(":memory:")
    kinds = [_kind([row[i] for row in rows]) for i in range(len(columns))]
    declared = ", ".join(f"c{i} {kind}" for i, kind in enumerate(kinds))
    connection.execute(f"CREATE TABLE answer ({declared})")
    if rows:
        marks = ", ".join("?" for _ in columns)
        told = [[_told(value, kind) for value, kind in zip(row, kinds, strict=True)] for row in rows]
        connection.executemany(f"INSERT INTO answer VALUES ({marks})", told)  # noqa: S608  # marks
    names = ['"' + column.replace('"', '""') + '"' for column in columns]
    named = ", ".join(f"c{i} AS {name}" for i, name in enumerate(names))
    return connection.table("answer").project(named).__arrow_c_stream__(requested_schema)


def _told(value: Any, kind: str) -> Any:
    """In a column of several types, every value is text."""
    return str(value) if kind == "VARCHAR" and value is not None else value


def _kind(values: Sequence[Any]) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "DOUBLE"
    for kind, told in (
        (bool, "BOOLEAN"),
        (int, "BIGINT"),
        (int | float, "DOUBLE"),
        (dt.date, "DATE"),
        (list, "DOUBLE[]"),
    ):
        if all(isinstance(value, kind) for value in known):
            if told != "BIGINT" or all(abs(value) < 2**63 for value in known):
                return told
            return "HUGEINT" if all(abs(value) < 2**127 for value in known) else "DOUBLE"
    return "VARCHAR"

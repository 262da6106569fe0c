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
    names = ['"' + column.replace('"', '""') + '"' for column in columns]
    declared = ", ".join(f"{name} {_kind([row[i] for row in rows])}" for i, name in enumerate(names))
    connection.execute(f"CREATE TABLE answer ({declared})")
    if rows:
        marks = ", ".join("?" for _ in columns)
        connection.executemany(f"INSERT INTO answer VALUES ({marks})", [list(row) for row in rows])  # noqa: S608  # marks
    return connection.table("answer").__arrow_c_stream__(requested_schema)


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
            return "HUGEINT" if told == "BIGINT" and any(abs(value) >= 2**63 for value in known) else told
    return "VARCHAR"

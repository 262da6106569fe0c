"""The engines that the suite runs on, and small tables for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import duckdb

from indistinct.queries.engines.duckdb import DuckDBEngine
from indistinct.queries.engines.engine import Engine
from indistinct.queries.policy import (
    ROW,
    Budget,
    Column,
    Contribution,
    Policy,
    PrivateTable,
    PublicTable,
)

Rows = Sequence[tuple[Any, ...]]

TYPES: Final[dict[str, dict[str, str]]] = {
    "visits": {
        "who": "BIGINT",
        "ward": "VARCHAR",
        "cost": "DOUBLE",
        "days": "BIGINT",
        "day": "DATE",
        "urgent": "BOOLEAN",
    },
    "people": {"id": "BIGINT", "age": "BIGINT", "town": "VARCHAR"},
    "towns": {"town": "VARCHAR", "canton": "VARCHAR"},
}
NAMES: Final = {"BIGINT": "integer", "VARCHAR": "text", "DOUBLE": "real", "DATE": "date", "BOOLEAN": "boolean"}


def policy(
    *,
    groups: int = 2,
    rows: int = 2,
    row: bool = False,
    keys: bool = False,
    cantons: tuple[str | None, ...] | None = None,
) -> Policy:
    """Visits of people, who live in towns, which are public."""

    def columns(table: str) -> dict[str, Column]:
        return {name: Column(type=NAMES[kind]) for name, kind in TYPES[table].items()}  # type: ignore[arg-type]

    visits = columns("visits") | {"cost": Column(type="real", low=-10, high=50)}
    if keys:
        visits["ward"] = Column(type="text", keys=("a", "b", "c", None))
    towns = columns("towns") | {"canton": Column(type="text", keys=cantons)}
    bound = Contribution(groups=groups, rows=rows)
    return Policy(
        tables=(
            PrivateTable(name="visits", unit=ROW if row else "who", columns=visits, contribution=bound),
            PrivateTable(name="people", unit="id", columns=columns("people"), contribution=bound),
            PublicTable(name="towns", columns=towns),
        ),
        budget=Budget(epsilon=1, delta=1e-6),
    )


class Stream:
    """A table of a connection as an Arrow stream."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, name: str, kinds: Mapping[str, str], rows: Rows) -> None:
        self.connection, self.name = connection, name
        declared = ", ".join(f'"{column}" {kind}' for column, kind in kinds.items())
        connection.execute(f'CREATE TABLE "{name}" ({declared})')
        if rows:
            marks = ", ".join(["(" + ", ".join("?" for _ in kinds) + ")"] * len(rows))
            connection.execute(f'INSERT INTO "{name}" VALUES {marks}', [value for row in rows for value in row])

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.connection.table(f'"{self.name}"').__arrow_c_stream__(requested_schema)


def duckdb_of(tables: Mapping[str, Rows]) -> Engine:
    """DuckDB over small tables; `visits 3` is another table of visits."""
    with duckdb.connect(":memory:") as connection:
        return DuckDBEngine(
            {name: Stream(connection, name, TYPES[name.split()[0]], rows) for name, rows in tables.items()}
        )


ENGINES: Final[dict[str, Callable[[Mapping[str, Rows]], Engine]]] = {"duckdb": duckdb_of}


def sales(path: Path, *, rows: int = 20_000, users: int = 2_000, regions: int = 7) -> Path:
    """A Parquet file of sales."""
    file = path / "sales.parquet"
    duckdb.execute(
        f"COPY (SELECT (i * 7919) % {users} AS user_id, 'r' || (i % {regions}) AS region,"
        f" (i % 1000) / 10.0 AS amount, i % 90 AS age FROM range({rows}) t(i)) TO '{file}'"
    )
    return file

"""The engines that the suite runs on, and small tables for them."""

from __future__ import annotations

import atexit
import datetime as dt
import functools
import itertools
import math
import os
import subprocess
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import duckdb
import psycopg
import pytest

from indistinct.queries.engines.duckdb import DuckDBEngine
from indistinct.queries.engines.engine import Engine
from indistinct.queries.engines.postgres import PostgresEngine
from indistinct.queries.engines.spark import SparkEngine
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
NAMES: Final = {
    "BIGINT": "integer",
    "VARCHAR": "text",
    "DOUBLE": "real",
    "DATE": "date",
    "BOOLEAN": "boolean",
    "TIMESTAMP": "timestamp",
}


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


SCRIPTS = Path(__file__).parents[2] / "scripts"
SCHEMAS = itertools.count()


@functools.cache
def server() -> str:
    """The address of a PostgreSQL server for this process."""
    started = subprocess.run(
        [SCRIPTS / "postgres", "start", str(os.getpid())], stdout=subprocess.PIPE, text=True, timeout=600, check=True
    )
    directory, address = started.stdout.split()
    atexit.register(lambda: subprocess.run([SCRIPTS / "postgres", "stop", directory], timeout=60, check=True))
    return address


def quoted(name: str, mark: str = '"') -> str:
    return mark + name.replace(mark, 2 * mark) + mark


def postgres_of(tables: Mapping[str, Rows]) -> Engine:
    """PostgreSQL over small tables, in a schema of their own."""
    schema = f"suite_{next(SCHEMAS)}"
    with psycopg.connect(server(), autocommit=True) as connection:
        connection.execute("SET synchronous_commit = off")
        connection.execute(f"CREATE SCHEMA {schema}".encode())
        for name, rows in tables.items():
            kinds = TYPES[name.split()[0]]
            declared = ", ".join(f"{quoted(each)} {POSTGRES.get(kind, kind)}" for each, kind in kinds.items())
            connection.execute(f"CREATE TABLE {schema}.{quoted(name)} ({declared})".encode())
            marks = ", ".join("%s" for _ in kinds)
            with connection.cursor() as cursor:
                cursor.executemany(f"INSERT INTO {schema}.{quoted(name)} VALUES ({marks})".encode(), rows)
    return PostgresEngine({name: f"{server()}#{schema}.{quoted(name)}" for name in tables})


POSTGRES: Final = {"DOUBLE": "DOUBLE PRECISION", "TIMESTAMP": "TIMESTAMPTZ"}
SPARK: Final = {"VARCHAR": "STRING", "TIMESTAMP": "TIMESTAMP_NTZ"}


@functools.cache
def spark_session() -> Any:
    """A small Spark in this process; its plans are interpreted, as most time would go into compiling them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pyspark, about the versions of others
        from pyspark.sql import SparkSession

        java = subprocess.run([SCRIPTS / "java"], stdout=subprocess.PIPE, text=True, timeout=600, check=True)
        os.environ["JAVA_HOME"] = java.stdout.strip()
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        settings = {
            "spark.ui.enabled": "false",
            "spark.sql.shuffle.partitions": "1",
            "spark.default.parallelism": "1",
            "spark.sql.adaptive.enabled": "false",
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            "spark.driver.memory": "1g",
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "spark.ui.showConsoleProgress": "false",
            "spark.log.level": "ERROR",
        }
        builder = SparkSession.builder.master("local[2]").appName("indistinct")
        for key, value in settings.items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
    atexit.register(session.stop)
    return session


def spark_frame(kinds: Mapping[str, str], rows: Rows) -> Any:
    """A frame of Spark of rows that are written out."""
    columns = [(each, SPARK.get(kind, kind)) for each, kind in kinds.items()]
    if not rows:
        nothing = ", ".join(f"CAST(NULL AS {kind}) AS {quoted(each, '`')}" for each, kind in columns)
        return spark_session().sql(f"SELECT {nothing} WHERE FALSE")
    shown = ", ".join(f"CAST(c{i} AS {kind}) AS {quoted(each, '`')}" for i, (each, kind) in enumerate(columns))
    values = ", ".join("(" + ", ".join(map(spark_literal, row)) + ")" for row in rows)
    names = ", ".join(f"c{i}" for i in range(len(columns)))
    return spark_session().sql(f"SELECT {shown} FROM VALUES {values} AS t({names})")


def spark_literal(value: object) -> str:
    match value:
        case None:
            return "NULL"
        case bool() | int():
            return str(value) if value != -(2**63) else "(-9223372036854775807 - 1)"
        case float():
            return f"DOUBLE('{value!r}')" if not math.isnan(value) else "DOUBLE('NaN')"
        case dt.datetime():
            return f"TIMESTAMP_NTZ'{value.isoformat(sep=' ')}'"
        case dt.date():
            return f"DATE'{value.isoformat()}'"
    escaped = "".join(each if each.isalnum() else f"\\U{ord(each):08x}" for each in str(value))
    return f"'{escaped}'"


def spark_of(tables: Mapping[str, Rows]) -> Engine:
    """Spark over small tables."""
    return SparkEngine({name: spark_frame(TYPES[name.split()[0]], rows) for name, rows in tables.items()})


ENGINES: Final[dict[str, Callable[[Mapping[str, Rows]], Engine]]] = {
    "duckdb": duckdb_of,
    "postgres": postgres_of,
    "spark": spark_of,
}
EACH: Final = [
    "duckdb",
    "postgres",
    pytest.param("spark", marks=pytest.mark.xdist_group("spark")),  # one of them is enough for all processes
]
OTHERS: Final = EACH[1:]


def sales(path: Path, *, rows: int = 20_000, users: int = 2_000, regions: int = 7) -> Path:
    """A Parquet file of sales."""
    file = path / "sales.parquet"
    duckdb.execute(
        f"COPY (SELECT (i * 7919) % {users} AS user_id, 'r' || (i % {regions}) AS region,"
        f" (i % 1000) / 10.0 AS amount, i % 90 AS age FROM range({rows}) t(i)) TO '{file}'"
    )
    return file

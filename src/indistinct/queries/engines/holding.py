"""Which engine holds the data: DuckDB for files and frames, PostgreSQL for addresses, Spark for its own frames."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from indistinct.errors import InvalidParameter
from indistinct.queries.engines.duckdb import DuckDBEngine
from indistinct.queries.engines.engine import Engine
from indistinct.queries.policy.terms import ColumnType, Policy, PrivateTable

__all__ = ["engine_for", "is_address", "is_session", "is_spark", "named", "of_database", "of_session"]


def is_address(source: object) -> bool:
    """Whether it is the address of a database."""
    return isinstance(source, str) and "://" in source


def is_spark(source: object) -> bool:
    """Whether it is a session or a frame of Spark, which is not imported to know it."""
    return any(each.__module__.startswith("pyspark.sql") for each in type(source).__mro__)


def is_session(source: object) -> bool:
    """Whether it is a session of Spark, with tables of its own."""
    return is_spark(source) and any(each.__name__ == "SparkSession" for each in type(source).__mro__)


def of_database(address: str, table: str | None, name: str | None) -> dict[str, object]:
    """One table of a database: `table` is how the database calls it, `name` how questions do."""
    where, _, said = address.partition("#")
    place = table or said or name
    if not place:
        raise InvalidParameter(
            "table", table, "name a table of the database", instead="Say table='sales', or table='schema.sales'."
        )
    own = place if table or said else _quoted(place)
    return {name or _last(place): f"{where}#{own}"}


def of_session(session: object, places: Mapping[str, str]) -> dict[str, object]:
    """The frames of a session's tables, by the names of the policy."""
    from indistinct.queries.engines.spark import table_of

    return {name: table_of(session, place) for name, place in places.items()}


def named(table: str | None, name: str | None) -> dict[str, str]:
    """One table of a session."""
    place = table or name
    if not place:
        raise InvalidParameter("table", table, "name a table of the session", instead="Say table='sales'.")
    return {name or _last(place): place}


def engine_for(sources: Mapping[str, object], policy: Policy | None, unit: object = None) -> Engine:
    """The engine of all sources together; each of them is of the same kind. `unit` is that of a single table."""
    addresses = [name for name, source in sources.items() if is_address(source)]
    frames = [name for name, source in sources.items() if is_spark(source)]
    apart = addresses or frames
    if apart and len(apart) < len(sources):
        raise InvalidParameter(
            "source",
            sorted(sources),
            "be in one place for all tables",
            instead="Files and frames go together; so do tables of one database, and frames of one Spark application.",
        )
    if addresses:
        wrong = next((each for each in sources.values() if not _of_postgres(each)), None)
        if wrong is not None:
            raise InvalidParameter(
                "source", str(wrong).partition(":")[0], "be an address that begins with postgresql://"
            )
        from indistinct.queries.engines.postgres import PostgresEngine

        return PostgresEngine({name: str(source) for name, source in sources.items()})
    if frames:
        from indistinct.queries.engines.spark import SparkEngine

        return SparkEngine(sources)
    types: dict[str, Mapping[str, ColumnType]] = (
        {each.name: {column: kind.type for column, kind in each.columns.items()} for each in policy.tables}
        if policy
        else {}
    )
    units = {next(iter(sources)): unit} if isinstance(unit, str) and len(sources) == 1 else {}
    if policy is not None:
        private = [each for each in policy.tables if isinstance(each, PrivateTable)]
        units = {each.name: each.unit for each in private if isinstance(each.unit, str)}
    return DuckDBEngine(sources, types=types, units=units)


def _of_postgres(source: object) -> bool:
    return isinstance(source, str) and source.startswith(("postgresql://", "postgres://"))


def _last(place: str) -> str:
    """The name of a table without that of its schema."""
    try:
        found = parse_one(place, into=exp.Table, read="postgres")
    except SqlglotError:
        return place
    return str(found.name) or place


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'

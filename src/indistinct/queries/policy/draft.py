"""A first draft of a policy, from the names and types of a file's columns and nothing else.

A Parquet file and a DuckDB file say in their head what their columns are: none of their rows is looked at, so the draft
cannot reveal one. Bounds, keys and contributions are for the owner to fill in, from what is known without the data.
A CSV has no types but those that its values suggest, and is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from indistinct.errors import InvalidParameter
from indistinct.numbers import read_number
from indistinct.queries.engines.presenting import kind_of
from indistinct.queries.policy.terms import Budget, ColumnType

if TYPE_CHECKING:
    import duckdb

__all__ = ["draft_policy"]

_BARE = re.compile(r"[A-Za-z0-9_-]+")

Columns = list[tuple[str, str]]


def draft_policy(path: str | Path, *, unit: str, epsilon: object, delta: object) -> str:
    """The text of a valid policy, to be filled in; `unit` is the column that says whose row it is."""
    Budget(epsilon=read_number("epsilon", epsilon), delta=read_number("delta", delta))
    tables = _schema(Path(path))
    for name, columns in tables.items():
        if unit not in dict(columns):
            known = ", ".join(column for column, _ in columns[:20])
            raise InvalidParameter("unit", unit, f"name a column of {name}", instead=f"There are: {known}.")
    amounts = f"epsilon = {_decimal('epsilon', epsilon)}", f"delta = {_decimal('delta', delta)}"
    return "\n".join(_lines(Path(path), tables, unit, amounts)) + "\n"


def _lines(path: Path, tables: dict[str, Columns], unit: str, amounts: tuple[str, str]) -> Iterator[str]:
    yield "# A draft: names and types only. Fill in what is publicly known, and nothing that only the rows say."
    yield "version = 1"
    yield ""
    yield "[budget] # of all answers together, for ever"
    yield from amounts
    for name, columns in tables.items():
        table = f"tables.{_key(name)}"
        yield ""
        yield f"[{table}]"
        yield f"source = {_quoted(path.name)}"
        yield f"unit = {_quoted(unit)}"
        yield ""
        yield f"[{table}.contribution] # how much of one unit an answer uses"
        yield "groups = 1"
        yield "rows = 1"
        yield ""
        yield f"[{table}.columns]"
        for column, said in columns:
            kind = kind_of(said, unit=column == unit)
            if kind is None:
                shown = "".join(each if each.isprintable() else "?" for each in said)  # it stays in its comment
                yield f"# {_key(column)} is left out: {shown} is not a type that can be asked about"
                continue
            hint = _HINTS.get(kind, "") if column != unit else ""
            yield f"{_key(column)} = {{ type = {_quoted(kind)} }}{hint}"


_HINTS: Final[dict[ColumnType, str]] = {
    "integer": " # low = ..., high = ... for sums; keys = [...] for groups",
    "real": " # low = ..., high = ... for sums",
    "text": " # keys = [...] for groups that the public knows",
}


def _schema(path: Path) -> dict[str, Columns]:
    """The tables of a file, with the names and types of their columns; no row is read."""
    import duckdb

    if not path.is_file():
        raise InvalidParameter("the file", str(path), "be one that can be read")
    kind = path.suffix.lower()
    if kind not in _READERS:
        raise InvalidParameter(
            "the file",
            str(path),
            "be Parquet or a DuckDB file, which state their types",
            instead="The types of others could only be guessed from their rows, which the draft must not read.",
        )
    try:
        with duckdb.connect() as engine:
            return _READERS[kind](engine, path)
    except duckdb.Error as error:
        raise InvalidParameter("the file", str(path), "be Parquet or a DuckDB file as its name says") from error


def _of_parquet(engine: duckdb.DuckDBPyConnection, path: Path) -> dict[str, Columns]:
    found = engine.execute("DESCRIBE SELECT * FROM read_parquet(?)", [str(path)]).fetchall()
    return {path.stem: [(name, said) for name, said, *_ in found]}


def _of_duckdb(engine: duckdb.DuckDBPyConnection, path: Path) -> dict[str, Columns]:
    engine.execute(f"ATTACH {_literal(str(path))} AS theirs (READ_ONLY)")
    found = engine.execute(
        "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE database_name = 'theirs' "
        "AND schema_name = 'main' ORDER BY table_name, column_index"
    ).fetchall()
    tables: dict[str, Columns] = {}
    for table, column, said in found:
        tables.setdefault(table, []).append((column, said))
    return tables


_READERS = {".parquet": _of_parquet, ".duckdb": _of_duckdb, ".db": _of_duckdb}


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _decimal(name: str, value: object) -> str:
    """An amount as TOML spells it, exactly."""
    exact = read_number(name, value)
    text = str(exact.numerator) if exact.denominator == 1 else repr(float(exact))
    if read_number(name, text) != exact:
        raise InvalidParameter(name, value, "be a decimal of at most 15 digits")
    return text


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    """A TOML string: JSON's escapes are TOML's as well."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")

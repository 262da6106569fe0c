"""How DuckDB's columns are presented as the types of a policy: as declared, and NULL where there is no such value.

Arithmetic counts on it that a column of real numbers holds doubles, and that dates and times are of the years 1 to
9999, which all engines and Python can tell and compare. A column that says whose row it is must not be rounded, as
rounding would make one unit out of two: what is neither a whole number of 64 bits, text, a date, a time nor a truth
value is presented as text there.
"""

from __future__ import annotations

from indistinct.queries.policy.terms import ColumnType

__all__ = ["chosen_kind", "kind_of", "name_of", "presented"]

_INTEGERS = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
_FLOATS = {"FLOAT", "DOUBLE"}
_REALS = {*_FLOATS, "DECIMAL", "HUGEINT", "UHUGEINT", "UBIGINT", "BIGNUM"}
_TEXTS = {"VARCHAR", "ENUM", "UUID"}
_SQL_TYPES: dict[ColumnType, str] = {
    "integer": "BIGINT",
    "real": "DOUBLE",
    "text": "VARCHAR",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
}
_WHOLE = r"\s*[+-]?[0-9]+\s*"


def kind_of(native: str, *, unit: bool = False) -> ColumnType | None:
    """The type of the policy for one of DuckDB; None if there is none."""
    head = _head(native)
    if native.endswith("]"):
        return None
    if head in _INTEGERS:
        return "integer"
    if head in _REALS or (unit and head == "TIMESTAMP_NS"):
        return "text" if unit else "real"
    if head in _TEXTS:
        return "text"
    if head.startswith("TIMESTAMP"):
        return "timestamp"
    return {"BOOLEAN": "boolean", "DATE": "date"}.get(head)  # type: ignore[return-value]  # mypy does not see the literals


def chosen_kind(native: str, declared: ColumnType | None, *, written: bool, unit: bool) -> ColumnType | None:
    """As what a column is presented, where the policy may declare it. `written`: it is text, and `native` a guess."""
    own = kind_of(native, unit=unit)
    if written and declared is not None:
        return "text" if unit and declared == "real" else declared
    return "real" if (own, declared, unit) == ("integer", "real", False) else own


def presented(column: str, native: str, kind: ColumnType, *, written: bool, unit: bool) -> str:
    """The column in SQL."""
    name = name_of(column)
    if written and kind != "text":
        # DuckDB otherwise takes the type from TRY_CAST into its reader of CSV, where a value that is none ends the
        # whole question, so that whether there is an answer tells of a row.
        name = f"NULLIF({name}, '')"
    match kind:
        case "timestamp":  # times with a zone are brought to UTC
            told = f"TRY_CAST(TRY_CAST({name} AS TIMESTAMPTZ) AS TIMESTAMP)"
            return f"CASE WHEN {told} BETWEEN '0001-01-01' AND '9999-12-31 23:59:59.999999' THEN {told} END"
        case "date":
            told = f"TRY_CAST({name} AS DATE)"
            return f"CASE WHEN {told} BETWEEN '0001-01-01' AND '9999-12-31' THEN {told} END"
        case "text" if unit and kind_of(native) == "real" and (written or _head(native) in _FLOATS):
            # Not-a-number is nobody's, as NULL is; infinities are no more than that.
            return f"CASE WHEN isfinite(TRY_CAST({name} AS DOUBLE)) THEN CAST({name} AS VARCHAR) END"
        case "integer" if unit and written:  # casting would round
            return f"CASE WHEN regexp_full_match({name}, '{_WHOLE}') THEN TRY_CAST({name} AS BIGINT) END"
    return f"TRY_CAST({name} AS {_SQL_TYPES[kind]})"


def name_of(name: str) -> str:
    """A name, quoted."""
    return '"' + name.replace('"', '""') + '"'


def _head(native: str) -> str:
    return native.upper().partition("(")[0]

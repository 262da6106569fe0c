"""The words of every engine's SQL, as trees of sqlglot: names are always quoted, values always literals."""

from __future__ import annotations

import datetime as dt
import hashlib
from fractions import Fraction
from typing import Literal, TypeAlias

from sqlglot import exp

from indistinct.queries.plans.expressions import Expression
from indistinct.queries.policy.terms import ColumnType, Key

__all__ = [
    "Dialect",
    "case",
    "cast",
    "column",
    "double",
    "identifier",
    "is_null",
    "key_literal",
    "real",
    "shortened",
    "type_of",
    "whole",
]

Dialect: TypeAlias = Literal["duckdb", "spark", "postgres"]

_TYPES: dict[ColumnType, exp.DType] = {
    "integer": exp.DType.BIGINT,
    "real": exp.DType.DOUBLE,
    "text": exp.DType.TEXT,
    "boolean": exp.DType.BOOLEAN,
    "date": exp.DType.DATE,
    "timestamp": exp.DType.TIMESTAMP,
}
_LONGEST = 63


def identifier(name: str) -> exp.Identifier:
    """A name, quoted."""
    return exp.Identifier(this=name, quoted=True)


def shortened(name: str) -> str:
    """A name as PostgreSQL can tell it from others: it reads 63 bytes."""
    if len(name.encode()) <= _LONGEST:
        return name
    return name.encode()[:30].decode(errors="ignore") + " " + hashlib.sha256(name.encode()).hexdigest()[:32]


def column(name: str, table: str | None = None) -> exp.Column:
    """A column."""
    return exp.Column(this=identifier(name), table=identifier(table) if table else None)


def whole(number: int) -> exp.Expression:
    """A whole number."""
    literal = exp.Literal.number(str(abs(number)))
    return exp.Paren(this=exp.Neg(this=literal)) if number < 0 else literal


def real(number: Fraction | float) -> exp.Expression:
    """A double, by its shortest decimal, which every engine reads back as the same double."""
    return cast(exp.Literal.string(repr(float(number))), "real")


def key_literal(key: Key) -> exp.Expression:
    """A public key."""
    match key:
        case None:
            return exp.Null()
        case bool():
            return exp.Boolean(this=key)
        case int():
            return whole(key)
        case str():
            return exp.Literal.string(key)
        case dt.date():
            return cast(exp.Literal.string(key.isoformat()), "date")


def cast(told: exp.Expression, kind: ColumnType) -> exp.Expression:
    """As a type of the policy."""
    return exp.Cast(this=told, to=type_of(kind))


def type_of(kind: ColumnType) -> exp.DataType:
    """A type of the policy in SQL."""
    return exp.DataType(this=_TYPES[kind])


def double(value: Expression, told: exp.Expression) -> exp.Expression:
    """A number as a double."""
    return told if value.type == "real" else cast(told, "real")


def is_null(told: exp.Expression) -> exp.Expression:
    """Whether it is NULL."""
    return exp.Is(this=told.copy(), expression=exp.Null())


def case(branches: list[tuple[exp.Expression, exp.Expression]], otherwise: exp.Expression) -> exp.Case:
    """The value of the first condition that holds."""
    return exp.Case(ifs=[exp.If(this=condition, true=value) for condition, value in branches], default=otherwise)

"""Our expressions in an engine's SQL, as trees of sqlglot: every one total, and with the same value on every engine."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction

from sqlglot import exp

from indistinct.errors import InternalError
from indistinct.queries.engines.arithmetic import ARITHMETIC, computed, steps_between
from indistinct.queries.engines.conversions import converted, nearest_whole, recased
from indistinct.queries.engines.words import (
    Dialect,
    case,
    cast,
    column,
    double,
    identifier,
    is_null,
    key_literal,
    real,
    whole,
)
from indistinct.queries.plans.expressions import Apply, Constant, Expression, Field, Operation
from indistinct.queries.policy.terms import ColumnType

__all__ = ["said"]

_BINARY: dict[Operation, type[exp.Binary]] = {
    Operation.EQUAL: exp.EQ,
    Operation.UNEQUAL: exp.NEQ,
    Operation.LESS: exp.LT,
    Operation.LESS_OR_EQUAL: exp.LTE,
    Operation.AND: exp.And,
    Operation.OR: exp.Or,
}
_PARTS = {Operation.YEAR: "YEAR", Operation.MONTH: "MONTH", Operation.DAY: "DAY", Operation.HOUR: "HOUR"}
_WHOLE = 2.0**53


def said(expression: Expression, dialect: Dialect) -> exp.Expression:
    """The expression in SQL."""
    return _spoken(expression, dialect)


def _spoken(expression: Expression, dialect: Dialect) -> exp.Expression:
    match expression:
        case Field(relation=relation, name=name):
            return column(name, relation)
        case Constant(value=None, type=kind):
            return cast(exp.Null(), kind)
        case Constant(value=Fraction() as value):
            return real(value)
        case Constant(value=dt.datetime() as value):
            return cast(exp.Literal.string(value.isoformat(sep=" ")), "timestamp")
        case Constant(value=bool() | str() | dt.date() as value):
            return key_literal(value)
        case Constant(value=int() as value):
            return cast(whole(value), "integer")  # and not the narrow type of a small number
        case Apply():
            return exp.Paren(this=_applied(expression, dialect))
    raise InternalError(f"There is no way to say {expression!r}.")


def _applied(applied: Apply, dialect: Dialect) -> exp.Expr:  # noqa: C901  # one branch for each operation
    operation, arguments = applied.operation, applied.arguments
    if operation in ARITHMETIC:
        return computed(applied, lambda each: _spoken(each, dialect))
    told = [_spoken(each, dialect) for each in arguments]
    if operation in _BINARY:
        return _compared(operation, arguments, told, dialect)
    if operation in _PARTS:
        return cast(exp.Extract(this=exp.Var(this=_PARTS[operation]), expression=told[0]), "integer")
    match operation:
        case Operation.LOWER | Operation.UPPER:
            return recased(operation, told[0])
        case Operation.LENGTH:
            return cast(exp.Length(this=told[0]), "integer")
        case Operation.TRIM:
            return exp.Trim(this=told[0], expression=exp.Literal.string(" "))
        case Operation.MODULO:
            return exp.Mod(this=told[0], expression=told[1])
        case Operation.ABSOLUTE:
            return exp.Abs(this=double(arguments[0], told[0]))
        case Operation.FLOOR | Operation.CEILING:
            return _rounded(operation, double(arguments[0], told[0]), dialect)
        case Operation.LEAST | Operation.GREATEST:
            kind = exp.Least if operation is Operation.LEAST else exp.Greatest
            values = [double(*pair) for pair in zip(arguments, told, strict=True)] if applied.type == "real" else told
            missing = [
                is_null(value) for each, value in zip(arguments, values, strict=True) if not isinstance(each, Constant)
            ]
            # Of DuckDB's, sqlglot would guard the arguments once more.
            extreme = kind(
                this=values[0].copy(),
                expressions=[each.copy() for each in values[1:]],
                ignore_nulls=dialect == "duckdb",
            )
            return case([(_any(missing), exp.Null())], extreme) if missing else extreme
        case Operation.NOT:
            return exp.Not(this=told[0])
        case Operation.IS_NULL:
            return is_null(told[0])
        case Operation.IN:
            like = _like_members({each.type for each in arguments}, told)
            return exp.In(this=like[0], expressions=like[1:])
        case Operation.LIKE:
            return exp.Like(this=told[0], expression=told[1])
        case Operation.CASE:
            return case(list(zip(told[:-1:2], told[1:-1:2], strict=True)), told[-1])
        case Operation.COALESCE:
            return exp.Coalesce(this=told[0], expressions=told[1:])
        case Operation.NULL_IF:
            return exp.Nullif(this=told[0], expression=told[1])
        case Operation.SUBSTRING:
            places = [
                whole(each.value) for each in arguments[1:] if isinstance(each, Constant) and type(each.value) is int
            ]
            return exp.Substring(this=told[0], start=places[0], length=places[1] if len(places) > 1 else None)
        case Operation.CONCATENATE:
            joined = told[0]
            for each in told[1:]:
                joined = exp.DPipe(this=joined, expression=each)
            return joined
        case Operation.BUCKET:
            return _bucket(arguments, told, dialect)
    return converted(operation, arguments[0], told[0], dialect)


def _rounded(operation: Operation, told: exp.Expression, dialect: Dialect) -> exp.Expression:
    kind = exp.Floor if operation is Operation.FLOOR else exp.Ceil
    if dialect != "spark":
        return kind(this=told)
    # Spark's are whole numbers of 64 bits; a double of 2^53 or more is whole already.
    inside = exp.LT(this=exp.Abs(this=told.copy()), expression=real(_WHOLE))
    return case([(inside, cast(kind(this=told), "real"))], told.copy())


def _bucket(arguments: tuple[Expression, ...], told: list[exp.Expression], dialect: Dialect) -> exp.Expression:
    low, high, number = (each.value for each in arguments[1:] if isinstance(each, Constant))
    if not isinstance(low, int | Fraction) or not isinstance(high, int | Fraction) or not isinstance(number, int):
        raise InternalError("A bucket has constant bounds.")
    value = double(arguments[0], told[0])
    inverse = float(Fraction(number) / (Fraction(high) - Fraction(low)))
    scaled = steps_between(value.copy(), float(low), inverse, guard=dialect == "postgres")
    inside = exp.Least(
        this=exp.Add(this=nearest_whole(scaled), expression=whole(1)), expressions=[cast(whole(number), "integer")]
    )
    return case(
        [
            (is_null(value), exp.Null()),
            (exp.GTE(this=value.copy(), expression=real(high)), cast(whole(number), "integer")),
            (exp.LTE(this=value.copy(), expression=real(low)), cast(whole(1), "integer")),
        ],
        inside,
    )


def _compared(
    operation: Operation, arguments: tuple[Expression, ...], told: list[exp.Expression], dialect: Dialect
) -> exp.Expr:
    kinds = {each.type for each in arguments}
    if kinds == {"integer", "real"}:
        told = [double(*pair) for pair in zip(arguments, told, strict=True)]
    elif kinds == {"date", "timestamp"}:
        told = [cast(each, "timestamp") for each in told]
    elif kinds == {"text"} and dialect == "postgres":
        told[0] = exp.Collate(this=told[0], expression=identifier("C"))
    return _BINARY[operation](this=told[0], expression=told[1])


def _like_members(kinds: set[ColumnType], told: list[exp.Expression]) -> list[exp.Expression]:
    if kinds == {"integer", "real"}:
        return [cast(each, "real") for each in told]
    return [cast(each, "timestamp") for each in told] if kinds == {"date", "timestamp"} else told


def _any(conditions: list[exp.Expression]) -> exp.Expression:
    told = conditions[0]
    for each in conditions[1:]:
        told = exp.Or(this=told, expression=each)
    return told

"""Our expressions in an engine's SQL, as trees of sqlglot: names are always quoted, values always literals."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction
from typing import Literal, TypeAlias

from sqlglot import exp

from indistinct.errors import InternalError
from indistinct.queries.plans.expressions import Apply, Constant, Expression, Field, Operation
from indistinct.queries.policy.terms import ColumnType, Key

__all__ = ["Dialect", "column", "identifier", "key_literal", "real", "said", "whole"]

Dialect: TypeAlias = Literal["duckdb", "spark", "postgres"]

_TYPES: dict[ColumnType, str] = {
    "integer": "BIGINT",
    "real": "DOUBLE",
    "text": "TEXT",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
}
_BINARY: dict[Operation, type[exp.Binary]] = {
    Operation.EQUAL: exp.EQ,
    Operation.UNEQUAL: exp.NEQ,
    Operation.LESS: exp.LT,
    Operation.LESS_OR_EQUAL: exp.LTE,
    Operation.AND: exp.And,
    Operation.OR: exp.Or,
}
_ARITHMETIC: dict[Operation, type[exp.Binary]] = {
    Operation.ADD: exp.Add,
    Operation.SUBTRACT: exp.Sub,
    Operation.MULTIPLY: exp.Mul,
}
_OF_ONE: dict[Operation, type[exp.Func]] = {
    Operation.LOWER: exp.Lower,
    Operation.UPPER: exp.Upper,
    Operation.LENGTH: exp.Length,
    Operation.TRIM: exp.Trim,
}
_PARTS = {Operation.YEAR: "YEAR", Operation.MONTH: "MONTH", Operation.DAY: "DAY", Operation.HOUR: "HOUR"}
_NUMBER = r"^\s*[+-]?([0-9]{1,100}(\.[0-9]{0,100})?|\.[0-9]{1,100})([eE][+-]?[0-9]{1,2})?\s*$"
_DATE = r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])$"


def identifier(name: str) -> exp.Identifier:
    """A name, quoted."""
    return exp.Identifier(this=name, quoted=True)


def column(name: str, table: str | None = None) -> exp.Column:
    """A column."""
    return exp.Column(this=identifier(name), table=identifier(table) if table else None)


def whole(number: int) -> exp.Expression:
    """A whole number."""
    literal = exp.Literal.number(str(abs(number)))
    return exp.Paren(this=exp.Neg(this=literal)) if number < 0 else literal


def real(number: Fraction | float) -> exp.Expression:
    """A double, by its shortest decimal, which every engine reads back as the same double."""
    return _cast(exp.Literal.string(repr(float(number))), "real")


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
            return _cast(exp.Literal.string(key.isoformat()), "date")


def said(expression: Expression, dialect: Dialect) -> exp.Expression:
    """The expression in SQL."""
    match expression:
        case Field(relation=relation, name=name):
            return column(name, relation)
        case Constant(value=None, type=kind):
            return _cast(exp.Null(), kind)
        case Constant(value=Fraction() as value):
            return real(value)
        case Constant(value=dt.datetime() as value):
            return _cast(exp.Literal.string(value.isoformat(sep=" ")), "timestamp")
        case Constant(value=bool() | int() | str() | dt.date() as value):
            return key_literal(value)
        case Apply():
            return exp.Paren(this=_applied(expression, dialect))
    raise InternalError(f"There is no way to say {expression!r}.")


def _applied(applied: Apply, dialect: Dialect) -> exp.Expr:  # noqa: C901  # one branch for each operation
    operation, arguments = applied.operation, applied.arguments
    told = [said(each, dialect) for each in arguments]
    if operation in _BINARY:
        return _compared(operation, arguments, told)
    if operation in _ARITHMETIC:
        return _ARITHMETIC[operation](this=_double(arguments[0], told[0]), expression=_double(arguments[1], told[1]))
    if operation in _OF_ONE:
        return _OF_ONE[operation](this=told[0])
    if operation in _PARTS:
        return _cast(exp.Extract(this=exp.Var(this=_PARTS[operation]), expression=told[0]), "integer")
    match operation:
        case Operation.DIVIDE:
            divisor = exp.Nullif(this=_double(arguments[1], told[1]), expression=real(0))
            return exp.Div(this=_double(arguments[0], told[0]), expression=divisor, typed=False, safe=False)
        case Operation.MODULO:
            return exp.Mod(this=told[0], expression=told[1])
        case Operation.ABSOLUTE:
            return exp.Abs(this=_double(arguments[0], told[0]))
        case Operation.FLOOR:
            return exp.Floor(this=_double(arguments[0], told[0]))
        case Operation.CEILING:
            return exp.Ceil(this=_double(arguments[0], told[0]))
        case Operation.LEAST | Operation.GREATEST:
            kind = exp.Least if operation is Operation.LEAST else exp.Greatest
            values = [_double(*pair) for pair in zip(arguments, told, strict=True)] if applied.type == "real" else told
            missing = [
                _is_null(value) for each, value in zip(arguments, values, strict=True) if not isinstance(each, Constant)
            ]
            extreme = kind(this=values[0].copy(), expressions=[each.copy() for each in values[1:]])
            return _case([(_any(missing), exp.Null())], extreme) if missing else extreme
        case Operation.NOT:
            return exp.Not(this=told[0])
        case Operation.IS_NULL:
            return _is_null(told[0])
        case Operation.IN:
            return exp.In(
                this=_like_members(arguments, told[0]),
                expressions=[_like_members(arguments, each) for each in told[1:]],
            )
        case Operation.LIKE:
            return exp.Like(this=told[0], expression=told[1])
        case Operation.CASE:
            return _case(list(zip(told[:-1:2], told[1:-1:2], strict=True)), told[-1])
        case Operation.COALESCE:
            return exp.Coalesce(this=told[0], expressions=told[1:])
        case Operation.NULL_IF:
            return exp.Nullif(this=told[0], expression=told[1])
        case Operation.SUBSTRING:
            return exp.Substring(this=told[0], start=told[1], length=told[2] if len(told) > 2 else None)
        case Operation.CONCATENATE:
            joined = told[0]
            for each in told[1:]:
                joined = exp.DPipe(this=joined, expression=each)
            return joined
        case Operation.BUCKET:
            return _bucket(arguments, told)
    return _converted(operation, arguments[0], told[0], dialect)


def _converted(operation: Operation, argument: Expression, told: exp.Expression, dialect: Dialect) -> exp.Expression:
    """Casts that give NULL where there is nothing to give."""
    kind = argument.type
    match operation:
        case Operation.TO_REAL:
            return (
                _text_to(told, "real", _NUMBER, dialect)
                if kind == "text"
                else _cast(told if kind != "boolean" else _cast(told, "integer"), "real")
            )
        case Operation.TO_INTEGER:
            if kind == "boolean":
                return _cast(
                    _case([(told.copy(), whole(1)), (exp.Not(this=told.copy()), whole(0))], exp.Null()), "integer"
                )
            number = _text_to(told, "real", _NUMBER, dialect) if kind == "text" else told
            nearest = exp.Floor(this=exp.Add(this=exp.Paren(this=number.copy()), expression=real(0.5)))
            rounded = exp.TryCast(this=nearest, to=exp.DataType.build("BIGINT"))
            return _case([(exp.LT(this=exp.Abs(this=number.copy()), expression=real(2.0**52)), rounded)], exp.Null())
        case Operation.TO_TEXT:
            if kind == "boolean":
                return _case(
                    [
                        (told.copy(), exp.Literal.string("true")),
                        (exp.Not(this=told.copy()), exp.Literal.string("false")),
                    ],
                    exp.Null(),
                )
            return _cast(told, "text")
        case Operation.TO_DATE:
            return _text_to(told, "date", _DATE, dialect) if kind == "text" else _cast(told, "date")
    raise InternalError(f"There is no way to say {operation!r}.")


def _text_to(told: exp.Expression, kind: ColumnType, pattern: str, dialect: Dialect) -> exp.Expression:
    """Text that looks like a number or a date as one, and NULL otherwise; the same on every engine."""
    matches = exp.RegexpLike(this=told.copy(), expression=exp.Literal.string(pattern))
    cast: exp.Expression = _cast(told.copy(), kind)
    if dialect != "postgres":
        cast = exp.TryCast(this=told.copy(), to=exp.DataType.build(_TYPES[kind]))
    return _case([(matches, cast)], exp.Null())


def _bucket(arguments: tuple[Expression, ...], told: list[exp.Expression]) -> exp.Expression:
    low, high, number = (each.value for each in arguments[1:] if isinstance(each, Constant))
    if not isinstance(low, int | Fraction) or not isinstance(high, int | Fraction) or not isinstance(number, int):
        raise InternalError("A bucket has constant bounds.")
    value = _double(arguments[0], told[0])
    inverse = float(Fraction(number) / (Fraction(high) - Fraction(low)))
    scaled = exp.Mul(this=exp.Paren(this=exp.Sub(this=value.copy(), expression=real(low))), expression=real(inverse))
    inside = exp.Least(
        this=exp.Add(
            this=exp.TryCast(this=exp.Floor(this=scaled), to=exp.DataType.build("BIGINT")), expression=whole(1)
        ),
        expressions=[whole(number)],
    )
    return _case(
        [
            (_is_null(value), exp.Null()),
            (exp.GTE(this=value.copy(), expression=real(high)), whole(number)),
            (exp.LTE(this=value.copy(), expression=real(low)), whole(1)),
        ],
        inside,
    )


def _compared(operation: Operation, arguments: tuple[Expression, ...], told: list[exp.Expression]) -> exp.Expr:
    kinds = {each.type for each in arguments}
    if kinds == {"integer", "real"}:
        told = [_double(*pair) for pair in zip(arguments, told, strict=True)]
    elif kinds == {"date", "timestamp"}:
        told = [_cast(each, "timestamp") for each in told]
    return _BINARY[operation](this=told[0], expression=told[1])


def _like_members(arguments: tuple[Expression, ...], told: exp.Expression) -> exp.Expression:
    kinds = {each.type for each in arguments}
    if kinds == {"integer", "real"}:
        return _cast(told, "real")
    return _cast(told, "timestamp") if kinds == {"date", "timestamp"} else told


def _double(value: Expression, told: exp.Expression) -> exp.Expression:
    return told if value.type == "real" else _cast(told, "real")


def _cast(told: exp.Expression, kind: ColumnType) -> exp.Expression:
    return exp.Cast(this=told, to=exp.DataType.build(_TYPES[kind]))


def _is_null(told: exp.Expression) -> exp.Expression:
    return exp.Is(this=told.copy(), expression=exp.Null())


def _any(conditions: list[exp.Expression]) -> exp.Expression:
    told = conditions[0]
    for each in conditions[1:]:
        told = exp.Or(this=told, expression=each)
    return told


def _case(branches: list[tuple[exp.Expression, exp.Expression]], otherwise: exp.Expression) -> exp.Case:
    return exp.Case(ifs=[exp.If(this=condition, true=value) for condition, value in branches], default=otherwise)

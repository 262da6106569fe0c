"""Casts and changes of text that give the same on every engine, and NULL where there is nothing to give."""

from __future__ import annotations

from sqlglot import exp

from indistinct.errors import InternalError
from indistinct.queries.engines.words import Dialect, case, cast, real, type_of, whole
from indistinct.queries.plans.expressions import Expression, Operation
from indistinct.queries.policy.terms import ColumnType

__all__ = ["converted", "nearest_whole", "recased"]

_NUMBER = r"^ *[+-]?([0-9]{1,100}([.][0-9]{0,100})?|[.][0-9]{1,100})([eE][+-]?[0-9]{1,2})? *"
_YEAR = "([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)"
_LEAP = "([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)"
_DATE = (
    f"^({_YEAR}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)"
    f"|02-(0[1-9]|1[0-9]|2[0-8]))|{_LEAP}-02-29)"
)
"""The days of the calendar, from year 1 to 9999."""

_LETTERS = [
    (chr(code), chr(code).lower())
    for first, last in ((0x41, 0x5A), (0xC0, 0xDE), (0x100, 0x17F), (0x386, 0x3AB), (0x400, 0x42F))
    for code in range(first, last + 1)
    if chr(code).lower() != chr(code) and chr(code).lower().upper() == chr(code)
]
"""Capital and small letters of the Latin, Greek and Cyrillic alphabets: engines differ in all others."""


def recased(operation: Operation, told: exp.Expression) -> exp.Expression:
    """LOWER and UPPER, letter by letter."""
    capital, small = ("".join(letters) for letters in zip(*_LETTERS, strict=True))
    pair = (capital, small) if operation is Operation.LOWER else (small, capital)
    return exp.Translate(this=told, from_=exp.Literal.string(pair[0]), to=exp.Literal.string(pair[1]))


def converted(operation: Operation, argument: Expression, told: exp.Expression, dialect: Dialect) -> exp.Expression:
    """A value as one of another type."""
    kind = argument.type
    match operation:
        case Operation.TO_REAL if kind == "text":
            return _text_to(told, "real", _NUMBER, dialect)
        case Operation.TO_REAL:
            return cast(told if kind != "boolean" else _truth_as(told, whole(1), whole(0)), "real")
        case Operation.TO_INTEGER if kind == "boolean":
            return cast(_truth_as(told, whole(1), whole(0)), "integer")
        case Operation.TO_INTEGER:
            number = _text_to(told, "real", _NUMBER, dialect) if kind == "text" else told
            nearest = exp.Add(this=exp.Paren(this=number.copy()), expression=real(0.5))
            within = exp.LT(this=exp.Abs(this=number.copy()), expression=real(2.0**52))
            return case([(within, nearest_whole(nearest))], exp.Null())
        case Operation.TO_TEXT if kind == "boolean":
            return _truth_as(told, exp.Literal.string("true"), exp.Literal.string("false"))
        case Operation.TO_TEXT:
            return cast(told, "text")
        case Operation.TO_DATE if kind == "text":
            return _text_to(told, "date", _DATE, dialect)
        case Operation.TO_DATE:
            return cast(told, "date")
    raise InternalError(f"There is no way to say {operation!r}.")


def nearest_whole(told: exp.Expression) -> exp.Expression:
    """The whole number below a double that is among them."""
    return exp.TryCast(this=exp.Floor(this=told), to=type_of("integer"))


def _truth_as(told: exp.Expression, true: exp.Expression, false: exp.Expression) -> exp.Expression:
    return case([(told.copy(), true), (exp.Not(this=told.copy()), false)], exp.Null())


def _text_to(told: exp.Expression, kind: ColumnType, pattern: str, dialect: Dialect) -> exp.Expression:
    """Text that looks like a number or a date as one, and NULL otherwise."""
    # In Java, $ also matches before a line's end.
    whole_text = pattern + (r"\z" if dialect == "spark" else "$")
    matches = exp.RegexpLike(this=told.copy(), expression=exp.Literal.string(whole_text))
    value: exp.Expression = cast(told.copy(), kind)
    if dialect != "postgres":
        value = exp.TryCast(this=told.copy(), to=type_of(kind))
    return case([(matches, value)], exp.Null())

"""Values that stand in a question, and what of them goes together: numbers, text, times, and their types."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction

from sqlglot import exp

from indistinct.queries.plans.expressions import Apply, Constant, Expression, Operation, Scalar
from indistinct.queries.policy.terms import ColumnType
from indistinct.queries.refusals import Refuse

__all__ = [
    "NUMBERS",
    "TIMES",
    "alike",
    "as_number",
    "constant",
    "number_in",
    "plain",
    "shown",
    "time_constant",
    "typed",
    "unified",
    "wider",
]

NUMBERS: frozenset[ColumnType] = frozenset({"integer", "real"})
TIMES: frozenset[ColumnType] = frozenset({"date", "timestamp"})
_MOST_DIGITS = 40
_LARGEST = Fraction(10) ** 150


def number_in(node: object, what: str) -> Fraction:
    """A number that is written out."""
    sign = 1
    while isinstance(node, exp.Neg | exp.Paren):
        sign = -sign if isinstance(node, exp.Neg) else sign
        node = node.this
    if not isinstance(node, exp.Literal) or node.is_string:
        raise Refuse(node, f"{what} must be a number that is written out.")
    return sign * _decimal(node)


def alike(node: exp.Expression, value: Expression, other: Expression) -> Expression:
    """The other one, if the two can be compared: text that is a date counts as one beside a date."""
    if isinstance(other, Constant) and other.value is None:
        return Constant(None, value.type)
    if value.type == other.type or {value.type, other.type} <= NUMBERS or {value.type, other.type} <= TIMES:
        return other
    if value.type in TIMES and isinstance(other, Constant) and isinstance(other.value, str):
        return time_constant(node, other.value, value.type)
    raise Refuse(
        node,
        f"A value of type {other.type} cannot be compared with one of type {value.type}.",
        "Use CAST, or another value.",
    )


def unified(node: exp.Expression, operation: Operation, values: list[Expression]) -> Apply:
    """Of one type, whatever the values are."""
    told = [each for each in values if not (isinstance(each, Constant) and each.value is None)]
    kinds = {each.type for each in told}
    if not told:
        raise Refuse(node, "One of the values must not be NULL.")
    if len(kinds) > 1 and not kinds <= NUMBERS:
        raise Refuse(node, f"The values are of different types: {', '.join(sorted(kinds))}.", "Use CAST.")
    kind: ColumnType = "real" if len(kinds) > 1 else told[0].type
    return Apply(
        operation,
        tuple(
            Constant(None, kind) if isinstance(each, Constant) and each.value is None else _as(each, kind)
            for each in values
        ),
        kind,
    )


def _as(value: Expression, kind: ColumnType) -> Expression:
    return Apply(Operation.TO_REAL, (value,), "real") if kind == "real" and value.type == "integer" else value


def constant(node: exp.Expression) -> Constant:
    """NULL, a truth value, text or a number."""
    match node:
        case exp.Null():
            return Constant(None, "text")
        case exp.Boolean():
            return Constant(bool(node.this), "boolean")
        case exp.Literal(is_string=True):
            if "\0" in str(node.this):
                raise Refuse(node, "Text cannot hold a null character.")
            return Constant(str(node.this), "text")
    value = _decimal(node)
    whole = value.denominator == 1 and abs(value) < 2**63
    return Constant(plain(value) if whole else value, "integer" if whole else "real")


def _decimal(node: exp.Expression) -> Fraction:
    text = str(node.this)
    try:
        mantissa, _, power = text.lower().partition("e")
        if len(mantissa) > _MOST_DIGITS or abs(int(power or "0")) > 150:
            raise ValueError
        value = Fraction(text)
    except ValueError:
        raise Refuse(
            node, "This number cannot be read.", f"Numbers have at most {_MOST_DIGITS} digits and are below 1e150."
        ) from None
    if abs(value) >= _LARGEST or 0 < abs(value) <= 1 / _LARGEST:
        raise Refuse(node, "Numbers are below 1e150 here, and above 1e-150.")
    return value


def time_constant(node: exp.Expression, text: str, kind: ColumnType) -> Constant:
    """A date or a time that is written as text."""
    try:
        value: Scalar = dt.date.fromisoformat(text) if kind == "date" else dt.datetime.fromisoformat(text)
        if isinstance(value, dt.datetime) and value.tzinfo is not None:
            value = value.astimezone(dt.UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        raise Refuse(node, f"{text!r} is no {kind}.", "Write '2026-01-31', or '2026-01-31 12:30:00'.") from None
    return Constant(value, kind)


def typed(node: exp.Expression, value: Expression, kinds: frozenset[ColumnType]) -> Expression:
    """The value, if it is of one of these types; NULL is of each."""
    if isinstance(value, Constant) and value.value is None:
        return Constant(None, min(kinds))
    if value.type not in kinds:
        raise Refuse(
            node, f"A value of type {' or '.join(sorted(kinds))} is needed here, but this is of type {value.type}."
        )
    return value


def as_number(node: exp.Expression, value: Expression) -> Expression:
    """The value, if it is a number."""
    return typed(node, value, NUMBERS)


def wider(values: list[Expression]) -> ColumnType:
    """The type of what is computed from numbers."""
    return "integer" if all(each.type == "integer" for each in values) else "real"


def plain(value: Fraction) -> int | Fraction:
    """A whole number as one."""
    return int(value) if value.denominator == 1 else value


def shown(value: Fraction) -> str:
    """A number as it is said in a refusal."""
    return str(plain(value)) if value.denominator == 1 else f"{float(value):g}"

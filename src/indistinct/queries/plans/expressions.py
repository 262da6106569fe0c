"""Expressions of one row, in a language of our own: whatever is not one of these never reaches an engine.

Every operation is total: on any row it gives a value or NULL, and never an error, for an error would tell of the row
that caused it. Numbers are computed as doubles. A number that is computed with is NULL if it is not-a-number or beyond
1e150 in size, or closer to 0 than 1e-150, wherever the result might not be a double; and so is what is divided by 0.
Not-a-number counts as NULL where it is counted, summed or ranked, and is larger than any number where it is compared.
"""

from __future__ import annotations

import datetime as dt
import enum
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from indistinct.queries.plans.ranges import Range, difference, product, quotient, size, total
from indistinct.queries.policy.terms import ColumnType

__all__ = ["Apply", "Constant", "Expression", "Field", "Operation", "Scalar", "fields_of", "range_of"]

Scalar: TypeAlias = bool | int | Fraction | str | dt.date | dt.datetime | None


class Operation(enum.Enum):
    """What may be done to the values of a row."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
    MODULO = "%"
    ABSOLUTE = "abs"
    FLOOR = "floor"
    CEILING = "ceil"
    LEAST = "least"
    GREATEST = "greatest"
    EQUAL = "="
    UNEQUAL = "<>"
    LESS = "<"
    LESS_OR_EQUAL = "<="
    AND = "and"
    OR = "or"
    NOT = "not"
    IS_NULL = "is null"
    IN = "in"
    LIKE = "like"
    CASE = "case"  # condition, value, condition, value, ..., otherwise
    COALESCE = "coalesce"
    NULL_IF = "nullif"
    LOWER = "lower"
    UPPER = "upper"
    LENGTH = "length"
    TRIM = "trim"
    SUBSTRING = "substring"
    CONCATENATE = "||"
    YEAR = "year"
    MONTH = "month"
    DAY = "day"
    HOUR = "hour"
    TO_REAL = "to real"
    TO_INTEGER = "to integer"
    TO_TEXT = "to text"
    TO_DATE = "to date"
    OR_ZERO = "or zero"  # 0 for NULL and not-a-number; no question can say it
    BUCKET = "width_bucket"  # value, low, high, number: 1 to number, the ends taking what is beyond


@dataclass(frozen=True, slots=True)
class Field:
    """A column of one of the relations of a question."""

    relation: str
    name: str
    type: ColumnType
    range: Range | None = None
    """Public bounds, of the policy."""
    shown: str = field(default="", compare=False, repr=False)
    """What messages call it, where that is not its name."""

    @property
    def called(self) -> str:
        """Its name in messages."""
        return self.shown or self.name


@dataclass(frozen=True, slots=True)
class Constant:
    """A value that stands in the question."""

    value: Scalar
    type: ColumnType


@dataclass(frozen=True, slots=True)
class Apply:
    """An operation on values."""

    operation: Operation
    arguments: tuple[Expression, ...]
    type: ColumnType


Expression: TypeAlias = Field | Constant | Apply


def fields_of(expression: Expression) -> set[Field]:
    """The columns that an expression is made from."""
    match expression:
        case Field():
            return {expression}
        case Constant():
            return set()
        case Apply(arguments=arguments):
            return set().union(*(fields_of(argument) for argument in arguments))


def range_of(expression: Expression) -> Range | None:
    """Between which numbers the value publicly lies, if that is known; nothing private rests on it.

    Values are moved into this range before they are summed, so a range that is too narrow costs accuracy alone.
    """
    match expression:
        case Field(range=known):
            return known
        case Constant(value=bool()):
            return None
        case Constant(value=int() | Fraction() as value):
            return Fraction(value), Fraction(value)
        case Constant():
            return None
        case Apply(operation=operation, arguments=arguments):
            return _range_of_operation(operation, arguments)


def _range_of_operation(operation: Operation, arguments: tuple[Expression, ...]) -> Range | None:
    match operation:
        case Operation.LEAST | Operation.GREATEST:
            return _range_of_extreme(operation, arguments)
        case Operation.CASE:
            return _hull([*arguments[1::2], arguments[-1]])
        case Operation.COALESCE | Operation.NULL_IF:
            return _hull(list(arguments) if operation is Operation.COALESCE else [arguments[0]])
        case Operation.BUCKET:
            number = arguments[3]
            return (
                (Fraction(1), Fraction(number.value))
                if isinstance(number, Constant) and isinstance(number.value, int)
                else None
            )
        case Operation.HOUR:
            return Fraction(0), Fraction(23)
        case Operation.MONTH:
            return Fraction(1), Fraction(12)
        case Operation.DAY:
            return Fraction(1), Fraction(31)
    known = [range_of(argument) for argument in arguments]
    ranges = [each for each in known if each is not None]
    if len(ranges) < len(known) or not ranges:
        return None
    return _range_of_arithmetic(operation, ranges, arguments)


def _range_of_arithmetic(operation: Operation, ranges: list[Range], arguments: tuple[Expression, ...]) -> Range | None:
    first, last = ranges[0], ranges[-1]
    match operation:
        case Operation.TO_REAL:
            return first
        case Operation.FLOOR | Operation.CEILING | Operation.TO_INTEGER:
            return Fraction(first[0].__floor__()), Fraction(first[1].__ceil__())
        case Operation.ADD:
            return total(first, last)
        case Operation.SUBTRACT:
            return difference(first, last)
        case Operation.MULTIPLY:
            return product(first, last)
        case Operation.DIVIDE:
            return quotient(first, last)
        case Operation.ABSOLUTE:
            return size(first)
        case Operation.MODULO if first[0] >= 0 and isinstance(arguments[1], Constant):
            return Fraction(0), last[0] - 1
    return None


def _range_of_extreme(operation: Operation, arguments: tuple[Expression, ...]) -> Range | None:
    """Of CLAMP, which is GREATEST(LEAST(x, high), low): one bound may come from each."""
    inner = arguments[0]
    if (
        operation is Operation.GREATEST
        and len(arguments) == 2
        and isinstance(inner, Apply)
        and inner.operation is Operation.LEAST
        and len(inner.arguments) == 2
    ):
        own, highest, lowest = (range_of(each) for each in (*inner.arguments, arguments[1]))
        if highest is not None and lowest is not None:
            top = highest[1] if own is None else min(own[1], highest[1])
            bottom = lowest[0] if own is None else min(own[0], highest[0])
            return max(bottom, lowest[0]), max(top, lowest[1])
        return None
    known = [range_of(each) for each in arguments]
    ranges = [each for each in known if each is not None]
    if len(ranges) < len(known):
        return None
    pick = min if operation is Operation.LEAST else max
    return pick(low for low, _ in ranges), pick(high for _, high in ranges)


def _hull(values: list[Expression]) -> Range | None:
    """The smallest range around all of them; NULL needs none."""
    known = [range_of(each) for each in values if not (isinstance(each, Constant) and each.value is None)]
    ranges = [each for each in known if each is not None]
    if len(ranges) < len(known) or not ranges:
        return None
    return min(low for low, _ in ranges), max(high for _, high in ranges)

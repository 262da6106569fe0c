"""Arithmetic of doubles that no engine fails at and on which all agree.

PostgreSQL ends a statement whose product overflows, or underflows to 0; others give an infinity or 0. So an operand is
NULL where it is beyond 1e150 in size, closer to 0 than 1e-150, infinite or not-a-number, unless it can be seen from
the question alone that the result stays among the doubles: of whole numbers and written ones it mostly can.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from sqlglot import exp

from indistinct.queries.engines.words import Dialect, case, cast, double, real
from indistinct.queries.plans.expressions import Apply, Constant, Expression, Operation

__all__ = ["ARITHMETIC", "computed", "exact_double", "guarded", "repeated", "steps_between", "summed_in_order"]

_Reach: TypeAlias = tuple[float, float]
"""The largest size that a value can have, and the smallest but 0; NULL is always possible."""

ARITHMETIC: dict[Operation, type[exp.Binary]] = {
    Operation.ADD: exp.Add,
    Operation.SUBTRACT: exp.Sub,
    Operation.MULTIPLY: exp.Mul,
    Operation.DIVIDE: exp.Div,
}
_SAFE: _Reach = (1e150, 1e-150)
_ANY: _Reach = (math.inf, 0.0)
_ALL: _Reach = (1e307, 1e-307)


def computed(applied: Apply, speak: Callable[[Expression], exp.Expression]) -> exp.Expr:
    """A sum, difference, product or quotient of two numbers; of a division by 0, NULL."""
    told = []
    for value, repeats in zip(applied.arguments, repeated(applied), strict=True):
        spoken = double(value, speak(value))
        told.append(guarded(spoken) if repeats > 1 else spoken)
    if applied.operation is Operation.DIVIDE:
        divisor = exp.Nullif(this=told[1], expression=real(0))
        return exp.Div(this=told[0], expression=divisor, typed=False, safe=False)
    return ARITHMETIC[applied.operation](this=told[0], expression=told[1])


def repeated(applied: Apply) -> list[int]:
    """How often each operand is written out: once, if it needs no guard."""
    natural = [_reach(each) for each in applied.arguments]
    return [1 if each == kept else 4 for each, kept in zip(natural, _operands(applied), strict=True)]


def guarded(told: exp.Expression) -> exp.Expression:
    """A number that may be computed with, or NULL."""
    size = exp.Between(this=exp.Abs(this=told.copy()), low=real(_SAFE[1]), high=real(_SAFE[0]))
    return case([(exp.Or(this=size, expression=exp.EQ(this=told.copy(), expression=real(0))), told)], exp.Null())


def steps_between(told: exp.Expression, origin: float, inverse: float, *, guard: bool) -> exp.Expression:
    """(x - origin) inverse, whose floor is wanted; with `guard`, a product that could underflow is 0, as its floor is.

    Where a step is longer than 1, less than a quarter from the origin is less than a quarter of a step.
    """
    moved = exp.Paren(this=exp.Sub(this=told, expression=real(origin)))
    product = exp.Mul(this=moved, expression=real(inverse))
    if not guard or inverse >= 1:
        return product
    near = exp.LT(this=exp.Abs(this=moved.copy()), expression=real(0.25))
    return exp.Paren(this=case([(near, real(0))], product))


def _operands(applied: Apply) -> tuple[_Reach, _Reach]:
    """What the operands reach, after those that must be are guarded: as few as possible."""
    first, second = (_reach(each) for each in applied.arguments)
    unknown = tuple(_SAFE if each == _ANY else each for each in (first, second))
    for pair in ((first, second), (unknown[0], unknown[1])):
        if _fits(applied.operation, *pair):
            return pair
    return _clipped(first), _clipped(second)


def _clipped(reach: _Reach) -> _Reach:
    return reach if reach[0] <= _SAFE[0] and reach[1] >= _SAFE[1] else _SAFE


def _fits(operation: Operation, first: _Reach, second: _Reach) -> bool:
    if math.inf in {first[0], second[0]}:
        return False
    most, least = _result(operation, first, second)
    additive = operation in {Operation.ADD, Operation.SUBTRACT}
    return most <= _ALL[0] and (additive or least >= _ALL[1])


def _result(operation: Operation, first: _Reach, second: _Reach) -> _Reach:
    match operation:
        case Operation.MULTIPLY:
            return first[0] * second[0], _times(first[1], second[1])
        case Operation.DIVIDE:
            return (first[0] / second[1] if second[1] else math.inf), (first[1] / second[0] if second[0] else math.inf)
    # Doubles of at least so much are multiples of 2^-53 of it, and so is their difference.
    return first[0] + second[0], min(first[1], second[1]) * 2.0**-53


def _times(one: float, other: float) -> float:
    return math.inf if math.inf in {one, other} else one * other


class _Same:
    """An expression as the key of a cache: found by its identity, for to compare a long one takes long."""

    __slots__ = ("value",)

    def __init__(self, value: Expression) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def _reach(value: Expression) -> _Reach:
    return _reach_of(_Same(value))


@lru_cache(4096)
def _reach_of(same: _Same) -> _Reach:
    value = same.value
    match value:
        case Constant(value=bool()):
            return _ANY
        case Constant(value=int() | Fraction() as number):
            size = abs(float(number))
            return size, size or math.inf
        case Apply(operation=operation) if operation in ARITHMETIC:
            return _result(operation, *_operands(value))
        case Apply(operation=Operation.ABSOLUTE, arguments=(argument,)):
            return _reach(argument)
    return (2.0**63, 1.0) if value.type == "integer" else _ANY


def summed_in_order(told: exp.Expression, dialect: Dialect) -> exp.Expression:
    """The sum of one unit's doubles, from the least to the greatest: the same whatever order its rows are in.

    A sum of doubles depends on their order, and that of a unit's rows may depend on the rows of others.
    """
    value = guarded(told)
    match dialect:
        case "duckdb":  # which takes ORDER BY out of sums
            sorted_list = exp.Anonymous(this="LIST_SORT", expressions=[exp.Anonymous(this="LIST", expressions=[value])])
            return exp.Anonymous(this="LIST_SUM", expressions=[sorted_list])
        case "postgres":
            order = [exp.Ordered(this=value.copy(), desc=False, nulls_first=False)]
            return exp.Sum(this=exp.Order(this=value, expressions=order))
    collected = exp.Anonymous(this="COLLECT_LIST", expressions=[value])
    total, each = exp.to_identifier("a"), exp.to_identifier("b")
    adding = exp.Lambda(this=exp.Add(this=exp.column("a"), expression=exp.column("b")), expressions=[total, each])
    arguments = [exp.Anonymous(this="ARRAY_SORT", expressions=[collected]), real(0), adding]
    # Of no number the sum is NULL.
    present = exp.GT(this=exp.Count(this=value.copy()), expression=exp.Literal.number("0"))
    return case([(present, exp.Anonymous(this="AGGREGATE", expressions=arguments))], exp.Null())


def exact_double(total: exp.Expression, dialect: Dialect) -> exp.Expression:
    """The double that is nearest to a sum of whole numbers; DuckDB rounds twice, but for text."""
    return cast(cast(total, "text") if dialect == "duckdb" else total, "real")

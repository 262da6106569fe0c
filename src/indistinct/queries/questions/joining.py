"""What is known of a column wherever it comes from, and whether two private tables are joined on their units."""

from __future__ import annotations

from fractions import Fraction

from sqlglot import exp

from indistinct.queries.plans.expressions import Apply, Constant, Expression, Field, Operation, range_of
from indistinct.queries.plans.relations import UNIT, UnitAggregate, UnitFunction
from indistinct.queries.policy.terms import Column, ColumnType
from indistinct.queries.questions.scopes import Scope
from indistinct.queries.refusals import Refuse

__all__ = ["bare", "bounds_of", "check_joined_on_unit", "described"]


def bounds_of(column: Column) -> tuple[Fraction, Fraction] | None:
    """The owner's bounds of a column, exactly."""
    return (Fraction(column.low), Fraction(column.high)) if column.low is not None and column.high is not None else None


def bare(value: Expression) -> Expression:
    """A value without the bounds around it, where it is moved into them again: what is counted of it is the same.

    Bounds that its range does not tell of stay; and so do those that leave a single number, such as
    CLAMP(CLAMP(x, 0, 10), 20, 30), as what is not in between would not be moved to it.
    """
    known = range_of(value)
    if known is None or known[0] == known[1]:
        return value
    match value:
        case Apply(
            operation=Operation.LEAST | Operation.GREATEST, arguments=(Field() | Apply() as inner, Constant() as bound)
        ) if range_of(bound) is not None:
            if range_of(inner) is not None:
                return bare(inner)
            if isinstance(inner, Apply) and isinstance(inner.arguments[1], Constant):  # LEAST(x, highest), of CLAMP
                return inner.arguments[0]
    return value


def described(value: Expression | UnitAggregate) -> tuple[ColumnType, tuple[Fraction, Fraction] | None]:
    """The type of a column of a sub-query, and its public bounds."""
    match value:
        case UnitAggregate(function=UnitFunction.COUNT_ROWS | UnitFunction.COUNT):
            return "integer", None
        case UnitAggregate(function=UnitFunction.LEAST | UnitFunction.GREATEST, argument=argument) if (
            argument is not None
        ):
            return argument.type, range_of(argument)
        case UnitAggregate(function=UnitFunction.AVERAGE, argument=argument) if argument is not None:
            return "real", range_of(argument)
        case UnitAggregate():
            return "real", None
    return value.type, range_of(value)


def check_joined_on_unit(join: exp.Join, condition: Expression, left: Scope, right: Scope) -> None:
    """Two private tables are joined only where both rows are of the same unit."""
    if UNIT in {scope.unit.name for scope in (left, right) if isinstance(scope.unit, Field)} and not _named_units(
        left, right
    ):
        raise Refuse(join.this, "Tables whose rows are units of their own cannot be joined with one another.")
    for part in _conjuncts(condition):
        if isinstance(part, Apply) and part.operation is Operation.EQUAL:
            first, second = part.arguments
            if first.type != second.type:
                continue
            if (first in left.units and second in right.units) or (second in left.units and first in right.units):
                return
    names = [scope.unit.called if isinstance(scope.unit, Field) else "" for scope in (left, right)]
    raise Refuse(
        join.this,
        "Private tables are joined on the unit of privacy.",
        f"Add to ON that {names[0]!r} of the one equals {names[1]!r} of the other.",
    )


def _named_units(left: Scope, right: Scope) -> bool:
    """Whether both units have columns that a question can name."""
    return all(
        any(column in scope.units for columns in scope.relations.values() for column in columns.values())
        for scope in (left, right)
    )


def _conjuncts(condition: Expression) -> list[Expression]:
    if isinstance(condition, Apply) and condition.operation is Operation.AND:
        return [part for argument in condition.arguments for part in _conjuncts(argument)]
    return [condition]

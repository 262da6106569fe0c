"""How long a statement becomes: values are repeated to be guarded, so a short question can have a long statement."""

from __future__ import annotations

from collections.abc import Iterator

from indistinct.queries.engines.arithmetic import ARITHMETIC, repeated
from indistinct.queries.plans.expressions import Apply, Expression, Operation
from indistinct.queries.plans.measures import CountValues, Sum, UnitTotal
from indistinct.queries.plans.plan import Plan
from indistinct.queries.plans.relations import Derived, Join, Relation, UnitAggregate
from indistinct.queries.refusals import QueryRefused

__all__ = ["check_length"]

_REPEATED = {
    Operation.LEAST: 2,
    Operation.GREATEST: 2,
    Operation.FLOOR: 3,
    Operation.CEILING: 3,
    Operation.TO_REAL: 2,
    Operation.TO_TEXT: 2,
    Operation.TO_DATE: 2,
    Operation.TO_INTEGER: 6,
    Operation.BUCKET: 6,
}
"""How often each argument is written out; of arithmetic that depends on the arguments."""
_LONGEST = 20_000


def check_length(plan: Plan) -> None:
    """Refuses a plan whose statement would have too many words, before any of it is written."""
    words = 0
    for expression in _expressions(plan):
        words += _length(expression)
        if words > _LONGEST:
            raise QueryRefused(
                "",
                None,
                "The question is too long, or nested too deeply.",
                "Give a part of it a name in a sub-query in FROM, or ask for less at once.",
            )


def _expressions(plan: Plan) -> Iterator[Expression]:
    yield from _of_relation(plan.relation)
    if plan.where is not None:
        yield plan.where
    for key in plan.keys:
        yield key.expression
    values: list[Expression] = [quantiles.cells.value for quantiles in plan.quantiles]
    for measure in plan.measures:
        match measure:
            case CountValues(value=value):
                values.append(value)
            case Sum(of=quantised) | UnitTotal(of=quantised):
                values.append(quantised.value)
    yield from dict.fromkeys(values)


def _of_relation(relation: Relation) -> Iterator[Expression]:
    match relation:
        case Join(first=first, second=second, condition=condition):
            yield from _of_relation(first)
            yield from _of_relation(second)
            yield condition
        case Derived(source=source, where=where, outputs=outputs, groups=groups):
            yield from _of_relation(source)
            if where is not None:
                yield where
            for value in outputs:
                told = value.argument if isinstance(value, UnitAggregate) else value
                if told is not None:
                    yield told
            yield from groups or ()


def _length(expression: Expression) -> int:
    """About how many words it will have; without counting on, once these are too many."""
    if not isinstance(expression, Apply):
        return 1
    times = [_REPEATED.get(expression.operation, 1)] * len(expression.arguments)
    if expression.operation in ARITHMETIC:
        times = repeated(expression)
    words = 1
    for argument, often in zip(expression.arguments, times, strict=True):
        words += often * _length(argument)
        if words > _LONGEST:
            break
    return words

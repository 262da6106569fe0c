"""From a question's text to its plan: everything is read node by node, and what is not understood is refused."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from sqlglot import exp

from indistinct.errors import InvalidParameter
from indistinct.queries.plans.expressions import Apply, Constant, Expression, Operation
from indistinct.queries.plans.plan import GroupKey, Ordering, Output, Plan
from indistinct.queries.plans.results import Outcome
from indistinct.queries.policy.terms import MOST_KEYS, ROW, Contribution, Key, Policy
from indistinct.queries.questions.aggregates import Aggregates
from indistinct.queries.questions.literals import number_in
from indistinct.queries.questions.nesting import check_depth
from indistinct.queries.questions.reading import Spoken, said_at
from indistinct.queries.questions.scalars import read_condition, read_scalar
from indistinct.queries.questions.scopes import Scope, only
from indistinct.queries.questions.sources import Sources
from indistinct.queries.questions.tops import read_top
from indistinct.queries.refusals import QueryRefused, Refuse

__all__ = ["Wishes", "plan_question"]

MOST_COLUMNS = 1000
_MOST_KEYS = 100
MOST_NUMBERS = 2 * 10**6
_ALL_CELLS = 2**18
_FEWEST_CELLS, _FINEST_CELLS = 2**10, 2**14
_MANY = 1000


@dataclass(frozen=True, slots=True)
class Wishes:
    """What an analyst may choose about an answer: never more than the owner allows."""

    groups: int | None = None
    rows: int | None = None
    keys: Mapping[str, Sequence[Key]] = field(default_factory=dict)
    cells: int | None = None
    intervals: bool = False


def plan_question(spoken: Spoken, policy: Policy, wishes: Wishes | None = None) -> Plan:
    """The plan, or QueryRefused with the place and the reason. No data are touched."""
    try:
        return _plan(spoken.statement, policy, wishes or Wishes(), centring=spoken.target is None)
    except Refuse as refuse:
        raise said_at(spoken.text, refuse) from None
    except RecursionError:
        raise QueryRefused(spoken.text, None, "The question is nested too deeply.") from None


def _plan(select: exp.Expression, policy: Policy, wishes: Wishes, *, centring: bool) -> Plan:
    if not isinstance(select, exp.Select):
        raise Refuse(select, "Only SELECT is answered.", "Write SELECT ... FROM ... GROUP BY ...")
    check_depth(select)
    select, top = read_top(select)
    only(select, "expressions", "from_", "joins", "where", "group", "having", "order", "limit", "offset", "with_")
    sources = Sources(policy)
    sources.declare(select)
    relation, scope = sources.read(select)
    if scope.unit is None:
        raise Refuse(select.args["from_"], "No private table is asked.", "Public tables can be read as they are.")
    where = read_condition(select.args["where"].this, scope) if select.args.get("where") else None
    keys = _keys(select, scope, wishes)
    aggregates = Aggregates(scope, keys, _cells(wishes, keys), centring)
    clauses = [select.args.get(name) for name in ("having", "order")]
    aggregates.note_counts([*select.expressions, *(clause for clause in clauses if clause is not None)])
    outputs = _outputs(select, aggregates)
    having = aggregates.read(select.args["having"].this) if select.args.get("having") else None
    order = _order(select, aggregates, outputs)
    if top is not None:
        order = (Ordering(aggregates.units(), descending=True, nulls_first=False),)
    if not aggregates.measures and not aggregates.quantiles and all(key.public is not None for key in keys):
        raise Refuse(select, "Nothing is asked of the private rows.", "Add an aggregate, such as COUNT(*).")
    plan = Plan(
        table=sources.private[0].name,
        relation=relation,
        where=where,
        unit=scope.unit,
        keys=keys,
        contribution=_contribution(sources, scope, wishes),
        measures=tuple(aggregates.measures),
        quantiles=aggregates.quantile_sets(ranged=wishes.intervals),
        outputs=outputs,
        having=having,
        order=order,
        limit=_whole(select.args.get("limit"), "LIMIT") if top is None else top,
        offset=_whole(select.args.get("offset"), "OFFSET") or 0,
        top=top,
    )
    _check_size(select, plan)
    return plan


def _outputs(select: exp.Select, aggregates: Aggregates) -> tuple[Output, ...]:
    if len(select.expressions) > MOST_COLUMNS:
        raise Refuse(select.expressions[MOST_COLUMNS], f"At most {MOST_COLUMNS:,} columns are answered.")
    outputs: list[Output] = []
    taken: set[str] = set()
    for item in select.expressions:
        inner = item.this if isinstance(item, exp.Alias) else item
        name = (
            item.alias
            if isinstance(item, exp.Alias)
            else item.name
            if isinstance(item, exp.Column)
            else inner.sql("duckdb").lower()
        )
        if not name:
            raise Refuse(item, "A column of the answer needs a name.", "Give it one with AS.")
        shown, number = name, 1
        while shown.casefold() in taken:
            number += 1
            shown = f"{name}_{number}"
        taken.add(shown.casefold())
        outputs.append(Output(shown, aggregates.read(inner)))
    for item, output in zip(select.expressions, outputs, strict=True):
        if isinstance(item, exp.Alias):
            aggregates.aliases[item.alias.casefold()] = output.outcome
    return tuple(outputs)


def _keys(select: exp.Select, scope: Scope, wishes: Wishes) -> tuple[GroupKey, ...]:
    clause = select.args.get("group")
    declared = {name.casefold(): tuple(values) for name, values in wishes.keys.items()}
    keys: list[GroupKey] = []
    used: set[str] = set()
    if clause is not None:
        only(clause, "expressions")
        if len(clause.expressions) > _MOST_KEYS:
            raise Refuse(clause.expressions[_MOST_KEYS], f"At most {_MOST_KEYS} columns stand in GROUP BY.")
        for node in clause.expressions:
            meant = _meant(select, node, scope)
            value = read_scalar(meant, scope)
            if value.type in {"real", "timestamp"}:
                raise Refuse(
                    node,
                    f"Groups of type {value.type} are not answered.",
                    "Use WIDTH_BUCKET, FLOOR with CAST, or a date.",
                )
            if value in scope.units or isinstance(value, Constant):
                raise Refuse(
                    node,
                    "The unit of privacy cannot be a group."
                    if value in scope.units
                    else "This is the same in every row.",
                )
            names = {name.casefold() for name in (meant.name, node.name) if name}
            used |= names
            asked = next((declared[name] for name in names if name in declared), None)
            if value not in [key.expression for key in keys]:
                keys.append(GroupKey(value, _public(value, scope, asked)))
    unused = set(declared) - used
    if unused:
        raise InvalidParameter("keys", sorted(unused), "name columns of GROUP BY")
    return tuple(keys)


def _meant(select: exp.Select, node: exp.Expression, scope: Scope) -> exp.Expression:
    """GROUP BY 1, or by the name of a column of the answer."""
    if isinstance(node, exp.Literal) and not node.is_string:
        place = number_in(node, "A place in GROUP BY")
        if place.denominator != 1 or not 1 <= place <= len(select.expressions):
            raise Refuse(node, f"There is no column {node.this} in SELECT.")
        item = select.expressions[int(place) - 1]
        meant: exp.Expression = item.this if isinstance(item, exp.Alias) else item
        return meant
    if (
        isinstance(node, exp.Column)
        and not node.table
        and not any(node.name.casefold() in columns for columns in scope.relations.values())
    ):
        for item in select.expressions:
            if isinstance(item, exp.Alias) and item.alias.casefold() == node.name.casefold():
                inner: exp.Expression = item.this
                return inner
    return node


def _public(value: Expression, scope: Scope, asked: tuple[Key, ...] | None) -> tuple[Key, ...] | None:
    """The declared keys: those of the policy, or fewer of them; those of a question; or all buckets."""
    own: tuple[Key, ...] | None = next((keys for field_, keys in scope.keys.items() if field_ == value), None)
    if own is None and isinstance(value, Apply) and value.operation is Operation.BUCKET:
        number = value.arguments[3]
        own = (
            tuple(range(1, int(number.value) + 1))
            if isinstance(number, Constant) and isinstance(number.value, int)
            else None
        )
    if asked is None:
        return own
    if not 0 < len(asked) <= MOST_KEYS or len(set(asked)) != len(asked):
        raise InvalidParameter("keys", asked, f"be 1 to {MOST_KEYS:,} different values")
    kinds = {"text": "str", "integer": "int", "boolean": "bool", "date": "date"}
    for key in asked:
        if key is not None and type(key).__name__ != kinds[value.type]:
            raise InvalidParameter("keys", key, f"be of the column's type, {value.type}")
        if own is not None and key not in own:
            raise InvalidParameter("keys", key, "be one of the policy's keys")
    return asked


def _contribution(sources: Sources, scope: Scope, wishes: Wishes) -> Contribution:
    """The owner's bounds of the tables that are asked, or narrower ones."""
    if scope.unit is ROW:
        return Contribution(groups=1, rows=1)
    groups = max(table.contribution.groups for table in sources.private)
    rows = max(table.contribution.rows for table in sources.private)
    asked = Contribution(groups=wishes.groups or groups, rows=wishes.rows or rows)
    return Contribution(groups=min(groups, asked.groups), rows=min(rows, asked.rows))


def _order(select: exp.Select, aggregates: Aggregates, outputs: tuple[Output, ...]) -> tuple[Ordering, ...]:
    clause = select.args.get("order")
    if clause is None:
        return ()
    only(clause, "expressions")
    order = []
    for each in clause.expressions:
        only(each, "this", "desc", "nulls_first")
        node = each.this
        outcome: Outcome
        if isinstance(node, exp.Literal) and not node.is_string:
            place = number_in(node, "A place in ORDER BY")
            if place.denominator != 1 or not 1 <= place <= len(outputs):
                raise Refuse(node, f"There is no column {node.this} in SELECT.")
            outcome = outputs[int(place) - 1].outcome
        else:
            outcome = aggregates.read(node)
        order.append(Ordering(outcome, bool(each.args.get("desc")), bool(each.args.get("nulls_first"))))
    return tuple(order)


def _whole(clause: exp.Expression | None, name: str) -> int | None:
    if clause is None:
        return None
    only(clause, "expression")
    number = number_in(clause.expression, name)
    if number.denominator != 1 or not 0 <= number < 2**31:
        raise Refuse(clause, f"{name} takes a whole number.")
    return int(number)


def _cells(wishes: Wishes, keys: tuple[GroupKey, ...]) -> int:
    """What is wished; else as fine a grid as leaves an answer of a quarter of a million cells, within reason."""
    if wishes.cells is None:
        groups = math.prod(len(key.public) if key.public is not None else _MANY for key in keys)
        return min(max(_ALL_CELLS // groups, _FEWEST_CELLS), _FINEST_CELLS)
    if not 2 <= wishes.cells <= 2**16:
        raise InvalidParameter("cells", wishes.cells, "be a whole number from 2 to 65,536")
    return wishes.cells


def _check_size(select: exp.Select, plan: Plan) -> None:
    """Refuses what would be too large an answer, before anything is charged."""
    groups = Fraction(1)
    for key in plan.keys:
        groups *= len(key.public) if key.public is not None else 1
    numbers = groups * (len(plan.measures) + sum(quantiles.cells.number for quantiles in plan.quantiles) + 1)
    if groups > MOST_KEYS or numbers > MOST_NUMBERS:
        raise Refuse(
            select.args.get("group") or select,
            f"These are {int(numbers):,} numbers in {int(groups):,} groups, which is too many for one answer.",
            "Ask for fewer groups.",
        )

"""FROM and WITH: tables of the policy, joins and sub-queries, each with the unit of privacy of its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from sqlglot import exp

from indistinct.errors import InternalError
from indistinct.queries.plans.expressions import Apply, Expression, Field, Operation
from indistinct.queries.plans.relations import (
    UNIT,
    Derived,
    Join,
    Relation,
    Scan,
    UnitAggregate,
    UnitFunction,
    handed_on,
)
from indistinct.queries.policy.terms import ROW, Policy, PrivateTable, Row
from indistinct.queries.questions.joining import bounds_of, check_joined_on_unit, described
from indistinct.queries.questions.scalars import read_condition, read_scalar
from indistinct.queries.questions.scopes import Scope, only
from indistinct.queries.refusals import Refuse

__all__ = ["Sources"]

_UNIT_FUNCTIONS: dict[type[exp.Expression], UnitFunction] = {
    exp.Sum: UnitFunction.SUM,
    exp.Avg: UnitFunction.AVERAGE,
    exp.Min: UnitFunction.LEAST,
    exp.Max: UnitFunction.GREATEST,
    exp.Count: UnitFunction.COUNT,
}
_MOST_RELATIONS = 20
_MOST_PRIVATE = 4
"""Of each of them a unit may have many rows, and as many combinations as the product: it must not take for ever."""


@dataclass(frozen=True, slots=True)
class _Common:
    """A sub-query of WITH, and the names that it can see: those before its own."""

    select: exp.Expression
    common: Mapping[str, _Common]


@dataclass(slots=True)
class Sources:
    """Reads FROM clauses against a policy; `private` becomes the first private table that is met."""

    policy: Policy
    common: Mapping[str, _Common] = field(default_factory=dict)
    """The names of WITH that can be seen from where is being read."""
    private: list[PrivateTable] = field(default_factory=list)
    _number: int = 0

    def declare(self, select: exp.Select) -> None:
        """WITH name AS (...), ...: sub-queries by name, each for what follows it."""
        clause = select.args.get("with_")
        if clause is None:
            return
        only(clause, "expressions")
        declared: set[str] = set()
        for each in clause.expressions:
            only(each, "this", "alias")
            only(each.args["alias"], "this")
            name = each.alias.casefold()
            if name in declared:
                raise Refuse(each, f"Two sub-queries are called {each.alias!r}.", "Give one another name.")
            declared.add(name)
            self.common = {**self.common, name: _Common(each.this, self.common)}

    def read(self, select: exp.Select, *, alone: bool = True) -> tuple[Relation, Scope]:
        """The relation of a FROM clause, and what can be named of it.

        Where it is joined with another one (not `alone`), a row that is a unit may be repeated, and needs a number.
        """
        clause = select.args.get("from_")
        if clause is None:
            raise Refuse(select, "There is no FROM.", f"Name a table: {self._known()}.")
        only(clause, "this")
        joins = select.args.get("joins") or []
        relation, scope = self._one(clause.this, alone=alone and not joins)
        for join in joins:
            relation = self._join(relation, scope, join)
        return relation, scope

    def _one(self, node: exp.Expression, *, alone: bool) -> tuple[Relation, Scope]:
        self._number += 1
        if self._number > _MOST_RELATIONS:
            raise Refuse(node, f"At most {_MOST_RELATIONS} tables are put together.")
        inner = f"r{self._number}"
        match node:
            case exp.Table():
                only(node, "this", "alias")
                self._check_alias(node)
                if not isinstance(node.this, exp.Identifier):
                    raise Refuse(node, "Functions are not read as tables.", f"Name a table: {self._known()}.")
                name = node.name.casefold()
                shown = (node.alias or node.name).casefold()
                if name in self.common:
                    here, meant = self.common, self.common[name]
                    self.common = meant.common
                    found = self._derived(meant.select, inner, shown, alone=alone)
                    self.common = here
                    return found
                return self._table(node, inner, shown, alone=alone)
            case exp.Subquery():
                only(node, "this", "alias")
                self._check_alias(node)
                return self._derived(node.this, inner, node.alias.casefold() or inner, alone=alone)
        raise Refuse(node, f"{node.key.upper()} is not understood in FROM.", "It takes tables, joins and sub-queries.")

    def _table(self, node: exp.Table, inner: str, shown: str, *, alone: bool) -> tuple[Relation, Scope]:
        table = self.policy.table(node.name)
        if table is None:
            raise Refuse(node, f"There is no table {node.name!r}.", f"There is {self._known()}.")
        scope = Scope()
        columns = {}
        numbered = isinstance(table, PrivateTable) and table.unit is ROW and not alone
        for place, (name, column) in enumerate(table.columns.items()):
            found = Field(inner, handed_on(place) if numbered else name, column.type, bounds_of(column), name)
            columns[name.casefold()] = found
            if column.keys is not None:
                scope.keys[found] = column.keys
            if column.step is not None:
                scope.steps[found] = Fraction(column.step)
            if column.unit_low is not None and column.unit_high is not None:
                scope.totals[found] = Fraction(column.unit_low), Fraction(column.unit_high)
        scope.relations[shown] = columns
        if isinstance(table, PrivateTable):
            self.private.append(table)
            if len(self.private) > _MOST_PRIVATE:
                raise Refuse(
                    node,
                    f"At most {_MOST_PRIVATE} private tables are put together.",
                    "Bring each to one row of a unit first, with GROUP BY, in a question of its own.",
                )
            scope.unit = (
                columns[table.unit.casefold()]
                if not isinstance(table.unit, Row)
                else Field(inner, UNIT, "integer", shown="each row")
                if numbered
                else ROW
            )
            scope.units = {scope.unit} if isinstance(scope.unit, Field) else set()
        return Scan(table.name, inner, tuple(table.columns) if numbered else None), scope

    def _join(self, left: Relation, scope: Scope, join: exp.Join) -> Relation:
        only(join, "this", "on", "using", "side", "kind")
        side, kind = (join.side or "").upper(), (join.kind or "").upper()
        if side not in {"", "LEFT"} or kind not in {"", "INNER", "OUTER"} or (kind == "OUTER" and side != "LEFT"):
            raise Refuse(
                join.this,
                f"A {side} {kind} JOIN is not understood.".replace("  ", " "),
                "INNER JOIN and LEFT JOIN are.",
            )
        right, other = self._one(join.this, alone=False)
        if set(other.relations) & set(scope.relations):
            raise Refuse(join.this, "Two tables have the same name here.", "Give one another name with AS.")
        both = Scope(
            {**scope.relations, **other.relations},
            {**scope.keys, **other.keys},
            {**scope.steps, **other.steps},
            {**scope.totals, **other.totals},
        )
        if scope.unit is ROW or other.unit is ROW:
            raise InternalError("A row that is joined has a number.")
        condition = self._condition(join, scope, other, both)
        if scope.unit is None and other.unit is not None and side == "LEFT":
            raise Refuse(
                join.this,
                "A public table cannot be on the left of a LEFT JOIN with a private one.",
                "Turn the two around.",
            )
        if scope.unit is not None and other.unit is not None:
            check_joined_on_unit(join, condition, scope, other)
        both.unit = scope.unit if scope.unit is not None else other.unit
        both.units = scope.units | (other.units if side != "LEFT" else set())
        scope.relations, scope.keys, scope.steps, scope.totals = both.relations, both.keys, both.steps, both.totals
        scope.unit, scope.units = both.unit, both.units
        return Join(left, right, condition, left=side == "LEFT")

    def _condition(self, join: exp.Join, left: Scope, right: Scope, both: Scope) -> Expression:
        if (on := join.args.get("on")) is not None:
            return read_condition(on, both)
        columns = join.args.get("using") or []
        if not columns:
            raise Refuse(join.this, "A JOIN needs ON or USING.", "Say on which columns the rows belong together.")
        equal = []
        for each in columns:
            column = each if isinstance(each, exp.Column) else exp.Column(this=each)
            pair = (left.find(column), right.find(column))
            if pair[0].type != pair[1].type:
                raise Refuse(each, "The two columns are of different types.")
            equal.append(Apply(Operation.EQUAL, pair, "boolean"))
            merged = each.name.casefold()
            for columns_of in right.relations.values():
                columns_of.pop(merged, None)
            for columns_of in both.relations.values():
                if columns_of.get(merged) == pair[1]:
                    del columns_of[merged]
        condition: Expression = equal[0]
        for another in equal[1:]:
            condition = Apply(Operation.AND, (condition, another), "boolean")
        return condition

    def _derived(  # noqa: C901  # one branch for each thing that is handed on
        self, node: exp.Expression, inner: str, shown: str, *, alone: bool
    ) -> tuple[Relation, Scope]:
        if not isinstance(node, exp.Select):
            raise Refuse(node, "A sub-query is one SELECT.")
        only(node, "expressions", "from_", "joins", "where", "group", "with_")
        here = self.common
        self.declare(node)
        relation, scope = self.read(node, alone=alone)
        self.common = here
        where = read_condition(node.args["where"].this, scope) if node.args.get("where") else None
        groups = self._groups(node, scope)
        outputs: list[Expression | UnitAggregate] = []
        columns: dict[str, Field] = {}
        result = Scope()
        for item in node.expressions:
            for name, value in self._items(item, scope, groups):
                if name.casefold() in columns:
                    raise Refuse(
                        item, f"Two columns of the sub-query are called {name!r}.", "Give one another name with AS."
                    )
                kind, known = described(value)
                column = Field(inner, handed_on(len(outputs)), kind, known, name)
                columns[name.casefold()] = column
                outputs.append(value)
                if isinstance(value, Field):
                    if value in scope.keys:
                        result.keys[column] = scope.keys[value]
                    if value in scope.steps:
                        result.steps[column] = scope.steps[value]
                    if value in scope.totals:
                        result.totals[column] = scope.totals[value]
                    if value in scope.units:
                        result.units.add(column)
        result.relations[shown] = columns
        if scope.unit is ROW:
            result.unit = ROW
            return Derived(relation, where, tuple(outputs), None, None, inner), result
        if isinstance(scope.unit, Field):
            unit = next(each for each in groups if each in scope.units) if groups is not None else scope.unit
            assert isinstance(unit, Field)  # noqa: S101  # `_groups` has seen to it
            carried = Field(inner, UNIT, unit.type, shown=unit.called)
            result.unit = carried
            result.units.add(carried)
            return Derived(relation, where, tuple(outputs), groups, unit, inner), result
        return Derived(relation, where, tuple(outputs), groups, None, inner), result

    def _groups(self, node: exp.Select, scope: Scope) -> tuple[Expression, ...] | None:
        clause = node.args.get("group")
        if clause is None:
            return None
        only(clause, "expressions")
        groups = tuple(read_scalar(each, scope) for each in clause.expressions)
        if scope.unit is ROW or (scope.unit is not None and not scope.units & set(groups)):
            raise Refuse(
                clause.expressions[0] if clause.expressions else clause,
                "A sub-query over private rows is grouped by the unit of privacy, or not at all.",
                f"Add {scope.unit.called!r} to its GROUP BY."
                if isinstance(scope.unit, Field)
                else "Group outside of it.",
            )
        return groups

    def _items(
        self, item: exp.Expression, scope: Scope, groups: tuple[Expression, ...] | None
    ) -> list[tuple[str, Expression | UnitAggregate]]:
        if isinstance(item, exp.Star):
            only(item)
            if groups is not None:
                raise Refuse(item, "* cannot stand beside GROUP BY.")
            return [(column.called, column) for columns in scope.relations.values() for column in columns.values()]
        name, inner = (
            (item.alias, item.this)
            if isinstance(item, exp.Alias)
            else (item.name if isinstance(item, exp.Column) else "", item)
        )
        if not name:
            raise Refuse(item, "A column of a sub-query needs a name.", "Give it one with AS.")
        aggregate = self._unit_aggregate(inner, scope)
        if aggregate is not None:
            if groups is None:
                raise Refuse(inner, "A sub-query that aggregates is grouped by the unit of privacy.")
            return [(name, aggregate)]
        value = read_scalar(inner, scope)
        if groups is not None and value not in groups:
            raise Refuse(inner, "This is neither aggregated nor in the sub-query's GROUP BY.")
        return [(name, value)]

    def _unit_aggregate(self, node: exp.Expression, scope: Scope) -> UnitAggregate | None:
        function = _UNIT_FUNCTIONS.get(type(node))
        if function is None:
            return None
        only(node, "this", "big_int")
        if isinstance(node.this, exp.Star):
            return UnitAggregate(UnitFunction.COUNT_ROWS, None)
        argument = read_scalar(node.this, scope)
        if function is not UnitFunction.COUNT and argument.type not in {"integer", "real"}:
            raise Refuse(node, "Only numbers are aggregated here.")
        return UnitAggregate(function, argument)

    def _known(self) -> str:
        return ", ".join(table.name for table in self.policy.tables)

    @staticmethod
    def _check_alias(node: exp.Expression) -> None:
        alias = node.args.get("alias")
        if alias is not None:
            only(alias, "this")

"""The one statement that an engine runs for a plan: it bounds every unit's part, and returns small whole numbers.

    rows      the rows that are asked about: unit, keys, values
    steps     the same with values to be summed as whole numbers of steps
    pieces    one row for each unit and group: how many rows, exact sums of steps
    bounded   the sums scaled down to so many rows
    chosen    the groups of a unit in an order by a salted hash (only where a unit may be in more than it may count in)
    totals    one row for each group: units, and the sums of what is bounded, of the first groups of each unit

Rows beyond the bound R of a group are not sampled: with n > R rows, a sum s becomes s R / n, rounded towards 0. It lies
between what R copies of the smallest and of the largest value would give, so one unit changes a group by at most R
times the largest step, exactly as if R rows had been picked; no average is biased, and no window over rows is needed.
A unit that is added or removed leaves the pieces of all others as they are, whatever order their groups are in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from sqlglot import exp

from indistinct.errors import InternalError
from indistinct.queries.engines.arithmetic import exact_double, steps_between, summed_in_order
from indistinct.queries.engines.choosing import first_in_spark, order_of_groups, places_of, spread_by_unit
from indistinct.queries.engines.integers import at_most, between, kept, row_number, shrunk, squared, summed
from indistinct.queries.engines.lengths import check_length
from indistinct.queries.engines.speaking import said
from indistinct.queries.engines.words import Dialect, column, identifier, key_literal, real, shortened, type_of, whole
from indistinct.queries.plans.expressions import Apply, Expression, Field, Operation
from indistinct.queries.plans.measures import (
    CELL_WEIGHT,
    Cells,
    CountRows,
    CountUnits,
    CountValues,
    Measure,
    Quantised,
    Sum,
    UnitTotal,
    change,
)
from indistinct.queries.plans.plan import Plan
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
from indistinct.queries.policy.terms import Key
from indistinct.queries.refusals import QueryRefused

__all__ = ["statement_of"]

_FEW_KEYS = 1000
_NONE = Scan("", "")


def statement_of(plan: Plan, dialect: Dialect, least_units: int) -> str:
    """The statement. Groups with fewer units than `least_units` do not leave the engine, where groups are private.

    Columns: part (0 for totals, i for the cells of the i-th column with quantiles), keys, cell, units, measures.
    QueryRefused if it would become too long.
    """
    try:
        check_length(plan)
        rows = _Statement(plan, dialect, least_units).rows()
        if plan.choosing or sum(len(key.public or ()) for key in plan.keys) > _FEW_KEYS:
            return f"WITH {rows}, {_after_rows.__wrapped__(plan, dialect, least_units)}"
        form = replace(plan, relation=_NONE, where=None, outputs=(), having=None, order=(), limit=None, offset=0)
        return f"WITH {rows}, {_after_rows(form, dialect, least_units)}"
    except RecursionError:
        raise QueryRefused("", None, "The question is nested too deeply.") from None


@lru_cache(maxsize=128)
def _after_rows(form: Plan, dialect: Dialect, least_units: int) -> str:
    """All that does not depend on which rows are read, which is the same for many questions and takes longest.

    Where groups are chosen it does depend on them, by the salt of the order.
    """
    return _Statement(form, dialect, least_units).after_rows().removeprefix("WITH ")


class _Statement:
    def __init__(self, plan: Plan, dialect: Dialect, least_units: int) -> None:
        self.plan = plan
        self.dialect = dialect
        self.least_units = least_units
        self.keys = [f"k{index}" for index in range(len(plan.keys))]
        self.values = self._values()
        quantised = [each.of for each in plan.measures if isinstance(each, Sum | UnitTotal)]
        self.steps = {of: f"x{index}" for index, of in enumerate(dict.fromkeys(quantised))}
        self.source = "steps" if self.steps else "rows"

    def rows(self) -> str:
        """The first step, by which questions differ."""
        return self._said(exp.CTE(this=self._rows(), alias=exp.TableAlias(this=identifier("rows"))))

    def after_rows(self) -> str:
        """All other steps, and what is made of them."""
        steps = [*self._quantised(), *self._steps()]
        parts = [
            self._part(0, "totals", [column("units"), *(column(f"m{i}") for i in range(len(self.plan.measures)))], None)
        ]
        for index, quantiles in enumerate(self.plan.quantiles, start=1):
            steps += self._cells(index, quantiles.cells)
            missing = [exp.Cast(this=exp.Null(), to=type_of("integer")) for _ in self.plan.measures]
            parts.append(self._part(index, f"grid{index}", [column("weight"), *missing], column("cell")))
        query: exp.Query = parts[0]
        for part in parts[1:]:
            query = exp.Union(this=query, expression=part, distinct=False)
        for name, select in steps:
            query = query.with_(identifier(name), as_=select, copy=False)
        return self._said(query)

    def _said(self, told: exp.Query | exp.CTE) -> str:
        if self.dialect == "postgres":
            for each in told.find_all(exp.Identifier):
                each.set("this", shortened(each.name))
        return told.sql(dialect=self.dialect, copy=False)

    def _values(self) -> dict[Expression, str]:
        values: dict[Expression, str] = {}
        for measure in self.plan.measures:
            match measure:
                case CountValues(value=value) | Sum(of=Quantised(value=value)) | UnitTotal(of=Quantised(value=value)):
                    values.setdefault(value, f"v{len(values)}")
        for quantiles in self.plan.quantiles:
            values.setdefault(quantiles.cells.value, f"v{len(values)}")
        return values

    def _rows(self) -> exp.Select:
        plan = self.plan
        groups = [self._key(key.expression) for key in plan.keys]
        if plan.placed:
            columns = [_named(column("place", f"keys {name}"), name) for name in self.keys]
        else:
            columns = [_named(key.copy(), name) for key, name in zip(groups, self.keys, strict=True)]
        conditions = [] if plan.where is None else [said(plan.where, self.dialect)]
        if isinstance(plan.unit, Field):
            unit = said(plan.unit, self.dialect)
            columns.insert(0, _named(unit, "u"))
            conditions.append(exp.Not(this=exp.Is(this=unit.copy(), expression=exp.Null())))
        for value, name in self.values.items():
            columns.append(_named(self._value(value), name))
        if not columns:
            columns.append(_named(whole(1), "one"))
        select = self._from(exp.select(*columns, copy=False), plan.relation)
        placing = plan.places if plan.placed else ()
        for index, (name, key, group) in enumerate(zip(self.keys, plan.keys, groups, strict=True)):
            public = key.public or ()
            if plan.placed:
                places = places_of(key, placing[index], f"keys {name}", self.dialect)
                declared = column("key", places.alias)
                equal = self._same(group, declared) if None in public else exp.EQ(this=group, expression=declared)
                select = select.join(places, on=equal, copy=False)
            elif key.public is not None:
                conditions.append(_among(group, public))
        return select.where(*conditions, copy=False) if conditions else select

    def _value(self, value: Expression) -> exp.Expression:
        """A value that is counted, summed or ranked: not-a-number is NULL."""
        if isinstance(value, Apply) and value.operation is Operation.OR_ZERO:
            zero = real(0) if value.type == "real" else whole(0)
            return exp.Coalesce(this=self._value(value.arguments[0]), expressions=[zero])
        told = said(value, self.dialect)
        return exp.Nullif(this=told, expression=real(float("nan"))) if value.type == "real" else told

    def _key(self, expression: Expression) -> exp.Expression:
        told = said(expression, self.dialect)
        if self.dialect == "postgres" and expression.type == "text":
            return exp.Collate(this=told, expression=identifier("C"))  # the order of bytes, as elsewhere
        if self.dialect == "spark" and expression.type == "text" and not self.plan.placed:
            return exp.Anonymous(this="TRY_VALIDATE_UTF8", expressions=[told])  # as the key may leave the engine
        return told

    def _quantised(self) -> list[tuple[str, exp.Select]]:
        if not self.steps:
            return []
        columns = [_named(self._steps_of(of), name) for of, name in self.steps.items()]
        return [("steps", _select([exp.Star(), *columns], "rows"))]

    def _steps_of(self, of: Quantised) -> exp.Expression:
        value = column(self.values[of.value])
        double = value if of.value.type == "real" else _double(value)
        steps = steps_between(double.copy(), of.centre, of.inverse, guard=self.dialect == "postgres")
        rounded = exp.Floor(this=exp.Add(this=steps, expression=real(0.5)))
        return exp.Case(
            ifs=[
                exp.If(this=exp.GTE(this=double.copy(), expression=real(of.high)), true=whole(of.steps(of.high))),
                exp.If(this=exp.LTE(this=double.copy(), expression=real(of.low)), true=whole(of.steps(of.low))),
            ],
            default=exp.TryCast(this=rounded, to=type_of("integer")),
        )

    def _steps(self) -> list[tuple[str, exp.Select]]:
        measures = self.plan.measures
        if not isinstance(self.plan.unit, Field):
            sums = [
                _named(exp.Coalesce(this=self._counted(each), expressions=[whole(0)]), f"m{i}")
                for i, each in enumerate(measures)
            ]
            return [
                (
                    "totals",
                    self._grouped(_select([*map(column, self.keys), _named(_count(), "units"), *sums], self.source)),
                )
            ]
        parts = [_named(_count(), "n")]
        for index, each in enumerate(measures):
            match each:
                case CountValues() | Sum() | UnitTotal():
                    counted = self._counted(each)
                    if isinstance(each, Sum):
                        counted = kept(counted, each.of.largest**each.power, self.dialect)
                    parts.append(_named(counted, f"s{index}"))
                    if isinstance(each, Sum):
                        parts.append(_named(exp.Count(this=column(self.values[each.of.value])), f"n{index}"))
        bounded = [_named(self._bounded(each, i), f"b{i}") for i, each in enumerate(measures) if not self._is_one(each)]
        alone = self.dialect == "spark" and self.plan.choosing and self.plan.placed and self.plan.groups == 1
        steps = [("spread", spread_by_unit(self.source))] if alone else []
        pieces = _select([column("u"), *map(column, self.keys), *parts], "spread" if alone else self.source)
        pieces = pieces.group_by(column("u"), *map(column, self.keys), copy=False)
        steps.append(("pieces", pieces))
        steps.append(("bounded", _select([column("u"), *map(column, self.keys), *bounded], "pieces")))
        if alone:
            names = [*self.keys, *(each.alias for each in bounded)]
            steps += first_in_spark(order_of_groups(self.plan, self.keys, self.dialect), names)
        elif self.plan.choosing:
            order = order_of_groups(self.plan, self.keys, self.dialect)
            place = exp.Window(this=exp.RowNumber(), partition_by=[column("u")], order=order)
            steps.append(("chosen", _select([exp.Star(), _named(place, "place")], "bounded")))
        sums = [self._total(each, i) for i, each in enumerate(measures)]
        columns = [_named(exp.Coalesce(this=each, expressions=[whole(0)]), f"m{i}") for i, each in enumerate(sums)]
        totals = _select([*map(column, self.keys), _named(_count(), "units"), *columns], steps[-1][0])
        steps.append(("totals", self._grouped(self._first_groups(totals))))
        return steps

    def _is_one(self, measure: Measure) -> bool:
        """Whether the measure is 1 for each unit and group."""
        rows = self.plan.contribution.rows
        return isinstance(measure, CountUnits) or (isinstance(measure, CountRows) and rows == 1)

    def _first_groups(self, select: exp.Select) -> exp.Select:
        if not self.plan.choosing:
            return select
        first = exp.LTE(this=column("place"), expression=whole(self.plan.contribution.groups))
        return select.where(first, copy=False)

    def _grouped(self, select: exp.Select) -> exp.Select:
        if self.keys:
            select = select.group_by(*map(column, self.keys), copy=False)
            if not self.plan.public:
                select = select.having(exp.GTE(this=_count(), expression=whole(self.least_units)), copy=False)
        return select

    def _counted(self, measure: Measure) -> exp.Expression:
        match measure:
            case CountRows() | CountUnits():
                return _count()
            case CountValues(value=value):
                return exp.Count(this=column(self.values[value]))
            case Sum(of=of, power=power):
                steps: exp.Expression = column(self.steps[of])
                if power == 2:
                    steps = squared(steps, of.largest, self.dialect)
                return summed(steps, of.largest**power, self.dialect, units=not isinstance(self.plan.unit, Field))
            case UnitTotal(of=of):
                return summed(column(self.steps[of]), of.largest, self.dialect)
        raise InternalError(f"There is no way to count {measure!r}.")

    def _total(self, measure: Measure, index: int) -> exp.Expression:
        if self._is_one(measure):
            return _count()
        return summed(column(f"b{index}"), change(measure, self.plan.contribution), self.dialect, units=True)

    def _bounded(self, measure: Measure, index: int) -> exp.Expression:
        rows = self.plan.contribution.rows
        match measure:
            case CountRows():
                return at_most(column("n"), rows)
            case CountValues():
                return at_most(column(f"s{index}"), rows)
            case Sum(of=of, power=power):
                most = of.largest**power
                return shrunk(column(f"s{index}"), column(f"n{index}"), rows, most, self.dialect)
            case UnitTotal(least=least, most=highest):
                return between(column(f"s{index}"), least, highest)
        raise InternalError(f"There is no way to bound {measure!r}.")

    def _cells(self, index: int, cells: Cells) -> list[tuple[str, exp.Select]]:
        """The chain of one column with quantiles: cells of each unit and group, bounded, and summed."""
        value = column(self.values[cells.value])
        present = exp.Not(this=exp.Is(this=value, expression=exp.Null()))
        keys = [column(name) for name in self.keys]
        if not isinstance(self.plan.unit, Field):
            pieces = _select([*keys, _named(self._cell(cells, value), "cell")], "rows").where(present, copy=False)
            weight: exp.Expression = exp.Mul(this=_count(), expression=whole(CELL_WEIGHT))
            steps = [(f"cells{index}", pieces)]
            last = f"cells{index}"
        else:
            # Rows without a value have a cell NULL, so that the groups of a unit are the ones chosen for its measures.
            filled = _named(exp.Count(this=value.copy()), "n")
            pieces = _select([column("u"), *keys, _named(self._cell(cells, value), "cell"), filled], "rows")
            pieces = pieces.group_by(column("u"), *[key.copy() for key in keys], self._cell(cells, value), copy=False)
            share = [column("u"), *[key.copy() for key in keys]]
            columns: list[exp.Expression] = [*[key.copy() for key in keys], column("cell"), column("n")]
            total = exp.Cast(this=exp.Window(this=exp.Sum(this=column("n")), partition_by=share), to=type_of("integer"))
            columns.append(_named(total, "total"))
            if self.plan.choosing:
                columns.append(
                    _named(
                        exp.Window(
                            this=exp.DenseRank(),
                            partition_by=[column("u")],
                            order=order_of_groups(self.plan, self.keys, self.dialect),
                        ),
                        "place",
                    )
                )
            placed = _select(columns, f"cells{index}")
            rows = self.plan.contribution.rows
            whole_weight = exp.Paren(this=exp.Mul(this=column("n"), expression=whole(CELL_WEIGHT)))
            share_of = shrunk(whole_weight, column("total"), rows, CELL_WEIGHT, self.dialect)
            bounded = _select(
                [*[key.copy() for key in keys], column("cell"), _named(share_of, "part")], f"placed{index}"
            ).where(exp.Not(this=exp.Is(this=column("cell"), expression=exp.Null())), copy=False)
            bounded = self._first_groups(bounded)
            steps = [(f"cells{index}", pieces), (f"placed{index}", placed), (f"bounded{index}", bounded)]
            weight = summed(column("part"), CELL_WEIGHT * rows, self.dialect, units=True)
            last = f"bounded{index}"
        grid = _select([*[key.copy() for key in keys], column("cell"), _named(weight, "weight")], last)
        grid = grid.group_by(*[key.copy() for key in keys], column("cell"), copy=False)
        steps.append((f"grid{index}", grid))
        return steps

    def _cell(self, cells: Cells, value: exp.Expression) -> exp.Expression:
        double = value.copy() if cells.value.type == "real" else _double(value.copy())
        inverse = cells.number / (cells.high - cells.low)
        place = steps_between(double.copy(), cells.low, inverse, guard=self.dialect == "postgres")
        inside = exp.TryCast(this=exp.Floor(this=place), to=type_of("integer"))
        return exp.Case(
            ifs=[
                exp.If(this=exp.GTE(this=double.copy(), expression=real(cells.high)), true=whole(cells.number - 1)),
                exp.If(this=exp.LTE(this=double.copy(), expression=real(cells.low)), true=whole(0)),
                exp.If(
                    this=exp.GTE(this=place.copy(), expression=real(cells.number - 1)), true=whole(cells.number - 1)
                ),
            ],
            default=inside,
        )

    def _same(self, one: exp.Expression, other: exp.Expression) -> exp.Condition:
        """Equal, where NULL equals NULL; for PostgreSQL as it can look it up."""
        if self.dialect != "postgres":
            return exp.NullSafeEQ(this=one, expression=other)
        texts = [exp.Coalesce(this=_text(each), expressions=[exp.Literal.string("")]) for each in (one, other)]
        missing = [exp.Paren(this=exp.Is(this=each.copy(), expression=exp.Null())) for each in (one, other)]
        return exp.and_(
            exp.EQ(this=texts[0], expression=texts[1]), exp.EQ(this=missing[0], expression=missing[1]), copy=False
        )

    def _part(
        self, number: int, source: str, numbers: Sequence[exp.Expression], cell: exp.Expression | None
    ) -> exp.Select:
        empty = exp.Cast(this=exp.Null(), to=type_of("integer"))
        keys = [column(name, source) for name in self.keys]
        select = _select([_named(whole(number), "part"), *keys, _named(cell or empty, "cell"), *numbers], source)
        if number and self.keys and not self.plan.public:
            same = [self._same(column(name, source), column(name, "totals")) for name in self.keys]
            select = select.join(exp.Table(this=identifier("totals")), on=exp.and_(*same, copy=False), copy=False)
        return select

    def _relation(self, relation: Relation) -> exp.Expression:
        match relation:
            case Scan(table=table, alias=alias, numbered=None):
                return self._table(table, exp.TableAlias(this=identifier(alias)))
            case Scan(table=table, alias=alias, numbered=numbered):
                columns = [_named(column(name), handed_on(place)) for place, name in enumerate(numbered or ())]
                columns.append(_named(row_number(self.dialect), UNIT))
                select = exp.select(*columns, copy=False).from_(self._table(table), copy=False)
                return select.subquery(identifier(alias), copy=False)
            case Derived():
                return self._derived(relation)
        raise InternalError(f"There is no way to read {relation!r}.")

    def _table(self, name: str, alias: exp.TableAlias | None = None) -> exp.Table:
        """A table of the policy; by its schema where DuckDB would take its name for that of the step that reads it."""
        alike = self.dialect == "duckdb" and name.casefold() == "rows"
        schema = identifier("main") if alike else None
        return exp.Table(this=identifier(name), db=schema, alias=alias)

    def _derived(self, derived: Derived) -> exp.Expression:
        columns = [_named(self._output(value), handed_on(place)) for place, value in enumerate(derived.outputs)]
        if derived.unit is not None:
            columns.append(_named(said(derived.unit, self.dialect), UNIT))
        select = self._from(exp.select(*columns, copy=False), derived.source)
        if derived.where is not None:
            select = select.where(said(derived.where, self.dialect), copy=False)
        if derived.groups is not None:
            select = select.group_by(*(said(each, self.dialect) for each in derived.groups), copy=False)
        return select.subquery(identifier(derived.alias), copy=False)

    def _from(self, select: exp.Select, relation: Relation) -> exp.Select:
        """FROM and its joins; they lean to the left, as they are read."""
        joins: list[Join] = []
        while isinstance(relation, Join):
            joins.append(relation)
            relation = relation.first
        select = select.from_(self._relation(relation), copy=False)
        for join in reversed(joins):
            kind = "LEFT" if join.left else "INNER"
            select = select.join(
                self._relation(join.second), on=said(join.condition, self.dialect), join_type=kind, copy=False
            )
        return select

    def _output(self, value: Expression | UnitAggregate) -> exp.Expression:
        if not isinstance(value, UnitAggregate):
            return said(value, self.dialect)
        if value.argument is None:
            return _count()
        told = said(value.argument, self.dialect)
        match value.function:
            case UnitFunction.COUNT | UnitFunction.COUNT_ROWS:
                return exp.Count(this=told)
            case UnitFunction.LEAST:
                return exp.Min(this=told)
            case UnitFunction.GREATEST:
                return exp.Max(this=told)
        if value.argument.type == "integer":
            total = exact_double(summed(told, None, self.dialect), self.dialect)
        else:
            total = summed_in_order(told, self.dialect)
        if value.function is UnitFunction.SUM:
            return total
        return exp.Div(
            this=total,
            expression=exp.Nullif(this=_double(exp.Count(this=told.copy())), expression=real(0)),
            typed=False,
            safe=False,
        )


def _among(told: exp.Expression, keys: tuple[Key, ...]) -> exp.Expression:
    members = [key_literal(key) for key in keys if key is not None]
    missing = exp.Is(this=told.copy(), expression=exp.Null())
    if not members:
        return missing
    among = exp.In(this=told, expressions=members)
    return exp.Paren(this=exp.Or(this=among, expression=missing)) if None in keys else among


def _select(columns: Sequence[exp.Expression], source: str) -> exp.Select:
    return exp.select(*columns, copy=False).from_(exp.Table(this=identifier(source)), copy=False)


def _named(told: exp.Expression, name: str) -> exp.Expression:
    return exp.Alias(this=told, alias=identifier(name))


def _count() -> exp.Expression:
    return exp.Count(this=exp.Star(), big_int=True)


def _double(told: exp.Expression) -> exp.Expression:
    return exp.Cast(this=told, to=type_of("real"))


def _text(told: exp.Expression) -> exp.Expression:
    return exp.Cast(this=told.copy(), to=type_of("text"))

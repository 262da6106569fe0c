"""The one statement that an engine runs for a plan: it bounds every unit's part, and returns small whole numbers.

    rows      the rows that are asked about: unit, keys, values
    pieces    one row for each unit and group: how many rows, exact sums of steps
    chosen    the groups of a unit in an order by a salted hash (only where a unit may be in more than it may count in)
    bounded   at most so many groups of a unit, and in each the sums scaled down to so many rows
    totals    one row for each group: units, and the sums of what is bounded

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
from indistinct.queries.engines.speaking import Dialect, column, identifier, key_literal, real, said, whole
from indistinct.queries.plans.expressions import Expression, Field
from indistinct.queries.plans.measures import (
    CELL_WEIGHT,
    Cells,
    CountRows,
    CountUnits,
    CountValues,
    Measure,
    Quantised,
    Sum,
)
from indistinct.queries.plans.plan import Plan
from indistinct.queries.plans.relations import UNIT, Derived, Join, Relation, Scan, UnitAggregate, UnitFunction
from indistinct.queries.policy.terms import Key

__all__ = ["statement_of"]

_CELL_TYPE = "BIGINT"
_FEW_KEYS = 1000
_NONE = Scan("", "")
_PRIME = 2**31 - 1


def statement_of(plan: Plan, dialect: Dialect, least_units: int) -> str:
    """The statement. Groups with fewer units than `least_units` do not leave the engine, where groups are private.

    Columns: part (0 for totals, i for the cells of the i-th column with quantiles), keys, cell, units, measures.
    """
    form = replace(plan, relation=_NONE, where=None, outputs=(), having=None, order=(), limit=None, offset=0)
    after = _after_rows if sum(len(key.public or ()) for key in plan.keys) <= _FEW_KEYS else _after_rows.__wrapped__
    rows = _Statement(plan, dialect)
    salt = plan.fingerprint()[:32] if rows.overlap() else ""
    return f"WITH {rows.rows()}, {after(form, dialect, least_units, salt)}"


@lru_cache(maxsize=128)
def _after_rows(form: Plan, dialect: Dialect, least_units: int, salt: str) -> str:
    """All that does not depend on which rows are read, which is the same for many questions and takes longest."""
    return _Statement(form, dialect, least_units, salt).after_rows().removeprefix("WITH ")


class _Statement:
    def __init__(self, plan: Plan, dialect: Dialect, least_units: int = 1, salt: str = "") -> None:
        self.plan = plan
        self.dialect = dialect
        self.least_units = least_units
        self.keys = [f"k{index}" for index in range(len(plan.keys))]
        self.values = self._values()
        self.salt = salt

    def rows(self) -> str:
        """The first step, by which questions differ."""
        name = exp.TableAlias(this=identifier("rows"))
        return exp.CTE(this=self._rows(), alias=name).sql(dialect=self.dialect, copy=False)

    def after_rows(self) -> str:
        """All other steps, and what is made of them."""
        steps = self._steps()
        parts = [
            self._part(0, "totals", [column("units"), *(column(f"m{i}") for i in range(len(self.plan.measures)))], None)
        ]
        for index, quantiles in enumerate(self.plan.quantiles, start=1):
            steps += self._cells(index, quantiles.cells)
            missing = [exp.Cast(this=exp.Null(), to=exp.DataType.build("BIGINT")) for _ in self.plan.measures]
            parts.append(self._part(index, f"grid{index}", [column("weight"), *missing], column("cell")))
        query: exp.Query = parts[0]
        for part in parts[1:]:
            query = exp.Union(this=query, expression=part, distinct=False)
        for name, select in steps:
            query = query.with_(identifier(name), as_=select, copy=False)
        return query.sql(dialect=self.dialect, copy=False)

    def _values(self) -> dict[Expression, str]:
        values: dict[Expression, str] = {}
        for measure in self.plan.measures:
            match measure:
                case CountValues(value=value) | Sum(of=Quantised(value=value)):
                    values.setdefault(value, f"v{len(values)}")
        for quantiles in self.plan.quantiles:
            values.setdefault(quantiles.cells.value, f"v{len(values)}")
        return values

    def _rows(self) -> exp.Select:
        plan = self.plan
        columns = [_named(self._key(key.expression), name) for key, name in zip(plan.keys, self.keys, strict=True)]
        conditions = [] if plan.where is None else [said(plan.where, self.dialect)]
        if isinstance(plan.unit, Field):
            unit = said(plan.unit, self.dialect)
            columns.insert(0, _named(unit, "u"))
            conditions.append(exp.Not(this=exp.Is(this=unit.copy(), expression=exp.Null())))
        for value, name in self.values.items():
            told = said(value, self.dialect)
            if value.type == "real":
                told = exp.Nullif(this=told, expression=real(float("nan")))
            columns.append(_named(told, name))
        if not columns:
            columns.append(_named(whole(1), "one"))
        if plan.public:
            conditions += [_among(self._key(key.expression), key.public or ()) for key in plan.keys]
        select = self._from(exp.select(*columns, copy=False), plan.relation)
        return select.where(*conditions, copy=False) if conditions else select

    def _key(self, expression: Expression) -> exp.Expression:
        return said(expression, self.dialect)

    def _steps(self) -> list[tuple[str, exp.Select]]:
        measures = self.plan.measures
        if not isinstance(self.plan.unit, Field):
            sums = [
                _named(exp.Coalesce(this=self._counted(each), expressions=[whole(0)]), f"m{i}")
                for i, each in enumerate(measures)
            ]
            return [
                ("totals", self._grouped(_select([*map(column, self.keys), _named(_count(), "units"), *sums], "rows")))
            ]
        parts = [_named(_count(), "n")]
        for index, each in enumerate(measures):
            match each:
                case CountValues() | Sum():
                    parts.append(_named(self._counted(each), f"s{index}"))
                    if isinstance(each, Sum):
                        parts.append(_named(exp.Count(this=column(self.values[each.of.value])), f"n{index}"))
        pieces = _select([column("u"), *map(column, self.keys), *parts], "rows").group_by(
            column("u"), *map(column, self.keys), copy=False
        )
        steps = [("pieces", pieces)]
        before = "pieces"
        if self.overlap():
            place = exp.Window(this=exp.RowNumber(), partition_by=[column("u")], order=self._order())
            steps.append(("chosen", _select([exp.Star(), _named(place, "place")], "pieces")))
            before = "chosen"
        bounded = [_named(self._bounded(each, index), f"b{index}") for index, each in enumerate(measures)]
        inner = _select([*map(column, self.keys), *bounded] or [_named(whole(1), "one")], before)
        if self.overlap():
            inner = inner.where(
                exp.LTE(this=column("place"), expression=whole(self.plan.contribution.groups)), copy=False
            )
        steps.append(("bounded", inner))
        sums = [
            _named(exp.Coalesce(this=self._sum(column(f"b{i}")), expressions=[whole(0)]), f"m{i}")
            for i in range(len(measures))
        ]
        steps.append(
            ("totals", self._grouped(_select([*map(column, self.keys), _named(_count(), "units"), *sums], "bounded")))
        )
        return steps

    def _grouped(self, select: exp.Select) -> exp.Select:
        if self.keys:
            select = select.group_by(*map(column, self.keys), copy=False)
            if not self.plan.public:
                select = select.having(exp.GTE(this=_count(), expression=whole(self.least_units)), copy=False)
        return select

    def overlap(self) -> bool:
        """Whether a unit may be in more groups than it counts in."""
        groups = 1
        for key in self.plan.keys:
            groups *= len(key.public) if self.plan.public and key.public is not None else 10**9
        return bool(self.keys) and groups > self.plan.contribution.groups

    def _order(self) -> exp.Order:
        """A unit's groups by a salted hash, the same on every engine; ties by the keys themselves.

        Groups and units become numbers below the prime P = 2^31 - 1; a unit's order is that of (salted group times
        salted unit) modulo P, another one for each unit. Each product is below 2^62.
        """
        if not isinstance(self.plan.unit, Field):
            raise InternalError("Rows that are units have no order of groups.")
        salts = [1 + int(self.salt[4 * i : 4 * i + 4], 16) * 32749 % (_PRIME - 1) for i in range(4)]
        group: exp.Expression = whole(salts[0])
        for index, (name, key) in enumerate(zip(self.keys, self.plan.keys, strict=True)):
            factor = whole(1 + salts[1] * (7919 * index + 1) % (_PRIME - 1))
            term = _modulo(exp.Mul(this=self._number(column(name), key.expression.type), expression=factor))
            group = exp.Add(this=group, expression=term)
        unit = exp.Mul(this=self._number(column("u"), self.plan.unit.type), expression=whole(salts[2]))
        told = _modulo(exp.Mul(this=_modulo(exp.Paren(this=group)), expression=_modulo(unit)))
        by = [told, *map(column, self.keys)]
        return exp.Order(expressions=[exp.Ordered(this=each, desc=False, nulls_first=False) for each in by])

    def _number(self, told: exp.Expression, kind: str) -> exp.Expression:
        """A number from 0 to P - 1 for a value, NULL for NULL: of text, from the first digits of its MD5."""
        if kind == "integer":
            return exp.Abs(this=_modulo(told))
        text = exp.MD5(this=exp.Cast(this=told, to=exp.DataType.build("TEXT")))
        digits = exp.Substring(this=text, start=whole(1), length=whole(7))
        big = exp.DataType.build("BIGINT")
        match self.dialect:
            case "duckdb":
                return exp.Cast(this=exp.DPipe(this=exp.Literal.string("0x"), expression=digits), to=big)
            case "spark":
                return exp.Cast(this=exp.Anonymous(this="CONV", expressions=[digits, whole(16), whole(10)]), to=big)
        padded = exp.DPipe(this=exp.Literal.string("x"), expression=digits)
        bits = exp.Cast(this=padded, to=exp.DataType.build("BIT(28)", dialect="postgres"))
        return exp.Cast(this=bits, to=big)

    def _counted(self, measure: Measure) -> exp.Expression:
        match measure:
            case CountRows() | CountUnits():
                return _count()
            case CountValues(value=value):
                return exp.Count(this=column(self.values[value]))
            case Sum(of=of, power=power):
                steps = self._quantised(of)
                if power == 2:
                    steps = exp.Mul(this=exp.Paren(this=steps), expression=exp.Paren(this=steps.copy()))
                return self._sum(steps)
        raise InternalError(f"There is no way to count {measure!r}.")

    def _quantised(self, of: Quantised) -> exp.Expression:
        value = column(self.values[of.value])
        double = value if of.value.type == "real" else _double(value)
        moved = exp.Paren(this=exp.Sub(this=double.copy(), expression=real(of.centre)))
        rounded = exp.Floor(this=exp.Add(this=exp.Mul(this=moved, expression=real(of.inverse)), expression=real(0.5)))
        return exp.Case(
            ifs=[
                exp.If(this=exp.GTE(this=double.copy(), expression=real(of.high)), true=whole(of.steps(of.high))),
                exp.If(this=exp.LTE(this=double.copy(), expression=real(of.low)), true=whole(of.steps(of.low))),
            ],
            default=exp.TryCast(this=rounded, to=exp.DataType.build("BIGINT")),
        )

    def _sum(self, what: exp.Expression) -> exp.Expression:
        """A sum that cannot overflow: of 128 bits, or of 38 digits."""
        if self.dialect == "duckdb":
            return exp.Sum(this=what)  # of whole numbers: HUGEINT
        return exp.Sum(this=exp.Cast(this=what, to=exp.DataType.build("DECIMAL(38, 0)")))

    def _bounded(self, measure: Measure, index: int) -> exp.Expression:
        rows = self.plan.contribution.rows
        match measure:
            case CountUnits():
                return whole(1)
            case CountRows():
                return _at_most(column("n"), rows)
            case CountValues():
                return _at_most(column(f"s{index}"), rows)
            case Sum():
                return _scaled(column(f"s{index}"), column(f"n{index}"), rows, self.dialect)
        raise InternalError(f"There is no way to bound {measure!r}.")

    def _cells(self, index: int, cells: Cells) -> list[tuple[str, exp.Select]]:
        """The chain of one column with quantiles: cells of each unit and group, bounded, and summed."""
        value = column(self.values[cells.value])
        present = exp.Not(this=exp.Is(this=value, expression=exp.Null()))
        keys = [column(name) for name in self.keys]
        if not isinstance(self.plan.unit, Field):
            pieces = _select([*keys, _named(_cell(cells, value), "cell")], "rows").where(present, copy=False)
            weight: exp.Expression = exp.Mul(this=_count(), expression=whole(CELL_WEIGHT))
            steps = [(f"cells{index}", pieces)]
            last = f"cells{index}"
        else:
            # Rows without a value have a cell NULL, so that the groups of a unit are the ones chosen for its measures.
            filled = _named(exp.Count(this=value.copy()), "n")
            pieces = _select([column("u"), *keys, _named(_cell(cells, value), "cell"), filled], "rows")
            pieces = pieces.group_by(column("u"), *[key.copy() for key in keys], _cell(cells, value), copy=False)
            share = [column("u"), *[key.copy() for key in keys]]
            columns: list[exp.Expression] = [*[key.copy() for key in keys], column("cell"), column("n")]
            columns.append(_named(exp.Window(this=exp.Sum(this=column("n")), partition_by=share), "total"))
            if self.overlap():
                columns.append(
                    _named(exp.Window(this=exp.DenseRank(), partition_by=[column("u")], order=self._order()), "place")
                )
            placed = _select(columns, f"cells{index}")
            rows = self.plan.contribution.rows
            share_of = _scaled(
                exp.Mul(this=column("n"), expression=whole(CELL_WEIGHT)), column("total"), rows, self.dialect
            )
            bounded = _select(
                [*[key.copy() for key in keys], column("cell"), _named(share_of, "part")], f"placed{index}"
            ).where(exp.Not(this=exp.Is(this=column("cell"), expression=exp.Null())), copy=False)
            if self.overlap():
                bounded = bounded.where(
                    exp.LTE(this=column("place"), expression=whole(self.plan.contribution.groups)), copy=False
                )
            steps = [(f"cells{index}", pieces), (f"placed{index}", placed), (f"bounded{index}", bounded)]
            weight = self._sum(column("part"))
            last = f"bounded{index}"
        grid = _select([*[key.copy() for key in keys], column("cell"), _named(weight, "weight")], last)
        grid = grid.group_by(*[key.copy() for key in keys], column("cell"), copy=False)
        steps.append((f"grid{index}", grid))
        return steps

    def _part(
        self, number: int, source: str, numbers: Sequence[exp.Expression], cell: exp.Expression | None
    ) -> exp.Select:
        empty = exp.Cast(this=exp.Null(), to=exp.DataType.build(_CELL_TYPE))
        keys = [column(name, source) for name in self.keys]
        select = _select([_named(whole(number), "part"), *keys, _named(cell or empty, "cell"), *numbers], source)
        if number and self.keys and not self.plan.public:
            same = [exp.NullSafeEQ(this=column(name, source), expression=column(name, "totals")) for name in self.keys]
            select = select.join(exp.Table(this=identifier("totals")), on=exp.and_(*same, copy=False), copy=False)
        return select

    def _relation(self, relation: Relation) -> exp.Expression:
        match relation:
            case Scan(table=table, alias=alias, numbered=False):
                return exp.Table(this=identifier(table), alias=exp.TableAlias(this=identifier(alias)))
            case Scan(table=table, alias=alias):
                number = _named(exp.Window(this=exp.RowNumber()), UNIT)
                return _select([exp.Star(), number], table).subquery(identifier(alias), copy=False)
            case Derived():
                return self._derived(relation)
        raise InternalError(f"There is no way to read {relation!r}.")

    def _derived(self, derived: Derived) -> exp.Expression:
        columns = [_named(self._output(value), name) for name, value in derived.outputs]
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
        total = _double(self._sum(told)) if value.argument.type == "integer" else exp.Sum(this=told)
        if value.function is UnitFunction.SUM:
            return total
        return exp.Div(
            this=total,
            expression=exp.Nullif(this=_double(exp.Count(this=told.copy())), expression=real(0)),
            typed=False,
            safe=False,
        )


def _modulo(told: exp.Expression) -> exp.Expression:
    return exp.Paren(this=exp.Mod(this=exp.Paren(this=told), expression=whole(_PRIME)))


def _scaled(total: exp.Expression, count: exp.Expression, rows: int, dialect: Dialect) -> exp.Expression:
    """total * rows / count, rounded towards 0, where there are more than so many rows."""
    wide = exp.DataType.build("HUGEINT" if dialect == "duckdb" else "DECIMAL(38, 0)", dialect=dialect)
    size = exp.Mul(this=exp.Abs(this=exp.Cast(this=total.copy(), to=wide)), expression=whole(rows))
    least = exp.IntDiv(this=exp.Paren(this=size), expression=count.copy())
    sign = exp.Case(ifs=[exp.If(this=exp.LT(this=total.copy(), expression=whole(0)), true=whole(-1))], default=whole(1))
    shrunk = exp.Mul(this=exp.Paren(this=least), expression=sign)
    return exp.Case(
        ifs=[exp.If(this=exp.GT(this=count.copy(), expression=whole(rows)), true=shrunk)], default=total.copy()
    )


def _cell(cells: Cells, value: exp.Expression) -> exp.Expression:
    double = value.copy() if cells.value.type == "real" else _double(value.copy())
    inverse = cells.number / (cells.high - cells.low)
    place = exp.Mul(
        this=exp.Paren(this=exp.Sub(this=double.copy(), expression=real(cells.low))), expression=real(inverse)
    )
    inside = exp.TryCast(this=exp.Floor(this=place), to=exp.DataType.build(_CELL_TYPE))
    return exp.Case(
        ifs=[
            exp.If(this=exp.GTE(this=double.copy(), expression=real(cells.high)), true=whole(cells.number - 1)),
            exp.If(this=exp.LTE(this=double.copy(), expression=real(cells.low)), true=whole(0)),
            exp.If(this=exp.GTE(this=place.copy(), expression=real(cells.number - 1)), true=whole(cells.number - 1)),
        ],
        default=inside,
    )


def _at_most(told: exp.Expression, most: int) -> exp.Expression:
    return exp.Case(ifs=[exp.If(this=exp.GT(this=told, expression=whole(most)), true=whole(most))], default=told.copy())


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
    return exp.Cast(this=told, to=exp.DataType.build("DOUBLE"))

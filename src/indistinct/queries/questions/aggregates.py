"""Aggregates and what is computed from them: which numbers must be measured, and what is made of these."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from sqlglot import exp

from indistinct.queries.plans.expressions import Apply, Constant, Expression, Field, Operation
from indistinct.queries.plans.measures import (
    Cells,
    CountRows,
    CountUnits,
    CountValues,
    Measure,
    Sum,
    UnitTotal,
    lattice,
)
from indistinct.queries.plans.plan import GroupKey, QuantileSet
from indistinct.queries.plans.ranges import Range
from indistinct.queries.plans.results import (
    Average,
    Combine,
    Combining,
    Count,
    Figure,
    KeyOf,
    Outcome,
    Quantile,
    Spread,
    Total,
)
from indistinct.queries.policy.terms import Row
from indistinct.queries.questions.bounding import (
    bounds_of_quantile,
    bounds_of_sum,
    bounds_of_total,
    is_per_unit,
    parts_of_quantile,
    share_of_quantile,
)
from indistinct.queries.questions.joining import bare
from indistinct.queries.questions.literals import number_in
from indistinct.queries.questions.nesting import joined_parts
from indistinct.queries.questions.scalars import read_condition, read_scalar
from indistinct.queries.questions.scopes import Scope, only
from indistinct.queries.refusals import Refuse

__all__ = ["Aggregates"]

_COMBINATIONS: dict[type[exp.Expression], tuple[Combining, bool]] = {
    exp.Add: (Combining.ADD, False),
    exp.Sub: (Combining.SUBTRACT, False),
    exp.Mul: (Combining.MULTIPLY, False),
    exp.Div: (Combining.DIVIDE, False),
    exp.EQ: (Combining.EQUAL, False),
    exp.NEQ: (Combining.UNEQUAL, False),
    exp.LT: (Combining.LESS, False),
    exp.LTE: (Combining.LESS_OR_EQUAL, False),
    exp.GT: (Combining.LESS, True),
    exp.GTE: (Combining.LESS_OR_EQUAL, True),
    exp.Nullif: (Combining.NULL_IF, False),
}
_OF_ONE: dict[type[exp.Expression], Combining] = {
    exp.Abs: Combining.ABSOLUTE,
    exp.Sqrt: Combining.ROOT,
    exp.Not: Combining.NOT,
}
_OF_MANY: dict[type[exp.Expression], Combining] = {
    exp.Coalesce: Combining.COALESCE,
    exp.Least: Combining.LEAST,
    exp.Greatest: Combining.GREATEST,
}
_VARIANCES: dict[type[exp.Expression], tuple[bool, bool]] = {  # of a sample, root
    exp.Variance: (True, False),
    exp.VariancePop: (False, False),
    exp.Stddev: (True, True),
    exp.StddevSamp: (True, True),
    exp.StddevPop: (False, True),
}
_QUANTILES = (exp.Quantile, exp.ApproxQuantile, exp.Median, exp.WithinGroup)
_COMMON_CELLS = 1024
_MOST_CELLS = 4096
_MOST_SQUARED = 2**24


@dataclass(slots=True)
class Aggregates:
    """Collects measures, each once however often it is used."""

    scope: Scope
    keys: tuple[GroupKey, ...]
    cells: int = _COMMON_CELLS
    centring: bool = True
    """Whether a sum may rest on a count as well: not where each number's error is to be a wanted one."""
    aliases: dict[str, Outcome] = field(default_factory=dict)
    measures: list[Measure] = field(default_factory=list)
    quantiles: dict[Cells, list[Fraction]] = field(default_factory=dict)
    counted: set[Expression] = field(default_factory=set)
    """Values whose number is asked for, which sums use as well."""
    rows: bool = False
    """Whether the number of rows is asked for."""

    def note_counts(self, nodes: list[exp.Expression]) -> None:
        """Looks ahead for counts, so that sums of the same values are taken from a centre, at no more cost."""
        for node in nodes:
            for each in node.find_all(exp.Count, exp.Avg, *_VARIANCES):
                if isinstance(each.parent, exp.Filter) or isinstance(each.this, exp.Distinct):
                    continue
                if isinstance(each, exp.Count) and not isinstance(each.this, exp.Column):
                    self.rows = self.rows or isinstance(each.this, exp.Star)
                else:
                    self.counted.add(bare(read_scalar(each.this, self.scope)))

    def read(self, node: exp.Expression | None) -> Outcome:
        """The outcome of an expression over aggregates, keys and numbers."""
        if node is None:
            raise Refuse(node, "An argument is missing.")
        if (key := self._key(node)) is not None:
            return key
        kind = type(node)
        if isinstance(node, exp.And | exp.Or):
            how = Combining.AND if isinstance(node, exp.And) else Combining.OR
            return Combine(how, tuple(self.read(each) for each in joined_parts(node)))
        if kind in _COMBINATIONS:
            only(node, "this", "expression", "typed", "safe")
            how, swapped = _COMBINATIONS[kind]
            pair = (self.read(node.this), self.read(node.args["expression"]))
            return Combine(how, pair[::-1] if swapped else pair)
        if kind in _OF_ONE:
            only(node, "this")
            return Combine(_OF_ONE[kind], (self.read(node.this),))
        if kind in _OF_MANY:
            only(node, "this", "expressions", "ignore_nulls", "is_nvl", "is_null")
            return Combine(_OF_MANY[kind], tuple(self.read(each) for each in (node.this, *node.expressions)))
        if isinstance(node, exp.AggFunc | exp.WithinGroup | exp.Filter | exp.CountIf | exp.Quantile) or is_per_unit(
            node
        ):
            return self._aggregate(node)
        return self._other(node)

    def _other(self, node: exp.Expression) -> Outcome:  # noqa: C901  # one branch for each kind
        match node:
            case exp.Paren():
                only(node, "this")
                return self.read(node.this)
            case exp.Literal() | exp.Null() | exp.Boolean():
                value = read_scalar(node, self.scope)
                assert isinstance(value, Constant)  # noqa: S101  # a literal is one
                return Figure(Fraction(value.value) if type(value.value) is int else value.value)  # type: ignore[arg-type]  # no dates are written so
            case exp.Neg():
                only(node, "this")
                return Combine(Combining.SUBTRACT, (Figure(Fraction(0)), self.read(node.this)))
            case exp.Round():
                only(node, "this", "decimals")
                digits = (
                    number_in(node.args["decimals"], "The number of digits")
                    if node.args.get("decimals") is not None
                    else Fraction(0)
                )
                if digits.denominator != 1 or abs(digits) > 20:
                    raise Refuse(node, "ROUND takes a number of digits from -20 to 20.")
                return Combine(Combining.ROUND, (self.read(node.this), Figure(digits)))
            case exp.Is() if isinstance(node.expression, exp.Null):
                return Combine(Combining.IS_NULL, (self.read(node.this),))
            case exp.Between():
                only(node, "this", "low", "high")
                inner = self.read(node.this)
                sides = ((self.read(node.args["low"]), inner), (inner, self.read(node.args["high"])))
                return Combine(Combining.AND, tuple(Combine(Combining.LESS_OR_EQUAL, side) for side in sides))
            case exp.Case() if node.this is None:
                only(node, "ifs", "default")
                parts = [self.read(each) for branch in node.args["ifs"] for each in (branch.this, branch.args["true"])]
                otherwise = node.args.get("default")
                return Combine(
                    Combining.CASE, (*parts, self.read(otherwise) if otherwise is not None else Figure(None))
                )
            case exp.Window():
                raise Refuse(node, "Window functions are not answered privately.", "Ask for aggregates with GROUP BY.")
            case exp.Subquery() | exp.Exists():
                raise Refuse(node, "A sub-query may stand in FROM only.", "Join it on the unit of privacy.")
            case exp.Star():
                raise Refuse(node, "* would show rows.", "Ask for aggregates, such as COUNT(*).")
            case exp.Column():
                self.scope.find(node)
                raise Refuse(
                    node, f"{node.name!r} would show values of rows.", "Aggregate it, or put it into GROUP BY."
                )
        read_scalar(node, self.scope)
        raise Refuse(node, "This would show values of rows.", "Aggregate it, or put it into GROUP BY.")

    def _key(self, node: exp.Expression) -> Outcome | None:
        if isinstance(node, exp.Column) and not node.table and node.name.casefold() in self.aliases:
            return self.aliases[node.name.casefold()]
        if isinstance(node, exp.Literal | exp.Null | exp.Boolean) or node.find(exp.AggFunc, exp.Window) is not None:
            return None
        try:
            value = read_scalar(node, self.scope)
        except Refuse:
            return None
        return next((KeyOf(index) for index, key in enumerate(self.keys) if key.expression == value), None)

    def _aggregate(self, node: exp.Expression) -> Outcome:
        condition: Expression | None = None
        if isinstance(node, exp.Filter):
            only(node, "this", "expression")
            condition = read_condition(node.expression.this, self.scope)
            node = node.this
        kind = type(node)
        if isinstance(node, exp.Anonymous):
            return self._per_unit(node, condition)
        if isinstance(node, exp.Count):
            return self._count(node, condition)
        if isinstance(node, exp.CountIf):
            only(node, "this")
            true: Expression = _where(read_condition(node.this, self.scope), Constant(True, "boolean"))
            return Count(self._measure(CountValues(true if condition is None else _where(condition, true))))
        if isinstance(node, _QUANTILES):
            return self._quantile(node, condition)
        if kind in {exp.Sum, exp.Avg, *_VARIANCES}:
            only(node, "this")
            return self._moments(node, condition)
        if isinstance(node, exp.Min | exp.Max):
            share = "0.01" if isinstance(node, exp.Min) else "0.99"
            what = node.this.sql("duckdb") if isinstance(node.this, exp.Expression) else "..."
            raise Refuse(node, f"{node.key.upper()} shows the value of one row.", f"Ask for QUANTILE({what}, {share}).")
        raise Refuse(
            node,
            f"The aggregate {node.key.upper()} is not understood.",
            "COUNT, SUM, AVG, VARIANCE, STDDEV, QUANTILE and MEDIAN are.",
        )

    def _count(self, node: exp.Count, condition: Expression | None) -> Outcome:
        only(node, "this", "big_int")
        match node.this:
            case exp.Star() | None | exp.Literal(is_string=False):
                if isinstance(node.this, exp.Star):
                    only(node.this)
                if condition is not None:
                    return Count(self._measure(CountValues(_where(condition, Constant(True, "boolean")))))
                return Count(self._measure(CountRows()))
            case exp.Distinct() as distinct:
                only(distinct, "expressions")
                values = [read_scalar(each, self.scope) for each in distinct.expressions]
                if len(values) != 1 or values[0] not in self.scope.units or condition is not None:
                    unit = self.scope.unit
                    raise Refuse(
                        node,
                        "DISTINCT counts the units of privacy, and nothing else.",
                        "Group by the column instead."
                        if isinstance(unit, Row) or unit is None
                        else f"Write COUNT(DISTINCT {unit.called}).",
                    )
                return Count(self._measure(CountUnits()))
        value = bare(read_scalar(node.this, self.scope))
        return Count(self._measure(CountValues(value if condition is None else _where(condition, value))))

    def _moments(self, node: exp.Expression, condition: Expression | None) -> Outcome:
        value = read_scalar(node.this, self.scope)
        low, high = bounds_of_sum(node, value)
        inner = bare(value)
        step = self.scope.steps.get(inner) if isinstance(inner, Field) else None
        if step is not None and max(abs(low), abs(high)) > step * 2**40:
            raise Refuse(node.this, "The step of this column in the policy is too small for its bounds.")
        if type(node) in _VARIANCES and step is not None and high - low > step * _MOST_SQUARED:
            step = None  # whose squares would be sums, and noise, beyond all use
        if condition is not None:
            inner = _where(condition, inner)
        if isinstance(node, exp.Sum) and bare(value) == value and value in self.scope.totals:
            return self._unit_total(node, value, self.scope.totals[value], step, condition)
        if isinstance(node, exp.Sum):
            return self._total(inner, low, high, step, alone=condition is not None)
        quantised = lattice(inner, low, high, centred=True, step=step)
        total = self._measure(Sum(quantised))
        count = self._measure(CountValues(inner))
        if isinstance(node, exp.Avg):
            return Average(total, count, Fraction(quantised.centre), quantised.step, quantised.low, quantised.high)
        sample, root = _VARIANCES[type(node)]
        squares = self._measure(Sum(quantised, 2))
        return Spread(total, squares, count, quantised.step, (quantised.high - quantised.low) / 2, sample, root)

    def _total(self, value: Expression, low: Fraction, high: Fraction, step: Fraction | None, *, alone: bool) -> Total:
        """A sum, from the middle of its bounds if the noisy number of values is there to bring it back to 0.

        Around the middle a row changes the sum by half as much, or less: the noise of both together is smaller, by a
        factor of sqrt(2) for bounds from 0 on. Beside COUNT(*), values that are missing count as 0.
        """
        if alone or not (self.centring and (self.rows or value in self.counted)):
            quantised = lattice(value, low, high, centred=False, step=step)
            return Total(self._measure(Sum(quantised)), quantised.step)
        counted: Measure = CountValues(value)
        if value not in self.counted:
            counted, low, high = CountRows(), min(low, Fraction(0)), max(high, Fraction(0))
            value = Apply(Operation.OR_ZERO, (value,), value.type)
        quantised = lattice(value, low, high, centred=True, step=step)
        total = self._measure(Sum(quantised))
        if not quantised.centre:
            return Total(total, quantised.step)
        return Total(total, quantised.step, Fraction(quantised.centre), self._measure(counted))

    def _per_unit(self, node: exp.Anonymous, condition: Expression | None) -> Outcome:
        """SUM_PER_UNIT(value, lowest, highest): the bounds are those of what a unit's rows in the group add up to."""
        value, bounds = bounds_of_total(node, self.scope)
        step = self.scope.steps.get(value) if isinstance(value, Field) else None
        return self._unit_total(node, value, bounds, step, condition)

    def _unit_total(
        self,
        node: exp.Expression,
        value: Expression,
        bounds: Range,
        step: Fraction | None,
        condition: Expression | None,
    ) -> Total:
        low, high = bounds
        if step is not None and max(abs(low), abs(high)) > step * 2**40:
            raise Refuse(node, "The step of this column in the policy is too small for these bounds.")
        if condition is not None:
            value = _where(condition, value)
        if isinstance(self.scope.unit, Row):
            quantised = lattice(value, low, high, centred=False, step=step)
            return Total(self._measure(Sum(quantised)), quantised.step)
        quantised = lattice(value, min(low, Fraction(0)), max(high, Fraction(0)), centred=False, step=step)
        ends = (quantised.steps(float(low)), quantised.steps(float(high)))
        return Total(self._measure(UnitTotal(quantised, *ends)), quantised.step)

    def _quantile(self, node: exp.Expression, condition: Expression | None) -> Outcome:
        inner, asked = parts_of_quantile(node)
        value = read_scalar(inner, self.scope)
        if value.type not in {"integer", "real"}:
            raise Refuse(inner, f"Quantiles are of numbers, and this is of type {value.type}.")
        low, high = bounds_of_quantile(inner, value)
        shares = [share_of_quantile(each) for each in asked]
        number = self.cells
        if value.type == "integer" and low.denominator == high.denominator == 1 and high - low < _MOST_CELLS:
            low, high, number = low - Fraction(1, 2), high + Fraction(1, 2), int(high - low) + 1
        plain = bare(value)
        cells = Cells(plain if condition is None else _where(condition, plain), float(low), float(high), number)
        known = self.quantiles.setdefault(cells, [])
        known.extend(share for share in shares if share not in known)
        index = list(self.quantiles).index(cells)
        outcomes = tuple(Quantile(index, share) for share in shares)
        many = isinstance(node, exp.Quantile | exp.ApproxQuantile) and isinstance(node.args.get("quantile"), exp.Array)
        return Combine(Combining.LIST, outcomes) if many else outcomes[0]

    def units(self) -> Count:
        """How many units of privacy there are."""
        return Count(self._measure(CountUnits()))

    def quantile_sets(self, *, ranged: bool) -> tuple[QuantileSet, ...]:
        """All quantiles that were asked for, by column."""
        return tuple(QuantileSet(cells, tuple(sorted(set(shares))), ranged) for cells, shares in self.quantiles.items())

    def _measure(self, measure: Measure) -> int:
        if isinstance(measure, CountValues) and _always(measure.value):
            measure = CountRows()
        if measure not in self.measures:
            self.measures.append(measure)
        return self.measures.index(measure)


def _where(condition: Expression, value: Expression) -> Apply:
    return Apply(Operation.CASE, (condition, value, Constant(None, value.type)), value.type)


def _always(value: Expression) -> bool:
    """Whether a value is never NULL."""
    return isinstance(value, Constant) and value.value is not None

"""The bounds of what is summed or ranked: from the question, or the owner's policy, or refused."""

from __future__ import annotations

from fractions import Fraction

from sqlglot import exp

from indistinct.queries.plans.expressions import Expression, range_of
from indistinct.queries.plans.ranges import Range
from indistinct.queries.questions.literals import number_in
from indistinct.queries.questions.scalars import read_scalar
from indistinct.queries.questions.scopes import Scope, only
from indistinct.queries.refusals import Refuse

__all__ = [
    "bounds_of_quantile",
    "bounds_of_sum",
    "bounds_of_total",
    "is_per_unit",
    "parts_of_quantile",
    "share_of_quantile",
]

_CLOSEST = Fraction(1, 10**9)
"""Bounds that are closer, beside their size, cannot be divided into cells or steps as doubles."""
_PER_UNIT = "Write SUM_PER_UNIT(amount, 0, 500), where a unit's total lies between."


def bounds_of_sum(node: exp.Expression, value: Expression) -> Range:
    """Between which numbers the summed values publicly lie; refused where that is not known."""
    if value.type not in {"integer", "real"}:
        raise Refuse(node.this, f"Only numbers are summed, and this is of type {value.type}.", "Use CAST, or count it.")
    bounds = range_of(value)
    what = node.this.sql("duckdb")
    if bounds is None:
        raise Refuse(
            node.this,
            "The bounds of this value are not known.",
            f"Write CLAMP({what[:60]}, lowest, highest), or give the column bounds in the policy.",
        )
    low, high = bounds
    if low == high:
        high = low + 1
    size = max(abs(low), abs(high))
    if size > 10**15 or high - low < max(size * _CLOSEST, Fraction(1, 10**15)):
        raise Refuse(node.this, "Sums need bounds below 1e15 in size that differ by a billionth of it.", "Clamp it.")
    return low, high


def bounds_of_total(node: exp.Anonymous, scope: Scope) -> tuple[Expression, Range]:
    """The value of SUM_PER_UNIT, and between which numbers a unit's total lies: within the owner's bounds."""
    if not is_per_unit(node):
        raise Refuse(node, f"The aggregate {node.name.upper()} is not understood.")
    if len(node.expressions) not in {1, 3}:
        raise Refuse(node, "SUM_PER_UNIT takes a value and two bounds.", _PER_UNIT)
    value = read_scalar(node.expressions[0], scope)
    if value.type not in {"integer", "real"}:
        raise Refuse(node, f"Only numbers are summed, and this is of type {value.type}.")
    own = scope.totals.get(value)
    if len(node.expressions) == 1 and own is None:
        raise Refuse(node, "The bounds of a unit's total are not known.", _PER_UNIT)
    bounds = own
    if len(node.expressions) == 3:
        low, high = (number_in(each, "A bound of SUM_PER_UNIT") for each in node.expressions[1:])
        bounds = (low, high) if own is None else (max(low, own[0]), min(high, own[1]))
    if bounds is None or not bounds[0] < bounds[1] or max(map(abs, bounds)) > 10**15:
        raise Refuse(node, "The bounds of a unit's total are two numbers below 1e15 in size, the smaller one first.")
    return value, bounds


def bounds_of_quantile(inner: exp.Expression, value: Expression) -> Range:
    """Between which numbers the ranked values publicly lie; refused where that is not known."""
    bounds = range_of(value)
    if bounds is None:
        raise Refuse(
            inner,
            "The bounds of this value are not known.",
            f"Write CLAMP({inner.sql('duckdb')[:60]}, lowest, highest), or give the column bounds in the policy.",
        )
    low, high = bounds
    size = max(abs(low), abs(high))
    if size > 10**15 or high - low < max(size * _CLOSEST, Fraction(1, 10**15)):
        raise Refuse(inner, "Quantiles need bounds below 1e15 in size that differ by a billionth of it.", "Clamp it.")
    return low, high


def parts_of_quantile(node: exp.Expression) -> tuple[exp.Expression, list[exp.Expression]]:
    """The column of a quantile, and the shares that are asked for."""
    match node:
        case exp.Median():
            only(node, "this")
            return node.this, [exp.Literal.number("0.5")]
        case exp.WithinGroup():
            only(node, "this", "expression")
            order = node.expression.expressions if isinstance(node.expression, exp.Order) else []
            if (
                not isinstance(node.this, exp.PercentileCont | exp.PercentileDisc)
                or len(order) != 1
                or order[0].args.get("desc")
            ):
                raise Refuse(node, "This is not understood.", "Write PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age).")
            return order[0].this, [node.this.this]
    only(node, "this", "quantile")
    share = node.args.get("quantile")
    if share is None:
        raise Refuse(node, "QUANTILE takes a column and a share.", "Write QUANTILE(age, 0.9).")
    if isinstance(share, exp.Array):
        if not share.expressions or len(share.expressions) > 100:
            raise Refuse(share, "Up to 100 quantiles are asked for at once.")
        return node.this, list(share.expressions)
    return node.this, [share]


def share_of_quantile(node: exp.Expression) -> Fraction:
    """A share, from 0 to 1."""
    share = number_in(node, "The share of a quantile")
    if not 0 <= share <= 1:
        raise Refuse(node, "The share of a quantile lies between 0 and 1.")
    return share


def is_per_unit(node: exp.Expression) -> bool:
    """Whether it is SUM_PER_UNIT."""
    return isinstance(node, exp.Anonymous) and node.name.upper() == "SUM_PER_UNIT"

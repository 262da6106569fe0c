"""Counts and sums of one unit in one group, brought within the bounds of so many rows: in 64 bits, where they suffice.

With n > R rows, a sum s becomes s R / n, rounded towards 0: what R rows would give that are each the mean of the n.

A sum of 64 bits is divided several times as fast as one of 128 bits or of 38 digits. Where steps are small, sums are
moved into 64 bits first, if they are not in them: no error can tell of it, and as they move towards 0, within what
their rows could give, no bound is harmed.
"""

from __future__ import annotations

from sqlglot import exp

from indistinct.queries.engines.speaking import Dialect, whole
from indistinct.queries.plans.measures import Measure, Sum

__all__ = ["at_most", "is_narrow", "kept", "scaled", "scaled_wide"]

_LARGEST = 2**62
_LARGEST_STEPS = 2**32


def is_narrow(measure: Measure) -> bool:
    """Whether 64 bits suffice for the measure of one unit in one group: for 2^30 of its rows, and usually far more."""
    return not isinstance(measure, Sum) or measure.of.largest**measure.power <= _LARGEST_STEPS


def kept(total: exp.Expression) -> exp.Expression:
    """A sum of whole numbers as one of 64 bits."""
    ends = [(exp.GT, whole(_LARGEST)), (exp.LT, whole(-_LARGEST))]
    beyond = [exp.If(this=kind(this=total.copy(), expression=end), true=end.copy()) for kind, end in ends]
    return exp.Case(ifs=beyond, default=exp.Cast(this=total, to=exp.DataType.build("BIGINT")))


def at_most(count: exp.Expression, rows: int) -> exp.Expression:
    """A count, or so many rows."""
    more = exp.GT(this=count, expression=whole(rows))
    return exp.Case(ifs=[exp.If(this=more, true=whole(rows))], default=count.copy())


def scaled(total: exp.Expression, count: exp.Expression, rows: int) -> exp.Expression:
    """total * rows / count, rounded towards 0, where there are more than so many rows.

    As much as (total / count) * rows + (total % count) * rows / count, of which every part is within 64 bits.
    """
    shrunk: exp.Expression = exp.IntDiv(this=total.copy(), expression=count.copy())
    if rows > 1:
        rest = exp.Paren(this=exp.Mod(this=total.copy(), expression=count.copy()))
        rest = exp.Paren(this=exp.Mul(this=rest, expression=whole(rows)))
        more = exp.Paren(this=exp.IntDiv(this=rest, expression=count.copy()))
        shrunk = exp.Add(this=exp.Mul(this=exp.Paren(this=shrunk), expression=whole(rows)), expression=more)
    return _if_more(total, shrunk, count, rows)


def scaled_wide(total: exp.Expression, count: exp.Expression, rows: int, dialect: Dialect) -> exp.Expression:
    """The same of a sum that may need more than 64 bits."""
    wide = exp.DataType.build("HUGEINT" if dialect == "duckdb" else "DECIMAL(38, 0)", dialect=dialect)
    size = exp.Mul(this=exp.Abs(this=exp.Cast(this=total.copy(), to=wide)), expression=whole(rows))
    least = exp.IntDiv(this=exp.Paren(this=size), expression=count.copy())
    sign = exp.Case(ifs=[exp.If(this=exp.LT(this=total.copy(), expression=whole(0)), true=whole(-1))], default=whole(1))
    return _if_more(total, exp.Mul(this=exp.Paren(this=least), expression=sign), count, rows)


def _if_more(total: exp.Expression, shrunk: exp.Expression, count: exp.Expression, rows: int) -> exp.Expression:
    more = exp.GT(this=count.copy(), expression=whole(rows))
    return exp.Case(ifs=[exp.If(this=more, true=shrunk)], default=total.copy())

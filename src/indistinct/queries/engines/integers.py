"""Whole numbers in an engine's SQL: sums that cannot overflow, shares of them, and numbers for values.

One unit has at most 2^40 rows in a group, and there are at most 2^36 units: on that rests which sums are made in 64
bits. Others have 128 bits in DuckDB, 38 digits in Spark, and as many as they need in PostgreSQL.

Of more than R rows of one unit in a group, n, a sum s becomes s R / n, rounded towards 0: what R rows would give that
are each the mean of the n. That is several times as fast in 64 bits, so sums of small numbers are moved there before:
no error can tell of it, and as they move towards 0, within what their rows could give, no bound is harmed.
"""

from __future__ import annotations

from sqlglot import exp

from indistinct.queries.engines.words import Dialect, cast, real, type_of, whole
from indistinct.queries.policy.terms import ColumnType

__all__ = ["PRIME", "at_most", "between", "hashed", "kept", "modulo", "row_number", "shrunk", "squared", "summed"]

PRIME = 2**31 - 1

_MOST_OF_ONE_UNIT = 2**23
_MOST_OF_ALL_UNITS = 2**27
_MOST_KEPT = 2**32
_LARGEST = 2**62


def summed(what: exp.Expression, most: int | None, dialect: Dialect, *, units: bool = False) -> exp.Expression:
    """The sum of numbers of at most such a size each (None: of 64 bits), over rows of one unit or over `units`."""
    if dialect == "duckdb" or (dialect == "postgres" and most is not None):
        return exp.Sum(this=what)  # of 128 bits, and of any size
    if most is not None and most <= (_MOST_OF_ALL_UNITS if units else _MOST_OF_ONE_UNIT):
        return exp.Sum(this=what)
    return exp.Sum(this=_wide(what, dialect))


def squared(steps: exp.Expression, most: int, dialect: Dialect) -> exp.Expression:
    """The square of a number of at most such a size."""
    told = exp.Paren(this=steps) if most < 2**31 else _wide(steps, dialect)
    return exp.Mul(this=told, expression=told.copy())


def kept(total: exp.Expression, most: int, dialect: Dialect) -> exp.Expression:
    """The sum of one unit's numbers of at most such a size: in 64 bits, if that size is small."""
    if most > _MOST_KEPT or (dialect == "spark" and most <= _MOST_OF_ONE_UNIT):
        return total
    ends = [(exp.GT, whole(_LARGEST)), (exp.LT, whole(-_LARGEST))]
    beyond = [exp.If(this=kind(this=total.copy(), expression=end), true=end.copy()) for kind, end in ends]
    return exp.Case(ifs=beyond, default=cast(total, "integer"))


def at_most(count: exp.Expression, rows: int) -> exp.Expression:
    """A count, or so many rows."""
    more = exp.GT(this=count, expression=whole(rows))
    return exp.Case(ifs=[exp.If(this=more, true=whole(rows))], default=count.copy())


def between(total: exp.Expression, least: int, most: int) -> exp.Expression:
    """A sum of one unit's numbers, moved between two bounds; the bounds are of 64 bits, and so is what is left."""
    ends = [(exp.GT, most), (exp.LT, least)]
    beyond = [exp.If(this=kind(this=total.copy(), expression=whole(end)), true=whole(end)) for kind, end in ends]
    return exp.Case(ifs=beyond, default=cast(total, "integer"))


def shrunk(total: exp.Expression, count: exp.Expression, rows: int, most: int, dialect: Dialect) -> exp.Expression:
    """total rows / count, rounded towards 0, if the total is of more than so many numbers, of such a size at most."""
    if dialect == "spark" or most <= _MOST_KEPT or most > 2**60:
        share = _in_parts(total, count, rows, most, dialect)
    else:
        size = exp.Mul(this=exp.Abs(this=_wide(total.copy(), dialect)), expression=whole(rows))
        least = exp.IntDiv(this=exp.Paren(this=size), expression=count.copy())
        below = exp.If(this=exp.LT(this=total.copy(), expression=whole(0)), true=whole(-1))
        share = exp.Mul(this=exp.Paren(this=least), expression=exp.Case(ifs=[below], default=whole(1)))
    more = exp.If(this=exp.GT(this=count.copy(), expression=whole(rows)), true=share)
    return exp.Case(ifs=[more], default=total.copy())


def _in_parts(total: exp.Expression, count: exp.Expression, rows: int, most: int, dialect: Dialect) -> exp.Expression:
    """The same without a product that is larger: the quotient times the rows, and the share of the remainder."""
    rest = exp.Paren(this=exp.Mod(this=total.copy(), expression=count.copy()))
    if dialect == "spark" and most > _MOST_KEPT:  # where DIV gives 64 bits
        exact = exp.Paren(this=exp.Sub(this=total.copy(), expression=rest.copy()))
        quotient: exp.Expression = _wide(exp.Div(this=exact, expression=count.copy(), typed=False, safe=False), dialect)
        rest = exp.Paren(this=cast(rest, "integer"))
    else:
        quotient = exp.Paren(this=exp.IntDiv(this=total.copy(), expression=count.copy()))
    if rows == 1:
        return quotient
    share = exp.IntDiv(this=exp.Paren(this=exp.Mul(this=rest, expression=whole(rows))), expression=count.copy())
    return exp.Add(this=exp.Mul(this=quotient, expression=whole(rows)), expression=exp.Paren(this=share))


def row_number(dialect: Dialect) -> exp.Expression:
    """A number of its own for each row; in Spark without moving all rows to one place."""
    if dialect == "spark":
        return exp.Anonymous(this="MONOTONICALLY_INCREASING_ID", expressions=[])
    return exp.Window(this=exp.RowNumber())


def modulo(told: exp.Expression, by: int = PRIME) -> exp.Expression:
    """The remainder by the prime 2^31 - 1, or by another number."""
    return exp.Paren(this=exp.Mod(this=exp.Paren(this=told), expression=whole(by)))


def hashed(told: exp.Expression, kind: ColumnType, dialect: Dialect, limit: int = PRIME) -> exp.Expression:
    """A number below a limit of 2^28 or more for a value, NULL for NULL: of text, from the first digits of its MD5."""
    match kind:
        case "integer":
            return exp.Abs(this=modulo(cast(told, "integer"), limit))
        case "real":  # whose spelling differs
            within = exp.LT(this=exp.Abs(this=told.copy()), expression=real(2.0**52))
            below = exp.TryCast(this=exp.Floor(this=told.copy()), to=type_of("integer"))
            absent = exp.If(this=exp.Is(this=told.copy(), expression=exp.Null()), true=exp.Null())
            told = exp.Case(ifs=[absent, exp.If(this=within, true=below)], default=whole(0))
            return exp.Abs(this=modulo(cast(told, "integer"), limit))
        case "timestamp":
            told = cast(told, "date")
    text = exp.MD5(this=cast(told, "text"))
    digits = exp.Substring(this=text, start=whole(1), length=whole(7))
    match dialect:
        case "duckdb":
            return cast(exp.DPipe(this=exp.Literal.string("0x"), expression=digits), "integer")
        case "spark":
            return cast(exp.Anonymous(this="CONV", expressions=[digits, whole(16), whole(10)]), "integer")
    padded = exp.DPipe(this=exp.Literal.string("x"), expression=digits)
    return cast(exp.Cast(this=padded, to=exp.DataType.build("BIT(28)", dialect="postgres")), "integer")


def _wide(told: exp.Expression, dialect: Dialect) -> exp.Expression:
    kind = {"duckdb": "HUGEINT", "spark": "DECIMAL(38, 0)", "postgres": "DECIMAL"}[dialect]
    return exp.Cast(this=told, to=exp.DataType.build(kind, dialect=dialect))

"""Which groups of a unit count, where it may be in more of them than it counts in: the first by a salted hash.

Groups become numbers below the prime P = 2^31 - 1, and units numbers below P - 1. With salts from the question, a
unit's groups stand in the order of

    (group s1 + s0 mod P) (unit + 1) mod P,

another order for each unit, and the same on every engine, as nothing is computed but whole numbers below 2^62.

What a unit counts in is a function of its own rows and of the question, so it stays as it is when another unit is added
or removed. That is all that privacy asks of the choice: nobody needs to be unable to guess the salts. But ties must not
be broken by the order of rows, in which others have a part. So they are broken by the keys; or they cannot occur, where
all keys are public: a group's number is its place among the public groups then, of which there are fewer than P, and
no two places have the same product, as neither s1 nor unit + 1 is 0 modulo P.
"""

from __future__ import annotations

from functools import lru_cache

from sqlglot import exp

from indistinct.errors import InternalError
from indistinct.queries.engines.integers import PRIME, hashed, modulo
from indistinct.queries.engines.words import Dialect, cast, column, identifier, key_literal, whole
from indistinct.queries.plans.expressions import Field
from indistinct.queries.plans.plan import GroupKey, Plan
from indistinct.queries.policy.terms import ColumnType, Key

__all__ = ["first_in_spark", "order_of_groups", "places_of", "spread_by_unit"]


def order_of_groups(plan: Plan, keys: list[str], dialect: Dialect) -> exp.Order:
    """The order in which a unit's groups are chosen. `keys` are columns; of public groups they hold places."""
    if not isinstance(plan.unit, Field):
        raise InternalError("Rows that are units have no order of groups.")
    salt = plan.fingerprint()
    first, second = (1 + int(salt[8 * i : 8 * i + 8], 16) % (PRIME - 2) for i in range(2))
    if plan.placed:
        group = modulo(_plus(_times(_place(plan, keys), second), whole(first)))
    else:
        group = whole(first)
        for index, (name, key) in enumerate(zip(keys, plan.keys, strict=True)):
            number = exp.Coalesce(this=hashed(column(name), key.expression.type, dialect), expressions=[whole(index)])
            group = _plus(group, modulo(_times(number, 1 + second * (7919 * index + 1) % (PRIME - 1))))
        group = modulo(group)
    unit = _plus(hashed(column("u"), plan.unit.type, dialect, PRIME - 1), whole(1))
    by: list[exp.Expression] = [modulo(_times(group, unit))]
    # By one column, DuckDB finds a first group in a single pass without sorting; finding several that way is slower
    # than sorting, from which the keys, though they decide nothing here, keep it.
    if not plan.placed or plan.groups > 1:
        by += [column(name) for name in keys]
    return exp.Order(expressions=[exp.Ordered(this=each, desc=False, nulls_first=False) for each in by])


def places_of(key: GroupKey, alias: str, dialect: Dialect) -> exp.Values:
    """A table of public keys and their places, to be joined with."""
    rows = exp.Var(this=_places(key.expression.type, key.public or (), dialect))
    names = [identifier(name) for name in ("key", "place")]
    return exp.Values(expressions=[rows], alias=exp.TableAlias(this=identifier(alias), columns=names))


@lru_cache(16)
def _places(_: ColumnType, keys: tuple[Key, ...], dialect: Dialect) -> str:
    """The rows of the table, which many questions have in common. The type is there as True and 1 are equal."""
    rows = [exp.Tuple(expressions=[key_literal(key), whole(place)]) for place, key in enumerate(keys)]
    return ", ".join(row.sql(dialect=dialect) for row in rows)


def spread_by_unit(source: str) -> exp.Select:
    """Rows with those of a unit in one place, for Spark: whatever is done by unit afterwards moves no more rows."""
    hint = exp.Hint(expressions=[exp.Anonymous(this="REPARTITION", expressions=[column("u")])])
    select = exp.select(exp.Star(), copy=False).from_(exp.Table(this=identifier(source)), copy=False)
    select.set("hint", hint)
    return select


def first_in_spark(order: exp.Order, names: list[str]) -> list[tuple[str, exp.Select]]:
    """The first group of each unit, where there are no ties, in one pass without sorting: of columns of numbers."""
    place = exp.Alias(this=order.expressions[0].this, alias=identifier("h"))
    ordered = exp.select(exp.Star(), place, copy=False).from_(exp.Table(this=identifier("bounded")), copy=False)
    least = [
        exp.Alias(this=exp.Anonymous(this="MIN_BY", expressions=[column(name), column("h")]), alias=identifier(name))
        for name in names
    ]
    first = exp.Alias(this=whole(1), alias=identifier("place"))
    chosen = exp.select(*least, first, copy=False).from_(exp.Table(this=identifier("ordered")), copy=False)
    return [("ordered", ordered), ("chosen", chosen.group_by(column("u"), copy=False))]


def _place(plan: Plan, keys: list[str]) -> exp.Expression:
    """Of a group, by the places of its keys: one number for each public group."""
    place: exp.Expression
    place, *more = (cast(column(name), "integer") for name in keys)
    for another, key in zip(more, plan.keys[1:], strict=True):
        place = _plus(_times(place, len(key.public or ())), another)
    return place


def _times(told: exp.Expression, by: exp.Expression | int) -> exp.Expression:
    factor = whole(by) if isinstance(by, int) else exp.Paren(this=by)
    return exp.Mul(this=exp.Paren(this=told), expression=factor)


def _plus(told: exp.Expression, more: exp.Expression) -> exp.Expression:
    return exp.Add(this=told, expression=more)

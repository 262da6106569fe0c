"""Which groups of a unit count, where it may be in more of them than it counts in: the first by a salted hash.

Groups and units become numbers below the prime P = 2^31 - 1, and a unit's groups stand in the order of

    group unit mod P,

another order for each unit, and the same on every engine, as nothing is computed but whole numbers below 2^62. The
numbers have no pattern of their own, or groups at its ends would come first too often: a public group's was drawn for
it; a private key that is text counts by its MD5, one that is a whole number by the square of a multiple that is salted
by the question, NULL by a number that is drawn for it. Units are numbered like private keys, but never 0.

What a unit counts in is a function of its own rows and of the question, so it stays as it is when another unit is added
or removed. That is all that privacy asks of the choice: nobody needs to be unable to guess the salts. But ties must not
be broken by the order of rows, in which others have a part. So they are broken by the keys; or they cannot occur, where
all keys are public: no two public groups have the same number then, and so no two have the same product. And where rows
are units, which are known by a number that others have a part in, that number has none in the order: it is that of the
groups' own numbers, salted, and the same for all rows.
"""

from __future__ import annotations

import hashlib
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
    """The order in which a unit's groups are chosen. `keys` are columns; of public groups they hold numbers."""
    if not isinstance(plan.unit, Field):
        raise InternalError("Rows that are units have no order of groups.")
    salts = _Salts(plan.fingerprint())
    if plan.placed:
        group: exp.Expression = whole(1)
        for name in keys:
            group = _plus(group, cast(column(name), "integer"))
    else:
        group = whole(0)
        for name, key in zip(keys, plan.keys, strict=True):
            number = _numbered(column(name), key.expression.type, salts, dialect, PRIME)
            group = _plus(group, exp.Coalesce(this=number, expressions=[whole(salts.drawn())]))
        group = modulo(group)
    if plan.by_rows:
        unit = whole(salts.drawn())
    else:
        unit = _plus(_numbered(column("u"), plan.unit.type, salts, dialect, PRIME - 1), whole(1))
    by: list[exp.Expression] = [modulo(_times(group, unit))]
    # By one column, DuckDB finds a first group in a single pass without sorting; finding several that way is slower
    # than sorting, from which the keys, though they decide nothing here, keep it.
    if not plan.placed or plan.groups > 1:
        by += [column(name) for name in keys]
    return exp.Order(expressions=[exp.Ordered(this=each, desc=False, nulls_first=False) for each in by])


def places_of(key: GroupKey, places: tuple[int, ...], alias: str, dialect: Dialect) -> exp.Values:
    """A table of public keys and their numbers, to be joined with."""
    rows = exp.Var(this=_rows(key.expression.type, key.public or (), places, dialect))
    names = [identifier(name) for name in ("key", "place")]
    return exp.Values(expressions=[rows], alias=exp.TableAlias(this=identifier(alias), columns=names))


@lru_cache(16)
def _rows(_: ColumnType, keys: tuple[Key, ...], places: tuple[int, ...], dialect: Dialect) -> str:
    """The rows of the table, which many questions have in common. The type is there as True and 1 are equal."""
    rows = [exp.Tuple(expressions=[key_literal(key), whole(place)]) for key, place in zip(keys, places, strict=True)]
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


class _Salts:
    """Numbers from 1 to P - 1, one after the other, from the fingerprint of a question."""

    def __init__(self, fingerprint: str) -> None:
        self._fingerprint = fingerprint
        self._number = 0

    def drawn(self) -> int:
        self._number += 1
        told = hashlib.sha256(f"{self._fingerprint} {self._number}".encode()).digest()
        return 1 + int.from_bytes(told[:8], "big") % (PRIME - 1)


def _numbered(told: exp.Expression, kind: ColumnType, salts: _Salts, dialect: Dialect, below: int) -> exp.Expression:
    """A number below such a one for a value, NULL for NULL."""
    first, second = salts.drawn(), salts.drawn()
    if kind != "integer":
        return modulo(_times(hashed(told, kind, dialect), whole(first)), below)
    multiple = modulo(_plus(_times(modulo(cast(told, "integer")), whole(first)), whole(second)))
    return modulo(_times(multiple, multiple.copy()), below)


def _times(told: exp.Expression, by: exp.Expression) -> exp.Expression:
    return exp.Mul(this=exp.Paren(this=told), expression=exp.Paren(this=by))


def _plus(told: exp.Expression, more: exp.Expression) -> exp.Expression:
    return exp.Add(this=told, expression=more)

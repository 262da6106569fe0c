"""Where rows come from: tables, joins and sub-queries that keep the unit of privacy of every row.

In each of these, the rows of one unit are made from that unit's rows (and public ones) alone. So adding or removing a
unit adds or removes its own rows of the result and leaves all others as they are; bounding the contribution of each
unit afterwards bounds what the answer can change by.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TypeAlias

from indistinct.queries.plans.expressions import Expression, Field

__all__ = ["UNIT", "Derived", "Join", "Relation", "Scan", "UnitAggregate", "UnitFunction"]

UNIT = "unit of privacy"
"""The name of the column by which sub-queries and numbered tables hand the unit on."""


@dataclass(frozen=True, slots=True)
class Scan:
    """A table. `numbered` gives each row a number of its own, under the name UNIT."""

    table: str
    alias: str
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class Join:
    """Pairs of rows for which a condition holds; `left` keeps rows of the left side without a partner."""

    first: Relation
    second: Relation
    condition: Expression
    left: bool = False


class UnitFunction(enum.Enum):
    """What may be told of the rows of one unit, without noise, as long as it stays with the unit."""

    COUNT_ROWS = "count(*)"
    COUNT = "count"
    SUM = "sum"
    AVERAGE = "avg"
    LEAST = "min"
    GREATEST = "max"


@dataclass(frozen=True, slots=True)
class UnitAggregate:
    """An exact aggregate of the rows of one unit, in a sub-query that is grouped by the unit."""

    function: UnitFunction
    argument: Expression | None


@dataclass(frozen=True, slots=True)
class Derived:
    """A sub-query: rows of another relation, or aggregates of each unit's rows where `groups` is given."""

    source: Relation
    where: Expression | None
    outputs: tuple[tuple[str, Expression | UnitAggregate], ...]
    groups: tuple[Expression, ...] | None
    unit: Field | None
    """None where all is public."""
    alias: str


Relation: TypeAlias = Scan | Join | Derived

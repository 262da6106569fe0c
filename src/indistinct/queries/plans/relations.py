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

__all__ = [
    "UNIT",
    "Derived",
    "Join",
    "Relation",
    "Scan",
    "UnitAggregate",
    "UnitFunction",
    "handed_on",
    "numbers_rows",
]

UNIT = "unit of privacy"
"""The name of the column by which sub-queries and numbered tables hand the unit on."""


def handed_on(place: int) -> str:
    """The name of the column that is handed on in such a place: beside UNIT stands no name that anybody chose.

    Engines do not tell the case of names apart, so a name of the question might be UNIT to them and not to us.
    """
    return f"c{place}"


@dataclass(frozen=True, slots=True)
class Scan:
    """A table. `numbered` are columns to be handed on beside a number for each row, under the name UNIT.

    The number tells rows apart, and nothing else may rest on it: it depends on the other rows.
    """

    table: str
    alias: str
    numbered: tuple[str, ...] | None = None


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
    outputs: tuple[Expression | UnitAggregate, ...]
    """To be handed on, each under the name of its place."""
    groups: tuple[Expression, ...] | None
    unit: Field | None
    """None where all is public."""
    alias: str


Relation: TypeAlias = Scan | Join | Derived


def numbers_rows(relation: Relation) -> bool:
    """Whether rows are known by numbers here."""
    match relation:
        case Scan(numbered=numbered):
            return numbered is not None
        case Join(first=first, second=second):
            return numbers_rows(first) or numbers_rows(second)
        case Derived(source=source):
            return numbers_rows(source)

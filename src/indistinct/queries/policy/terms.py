"""What the owner of the data decides: who is protected, what is public, what a question may rest on.

A policy is public. Everything that a query does not learn by paying for it comes from here: the columns and their
types, the bounds of numbers, the keys of groups, how much of a unit is used, and the budgets. Nothing in it may be
read off the private rows, for then it would reveal them.

    Policy
    ├── tables      each a PrivateTable (with its unit of privacy) or a PublicTable (no budget is needed for it)
    │   └── columns each with its type and, where known, bounds of its numbers or its public keys
    ├── budget      of the data set, for all analysts together
    └── analysts    each with a budget within it
"""

from __future__ import annotations

import datetime as dt
import enum
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, Literal, TypeAlias

from indistinct.errors import InvalidParameter

__all__ = [
    "ROW",
    "Analyst",
    "Budget",
    "Column",
    "ColumnType",
    "Contribution",
    "Key",
    "Number",
    "Policy",
    "PrivateTable",
    "PublicTable",
    "Row",
    "RuleName",
    "Table",
]

Number: TypeAlias = int | float | Fraction
"""A bound: kept exactly as given (a float stands for the binary fraction that it is)."""

Key: TypeAlias = str | int | bool | dt.date | None
"""What a group may be called; None stands for NULL."""

ColumnType: TypeAlias = Literal["integer", "real", "text", "boolean", "date", "timestamp"]

RuleName: TypeAlias = Literal["basic", "zcdp", "gaussian"]

_LARGEST: Final = sys.float_info.max
MOST_GROUPS: Final = 2**20
MOST_ROWS: Final = 2**20
MOST_KEYS: Final = 10**6


class Row(enum.Enum):
    """The explicit statement that each row is a unit of its own: `unit=indistinct.ROW`."""

    ROW = "row"

    def __repr__(self) -> str:
        return "ROW"


ROW: Final = Row.ROW


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column: its type and what is publicly known of it.

    `low` and `high` bound the numbers of the column: values beyond are moved to the bound. `unit_low` and `unit_high`
    bound what all rows of one unit in a group add up to, however many they are: sums of the column are then bounded by
    that, and not row by row. `step` is the lattice on
    which values are summed (None: chosen from the bounds, fine enough not to matter). `keys` are all the groups that
    exist for the public; rows with another key are left out. A column without keys may be grouped by at the price of
    some delta, when a group is shown only if it holds enough units.

    >>> Column(type="real", low=0, high=100)
    Column(type='real', low=0, high=100, step=None, keys=None, unit_low=None, unit_high=None)
    """

    type: ColumnType
    low: Number | None = None
    high: Number | None = None
    step: Number | None = None
    keys: tuple[Key, ...] | None = None
    unit_low: Number | None = None
    unit_high: Number | None = None

    def __post_init__(self) -> None:
        if self.type not in {"integer", "real", "text", "boolean", "date", "timestamp"}:
            raise InvalidParameter("type", self.type, "be one of integer, real, text, boolean, date, timestamp")
        if (self.low is None) != (self.high is None):
            raise InvalidParameter("bounds", (self.low, self.high), "be given on both sides or on none")
        if self.low is not None and self.high is not None:
            if self.type not in {"integer", "real"}:
                raise InvalidParameter("bounds", (self.low, self.high), f"be left out for a column of type {self.type}")
            finite_number("low", self.low)
            finite_number("high", self.high)
            if not self.low < self.high:
                raise InvalidParameter("bounds", (self.low, self.high), "be two numbers, the smaller one first")
        _check_unit_bounds(self.type, self.unit_low, self.unit_high)
        _check_step(self)
        if self.keys is not None:
            _check_keys(self.type, self.keys)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """How much of one unit an answer uses: in at most so many groups, with at most so many rows in each.

    What is beyond is left out, evenly: groups at random, the rows of a group by shrinking their weight. A smaller
    contribution needs less noise and forgets more; the guarantee is the same.
    """

    groups: int = 1
    rows: int = 1

    def __post_init__(self) -> None:
        for name, value, most in (("groups", self.groups, MOST_GROUPS), ("rows", self.rows, MOST_ROWS)):
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:  # type: ignore[redundant-expr]  # as callers may be wrong
                raise InvalidParameter(name, value, f"be a whole number from 1 to {most:,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateTable:
    """Rows about people (or whatever else is the unit): every answer from it is paid for.

    `unit` names the column that says whose row it is, or is ROW. Rows whose unit is NULL are left out.
    `source` is where the rows are (a path, an address), for those who open a policy from a file.
    """

    name: str
    unit: str | Row
    columns: Mapping[str, Column]
    contribution: Contribution = field(default_factory=Contribution)
    source: str | None = None

    def __post_init__(self) -> None:
        _check_table(self.name, self.columns)
        if isinstance(self.unit, Row):
            return
        if self.unit not in self.columns:
            raise InvalidParameter(
                "unit", self.unit, f"name a column of table {self.name!r}", instead=_known(self.columns)
            )
        if self.columns[self.unit].type == "real":
            raise InvalidParameter(
                "unit",
                self.unit,
                "name a column whose type is not real",
                instead="Rounding would make one unit out of two: such a column is presented exactly as text.",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicTable:
    """Rows that everybody may know, such as the names of departments: joined freely, never paid for."""

    name: str
    columns: Mapping[str, Column]
    source: str | None = None

    def __post_init__(self) -> None:
        _check_table(self.name, self.columns)


Table: TypeAlias = PrivateTable | PublicTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The most that may ever be learned: (epsilon, delta)-differential privacy of all answers together."""

    epsilon: Number
    delta: Number = 0
    rule: RuleName | None = None
    """How it is kept: `basic` adds up epsilons and deltas, `zcdp` zero-concentrated privacy, `gaussian` Gaussian."""

    def __post_init__(self) -> None:
        if not finite_number("epsilon", self.epsilon) > 0:
            raise InvalidParameter("epsilon", self.epsilon, "be positive")
        if not 0 <= finite_number("delta", self.delta) < 1:
            raise InvalidParameter("delta", self.delta, "lie in [0, 1)")
        if self.rule not in {None, "basic", "zcdp", "gaussian"}:
            raise InvalidParameter("rule", self.rule, "be one of basic, zcdp, gaussian")
        if self.delta == 0 and self.rule in {"zcdp", "gaussian"}:
            raise InvalidParameter("rule", self.rule, "be basic where delta is 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Analyst:
    """Somebody who asks, and the most that they alone may learn (None: as much as all together)."""

    name: str
    budget: Budget | None = None

    def __post_init__(self) -> None:
        if not self.name or not self.name.isprintable():
            raise InvalidParameter("name", self.name, "be a printable name")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """All that the owner decides about a data set.

    >>> policy = Policy(
    ...     tables=(
    ...         PrivateTable(
    ...             name="visits",
    ...             unit="patient",
    ...             columns={"patient": Column(type="integer"), "ward": Column(type="text", keys=("A", "B"))},
    ...             contribution=Contribution(groups=2, rows=5),
    ...         ),
    ...     ),
    ...     budget=Budget(epsilon=1, delta=1e-6),
    ... )
    >>> policy.table("visits").contribution
    Contribution(groups=2, rows=5)
    """

    tables: tuple[Table, ...]
    budget: Budget
    analysts: tuple[Analyst, ...] = ()

    def __post_init__(self) -> None:
        _check_distinct("tables", [table.name.casefold() for table in self.tables])
        _check_distinct("analysts", [analyst.name for analyst in self.analysts])
        for analyst in self.analysts:
            if analyst.budget is not None and (analyst.budget.delta > 0) != (self.budget.delta > 0):
                raise InvalidParameter(
                    "delta",
                    analyst.budget.delta,
                    f"be {'above 0' if self.budget.delta > 0 else '0'} for the analyst {analyst.name!r}",
                    instead="Charges count in one currency for all: with a delta, or without any.",
                )
        if not any(isinstance(table, PrivateTable) for table in self.tables):
            raise InvalidParameter("tables", tuple(table.name for table in self.tables), "hold a private table")

    def table(self, name: str) -> Table | None:
        """The table of that name, as SQL compares names: whatever their case."""
        return next((table for table in self.tables if table.name.casefold() == name.casefold()), None)


def finite_number(name: str, value: Number) -> Number:
    """The value, if it is a finite number (not a truth value)."""
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction) or not -_LARGEST <= value <= _LARGEST:  # type: ignore[redundant-expr]  # as callers may be wrong
        raise InvalidParameter(name, value, "be a finite number")
    return value


def _check_step(column: Column) -> None:
    if column.step is None:
        return
    if column.type not in {"integer", "real"}:
        raise InvalidParameter("step", column.step, f"be left out for a column of type {column.type}")
    if not finite_number("step", column.step) > 0:
        raise InvalidParameter("step", column.step, "be positive")
    if column.low is not None and column.high is not None and column.step > column.high - column.low:
        raise InvalidParameter("step", column.step, "be no longer than from one bound to the other")


def _check_unit_bounds(kind: ColumnType, low: Number | None, high: Number | None) -> None:
    if (low is None) != (high is None):
        raise InvalidParameter("unit_low", (low, high), "be given with unit_high, or not at all")
    if low is None or high is None:
        return
    if kind not in {"integer", "real"}:
        raise InvalidParameter("unit_low", low, f"be left out for a column of type {kind}")
    finite_number("unit_low", low)
    finite_number("unit_high", high)
    if not low < high:
        raise InvalidParameter("unit_low", low, "be below unit_high")
    if not -(10**15) <= low < high <= 10**15:
        raise InvalidParameter("unit_high", (low, high), "be below 1e15 in size, as unit_low")


def _check_table(name: str, columns: Mapping[str, Column]) -> None:
    for kind, text in (("table", name), *(("column", column) for column in columns)):
        if not isinstance(text, str) or not text or "\0" in text:  # type: ignore[redundant-expr]  # as callers may be wrong
            raise InvalidParameter(kind, text, "have a name")
    if not columns:
        raise InvalidParameter("columns", columns, f"name at least one column of table {name!r}")
    _check_distinct("columns", [column.casefold() for column in columns])


def _check_distinct(what: str, names: list[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidParameter(what, twice, "have different names", instead="SQL does not tell their case apart.")


def _check_keys(kind: ColumnType, keys: tuple[Key, ...]) -> None:
    if kind in {"real", "timestamp"}:
        raise InvalidParameter(
            "keys", keys, f"be left out for a column of type {kind}", instead="Group by whole numbers, dates or text."
        )
    if not isinstance(keys, tuple) or not 0 < len(keys) <= MOST_KEYS:  # type: ignore[redundant-expr]  # as callers may be wrong
        raise InvalidParameter("keys", keys, f"be a list of 1 to {MOST_KEYS:,} values")
    allowed: dict[ColumnType, type] = {"integer": int, "text": str, "boolean": bool, "date": dt.date}
    for key in keys:
        if key is not None and type(key) is not allowed[kind]:
            raise InvalidParameter("keys", key, f"be of the column's type, {kind}")
        if isinstance(key, str) and ("\0" in key or any("\ud800" <= letter <= "\udfff" for letter in key)):
            raise InvalidParameter("keys", key, "be text without null characters or halves of characters")
    if len(set(keys)) != len(keys):
        raise InvalidParameter("keys", keys, "be different from each other")


def _known(columns: Mapping[str, Column]) -> str:
    return "There are: " + ", ".join(list(columns)[:20]) + "."

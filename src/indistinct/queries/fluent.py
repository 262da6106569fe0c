"""Questions put together step by step: the same statement, the same plan, the same answer as in SQL."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from indistinct.errors import InvalidParameter
from indistinct.queries.questions.reading import read_statement

if TYPE_CHECKING:
    from indistinct.queries.answers.answer import Answer
    from indistinct.queries.answers.explanation import Explanation
    from indistinct.queries.database import PrivateDatabase

__all__ = ["Question"]


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one table. Each step gives a new question; `answer` asks it, and `sql` spells it."""

    database: PrivateDatabase
    name: str
    conditions: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    joins: tuple[str, ...] = ()
    ordering: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    most: int | None = None

    def where(self, condition: str) -> Question:
        """Only rows for which a condition, in SQL, holds."""
        return replace(self, conditions=(*self.conditions, condition))

    def join(self, table: str, on: str) -> Question:
        """With the rows of another table for which a condition holds."""
        return replace(self, joins=(*self.joins, f"JOIN {_name(table)} ON {on}"))

    def group_by(self, *columns: str) -> Question:
        """One row of the answer for each group, which is shown first in it."""
        return replace(self, groups=(*self.groups, *columns))

    def count(self, column: str | None = None, *, name: str | None = None) -> Question:
        """How many rows there are, or rows whose column is not NULL."""
        return self._with("COUNT(*)" if column is None else f"COUNT({column})", name)

    def count_units(self, *, name: str | None = None) -> Question:
        """How many units of privacy there are."""
        table = self.database.policy.table(self.name)
        unit = getattr(table, "unit", None)
        if not isinstance(unit, str):
            raise InvalidParameter("unit", unit, "be a column to count different units", instead="Count the rows.")
        return self._with(f"COUNT(DISTINCT {_name(unit)})", name)

    def sum(
        self, column: str, low: object = None, high: object = None, *, per_unit: bool = False, name: str | None = None
    ) -> Question:
        """The sum of a column, moved into bounds; without them, into the policy's.

        `per_unit`: the bounds are those of what all rows of one unit in a group add up to.
        """
        if per_unit:
            bounds = _clamped(column, low, high).removeprefix("CLAMP(").removesuffix(")") if low is not None else column
            return self._with(f"SUM_PER_UNIT({bounds})", name)
        return self._with(f"SUM({_clamped(column, low, high)})", name)

    def mean(self, column: str, low: object = None, high: object = None, *, name: str | None = None) -> Question:
        """The average of a column."""
        return self._with(f"AVG({_clamped(column, low, high)})", name)

    def variance(self, column: str, low: object = None, high: object = None, *, name: str | None = None) -> Question:
        """The variance of a column, as of a sample."""
        return self._with(f"VARIANCE({_clamped(column, low, high)})", name)

    def deviation(self, column: str, low: object = None, high: object = None, *, name: str | None = None) -> Question:
        """The standard deviation of a column, as of a sample."""
        return self._with(f"STDDEV({_clamped(column, low, high)})", name)

    def quantile(
        self, column: str, share: object, low: object = None, high: object = None, *, name: str | None = None
    ) -> Question:
        """A quantile of a column."""
        return self._with(f"QUANTILE({_clamped(column, low, high)}, {share})", name)

    def median(self, column: str, low: object = None, high: object = None, *, name: str | None = None) -> Question:
        """The median of a column."""
        return self._with(f"MEDIAN({_clamped(column, low, high)})", name)

    def top(self, column: str, number: int, *, name: str | None = None) -> Question:
        """The most frequent values of a column, by the number of units that have them; alone in its question."""
        return self._with(f"TOP_K({column}, {number})", name)

    def compute(self, expression: str, *, name: str | None = None) -> Question:
        """Anything that SQL understands, such as a ratio of sums."""
        return self._with(expression, name)

    def having(self, condition: str) -> Question:
        """Only groups whose noisy numbers keep a condition."""
        return replace(self, kept=(*self.kept, condition))

    def order_by(self, *columns: str, descending: bool = False) -> Question:
        """In the order of columns of the answer."""
        return replace(self, ordering=(*self.ordering, *(f"{each} DESC" if descending else each for each in columns)))

    def limit(self, rows: int) -> Question:
        """At most so many rows of the answer."""
        return replace(self, most=rows)

    def sql(self) -> str:
        """The question in SQL."""
        parts = ["SELECT " + ", ".join([*self.groups, *self.columns]), f"FROM {_name(self.name)}", *self.joins]
        for word, clauses in (("WHERE", self.conditions), ("HAVING", self.kept)):
            told = f"{word} " + " AND ".join(f"({each})" for each in clauses)
            if word == "HAVING" and self.groups:
                parts.append("GROUP BY " + ", ".join(self.groups))
            if clauses:
                parts.append(told)
        if self.ordering:
            parts.append("ORDER BY " + ", ".join(self.ordering))
        if self.most is not None:
            parts.append(f"LIMIT {self.most}")
        text = " ".join(parts)
        read_statement(text)
        return text

    def answer(self, **options: Any) -> Answer:
        """Asks; the options are those of `PrivateDatabase.sql`."""
        return self.database.sql(self.sql(), **options)

    def explain(self, **options: Any) -> Explanation:
        """What `answer` would do, for free."""
        return self.database.explain(self.sql(), **options)

    def rehearse(self, **options: Any) -> Answer:
        """An answer from rows that are made up, for free."""
        return self.database.rehearse(self.sql(), **options)

    def _with(self, column: str, name: str | None) -> Question:
        return replace(self, columns=(*self.columns, column if name is None else f"{column} AS {_name(name)}"))


def _name(name: str) -> str:
    return str(exp.Identifier(this=name, quoted=True).sql("duckdb"))


def _clamped(column: str, low: object, high: object) -> str:
    if (low is None) != (high is None):
        raise InvalidParameter("bounds", (low, high), "be given on both sides or on none")
    return column if low is None else f"CLAMP({column}, {low}, {high})"

"""An answer: its columns and rows, how far the noise may have moved them, and what it cost."""

from __future__ import annotations

import datetime as dt
import html
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from indistinct.errors import InvalidParameter, MissingExtra
from indistinct.numbers.reading import read_probability
from indistinct.queries.answers.allotment import Allotment
from indistinct.queries.answers.evaluation import Interval, Released, Value, interval_of, shown, value_of
from indistinct.queries.answers.noises import largest
from indistinct.queries.answers.quantiles import cell_ends
from indistinct.queries.plans.plan import Ordering, Plan
from indistinct.queries.plans.results import Terms, noises_of

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

__all__ = ["Answer", "Receipt", "answer_of"]

_SHOWN_ROWS = 60
_LARGEST = Fraction(sys.float_info.max)


@dataclass(frozen=True, slots=True)
class Receipt:
    """What an answer cost, and what was done for it."""

    charge: str
    """The key of the charge in the ledger; empty for a rehearsal, which is free."""
    cost: Mapping[str, Fraction]
    mechanisms: tuple[str, ...]
    bounds: str
    remaining: Mapping[str, Fraction]
    free: bool
    """Whether this answer had been given before, and cost nothing now."""
    ledger: str = ""
    """The ledger's own receipt, in one line of JSON, which `indistinct ledger receipt` checks."""

    def __str__(self) -> str:
        cost = "nothing" if self.free else _amounts(self.cost)
        lines = [f"cost: {cost}", *self.mechanisms, self.bounds, f"left: {_amounts(self.remaining)}"]
        return "\n".join(line for line in lines if line)


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """A table of noisy numbers.

    `rows` are tuples in the order of `columns`. What is computed from the noisy numbers (ratios, ordering, limits) is
    free of cost. It can be read as an Arrow stream by anything that does (`pyarrow.table(answer)`).
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    receipt: Receipt
    _plan: Plan = field(repr=False)
    _groups: tuple[Released, ...] = field(repr=False)
    _allotment: Allotment = field(repr=False)
    _among: int = field(default=1, repr=False)
    """Of so many groups these were chosen by noisy numbers; 1 where they were not."""

    def intervals(self, level: object = "0.95") -> dict[str, list[tuple[Any, Any]]]:
        """For each column, ends between which it would be without the noise, each with such a probability at least.

        Where rows are chosen by noisy numbers (HAVING; ORDER BY with LIMIT), the intervals of all groups among which
        they are chosen hold at once with that probability, so that they hold for the chosen ones: they are wider.
        They tell of the noise alone: not of what bounding the values and the contributions has changed, nor of how
        the people in the data were sampled. Keys of groups have none: (None, None). A quantile that was chosen by
        itself is only known to be within its bounds; ask with `intervals=True` for more.
        """
        sure = read_probability("level", level)
        if not 0 < sure < 1:
            raise InvalidParameter("level", level, "lie between 0 and 1, such as 0.95")
        around = partial(_Around, self._plan, self._allotment)
        found: dict[str, list[tuple[Any, Any]]] = {}
        for output in self._plan.outputs:
            number = len(noises_of(output.outcome))
            each_level = 1 - (1 - sure) / (max(number, 1) * self._among)
            found[output.name] = [
                _ends(interval_of(output.outcome, group, around(group, each_level)) if number else None)
                for group in self._groups
            ]
        return found

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        return _table(self.columns, self.rows)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(_cell(column))}</th>" for column in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_cell(value))}</td>" for value in row) + "</tr>"
            for row in self.rows[:_SHOWN_ROWS]
        )
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return f"{table}<pre>{html.escape(str(self.receipt))}</pre>"

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The Arrow PyCapsule of the table."""
        from indistinct.queries.answers.arrow import stream

        return stream(self.columns, self.rows, requested_schema)

    def to_arrow(self) -> pa.Table:
        """As a table of pyarrow, if that is installed."""
        try:
            import pyarrow as pa
        except ImportError:
            raise MissingExtra("An Arrow table", "arrow") from None
        return pa.table(self)

    def to_pandas(self) -> pd.DataFrame:
        """As a frame of pandas, if that is installed."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtra("A frame of pandas", "pandas") from None
        return pd.DataFrame(list(self.rows), columns=list(self.columns))

    def to_polars(self) -> pl.DataFrame:
        """As a frame of polars, if that is installed."""
        try:
            import polars as pl
        except ImportError:
            raise MissingExtra("A frame of polars", "polars") from None
        return pl.DataFrame(list(self.rows), schema=list(self.columns), orient="row")


@dataclass(frozen=True, slots=True)
class _Around:
    """Intervals around the numbers of a group, each with such a probability."""

    plan: Plan
    allotment: Allotment
    group: Released
    level: Fraction

    def __call__(self, measure: int) -> Interval:
        return self.together(((Fraction(1), measure),))

    def together(self, terms: Terms) -> Interval:
        centre = sum((factor * self.group.numbers[measure] for factor, measure in terms), Fraction(0))
        reach = largest([(factor, self.allotment.noises[measure]) for factor, measure in terms], self.level)
        return centre - reach, centre + reach

    def quantile(self, cells: int, share: Fraction) -> Interval:
        grid = self.plan.quantiles[cells].cells
        tree = self.allotment.trees[cells]
        first, last = 0, grid.number - 1
        if tree is not None:
            first, last = tree.interval(self.group.prefixes[cells], share, self.level)
        return cell_ends(grid, first)[0], cell_ends(grid, last)[1]


def answer_of(plan: Plan, allotment: Allotment, released: Sequence[Released], receipt: Receipt) -> Answer:
    """Everything after the noise: HAVING, ORDER BY, LIMIT, and the columns."""
    kept = [group for group in released if plan.having is None or value_of(plan.having, group, plan) is True]
    for ordering in reversed(plan.order if allotment.peel is None else ()):
        kept = _sorted(kept, ordering, plan)
    end = None if plan.limit is None else plan.offset + plan.limit
    kept = kept[plan.offset : end]
    rows = tuple(tuple(shown(value_of(output.outcome, group, plan)) for output in plan.outputs) for group in kept)
    among = max(len(released), 1) if _chosen_by_noise(plan) else 1
    return Answer(tuple(output.name for output in plan.outputs), rows, receipt, plan, tuple(kept), allotment, among)


def _chosen_by_noise(plan: Plan) -> bool:
    """Whether it depends on the noise which groups are shown."""
    if plan.having is not None and noises_of(plan.having):
        return True
    cut = plan.limit is not None or plan.offset > 0
    return cut and any(noises_of(ordering.outcome) for ordering in plan.order)


def _sorted(groups: list[Released], ordering: Ordering, plan: Plan) -> list[Released]:
    def place(value: Value) -> tuple[str, Any]:
        """Values of one kind by their size, and kinds by their names."""
        match value:
            case str():
                return "text", value
            case list():
                return "list", str(value)
            case dt.date():
                return "date", value
        return "number", value

    told = [(value_of(ordering.outcome, group, plan), group) for group in groups]
    missing = [group for value, group in told if value is None]
    present = [pair for pair in told if pair[0] is not None]
    present.sort(key=lambda pair: place(pair[0]), reverse=ordering.descending)
    values = [group for _, group in present]
    return missing + values if ordering.nulls_first else values + missing


def _ends(interval: Interval | None) -> tuple[Any, Any]:
    if interval is None:
        return None, None
    low, high = interval
    return (_number(low), _number(high))


def _number(value: Fraction) -> int | float:
    """An end of an interval; one beyond the doubles is infinite."""
    if abs(value) > _LARGEST:
        return math.inf if value > 0 else -math.inf
    return int(value) if value.denominator == 1 else float(value)


def _table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    told = [[_cell(value) for value in row] for row in rows[:_SHOWN_ROWS]]
    columns = [_cell(column) for column in columns]
    widths = [max([len(column), *(len(row[i]) for row in told)]) for i, column in enumerate(columns)]
    right = [
        bool(rows) and all(isinstance(row[i], int | float) or row[i] is None for row in rows)
        for i in range(len(columns))
    ]

    def line(cells: Sequence[str]) -> str:
        pairs = zip(cells, widths, right, strict=True)
        return "  ".join(cell.rjust(width) if aligned else cell.ljust(width) for cell, width, aligned in pairs).rstrip()

    lines = [line(columns), line(["-" * width for width in widths]), *(line(row) for row in told)]
    if len(rows) > _SHOWN_ROWS:
        lines.append(f"... and {len(rows) - _SHOWN_ROWS:,} more rows")
    return "\n".join(lines)


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case int():
            return f"{value:,}"
        case float():
            return f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.0f}"
        case list():
            return "[" + ", ".join(_cell(each) for each in value) + "]"
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in str(value))


def _amounts(amounts: Mapping[str, Fraction]) -> str:
    return ", ".join(f"{name} {float(amount):.6g}" for name, amount in amounts.items())

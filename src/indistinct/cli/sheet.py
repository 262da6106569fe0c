"""An answer as columns of values and noise intervals, from which tables, CSV, JSON and charts are made."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

__all__ = ["LEVEL", "WHAT_IT_MEANS", "Cell", "Sheet", "plain", "spelled"]

LEVEL = "0.95"
WHAT_IT_MEANS = "noise interval (95%, privacy noise only)"

Cell = object
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Sheet:
    """Rows of an answer; `intervals` has an entry for each column that carries noise, one interval per row."""

    names: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    intervals: Mapping[int, Sequence[Interval | None]]
    notes: tuple[str, ...] = ()
    """What else there is to say, as lines: the receipt."""
    facts: Mapping[str, object] = field(default_factory=dict)
    """The same for JSON."""

    def is_measured(self, index: int) -> bool:
        """Whether a column is an answer, not the key of a group: it has intervals, or fractions, as quantiles do."""
        return index in self.intervals or any(isinstance(row[index], float) for row in self.rows)

    def intervals_of(self, index: int) -> Sequence[Interval | None]:
        """The intervals of a column, None where there is none."""
        return self.intervals.get(index, (None,) * len(self.rows))

    def texts(self, index: int) -> list[str]:
        """The values of a column as text, with the digits that its noise leaves a meaning."""
        decimals = self._decimals(index)
        return [spelled(row[index], decimals) for row in self.rows]

    def interval_texts(self, index: int) -> list[tuple[str, str]]:
        """Both ends of each interval as text, empty where there is none."""
        decimals = self._decimals(index)
        return [
            ("", "") if each is None else (spelled(each[0], decimals), spelled(each[1], decimals))
            for each in self.intervals_of(index)
        ]

    def _decimals(self, index: int) -> int | None:
        """As many as show two digits of how far the noise may reach in the narrowest interval."""
        widths = [each[1] - each[0] for each in self.intervals_of(index) if each is not None]
        reach = min((width / 2 for width in widths if 0 < width < math.inf), default=0.0)
        return min(max(1 - math.floor(math.log10(reach)), 0), 15) if reach else None

    @property
    def labels(self) -> list[str]:
        """What each row is about: its columns without noise."""
        numbers = {index for index in range(len(self.names)) if self.is_measured(index)}
        keys = [index for index in range(len(self.names)) if index not in numbers]
        return [", ".join(spelled(row[index]) for index in keys) or "all" for row in self.rows]


def spelled(value: Cell, decimals: int | None = None) -> str:
    """A value as text that leaves a terminal alone: control characters are spelled out."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "true" if value else "false"
        case int():
            return f"{value:,}"
        case float() | Decimal() | Fraction():
            return _number(float(value), decimals)
        case dt.date():
            return value.isoformat()
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in str(value))


def _number(value: float, decimals: int | None) -> str:
    """So many decimals; or six digits where there is a fraction to show, and none of a large whole part left out."""
    if not abs(value) < math.inf:
        return str(value)
    if abs(value) >= 1e15:
        return f"{value:.6g}"
    if decimals is not None:
        return f"{value:,.{decimals}f}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:,.6g}"


def plain(value: Cell) -> object:
    """A value for JSON and CSV: as it is where they have it, else as text."""
    match value:
        case None | bool() | int() | str():
            return value
        case float() | Decimal() | Fraction():
            number = float(value)
            return number if abs(number) < float("inf") else str(number)
        case dt.date():
            return value.isoformat()
    return str(value)

"""An answer as a bar chart of plain text: one bar a row, with its noise interval drawn where the bar ends."""

from __future__ import annotations

import math

from indistinct.cli.sheet import WHAT_IT_MEANS, Sheet, spelled
from indistinct.errors import InvalidParameter

__all__ = ["as_bars", "drawn_column"]

_NARROWEST, _LONGEST_LABEL = 10, 30


def drawn_column(sheet: Sheet) -> int:
    """The column that a chart shows: the first that is an answer and holds numbers."""
    for index in range(len(sheet.names)):
        if sheet.is_measured(index) and any(_is_number(row[index]) for row in sheet.rows):
            return index
    raise InvalidParameter("the answer", ", ".join(sheet.names), "have a column of noisy numbers to be drawn")


def as_bars(sheet: Sheet, *, width: int = 80, ascii_only: bool = False) -> str:
    """Bars from zero, to the left for negative numbers.

    `█` is the bar, `├` and `┤` the ends of the noise interval and `─` what lies between; `#`, `[`, `]` and `-`
    where the terminal has only ASCII.
    """
    column = drawn_column(sheet)
    labels = [_cut(label) for label in sheet.labels]
    texts = sheet.texts(column)
    left, right = max(map(len, labels), default=0), max(map(len, texts), default=0)
    room = max(_NARROWEST, width - left - right - 4)
    values = [float(row[column]) if _is_number(row[column]) else None for row in sheet.rows]  # type: ignore[arg-type]
    spans = [
        None if value is None else (value, *(interval or (value, value)))
        for value, interval in zip(values, sheet.intervals_of(column), strict=True)
    ]
    ends = [end for span in spans if span is not None for end in span if math.isfinite(end)]
    scale = _Scale(min([0.0, *ends]), max([0.0, *ends]), room)
    lines = [spelled(sheet.names[column])]
    for label, text, span in zip(labels, texts, spans, strict=True):
        drawn = _bar(scale, *span) if span is not None else ""
        lines.append(f"{label:<{left}}  {text:>{right}}  {drawn}".rstrip())
    if column in sheet.intervals:
        lines.append(f"{' ' * (left + right + 4)}├─┤ {WHAT_IT_MEANS}")
    chart = "\n".join(lines)
    return chart.translate(_IN_ASCII) if ascii_only else chart


class _Scale:
    """From numbers to places on a line of so many characters."""

    def __init__(self, low: float, high: float, room: int) -> None:
        self.low, self.room = low, room
        self.step = (high - low) / (room - 1) or 1.0

    def at(self, value: float) -> int:
        """The place of a number; what is infinite ends at the edge."""
        place = (value - self.low) / self.step
        return 0 if place < 0 else self.room - 1 if place > self.room - 1 else round(place)


def _bar(scale: _Scale, value: float, low: float, high: float) -> str:
    line = [" "] * scale.room
    start, end = sorted((scale.at(0.0), scale.at(value)))
    line[start : end + 1] = "█" * (end + 1 - start)
    first, last = scale.at(low), scale.at(high)
    if last - first >= 2:
        line[first : last + 1] = "├" + "─" * (last - first - 1) + "┤"
    return "".join(line)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


def _cut(label: str) -> str:
    return label if len(label) <= _LONGEST_LABEL else label[: _LONGEST_LABEL - 1] + "…"


_IN_ASCII = str.maketrans({"█": "#", "├": "[", "┤": "]", "─": "-", "…": "."})

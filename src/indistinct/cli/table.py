"""An answer as a table for a terminal: numbers to the right, each with its noise interval beside it."""

from __future__ import annotations

from collections.abc import Iterator

from indistinct.cli.sheet import WHAT_IT_MEANS, Sheet, spelled

__all__ = ["as_table"]

_HEAD = "noise interval"


def as_table(sheet: Sheet) -> str:
    """The rows in aligned columns, and what the intervals mean."""
    columns = list(_columns(sheet))
    widths = [max(len(cell) for cell in cells) for cells, _ in columns]
    lines = []
    for row in range(len(sheet.rows) + 1):
        cells = [
            cells[row].rjust(width) if right else cells[row].ljust(width)
            for (cells, right), width in zip(columns, widths, strict=True)
        ]
        lines.append("  ".join(cells).rstrip())
    lines.insert(1, "  ".join("-" * width for width in widths))
    few = f"{len(sheet.rows):,} row" + "s" * (len(sheet.rows) != 1)
    lines.append(f"{few}; {WHAT_IT_MEANS}" if sheet.intervals else few)
    return "\n".join(lines)


def _columns(sheet: Sheet) -> Iterator[tuple[list[str], bool]]:
    """Each column as texts with its head, and whether it stands to the right."""
    for index, name in enumerate(sheet.names):
        values = [row[index] for row in sheet.rows]
        numeric = any(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
        yield [spelled(name), *sheet.texts(index)], numeric
        if index in sheet.intervals:
            ends = sheet.interval_texts(index)
            left = max((len(low) for low, _ in ends), default=0)
            right = max((len(high) for _, high in ends), default=0)
            yield [_HEAD, *(f"{low:>{left}} to {high:>{right}}" if low else "" for low, high in ends)], False

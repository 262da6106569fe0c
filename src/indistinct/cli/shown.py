"""An answer in the form that was asked for: a table, bars, JSON or CSV."""

from __future__ import annotations

import argparse
import csv
import io
import json
import shutil
import sys

from indistinct.cli.bars import as_bars, drawn_column
from indistinct.cli.sheet import WHAT_IT_MEANS, Sheet, plain
from indistinct.cli.table import as_table

__all__ = ["as_csv", "as_object", "shown"]


def shown(sheet: Sheet, arguments: argparse.Namespace) -> str:
    """The text to print; a picture is written on the way, and named."""
    if arguments.json:
        return json.dumps(as_object(sheet), indent=2, ensure_ascii=not _unicode())
    if arguments.csv:
        return as_csv(sheet).rstrip("\r\n")
    if arguments.chart is None:
        return "\n".join([as_table(sheet), *sheet.notes])
    if arguments.chart == "":
        width = shutil.get_terminal_size().columns
        return "\n".join([as_bars(sheet, width=width, ascii_only=not _unicode()), *sheet.notes])
    return "\n".join([as_table(sheet), *sheet.notes, _drawn(sheet, arguments.chart)])


def _drawn(sheet: Sheet, path: str) -> str:
    from indistinct.figures.answers import Bars, write_bars

    index = drawn_column(sheet)
    values = [row[index] for row in sheet.rows]
    numbers = [float(value) if isinstance(value, int | float) else None for value in values]
    write_bars(path, [Bars(sheet.names[index], sheet.labels, numbers, sheet.intervals_of(index))])
    return f"Drawn: {path}"


def as_object(sheet: Sheet) -> dict[str, object]:
    """The answer for JSON; ends of intervals that are infinite are spelled out."""
    return {
        "columns": list(sheet.names),
        "rows": [[plain(cell) for cell in row] for row in sheet.rows],
        "intervals": {
            "meaning": WHAT_IT_MEANS,
            "columns": {
                sheet.names[index]: [each if each is None else [plain(end) for end in each] for each in intervals]
                for index, intervals in sheet.intervals.items()
            },
        },
        **sheet.facts,
    }


def as_csv(sheet: Sheet) -> str:
    """The rows; beside each column with noise the two ends of its interval."""
    out = io.StringIO()
    writer = csv.writer(out)
    head: list[object] = []
    for index, name in enumerate(sheet.names):
        head += [name, f"{name} at least", f"{name} at most"] if index in sheet.intervals else [name]
    writer.writerow(head)
    for place, row in enumerate(sheet.rows):
        cells: list[object] = []
        for index, cell in enumerate(row):
            cells.append(plain(cell))
            if index in sheet.intervals:
                cells += sheet.intervals[index][place] or (None, None)
        writer.writerow(cells)
    return out.getvalue()


def _unicode() -> bool:
    """Whether the output can show more than ASCII."""
    try:
        "█├┤─…".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True

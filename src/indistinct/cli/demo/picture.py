"""The tour as one picture: private answers as bars, their noise intervals as lines, true answers as marks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from indistinct.cli.demo.tour import Compared

__all__ = ["draw"]


def draw(path: Path, compared: Sequence[Compared]) -> None:
    """Draws a panel for each answer with several rows."""
    from indistinct.figures.answers import Bars, write_bars

    panels = []
    for each in compared:
        rows = each.sheet.rows[: each.question.most]
        if len(rows) > 1:
            panels.append(
                Bars(
                    each.question.words.partition("? ")[0].removesuffix("?") + "?",
                    each.sheet.labels[: len(rows)],
                    [_number(row[each.column]) for row in rows],
                    each.sheet.intervals_of(each.column)[: len(rows)],
                    [_number(each.true(row)) for row in rows],
                )
            )
    write_bars(path, panels, note="visits of invented patients to a hospital network")


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None

"""The tour: each question with its true and its private answer side by side, what it cost, and what is left."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from indistinct.cli.answering import left_of, sheet_of
from indistinct.cli.demo.questions import QUESTIONS, REFUSED, Question
from indistinct.cli.demo.truth import Truth, true_answer
from indistinct.cli.sheet import WHAT_IT_MEANS, Sheet, spelled
from indistinct.errors import IndistinctError

if TYPE_CHECKING:
    from indistinct.queries import PrivateDatabase

__all__ = ["Compared", "tour"]

_INDENT = "   "


@dataclass(frozen=True, slots=True)
class Compared:
    """A private answer beside the true one: a sheet of keys and one noisy column."""

    question: Question
    sheet: Sheet
    truth: Truth

    @property
    def column(self) -> int:
        """The number, which comes after the keys."""
        return len(self.sheet.names) - 1

    def true(self, row: tuple[object, ...]) -> object:
        """The true number beside a private row."""
        return self.truth.get(row[:-1])

    @property
    def withheld(self) -> list[tuple[object, ...]]:
        """Groups that there are and that the private answer does not show, the smallest first."""
        shown = {row[:-1] for row in self.sheet.rows}
        missing = [key for key in self.truth if key not in shown]
        return sorted(missing, key=lambda key: (float(str(self.truth[key])), key))


def tour(database: PrivateDatabase, table: Path) -> Iterator[str | Compared]:
    """What there is to print, piece by piece, and the comparisons, for a picture."""
    yield f"\nThe budget, for everybody and for ever. {left_of(database)} Each question takes a sixth."
    for number, question in enumerate(QUESTIONS, 1):
        yield f"\n{number}. {question.words}\n{_INDENT}{question.sql}\n"
        sheet = sheet_of(database.sql(question.sql, groups=question.groups))
        compared = Compared(question, sheet, true_answer(table, question.sql))
        yield compared
        yield textwrap.indent("\n".join(side_by_side(compared)), _INDENT)
        yield f"{_INDENT}{question.remark}\n{_INDENT}{left_of(database)}"
    yield f"\n{len(QUESTIONS) + 1}. What is known of patient 100004?\n{_INDENT}{REFUSED}\n"
    try:
        database.sql(REFUSED)
    except IndistinctError as error:
        yield textwrap.indent(f"Refused, and nothing is charged: {error}", _INDENT)
        yield f"{_INDENT}{left_of(database)}"


def side_by_side(compared: Compared) -> Iterator[str]:
    """The rows of a comparison, aligned."""
    sheet, column = compared.sheet, compared.column
    rows = [("", "true", "private", WHAT_IT_MEANS if column in sheet.intervals else "")]
    ends = [f"{low} to {high}" if low else "" for low, high in sheet.interval_texts(column)]
    for label, row, private, interval in zip(sheet.labels, sheet.rows, sheet.texts(column), ends, strict=True):
        rows.append((label, _rounded(compared.true(row)), private, interval))
    shown = rows[: compared.question.most + 1]
    widths = [max(len(row[place]) for row in shown) for place in range(4)]
    for label, true, private, interval in shown:
        yield f"{label:<{widths[0]}}  {true:>{widths[1]}}  {private:>{widths[2]}}  {interval}".rstrip()
    if len(rows) > len(shown):
        yield f"... and {len(rows) - len(shown)} more."
    if compared.withheld:
        names = [f"{', '.join(map(spelled, key))} ({spelled(compared.truth[key])})" for key in compared.withheld[:3]]
        yield f"{len(compared.withheld)} groups are too small to be shown. The smallest: {', '.join(names)}."


def _rounded(value: object) -> str:
    return spelled(round(value, 2) if isinstance(value, float) else value)

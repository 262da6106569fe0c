"""What is said of a question that is not answered: where it is wrong, why, and what to write instead."""

from __future__ import annotations

from functools import partial
from typing import Protocol

from indistinct.errors import IndistinctError

__all__ = ["Place", "QueryRefused", "Refuse"]

_LONGEST_LINE = 160


class Place(Protocol):
    """Something that stands in the text of a question."""

    @property
    def meta(self) -> dict[str, object]:
        """With `start` and `end`, if it has a place of its own."""
        ...


class QueryRefused(IndistinctError):
    """A question that cannot be answered privately, or not by this library; nothing was charged.

    It depends on the question and the policy, never on the data.

    >>> raise QueryRefused("SELECT MAX(age) FROM t", (7, 15), "MAX shows one row.", "Ask for QUANTILE(age, 0.99).")
    Traceback (most recent call last):
    ...
    indistinct.queries.refusals.QueryRefused: MAX shows one row. Ask for QUANTILE(age, 0.99).
      SELECT MAX(age) FROM t
             ^^^^^^^^
    """

    def __init__(self, text: str, position: tuple[int, int] | None, reason: str, repair: str = "") -> None:
        self.text = text
        self.position = position
        self.reason = reason
        self.repair = repair
        self.sentence = f"{reason} {repair}".strip()
        super().__init__(self.sentence + underlined(text, position))

    def __reduce__(self) -> tuple[object, ...]:
        """For pickle, so that the error crosses from one process to another."""
        return partial(type(self), self.text, self.position), (self.reason, self.repair)


class Refuse(Exception):  # a signal inside the planner; `QueryRefused` is what is seen
    """Raised at a node of the parsed question, and turned into a QueryRefused where its text is known."""

    def __init__(self, node: object, reason: str, repair: str = "") -> None:
        self.node = node
        self.reason = reason
        self.repair = repair
        super().__init__(reason)


def underlined(text: str, position: tuple[int, int] | None) -> str:
    """The line of the text with the place marked; nothing if there is no place.

    >>> print(underlined("SELECT 1", (7, 8)))
    <BLANKLINE>
      SELECT 1
             ^
    """
    if position is None or not text:
        return ""
    start, end = position
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", start)
    line = text[first : last if last >= 0 else len(text)]
    offset, width = start - first, max(min(end, first + len(line)) - start, 1)
    if len(line) > _LONGEST_LINE:
        cut = max(offset - 40, 0)
        line, offset = line[cut : cut + _LONGEST_LINE], offset - cut
        width = min(width, max(len(line) - offset, 1))
    shown = "".join(letter if letter.isprintable() else " " for letter in line)
    return f"\n  {shown}\n  {' ' * offset}{'^' * width}"

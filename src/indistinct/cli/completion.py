"""What the prompt completes: commands, words of SQL, tables and columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

__all__ = ["COMMANDS", "WORDS", "Completer"]

COMMANDS = {
    "\\budget": "what is left, and what was spent",
    "\\explain": "what a question would cost and how it would be answered; free, the data are not touched",
    "\\help": "these lines",
    "\\history": "what was asked and what it cost",
    "\\quit": "leave",
    "\\rehearse": "the same question on made-up rows; free, the data are not touched",
    "\\tables": "what can be asked about",
}

WORDS = (
    "AND",
    "AS",
    "ASC",
    "AT",
    "AVG",
    "BETWEEN",
    "BY",
    "CASE",
    "CAST",
    "CLAMP",
    "COUNT",
    "DELTA",
    "DESC",
    "DISTINCT",
    "ELSE",
    "END",
    "EPSILON",
    "ERROR",
    "FROM",
    "GROUP",
    "HAVING",
    "IN",
    "IS",
    "JOIN",
    "LEFT",
    "LIKE",
    "LIMIT",
    "MEDIAN",
    "NOT",
    "NULL",
    "ON",
    "OR",
    "ORDER",
    "QUANTILE",
    "SELECT",
    "STDDEV",
    "SUM",
    "THEN",
    "USING",
    "VARIANCE",
    "WHEN",
    "WHERE",
    "WITH",
)

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Completer:
    """Ends words in the manner of readline: asked for the first, second, ... ending of a text until there is none."""

    def __init__(self, names: Iterable[str], line: Callable[[], str] = lambda: "") -> None:
        self._names = sorted(
            {name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"' for name in names}
        )
        self._line = line
        self._found: list[str] = []

    def __call__(self, text: str, state: int) -> str | None:
        if state == 0:
            self._found = self.endings(text)
        return self._found[state] if state < len(self._found) else None

    def endings(self, text: str) -> list[str]:
        """All that a text may become: names as they are spelled, words of SQL in the case that was begun.

        >>> Completer(["region", "reason", "my ward"]).endings("re")
        ['reason', 'region']
        >>> Completer([]).endings("sel"), Completer([]).endings("\\\\q")
        (['select'], ['\\\\quit'])
        """
        if text.startswith("\\"):
            return (
                [command for command in COMMANDS if command.startswith(text)]
                if self._line().strip() in ("", text)
                else []
            )
        upper = text.upper()
        names = [name for name in self._names if name.strip('"').upper().startswith(upper.lstrip('"'))]
        words = [] if text.startswith('"') else [word for word in WORDS if word.startswith(upper)]
        lower = text != "" and text == text.lower()
        return [*names, *(word.lower() if lower else word for word in words)]

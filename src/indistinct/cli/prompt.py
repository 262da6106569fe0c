"""The prompt: one question after the other, with what is left of the budget in view.

Statements end with a semicolon and may take several lines; a line that begins with a backslash is a command. From a
terminal, a refusal is told and the next question awaited; an interruption (Ctrl-C) forgets the statement that is being
typed, or the question that is being answered, and the end of input (Ctrl-D) leaves. From a file or a pipe, the first
refusal ends it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import TextIO

from indistinct.cli.completion import COMMANDS
from indistinct.cli.statements import split_statements
from indistinct.errors import IndistinctError, InvalidParameter

__all__ = ["Desk", "converse", "read_script"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What the prompt can have done, as functions from text to what is printed."""

    ask: Callable[[str], str]
    explain: Callable[[str], str]
    rehearse: Callable[[str], str]
    history: Callable[[], str]
    budget: Callable[[], str]
    tables: Callable[[], str]
    left: Callable[[], str]
    """In a few letters, for the prompt itself."""


class Talk:
    """One conversation: what was typed so far of a statement, and what was asked last."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.pending = ""
        self._last = ""
        self._manner = desk.ask

    def hear(self, line: str) -> Iterator[str]:
        """What there is to print after one more line."""
        if not self.pending.strip() and line.lstrip().startswith("\\"):
            line = yield from self._command(line.strip())
        statements, self.pending = split_statements(self.pending + line)
        for statement in statements:
            yield self._asked(statement)

    def rest(self) -> Iterator[str]:
        """What there is to print at the end of the input: a last statement needs no semicolon."""
        statements, self.pending = split_statements(self.pending + "\n;")
        for statement in statements:
            yield self._asked(statement)

    def forget(self) -> None:
        """Drops what was typed of a statement."""
        self.pending, self._manner = "", self.desk.ask

    def _asked(self, statement: str) -> str:
        manner, self._manner, self._last = self._manner, self.desk.ask, statement
        return manner(statement)

    def _command(self, line: str) -> Generator[str, None, str]:
        """Carries out a command and gives what is left of its line, such as the statement after `\\explain`."""
        word, _, rest = line.partition(" ")
        rest = rest.strip()
        if word in ("\\explain", "\\rehearse"):
            manner = self.desk.explain if word == "\\explain" else self.desk.rehearse
            if rest.strip("; "):
                self._manner = manner
                return rest + "\n"
            if not self._last:
                raise InvalidParameter(word, rest, "be followed by a question, which ends with a semicolon")
            yield manner(self._last)
            return ""
        if rest.strip("; "):
            raise InvalidParameter("a command", line, f"be {word} alone")
        match word.rstrip(";"):
            case "\\budget":
                yield self.desk.budget()
            case "\\help":
                yield "\n".join(f"{name:<10} {what}" for name, what in COMMANDS.items())
            case "\\history":
                yield self.desk.history()
            case "\\quit":
                raise EOFError
            case "\\tables":
                yield self.desk.tables()
            case _:
                raise InvalidParameter("a command", word, f"be one of {', '.join(COMMANDS)}")
        return ""


def converse(desk: Desk, read: Callable[[str], str] = input) -> None:
    """Talks with somebody at a terminal until they leave."""
    talk = Talk(desk)
    print("Questions end with a semicolon; \\help lists the commands.")
    while True:
        try:
            line = read("...> " if talk.pending.strip() else f"{desk.left()}> ")
            for text in talk.hear(line + "\n"):
                print(text)
        except EOFError:
            if talk.pending.strip():
                print()
            return
        except KeyboardInterrupt:
            print("\nForgotten. What was charged stays charged.")
            talk.forget()
        except IndistinctError as error:
            print(f"indistinct: {error}", file=sys.stderr)
            talk.forget()


def read_script(desk: Desk, lines: TextIO) -> None:
    """Answers what is written in a file or a pipe; the first refusal is raised."""
    talk = Talk(desk)
    try:
        for line in lines:
            for text in talk.hear(line):
                print(text, flush=True)
        for text in talk.rest():
            print(text, flush=True)
    except EOFError:
        return

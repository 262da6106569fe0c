"""indistinct query: one question, or a prompt for many, to a private database."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from indistinct.errors import InvalidParameter

if TYPE_CHECKING:
    from indistinct.cli.prompt import Desk
    from indistinct.queries import PrivateDatabase

__all__ = ["PICTURES", "run"]

PICTURES = (".svg", ".png", ".pdf")


def run(arguments: argparse.Namespace) -> None:
    """Answers the question that is given, or those that are typed or piped in."""
    from indistinct.cli.answering import check_whose, names_in, opened

    check_whose(arguments)
    _check_form(arguments)
    with opened(arguments) as database:
        desk = _desk(database, arguments)
        if arguments.sql is not None:
            manner = desk.explain if arguments.explain else desk.rehearse if arguments.rehearse else desk.ask
            print(manner(arguments.sql))
        elif sys.stdin.isatty():
            from indistinct.cli.prompt import converse
            from indistinct.cli.terminal import prepare

            prepare(names_in(database))
            converse(desk)
        else:
            from indistinct.cli.prompt import read_script

            read_script(desk, sys.stdin)


def _check_form(arguments: argparse.Namespace) -> None:
    """What can be refused before anything is opened."""
    if arguments.chart and Path(arguments.chart).suffix.lower() not in PICTURES:
        raise InvalidParameter(
            "--chart", arguments.chart, f"be a file that ends in {', '.join(PICTURES)}", instead="Put --chart last."
        )
    if arguments.sql is None and (arguments.explain or arguments.rehearse):
        raise InvalidParameter(
            "SQL",
            None,
            "be given with --explain and --rehearse",
            instead="The prompt has commands for both.",
        )


def _desk(database: PrivateDatabase, arguments: argparse.Namespace) -> Desk:
    from indistinct.cli.answering import explanation, history_of, left_of, share_left, sheet_of, tables_of
    from indistinct.cli.prompt import Desk
    from indistinct.cli.shown import shown

    asked: list[str] = []

    def ask(text: str) -> str:
        answer = database.sql(text)
        asked.append(text)
        return shown(sheet_of(answer), arguments)

    return Desk(
        ask=ask,
        explain=lambda text: explanation(database.explain(text), as_json=arguments.json),
        rehearse=lambda text: shown(sheet_of(database.rehearse(text), made_up=True), arguments),
        history=lambda: history_of(asked, database.history),
        budget=lambda: left_of(database),
        tables=lambda: tables_of(database),
        left=lambda: f"{share_left(database):.0%} left",
    )

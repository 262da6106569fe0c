"""indistinct serve: a private database over HTTP, for people with tokens."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from indistinct.errors import InvalidParameter

__all__ = ["run"]


def run(arguments: argparse.Namespace) -> None:
    """Serves until it is told to stop; what has begun by then comes to its end."""
    from indistinct.numbers import read_count
    from indistinct.queries import open as open_database
    from indistinct.queries.policy.file import read_policy
    from indistinct.server.running import Listening, make_server
    from indistinct.server.tokens import TokenBook
    from indistinct.server.work import Limits

    listening = Listening(
        host=arguments.host,
        port=read_count("port", arguments.port, least=1),
        certificate=_path(arguments.certificate),
        private_key=_path(arguments.private_key),
        behind_proxy=arguments.behind_proxy,
    )
    limits = Limits(
        workers=read_count("workers", arguments.workers, least=1),
        waiting=read_count("waiting", arguments.waiting, least=1),
        rate=_positive("rate", arguments.rate),
        seconds=_positive("seconds", arguments.seconds),
        tick=_positive("tick", arguments.tick),
    )
    book = TokenBook(arguments.tokens or f"{arguments.policy}.tokens")
    if all(token.revoked for token in book.tokens()):
        print("Nobody has a token yet: issue one with `indistinct token issue`.", file=sys.stderr)
    policy = read_policy(arguments.policy)
    with open_database(policy=policy, ledger=arguments.ledger, name=arguments.name) as database:
        server = make_server(database, book, limits, listening)
        scheme = "https" if listening.certificate else "http"
        print(f"Serving {database.name} at {scheme}://{listening.host}:{listening.port}.", flush=True)
        server.run()


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)


def _positive(name: str, text: str) -> float:
    from indistinct.numbers import read_number

    number = float(read_number(name, text))
    if not number > 0:
        raise InvalidParameter(name, text, "be above 0")
    return number

"""Whether a ledger's tables, indexes and triggers are those of its migrations: what is missing, other, or too much.

The rows of a ledger may be sound while that which guards them is gone: a trigger that was dropped refuses nothing, and
a key that is not unique is charged twice. Nothing is written down here a second time: the migrations are carried out
once more, elsewhere, and what comes of it is compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import resources

__all__ = ["Made", "alterations", "described", "scripts"]

Made = Mapping[tuple[str, str], str]
"""Definitions, by what they define: a kind and a name."""


def scripts(database: str) -> Iterator[str]:
    """The migrations for a kind of database, in their order."""
    folder = resources.files("indistinct.ledger") / "migrations" / database
    for script in sorted(folder.iterdir(), key=lambda each: each.name):
        yield script.read_text(encoding="utf-8")


def described(rows: Iterable[tuple[str, str, str]]) -> Made:
    """Definitions by kind and name; those that share a name are told together."""
    found: dict[tuple[str, str], str] = {}
    for kind, name, definition in sorted(rows):
        found[kind, name] = f"{found[kind, name]}\n{definition}" if (kind, name) in found else definition
    return found


def alterations(found: Made, made: Made) -> Iterator[str]:
    """In what a database differs from one that was just made."""
    for (kind, name), definition in made.items():
        if (kind, name) not in found:
            yield f"the {kind} {name!r} is missing"
        elif found[kind, name] != definition:
            yield f"the {kind} {name!r} was changed"
    for kind, name in sorted(found.keys() - made.keys()):
        yield f"the {kind} {name!r} is none of a ledger's"

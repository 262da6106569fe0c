"""Where a ledger lives: what a database must be able to do, and no more.

A `session` is one transaction that excludes all other writers of the ledger, in this process and in others. It sees
everything that was committed before, and when it ends without an exception all that was written in it is durable;
otherwise nothing was written, unless LedgerUnavailable says that this is not known.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from indistinct.errors import LedgerUnavailable
from indistinct.ledger.entries import Balance, ChargeRecord, Head, Place, Row

__all__ = ["Reader", "Session", "Store", "check_process", "open_store"]


class Reader(Protocol):
    """A consistent view."""

    def head(self) -> Head:
        """The last row."""

    def latest_budget(self) -> int:
        """The number of the last row about budgets."""

    def rows(self, first: int = 1, last: int | None = None, kinds: Collection[str] = ()) -> Iterator[Row]:
        """Rows in their order, of some kinds or all."""

    def latest(self, kinds: Collection[str], before: int, most: int) -> list[Row]:
        """The last rows of some kinds before a number, the newest first; without their answers."""

    def outcomes(self, charges: Collection[int]) -> dict[int, str]:
        """The tag of the last row of each charge, by the number of its reservation; none where that is all."""

    def rows_at(self, numbers: Collection[int]) -> dict[int, Row]:
        """The rows that have these numbers."""

    def rows_of(self, charge: int) -> list[Row]:
        """The reservation and the rows that belong to it."""

    def charges(self, keys: Iterable[str]) -> dict[str, ChargeRecord]:
        """The charges that have these keys."""

    def balance(self, place: Place) -> Balance | None:
        """What is left in a place; None where nothing was ever charged."""

    def balances(self) -> dict[Place, Balance]:
        """All of them."""

    def unfinished(self) -> list[ChargeRecord]:
        """Charges that were reserved, and neither voided nor answered."""


class Session(Reader, Protocol):
    """A transaction that alone may write."""

    def append(self, rows: Sequence[Row]) -> None:
        """Writes rows at the end of the chain."""

    def write(self, changes: Mapping[Place, tuple[Balance | None, Balance]]) -> None:
        """Replaces balances by what they become; each must be what it was, and spend no more than its cap."""


class Store(Protocol):
    """A database that holds one ledger."""

    def session(self) -> AbstractContextManager[Session]:
        """A transaction; see above."""

    def reading(self) -> AbstractContextManager[Reader]:
        """A view that changes nothing and blocks nobody."""

    def defects(self) -> Iterator[str]:
        """What the database itself finds wrong with its files."""

    def alterations(self) -> Iterator[str]:
        """In what its tables, indexes and triggers are not those that the migrations make."""

    def undo(self) -> None:
        """Takes back what an interruption has left open; nothing if all was ended."""

    def close(self) -> None:
        """Ends all use."""

    @property
    def mark(self) -> Path | None:
        """Where to keep how far it has come, if it lives in files that can be lost one by one."""

    @property
    def broken(self) -> bool:
        """Whether it failed in a way that leaves its state unknown; then it does nothing more."""


def check_process(opened: int) -> None:
    """Refuses what was opened by another process and inherited: its connection is not touched."""
    if os.getpid() != opened:
        raise LedgerUnavailable("This ledger was opened by another process: open it again in this one.")


def open_store(address: str, *, create: bool = False) -> Store:
    """The store at an address: `postgresql://...`, or the path of a file."""
    if address.startswith(("postgresql://", "postgres://")):
        from indistinct.ledger.postgres import PostgresStore

        return PostgresStore(address, create=create)
    if "://" in address:
        raise LedgerUnavailable("A ledger is the path of a file, or an address that begins with postgresql://.")
    from indistinct.ledger.sqlite import SQLiteStore

    return SQLiteStore(address, create=create)

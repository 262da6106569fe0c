"""What was charged of late, the newest first, and how the balances moved: read from the end, a page at a time.

A page reads so many rows and no more, however long the ledger is: for somebody who charged little among many others it
may hold fewer charges than were asked for, or none, and still say where to go on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from indistinct.ledger.budgets import Budget
from indistinct.ledger.entries import Row
from indistinct.ledger.shelf import Shelf
from indistinct.ledger.store import Reader

__all__ = ["Move", "Past", "PastCharge", "past"]

_AT_A_TIME = 1000
_MOST_READ = 20_000
_CHARGED = ("charge", "reserve")
_MOVING = ("budget", "grant", "void", *_CHARGED)
_STATES = {
    "reserve": "reserved",
    "charge": "started",
    "start": "started",
    "release": "answered",
    "fail": "failed",
    "void": "given back",
}


@dataclass(frozen=True, slots=True)
class PastCharge:
    """A charge: who asked, for what cost as it is spelled in its row, when, and what became of it."""

    number: int
    key: str
    analyst: str | None
    asked: object
    time: int
    """Microseconds since 1970."""
    state: str
    """One of reserved, started, answered, failed, given back."""


@dataclass(frozen=True, slots=True)
class Move:
    """What a budget had and had spent of an account from a row on."""

    number: int
    time: int
    budget: str
    part: str
    period: int
    account: str
    cap: Fraction
    spent: Fraction


@dataclass(frozen=True, slots=True)
class Past:
    """A page of the past: both lists begin with the newest."""

    charges: tuple[PastCharge, ...]
    moves: tuple[Move, ...]
    before: int | None
    """Where the next page begins; None if this one came to the beginning."""


def past(reader: Reader, shelf: Shelf, dataset: str, analyst: str | None, most: int, before: int) -> Past:
    """The charges to a data set and the moves of its budgets; of an analyst, what their own charges moved alone."""
    charged: list[Row] = []
    moved: list[Row] = []
    last = before
    for row in _backwards(reader, before):
        last = row.number
        if row.kind in _CHARGED and not _is_of(row, dataset, analyst):
            continue
        if row.kind == "void" and not _is_of(reader.rows_at([row.charge or 0])[row.charge or 0], dataset, analyst):
            continue
        moved.append(row)
        charged += [row] if row.kind in _CHARGED else []
        if len(charged) == most:
            break
    ends = reader.outcomes([row.number for row in charged])
    concerned = {
        budget.name: budget
        for budget in shelf.budgets.values()
        if budget.dataset == dataset and (analyst is None or budget.analyst in {"", analyst})
    }
    return Past(
        tuple(
            PastCharge(row.number, row.key or "", body["analyst"], body["asked"], row.time, _STATES[end])
            for row, body, end in ((row, row.body, ends.get(row.number, row.kind)) for row in charged)
        ),
        tuple(move for row in moved for move in _moves(row, concerned)),
        last if reader.latest(_MOVING, last, 1) else None,
    )


def _backwards(reader: Reader, before: int) -> Iterator[Row]:
    """Rows that moved a balance, from the end on, and not too many of them."""
    for _ in range(_MOST_READ // _AT_A_TIME):
        found = reader.latest(_MOVING, before, _AT_A_TIME)
        yield from found
        if len(found) < _AT_A_TIME:
            return
        before = found[-1].number


def _is_of(row: Row, dataset: str, analyst: str | None) -> bool:
    body = row.body
    return body["dataset"] in {dataset, None} and analyst in {None, body["analyst"]}


def _moves(row: Row, concerned: dict[str, Budget]) -> Iterator[Move]:
    for name, part, period, account, _, cap, spent in row.body["balances"]:
        if name in concerned:
            one = concerned[name].units_of(account)
            amounts = Fraction(cap, one), Fraction(spent, one)
            yield Move(row.number, row.time, name, part, period, account, *amounts)

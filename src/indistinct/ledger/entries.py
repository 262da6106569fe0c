"""What a ledger consists of: rows in a chain, and the balances that follow from them.

A row is never changed. What happened is its `text`, canonical JSON; the columns beside it repeat what is searched for.
The kinds of rows, by their tags:

    ledger   the first row: the ledger's name and format
    budget   a budget was created
    grant    a budget got more, for a reason
    reserve  a charge was deducted from every budget that it concerns
    start    its data may be read from now on
    charge   both at once
    release  its answer was sealed
    fail     it failed after the start, for whatever reason
    void     it was given back, as it had not started

A charge is known by the number of its `reserve` or `charge` row, which the other four carry. One of `start` and `void`
may exist for a charge that was reserved, none for one that started at once, and one of `release` and `fail` for either.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from indistinct.errors import LedgerUntrusted
from indistinct.ledger.canonical import GENESIS

__all__ = ["FORMAT", "START", "Balance", "ChargeRecord", "Head", "Place", "Row", "record_of"]


class Row(NamedTuple):
    """One row; `charge` is the number of the one where its charge was deducted, which has the `key`."""

    number: int
    kind: str
    charge: int | None
    key: str | None
    time: int
    """Microseconds since 1970, and never less than in the row before."""
    text: str
    answer: bytes | None
    hash: bytes

    @property
    def body(self) -> dict[str, Any]:
        """The text, parsed."""
        try:
            parsed: object = json.loads(self.text)
        except ValueError:
            parsed = None
        if not isinstance(parsed, dict):
            raise LedgerUntrusted(f"Row {self.number} is no row of a ledger.", self.number)
        return parsed


class Head(NamedTuple):
    """The last row of a chain."""

    number: int
    hash: bytes
    time: int


FORMAT = 2
"""The format of what is written here; another one is refused."""

_STATES = {"reserve": "reserve", "charge": "start"}

START = Head(0, GENESIS, 0)
"""What comes before the first row."""


class Place(NamedTuple):
    """Where something is counted: an account of a budget, in one part and one stretch of time."""

    budget: str
    part: str
    period: int
    account: str


class Balance(NamedTuple):
    """How much there is and was taken, in units, since which row."""

    cap: int
    spent: int
    row: int


class ChargeRecord(NamedTuple):
    """A charge as the rows tell of it."""

    number: int
    request: str
    text: str
    """The text of its reservation."""
    state: str
    """The tag of its last row; "start" for one that started at once."""
    answer: bytes | None = None
    form: str = ""
    """How the answer is spelled: "json" or "bytes"."""
    seal: str = ""
    """The fingerprint that the answer must have."""


def record_of(
    number: int, kind: str, text: str, started: str | None, ended: str | None, answer: bytes | None, last: str | None
) -> ChargeRecord:
    """A charge from its rows, joined."""
    try:
        told = json.loads(last) if last else {}
        request = json.loads(text)["request"]
        form, seal = told.get("form", ""), told.get("answer", "")
    except (ValueError, KeyError, TypeError, AttributeError):
        raise LedgerUntrusted(f"Row {number}, or its answer, is no row of a ledger.", number) from None
    return ChargeRecord(number, request, text, ended or started or _STATES[kind], answer, form, seal)

"""A receipt: the rows of one answer, with what is needed to hash them again, in one line of JSON.

It shows what was charged for which answer, and nobody can change it without the hashes telling. That the rows are
in the ledger is shown by the ledger, or by an anchor of one of them: a receipt is not signed.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from indistinct.errors import LedgerUntrusted
from indistinct.ledger.canonical import canonical, digest, fingerprint
from indistinct.ledger.entries import Row

__all__ = ["Receipt", "read_receipt", "receipt_of"]

_KINDS = (["charge", "release"], ["reserve", "start", "release"])


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a receipt shows."""

    ledger: str
    key: str
    dataset: str | None
    analyst: str | None
    asked: object
    balances: list[list[Any]]
    """What was taken: budget, part, period, account, units, and cap and spent units afterwards."""
    answer: object
    time: int
    hashes: dict[int, str]
    """The hashes of its rows, by number, to be compared with those of a ledger or an anchor."""


def receipt_of(ledger: str, rows: Sequence[Row], previous: dict[int, bytes]) -> str:
    """The receipt, from the rows of an answer and the hashes of the rows before each."""
    answer = rows[-1].answer
    if [row.kind for row in rows] not in _KINDS or answer is None:
        raise LedgerUntrusted("A receipt is for a charge that was reserved, started and answered.")
    told = [
        {"number": row.number, "previous": previous[row.number].hex(), "text": row.text, "hash": row.hash.hex()}
        for row in rows
    ]
    return canonical({"receipt": 1, "ledger": ledger, "rows": told, "answer": base64.b64encode(answer).decode()})


def read_receipt(text: str) -> Receipt:
    """Checks a receipt, and says what it shows; LedgerUntrusted if something in it was changed."""
    try:
        told = json.loads(text)
        if told["receipt"] != 1:
            raise LedgerUntrusted(f"The receipt has the format {told['receipt']!r}; this version reads 1.")
        for row in told["rows"]:
            if digest(bytes.fromhex(row["previous"]), row["number"], row["text"]).hex() != row["hash"]:
                raise LedgerUntrusted(f"Row {row['number']} of the receipt was changed.", row["number"])
        reserve, *between, release = (json.loads(row["text"]) for row in told["rows"])
        number = told["rows"][0]["number"]
        content = base64.b64decode(told["answer"], validate=True)
        kinds = [row["kind"] for row in (reserve, *between, release)]
        if kinds not in _KINDS or any(row["charge"] != number for row in (*between, release)):
            raise LedgerUntrusted("The rows of the receipt do not belong together.")
        if fingerprint(content) != release["answer"]:
            raise LedgerUntrusted("The answer in the receipt is not the one that was sealed.")
        return Receipt(
            str(told["ledger"]),
            reserve["key"],
            reserve["dataset"],
            reserve["analyst"],
            reserve["asked"],
            reserve["balances"],
            json.loads(content) if release["form"] == "json" else content,
            release["time"],
            {row["number"]: row["hash"] for row in told["rows"]},
        )
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        if isinstance(error, LedgerUntrusted):
            raise
        raise LedgerUntrusted("This is not a receipt, or it was cut short.") from None

"""What is asked of a ledger's file within a transaction, in SQL."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import apsw

from indistinct.errors import LedgerUntrusted
from indistinct.ledger.entries import START, Balance, ChargeRecord, Head, Place, Row, record_of

__all__ = ["SQLiteSession"]

_COLUMNS = "number, kind, charge, key, time, text, answer, hash"
_WITHOUT_ANSWER = "number, kind, charge, key, time, text, NULL, hash"
_HEAD = "SELECT number, hash, time FROM entry ORDER BY number DESC LIMIT 1"
_SIZES = (1, 4, 16, 64, 256)
"""How many rows one statement takes: each of these is prepared once, and those it has too many are left empty."""
_EMPTY = (None,) * 8
_APPEND = {
    size: f"INSERT INTO entry ({_COLUMNS}) SELECT * FROM (VALUES {', '.join(['(?, ?, ?, ?, ?, ?, ?, ?)'] * size)}) "  # noqa: S608  # constants
    "WHERE column1 IS NOT NULL"
    for size in _SIZES
}
_CHARGES = """
    SELECT r.number, r.key, r.kind, r.text, s.kind, a.kind, a.answer, a.text FROM entry r
    LEFT JOIN entry s ON s.charge = r.number AND s.kind IN ('start', 'void')
    LEFT JOIN entry a ON a.charge = r.number AND a.kind IN ('release', 'fail')
"""
_BY_KEY = _CHARGES + "WHERE r.key IN (SELECT value FROM json_each(?))"  # noqa: S608  # constants
_UNFINISHED = (
    _CHARGES + "WHERE r.kind IN ('reserve', 'charge') AND a.kind IS NULL AND s.kind IS NOT 'void' ORDER BY r.number"
)
_OUTCOMES = """
    SELECT r.value, s.kind, a.kind FROM json_each(?) r
    LEFT JOIN entry s ON s.charge = r.value AND s.kind IN ('start', 'void')
    LEFT JOIN entry a ON a.charge = r.value AND a.kind IN ('release', 'fail')
"""
_AT = "budget = ? AND part = ? AND period = ? AND account = ?"
_MOVE = f"""
    UPDATE balance SET cap = cap + ?, spent = spent + ?, entry = ?
    WHERE {_AT} AND entry = ? AND spent + ? <= cap + ?
"""  # noqa: S608  # constants
_CREATED = "INSERT INTO balance (budget, part, period, account, cap, spent, entry) VALUES (?, ?, ?, ?, ?, ?, ?)"


class SQLiteSession:
    """What may be done in a transaction."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def head(self) -> Head:
        """The last row."""
        row = self._connection.execute(_HEAD).fetchone()
        return Head(*row) if row else START

    def latest_budget(self) -> int:
        """The number of the last row about budgets."""
        query = "SELECT max(number) FROM entry WHERE kind IN ('ledger', 'budget', 'grant')"
        return int(self._connection.execute(query).get or 0)

    def rows(self, first: int = 1, last: int | None = None, kinds: Collection[str] = ()) -> Iterator[Row]:
        """Rows in their order, of some kinds or all."""
        end = 2**63 - 1 if last is None else last
        query = f"SELECT {_COLUMNS} FROM entry WHERE number BETWEEN ? AND ?"  # noqa: S608  # constants
        if kinds:
            query += " AND kind IN (SELECT value FROM json_each(?))"
            if set(kinds) <= {"ledger", "budget", "grant"}:
                query += " AND kind IN ('ledger', 'budget', 'grant')"
        bindings = (first, end, json.dumps(list(kinds))) if kinds else (first, end)
        for row in self._connection.execute(query + " ORDER BY number", bindings):
            yield _sound(row)

    def latest(self, kinds: Collection[str], before: int, most: int) -> list[Row]:
        """The last rows of some kinds before a number, the newest first; without their answers."""
        query = f"""
            SELECT {_WITHOUT_ANSWER} FROM entry WHERE number < ? AND kind IN (SELECT value FROM json_each(?))
            ORDER BY number DESC LIMIT ?
        """  # noqa: S608  # constants
        return [_sound(row) for row in self._connection.execute(query, (before, json.dumps(list(kinds)), most))]

    def outcomes(self, charges: Collection[int]) -> dict[int, str]:
        """The tag of the last row of each charge, by the number of its reservation; none where that is all."""
        return {
            charge: ended or started
            for charge, started, ended in self._connection.execute(_OUTCOMES, (json.dumps(list(charges)),))
            if ended or started
        }

    def rows_at(self, numbers: Collection[int]) -> dict[int, Row]:
        """The rows that have these numbers."""
        query = f"SELECT {_COLUMNS} FROM entry WHERE number IN (SELECT value FROM json_each(?))"  # noqa: S608  # constants
        found = self._connection.execute(query, (json.dumps(list(numbers)),))
        return {row[0]: _sound(row) for row in found}

    def rows_of(self, charge: int) -> list[Row]:
        """The reservation and the rows that belong to it."""
        query = f"""
            SELECT {_COLUMNS} FROM entry WHERE number = ?1
            UNION ALL SELECT {_COLUMNS} FROM entry WHERE charge = ?1 AND kind IN ('start', 'void')
            UNION ALL SELECT {_COLUMNS} FROM entry WHERE charge = ?1 AND kind IN ('release', 'fail')
        """  # noqa: S608  # constants
        return [_sound(row) for row in self._connection.execute(query, (charge,))]

    def charges(self, keys: Iterable[str]) -> dict[str, ChargeRecord]:
        """The charges that have these keys."""
        found = self._connection.execute(_BY_KEY, (json.dumps(list(keys)),))
        return {key: record_of(number, *rest) for number, key, *rest in found}

    def unfinished(self) -> list[ChargeRecord]:
        """Charges that were reserved, and neither voided nor answered."""
        return [record_of(number, *rest) for number, _, *rest in self._connection.execute(_UNFINISHED)]

    def balance(self, place: Place) -> Balance | None:
        """What is left in a place."""
        query = f"SELECT cap, spent, entry FROM balance WHERE {_AT}"  # noqa: S608  # constants
        row = self._connection.execute(query, place).fetchone()
        return Balance(*row) if row else None

    def balances(self) -> dict[Place, Balance]:
        """All of them."""
        query = "SELECT budget, part, period, account, cap, spent, entry FROM balance"
        return {Place(*row[:4]): Balance(*row[4:]) for row in self._connection.execute(query)}

    def append(self, rows: Sequence[Row]) -> None:
        """Writes rows at the end of the chain, as few statements as there can be: nothing else runs in between."""
        for first in range(0, len(rows), _SIZES[-1]):
            some = rows[first : first + _SIZES[-1]]
            size = next(size for size in _SIZES if size >= len(some))
            self._connection.execute(_APPEND[size], tuple(chain(*some, *[_EMPTY] * (size - len(some)))))

    def write(self, changes: Mapping[Place, tuple[Balance | None, Balance]]) -> None:
        """Replaces balances, each only if it is what it was and stays within its cap."""
        for place, (before, after) in changes.items():
            if before is None:
                self._connection.execute(_CREATED, (*place, *after))
                continue
            more, by = after.cap - before.cap, after.spent - before.spent
            self._connection.execute(_MOVE, (more, by, after.row, *place, before.row, by, more))
            if self._connection.changes() != 1:
                raise LedgerUntrusted("A balance of the ledger is not what its rows say.")


def _sound(row: tuple[Any, ...]) -> Row:
    """The row, if what is in its columns can be."""
    number, _, _, _, _, text, answer, chained = row
    if not (isinstance(text, str) and isinstance(chained, bytes) and isinstance(answer, bytes | None)):
        raise LedgerUntrusted(f"Row {number} is no row of a ledger.", number)
    return Row(*row)

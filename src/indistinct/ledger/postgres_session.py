"""What is asked of a ledger's database within a transaction, in SQL."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import psycopg

from indistinct.errors import LedgerUntrusted
from indistinct.ledger.entries import START, Balance, ChargeRecord, Head, Place, Row, record_of

__all__ = ["Connection", "PostgresSession"]

Connection = psycopg.Connection[tuple[Any, ...]]

_COLUMNS = "number, kind, charge, key, time, text, answer, hash"
_WITHOUT_ANSWER = "number, kind, charge, key, time, text, NULL::bytea, hash"
_HEAD = "SELECT number, hash, time FROM indistinct_ledger.entry ORDER BY number DESC LIMIT 1"
_APPEND = f"""
    INSERT INTO indistinct_ledger.entry ({_COLUMNS})
    SELECT * FROM unnest(%s::bigint[], %s::text[], %s::bigint[], %s::text[], %s::bigint[], %s::text[], %s::bytea[],
                         %s::bytea[])
"""  # noqa: S608  # constants
_CHARGES = """
    SELECT r.number, r.key, r.kind, r.text, s.kind, a.kind, a.answer, a.text FROM indistinct_ledger.entry r
    LEFT JOIN indistinct_ledger.entry s ON s.charge = r.number AND s.kind IN ('start', 'void')
    LEFT JOIN indistinct_ledger.entry a ON a.charge = r.number AND a.kind IN ('release', 'fail')
"""
_BY_KEY = _CHARGES + "WHERE r.key = ANY(%s)"
_UNFINISHED = (
    _CHARGES
    + "WHERE r.kind IN ('reserve', 'charge') AND a.kind IS NULL AND s.kind IS DISTINCT FROM 'void' ORDER BY r.number"
)
_OUTCOMES = """
    SELECT r.charge, s.kind, a.kind FROM unnest(%s::bigint[]) r(charge)
    LEFT JOIN indistinct_ledger.entry s ON s.charge = r.charge AND s.kind IN ('start', 'void')
    LEFT JOIN indistinct_ledger.entry a ON a.charge = r.charge AND a.kind IN ('release', 'fail')
"""
_AT = "budget = %s AND part = %s AND period = %s AND account = %s"
_MOVE = f"""
    UPDATE indistinct_ledger.balance SET cap = cap + %s, spent = spent + %s, entry = %s
    WHERE {_AT} AND entry = %s AND spent + %s <= cap + %s
"""  # noqa: S608  # constants
_CREATED = "INSERT INTO indistinct_ledger.balance VALUES (%s, %s, %s, %s, %s, %s, %s)"


class PostgresSession:
    """What may be done in a transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def head(self) -> Head:
        """The last row."""
        row = self._connection.execute(_HEAD).fetchone()
        return Head(*row) if row else START

    def latest_budget(self) -> int:
        """The number of the last row about budgets."""
        query = "SELECT max(number) FROM indistinct_ledger.entry WHERE kind IN ('ledger', 'budget', 'grant')"
        row = self._connection.execute(query).fetchone()
        return int(row[0] or 0) if row else 0

    def rows(self, first: int = 1, last: int | None = None, kinds: Collection[str] = ()) -> Iterator[Row]:
        """Rows in their order, of some kinds or all."""
        chosen = " AND kind = ANY(%s)" if kinds else ""
        if kinds and set(kinds) <= {"ledger", "budget", "grant"}:
            chosen += " AND kind IN ('ledger', 'budget', 'grant')"  # as the index says
        query = f"SELECT {_COLUMNS} FROM indistinct_ledger.entry WHERE number BETWEEN %s AND %s{chosen} ORDER BY number"  # noqa: S608  # constants
        end = 2**63 - 1 if last is None else last
        with self._connection.cursor("rows") as cursor:
            cursor.itersize = 10_000
            cursor.execute(query.encode(), (first, end, list(kinds)) if kinds else (first, end))
            for row in cursor:
                yield Row(*row)

    def latest(self, kinds: Collection[str], before: int, most: int) -> list[Row]:
        """The last rows of some kinds before a number, the newest first; without their answers."""
        query = f"""
            SELECT {_WITHOUT_ANSWER} FROM indistinct_ledger.entry WHERE number < %s AND kind = ANY(%s)
            ORDER BY number DESC LIMIT %s
        """  # noqa: S608  # constants
        return [Row(*row) for row in self._connection.execute(query.encode(), (before, list(kinds), most))]

    def outcomes(self, charges: Collection[int]) -> dict[int, str]:
        """The tag of the last row of each charge, by the number of its reservation; none where that is all."""
        found = self._connection.execute(_OUTCOMES.encode(), (list(charges),))
        return {charge: ended or started for charge, started, ended in found if ended or started}

    def rows_at(self, numbers: Collection[int]) -> dict[int, Row]:
        """The rows that have these numbers."""
        query = f"SELECT {_COLUMNS} FROM indistinct_ledger.entry WHERE number = ANY(%s)"  # noqa: S608  # constants
        return {row[0]: Row(*row) for row in self._connection.execute(query.encode(), (list(numbers),))}

    def rows_of(self, charge: int) -> list[Row]:
        """The reservation and the rows that belong to it."""
        query = f"""
            SELECT {_COLUMNS} FROM indistinct_ledger.entry WHERE number = %s
            UNION ALL SELECT {_COLUMNS} FROM indistinct_ledger.entry WHERE charge = %s AND kind IN ('start', 'void')
            UNION ALL SELECT {_COLUMNS} FROM indistinct_ledger.entry WHERE charge = %s AND kind IN ('release', 'fail')
        """  # noqa: S608  # constants
        return [Row(*row) for row in self._connection.execute(query.encode(), (charge,) * 3)]

    def charges(self, keys: Iterable[str]) -> dict[str, ChargeRecord]:
        """The charges that have these keys."""
        found = self._connection.execute(_BY_KEY.encode(), (list(keys),))
        return {key: record_of(number, *rest) for number, key, *rest in found}

    def unfinished(self) -> list[ChargeRecord]:
        """Charges that were reserved, and neither voided nor answered."""
        return [record_of(number, *rest) for number, _, *rest in self._connection.execute(_UNFINISHED.encode())]

    def balance(self, place: Place) -> Balance | None:
        """What is left in a place."""
        query = f"SELECT cap, spent, entry FROM indistinct_ledger.balance WHERE {_AT}"  # noqa: S608  # constants
        row = self._connection.execute(query.encode(), place).fetchone()
        return Balance(*row) if row else None

    def balances(self) -> dict[Place, Balance]:
        """All of them."""
        query = "SELECT budget, part, period, account, cap, spent, entry FROM indistinct_ledger.balance"
        return {Place(*row[:4]): Balance(*row[4:]) for row in self._connection.execute(query)}

    def append(self, rows: Sequence[Row]) -> None:
        """Writes rows at the end of the chain, in one statement."""
        self._connection.execute(_APPEND.encode(), [list(column) for column in zip(*rows, strict=True)])

    def write(self, changes: Mapping[Place, tuple[Balance | None, Balance]]) -> None:
        """Replaces balances, each only if it is what it was and stays within its cap."""
        for place, (before, after) in sorted(changes.items()):
            if before is None:
                self._connection.execute(_CREATED, (*place, *after))
                continue
            more, by = after.cap - before.cap, after.spent - before.spent
            done = self._connection.execute(_MOVE.encode(), (more, by, after.row, *place, before.row, by, more))
            if done.rowcount != 1:
                raise LedgerUntrusted("A balance of the ledger is not what its rows say.")

"""The end of the chain while a transaction adds to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction

from indistinct.errors import LedgerUntrusted
from indistinct.ledger.canonical import canonical, digest
from indistinct.ledger.entries import Balance, ChargeRecord, Head, Place, Row
from indistinct.ledger.shelf import Shelf
from indistinct.ledger.store import Reader, Session

__all__ = ["Page"]


class Page:
    """Rows and balances as they will be once the transaction is committed.

    An operation looks at everything first and raises before it writes anything: so operations that are committed
    together do not depend on each other's failures. Time never goes back, whatever the clock does.
    """

    def __init__(self, session: Reader, shelf: Shelf, now: int) -> None:
        self._session = session
        self._last = session.head()
        self.time = max(now, self._last.time)
        self.shelf = shelf.refreshed(session)
        self.rows: list[Row] = []
        self.changes = 0
        """How often something was set or appended."""
        self._before: dict[Place, Balance | None] = {}
        self._balances: dict[Place, Balance] = {}
        self._charges: dict[str, ChargeRecord | None] = {}

    def look_up(self, keys: Iterable[str]) -> None:
        """Reads the charges of several keys at once."""
        wanted = [key for key in dict.fromkeys(keys) if key not in self._charges]
        if wanted:
            self._charges.update(dict.fromkeys(wanted))
            self._charges.update(self._session.charges(wanted))

    def charge(self, key: str) -> ChargeRecord | None:
        """The charge that has a key."""
        if key not in self._charges:
            self.look_up([key])
        return self._charges[key]

    def balance(self, place: Place, cap: int, *, opens: bool) -> Balance:
        """What there is in a place; one that `opens` as it is first used has all of its cap then."""
        if place not in self._balances:
            found = self._session.balance(place)
            if found is None and not opens:
                raise LedgerUntrusted(f"The ledger has lost a balance of the budget {place.budget!r}.")
            self._before[place] = found
            self._balances[place] = found or Balance(cap, 0, 0)
        return self._balances[place]

    def amount(self, place: Place, units: int) -> Fraction:
        """Units of a place as an amount of its currency."""
        return Fraction(units, self.shelf.named(place.budget).units_of(place.account))

    @property
    def next_number(self) -> int:
        """The number that the next row will have."""
        return self._last.number + 1

    def set_balance(self, place: Place, cap: int, spent: int) -> None:
        """What a place holds from the next row on."""
        self.changes += 1
        self._before.setdefault(place, None)
        self._balances[place] = Balance(cap, spent, self.next_number)

    def set_charge(self, key: str, record: ChargeRecord | None) -> None:
        """What the charge of a key has become."""
        self.changes += 1
        self._charges[key] = record

    @contextmanager
    def whole(self) -> Iterator[None]:
        """What fails within leaves no trace on the page."""
        before = self.shelf, self._last, self.changes, len(self.rows)
        kept = dict(self._before), dict(self._balances), dict(self._charges)
        try:
            yield
        except BaseException:
            self.shelf, self._last, self.changes, written = before
            self._before, self._balances, self._charges = kept
            del self.rows[written:]
            raise

    def append(
        self,
        kind: str,
        body: dict[str, object],
        *,
        charge: int | None = None,
        key: str | None = None,
        answer: bytes | None = None,
    ) -> int:
        """The next row of the chain; returns its number."""
        told = {**body, "kind": kind, "time": self.time}
        if charge is not None:
            told["charge"] = charge
        if key is not None:
            told["key"] = key
        return self.write(kind, canonical(told), charge=charge, key=key, answer=answer)

    def write(
        self, kind: str, text: str, *, charge: int | None = None, key: str | None = None, answer: bytes | None = None
    ) -> int:
        """The next row, of which the text is spelled already."""
        self.changes += 1
        number = self._last.number + 1
        chained = digest(self._last.hash, number, text)
        self.rows.append(Row(number, kind, charge, key, self.time, text, answer, chained))
        self._last = Head(number, chained, self.time)
        return number

    def flush(self, session: Session) -> None:
        """Writes everything."""
        if self.rows:
            session.append(self.rows)
            written = self.rows[0].number
            changes = {
                place: (self._before[place], after) for place, after in self._balances.items() if after.row >= written
            }
            session.write(changes)

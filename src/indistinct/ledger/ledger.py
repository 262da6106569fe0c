"""A ledger: budgets that outlive processes, crashes and losses of power, and that nobody overspends."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from indistinct.errors import InvalidParameter, LedgerUnavailable, LedgerUntrusted
from indistinct.ledger.anchors import Anchor
from indistinct.ledger.bills import Bills, check_key, check_text, names_of_parts, request_of
from indistinct.ledger.budgets import Budget
from indistinct.ledger.bundle import Charges
from indistinct.ledger.charge import Charge, Reservation, charge_of, reservation_of
from indistinct.ledger.entries import ChargeRecord, Head, Row
from indistinct.ledger.group import Group, Watch, ignore
from indistinct.ledger.marks import Mark
from indistinct.ledger.operations import Add, Begin, Grant, Reserve, Together, Void
from indistinct.ledger.page import Page
from indistinct.ledger.past import Past, past
from indistinct.ledger.protected import Protected, decode_protected
from indistinct.ledger.receipts import Receipt, receipt_of
from indistinct.ledger.shelf import Shelf
from indistinct.ledger.standings import Standing, Trial, promised_by, standings_of, tried_out
from indistinct.ledger.store import Store, open_store
from indistinct.ledger.verification import Verdict, check_end, verify

__all__ = ["Ledger"]

_AT_A_TIME = 10_000


class Ledger:
    """Budgets in a database, and what was charged to them; safe to share between threads.

    Guaranteed: what is charged is durable before `charge` returns; the charges to an account never pass its cap, in any
    number of processes; for one key there is one charge and one answer, whatever is killed when.

    >>> import tempfile
    >>> from indistinct import PureDP
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = Ledger.create(f"{folder.name}/hr.ledger", Budget("hr", epsilon=1, delta="1e-6"))
    >>> with ledger.charge(PureDP("0.1"), key="how many in Bern?") as charge:
    ...     answer = charge.seal(12_345)
    >>> ledger.charge(PureDP("0.1"), key="how many in Bern?").answer  # the same again is free
    12345
    >>> [(each.account, float(each.spent)) for each in ledger.standings()]
    [('rho', 0.004995838), ('delta', 0.0)]
    >>> ledger.close()
    >>> folder.cleanup()
    """

    def __init__(self, store: Store, *, anchor: str | Path | None = None, watch: Watch = ignore) -> None:
        """Takes an open store; `Ledger.open` and `Ledger.create` are the usual ways."""
        self._store = store
        self._anchor = Path(anchor) if anchor is not None else None
        self._group = Group(store, watch, self._committed)
        self._bills = Bills()
        self._mark = Mark(store.mark)
        if self._anchor is not None:
            Anchor.prepare(self._anchor)
        # These are read before the rows: what others charge meanwhile, and write down there, may not be among them yet.
        marked, kept = self._mark.read(), Anchor.load(self._anchor) if self._anchor is not None else None
        with store.reading() as reader:
            self.identity = check_end(reader)
            self._mark.check(marked, self.identity, reader)
            if self._anchor is not None:
                if kept is None and reader.head().number > 1:
                    raise LedgerUntrusted(
                        f"There is no anchor at {str(self._anchor)!r}: whether the ledger has gone back is not known. "
                        "Begin one with 'indistinct ledger verify --anchor', if you know that it has not."
                    )
                if kept is not None:
                    kept.check(self.identity, reader)
            self._group.shelf = Shelf.read(reader)
            self._head = reader.head()
        self._mark.keep(self.identity, self._head)

    @classmethod
    def create(
        cls,
        address: str | Path,
        *budgets: Budget,
        anchor: str | Path | None = None,
        protects: Sequence[Protected] = (),
    ) -> Ledger:
        """A new ledger, in a file or in PostgreSQL (`postgresql://...`), where none may be yet.

        `protects` says what all these budgets are for.
        """
        names = [budget.name for budget in budgets]
        if len(set(names)) < len(names):
            raise InvalidParameter("the budgets' names", names, "differ")
        if anchor is not None:
            Anchor.prepare(Path(anchor))
            if Anchor.load(Path(anchor)) is not None:
                raise LedgerUntrusted("The anchor belongs to another ledger.")
        store = open_store(str(address), create=True)
        try:
            group = Group(store, ignore, lambda _: None)
            group.run(Begin(secrets.token_hex(16)))
            ledger = cls(store, anchor=anchor)
            if ledger._anchor is not None:
                ledger.anchor.keep(ledger._anchor)
            for budget in budgets:
                ledger.add(budget, protects=protects)
        except BaseException:
            store.close()
            raise
        return ledger

    @classmethod
    def open(cls, address: str | Path, *, anchor: str | Path | None = None) -> Ledger:
        """The ledger at an address, if it can be trusted; it is never created here.

        `anchor` is a file elsewhere, on another disk or host: a ledger that has gone back before it is refused, and it
        is brought up to date after every commit. It must be there: one that is missing is never begun anew here.
        """
        store = open_store(str(address))
        try:
            return cls(store, anchor=anchor)
        except BaseException:
            store.close()
            raise

    def add(self, budget: Budget, *, protects: Sequence[Protected] = ()) -> None:
        """Creates a budget. It is never replaced, and neither its rule nor what it protects ever changes."""
        if not isinstance(budget, Budget):
            raise InvalidParameter("a budget", budget, "be a Budget")
        self._group.run(Add(budget, tuple(protects)))

    def grant(self, budget: str, amount: object, *, reason: str, parts: Sequence[str] = ()) -> None:
        """Adds to a budget: an amount of its currency, a mapping by currency, or by guarantee for a plan's slots.

        What is promised from then on is the larger budget, for everything answered before as well.
        """
        check_text("a budget", budget)
        check_text("a reason", reason)
        self._group.run(Grant(budget, amount, reason, names_of_parts(parts)))

    def charge(
        self,
        cost: object,
        *,
        key: str,
        request: object = None,
        dataset: str | None = None,
        analyst: str | None = None,
        parts: Sequence[str] = (),
    ) -> Charge:
        """Charges every budget that is concerned, or none and raises BudgetExceeded; durable when this returns.

        `cost` is a mechanism, a guarantee, amounts by currency, or a number of the currency that all these budgets
        have. `key` names the question for ever: the same key again is free and leads to the same answer, and with
        another `request` (bytes or anything that JSON can spell), cost or scope it is refused.
        """
        operation = self._reserve(cost, key, request, dataset, analyst, parts, start=True)
        return charge_of(self._group, key, self._group.run(operation))

    def charge_many(
        self,
        costs: Mapping[str, object],
        *,
        requests: Mapping[str, object] | None = None,
        dataset: str | None = None,
        analyst: str | None = None,
        parts: Sequence[str] = (),
    ) -> Charges:
        """Charges many costs, by their keys, with one durable commit: all of them, or none and raises.

        Each is a charge of its own, as `charge` makes it with the same key, cost and request, and in the order of
        `costs`; the first that does not fit, or that `charge` would refuse for another reason, refuses all.
        """
        told = requests or {}
        for key in told:
            if key not in costs:
                raise InvalidParameter("a request's key", key, "be one of those that are charged")
        asked = tuple(
            self._reserve(cost, key, told.get(key), dataset, analyst, parts, start=True) for key, cost in costs.items()
        )
        records = self._group.run(Together(asked)) if asked else []
        if not isinstance(records, list):
            raise TypeError(records)
        found = zip(costs, records, strict=True)
        return Charges(self._group, {key: charge_of(self._group, key, record) for key, record in found})

    def reserve(
        self,
        cost: object,
        *,
        key: str,
        request: object = None,
        dataset: str | None = None,
        analyst: str | None = None,
        parts: Sequence[str] = (),
    ) -> Reservation:
        """Deducts a charge that may still be given back, until it starts."""
        operation = self._reserve(cost, key, request, dataset, analyst, parts, start=False)
        return reservation_of(self._group, key, self._group.run(operation))

    def void(self, key: str, *, reason: str) -> None:
        """Gives back a charge that was reserved and never started."""
        check_key(key)
        check_text("a reason", reason)
        self._group.run(Void(key, reason))

    def unfinished(self) -> list[ChargeRecord]:
        """Charges without an outcome: those that are `reserve` may be voided, those that are `start` asked again."""
        with self._group.alone(), self._store.reading() as reader:
            return reader.unfinished()

    def standings(self) -> list[Standing]:
        """What each budget has and has spent, of budgets that are renewed in the latest stretch that was used."""
        with self._group.alone(), self._store.reading() as reader:
            return standings_of(reader, self._group.shelf)

    def protects(self) -> dict[str, tuple[Protected, ...]]:
        """For each dataset, what was said to be protected when its budget was made; nothing where nothing was said."""
        found: dict[str, tuple[Protected, ...]] = {}
        with self._group.alone(), self._store.reading() as reader:
            for row in reader.rows(kinds=("budget",)):
                body = row.body
                found[body["budget"]["dataset"]] = found.get(body["budget"]["dataset"]) or decode_protected(body)
        return found

    def promise(self, budget: str) -> str:
        """What a budget promises, after all that was granted, in words; of one that is renewed, for its largest cap."""
        with self._group.alone(), self._store.reading() as reader:
            return promised_by(reader, budget)

    def try_out(
        self, cost: object, *, dataset: str | None = None, analyst: str | None = None, parts: Sequence[str] = ()
    ) -> Trial:
        """What a charge would cost and how often it would fit; nothing is charged."""
        wanted = self._reserve(cost, "a trial", None, dataset, analyst, parts, start=False)
        with self._group.alone(), self._store.reading() as reader:
            return tried_out(wanted, Page(reader, self._group.shelf, time.time_ns() // 1000))

    def receipt(self, key: str) -> str:
        """One line of JSON that shows what was charged for an answer; `indistinct ledger receipt` checks it."""
        with self._group.alone(), self._store.reading() as reader:
            record = reader.charges([key]).get(key)
            if record is None or record.state != "release":
                raise InvalidParameter("a key", key, "be that of a charge with an answer")
            rows = reader.rows_of(record.number)
            before = reader.rows_at([row.number - 1 for row in rows])
            return receipt_of(self.identity, rows, {row.number: before[row.number - 1].hash for row in rows})

    def confirm(self, receipt: Receipt) -> None:
        """Refuses a receipt whose rows are not in this ledger."""
        with self._group.alone(), self._store.reading() as reader:
            rows = reader.rows_at(list(receipt.hashes))
        if receipt.ledger != self.identity:
            raise LedgerUntrusted("The receipt is of another ledger.")
        for number, told in receipt.hashes.items():
            if number not in rows or rows[number].hash.hex() != told:
                raise LedgerUntrusted(f"Row {number} of the receipt is not that of the ledger.", number)

    def rows(self) -> Iterator[Row]:
        """Everything, in its order; the ledger may be used meanwhile."""
        first, last = 1, self._head.number
        while first <= last:
            with self._group.alone(), self._store.reading() as reader:
                last = reader.head().number
                some = list(reader.rows(first, first + _AT_A_TIME - 1))
            yield from some
            first += _AT_A_TIME

    def past(self, dataset: str, *, analyst: str | None = None, most: int = 100, before: int | None = None) -> Past:
        """The latest charges to a data set, of one analyst or (None) of all, and how the balances moved meanwhile.

        `before` goes on where a page ended. What is read is bounded, however long the ledger is.
        """
        first = 2**63 - 1 if before is None else before
        with self._group.alone(), self._store.reading() as reader:
            return past(reader, self._group.shelf.refreshed(reader), dataset, analyst, most, first)

    def verify(self, anchor: Anchor | None = None) -> Verdict:
        """Reads and checks everything; LedgerUntrusted names the first row that is wrong."""
        with self._group.alone():
            return verify(self._store, anchor)

    @property
    def anchor(self) -> Anchor:
        """How far the ledger has come, as far as this process knows: to be kept elsewhere."""
        return Anchor.at(self.identity, self._head)

    def close(self) -> None:
        """Ends all use in this process; everything is in the database already."""
        try:
            with self._group.alone():
                self._store.close()
                self._mark.close()
        except LedgerUnavailable:  # inherited: that it was closed is all that changes
            self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _committed(self, head: Head) -> None:
        self._head = head
        self._mark.keep(self.identity, self._head)
        if self._anchor is not None:
            self.anchor.keep(self._anchor)

    def _reserve(
        self,
        cost: object,
        key: str,
        request: object,
        dataset: str | None,
        analyst: str | None,
        parts: Sequence[str],
        *,
        start: bool,
    ) -> Reserve:
        check_key(key)
        bill, plain = self._bills.read(cost, dataset, analyst, parts)
        return Reserve(key, plain if request is None else bill.request(request_of(request)), bill, start)

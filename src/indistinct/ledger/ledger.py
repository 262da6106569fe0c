"""A ledger: budgets that outlive processes, crashes and losses of power, and that nobody overspends."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Self

from indistinct.errors import BudgetExceeded, InvalidParameter, LedgerUnavailable, LedgerUntrusted
from indistinct.ledger.anchors import Anchor
from indistinct.ledger.budgets import Budget
from indistinct.ledger.canonical import canonical, fingerprint
from indistinct.ledger.charge import Charge, Reservation, begin, charge_of, check_text
from indistinct.ledger.costs import read_cost
from indistinct.ledger.entries import ChargeRecord, Head, Place, Row
from indistinct.ledger.group import Group, Watch, ignore
from indistinct.ledger.operations import Add, Begin, Grant, Reserve, Void
from indistinct.ledger.page import Page
from indistinct.ledger.promises import promise
from indistinct.ledger.protected import Protected, decode_protected
from indistinct.ledger.receipts import Receipt, receipt_of
from indistinct.ledger.shelf import Shelf
from indistinct.ledger.store import Store, open_store
from indistinct.ledger.verification import Verdict, check_end, verify

__all__ = ["Ledger", "Standing", "Trial"]

_LONGEST_KEY = 200
_AT_A_TIME = 10_000


@dataclass(frozen=True, slots=True)
class Standing:
    """What a budget has in one place: exact amounts of its currency, or numbers of slots."""

    budget: Budget
    part: str
    period: int
    account: str
    cap: Fraction
    spent: Fraction

    @property
    def left(self) -> Fraction:
        """What may still be spent."""
        return self.cap - self.spent


@dataclass(frozen=True, slots=True)
class Trial:
    """What a charge would cost, and how often it would fit now; nothing was charged."""

    costs: tuple[tuple[str, str, Fraction], ...]
    """Budget, account and amount."""
    times: int | None
    """None for what costs nothing."""


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
        with store.reading() as reader:
            self.identity = check_end(reader)
            if self._anchor is not None:
                Anchor.prepare(self._anchor)
                kept = Anchor.load(self._anchor)
                if kept is None and reader.head().number > 1:
                    raise LedgerUntrusted(
                        f"There is no anchor at {str(self._anchor)!r}: whether the ledger has gone back is not known. "
                        "Begin one with 'indistinct ledger verify --anchor', if you know that it has not."
                    )
                if kept is not None:
                    kept.check(self.identity, reader)
            self._group.shelf = Shelf.read(reader)
            self._head = reader.head()

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
        self._group.run(Grant(budget, amount, reason, _parts(parts)))

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
        return charge_of(self._group, key, begin(self._group, operation).record)

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
        return Reservation(self._group, key, begin(self._group, operation).record)

    def void(self, key: str, *, reason: str) -> None:
        """Gives back a charge that was reserved and never started."""
        _check_key(key)
        check_text("a reason", reason)
        self._group.run(Void(key, reason))

    def unfinished(self) -> list[ChargeRecord]:
        """Charges without an outcome: those that are `reserve` may be voided, those that are `start` asked again."""
        with self._group.alone(), self._store.reading() as reader:
            return reader.unfinished()

    def standings(self) -> list[Standing]:
        """What each budget has and has spent, of budgets that are renewed in the latest stretch that was used."""
        with self._group.alone(), self._store.reading() as reader:
            balances, shelf = reader.balances(), Shelf.read(reader)
        latest: dict[str, int] = {}
        for place in balances:
            latest[place.budget] = max(place.period, latest.get(place.budget, 0))
        found = []
        for budget in shelf.budgets.values():
            for part in budget.parts or ("",):
                for account, cap in budget.caps.items():
                    place = Place(budget.name, part, latest.get(budget.name, 0), account)
                    now = balances.get(place)
                    one = budget.units_of(account)
                    amounts = (Fraction(now.cap if now else cap, one), Fraction(now.spent if now else 0, one))
                    found.append(Standing(budget, part, place.period, account, *amounts))
        return found

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
            granted: dict[tuple[str, str], Fraction] = {}
            for place, now in reader.balances().items():
                if place.budget == budget:
                    cap = Fraction(now.cap, self._group.shelf.refreshed(reader).named(budget).units_of(place.account))
                    granted[place.part, place.account] = max(cap, granted.get((place.part, place.account), cap))
        found = [each for each in self.standings() if each.budget.name == budget]
        caps: dict[str, dict[str, Fraction]] = {}
        for each in found:
            caps.setdefault(each.part, {})[each.account] = max(
                each.cap, granted.get((each.part, each.account), each.cap)
            )
        if not found:
            raise InvalidParameter("a budget", budget, "be one of the ledger's")
        return promise(found[0].budget, caps)

    def try_out(
        self, cost: object, *, dataset: str | None = None, analyst: str | None = None, parts: Sequence[str] = ()
    ) -> Trial:
        """What a charge would cost and how often it would fit; nothing is charged."""
        wanted = self._reserve(cost, "a trial", None, dataset, analyst, parts, start=False)
        with self._group.alone(), self._store.reading() as reader:
            page = Page(reader, self._group.shelf, time.time_ns() // 1000)
            taken = wanted.deductions(page)
            costs = tuple((place.budget, place.account, page.amount(place, units)) for place, units, _, _ in taken)
            times = 0
            while taken:
                # While it is the same that is taken, one step is as many as fit; slots run out kind by kind.
                more = min((cap - spent) // units for _, units, cap, spent in taken)
                for place, units, cap, spent in taken:
                    page.set_balance(place, cap, spent + more * units)
                times += 1 + more
                try:
                    taken = wanted.deductions(page)
                except BudgetExceeded:
                    break
        return Trial(costs, times if costs else None)

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
        if self._anchor is not None:
            Anchor.at(self.identity, head).keep(self._anchor)

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
        _check_key(key)
        asked = read_cost(cost)
        for name, value in {"a dataset": dataset, "an analyst": analyst}.items():
            if value is not None:
                check_text(name, value)
        chosen = _parts(parts)
        told = [_request(request), asked.encoded, dataset, analyst, sorted(chosen)]
        return Reserve(key, fingerprint(canonical(told).encode()), asked, dataset, analyst, chosen, start)


def _check_key(key: object) -> None:
    if not isinstance(key, str) or not 0 < len(key) <= _LONGEST_KEY or not key.isprintable():
        raise InvalidParameter("a key", key, f"be printable text of at most {_LONGEST_KEY} characters")


def _parts(parts: object) -> tuple[str, ...]:
    """Names of parts, as they were given."""
    if isinstance(parts, str) or not isinstance(parts, Iterable):
        raise InvalidParameter("parts", parts, "be a sequence of names")
    chosen = tuple(parts)
    for part in chosen:
        check_text("a part", part)
    return chosen


def _request(request: object) -> object:
    if isinstance(request, bytes):
        return {"bytes": fingerprint(request)}
    try:
        canonical(request)
    except (TypeError, ValueError):
        raise InvalidParameter("a request", type(request), "be bytes or a value of JSON") from None
    return [request]

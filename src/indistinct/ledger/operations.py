"""What can be done to a ledger; each is applied to a page, and raises before it writes anything."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

from indistinct.composition.filters import DeclaredPlan
from indistinct.errors import AnswerFailed, BudgetExceeded, InvalidParameter, KeyReused, LedgerUntrusted
from indistinct.ledger.bills import Bill
from indistinct.ledger.budgets import Budget
from indistinct.ledger.canonical import canonical, fingerprint
from indistinct.ledger.costs import Guarantees
from indistinct.ledger.entries import FORMAT, Balance, ChargeRecord, Place
from indistinct.ledger.page import Page
from indistinct.ledger.protected import Protected, encode_protected
from indistinct.ledger.shelf import Due, Shelf, places_of

__all__ = ["Add", "Begin", "Fail", "Grant", "Operation", "Release", "Reserve", "Start", "Together", "Void"]


class Operation(Protocol):
    """Something that one transaction does, alone or among others."""

    @property
    def key(self) -> str:
        """The key of the charge that it is about; empty if it is about none."""

    def apply(self, page: Page) -> object:
        """Does it, or raises and leaves the page as it was."""


Taken = tuple[Place, int, int, int]
"""A place, by how many units it changes, its cap and what is spent of it afterwards."""


@dataclass(frozen=True, slots=True)
class Begin:
    """The first row."""

    identity: str
    key: str = ""

    def apply(self, page: Page) -> None:
        if page.next_number != 1:
            raise InvalidParameter("a ledger", self.identity, "be begun once")
        page.append("ledger", {"ledger": self.identity, "format": FORMAT})


@dataclass(frozen=True, slots=True)
class Add:
    """Creates a budget."""

    budget: Budget
    protects: tuple[Protected, ...] = ()
    key: str = ""

    def apply(self, page: Page) -> None:
        if self.budget.name in page.shelf.budgets:
            raise InvalidParameter("a budget's name", self.budget.name, "be new", instead="Budgets are never replaced.")
        taken: list[Taken] = []
        if not self.budget.window:
            for account, cap in self.budget.caps.items():
                taken += [(place, cap, cap, 0) for place in places_of(self.budget, account, (), page.time)]
        _write(page, "budget", {"budget": self.budget.encode(), **encode_protected(self.protects)}, taken)
        page.shelf = Shelf({**page.shelf.budgets, self.budget.name: self.budget}, page.rows[-1].number)


@dataclass(frozen=True, slots=True)
class Grant:
    """Adds to a budget, for a reason; of one that is renewed, to the present stretch of time alone."""

    name: str
    amount: object
    reason: str
    parts: tuple[str, ...] = ()
    key: str = ""

    def apply(self, page: Page) -> None:
        budget = page.shelf.named(self.name)
        for part in self.parts:
            if part not in budget.parts:
                raise InvalidParameter("a part", part, f"be one of those of {self.name!r}")
        if not self.reason.strip():
            raise InvalidParameter("a reason", self.reason, "be given")
        taken: list[Taken] = []
        for account, units in budget.credit(self.amount).items():
            for place in places_of(budget, account, self.parts, page.time):
                now = page.balance(place, budget.caps[account], opens=bool(budget.window))
                if now.cap + units > budget.most(account):
                    limit = Fraction(budget.most(account), budget.units_of(account))
                    raise InvalidParameter(
                        "a grant", self.amount, f"keep the {account} of {self.name!r} at {limit} or below"
                    )
                taken.append((place, units, now.cap + units, now.spent))
        _write(page, "grant", {"budget": self.name, "reason": self.reason}, taken)


@dataclass(frozen=True, slots=True)
class Reserve:
    """Deducts a charge from all budgets that it concerns, or from none; `start` lets it read the data at once."""

    key: str
    request: str
    bill: Bill
    start: bool

    def apply(self, page: Page) -> ChargeRecord:
        record = page.charge(self.key)
        if record is not None:
            return self._again(page, record)
        taken = self.deductions(page)
        kind = "charge" if self.start else "reserve"
        text = self.bill.text(kind, _moved(page, taken), self.key, self.request, page.time)
        number = page.write(kind, text, key=self.key)
        record = ChargeRecord(number, self.request, text, "start" if self.start else "reserve")
        page.set_charge(self.key, record)
        return record

    def _again(self, page: Page, record: ChargeRecord) -> ChargeRecord:
        """The charge that there is already."""
        if record.request != self.request:
            raise KeyReused(f"The key {self.key!r} belongs to another request: take a new key for a new question.")
        if record.state == "void":
            raise KeyReused(f"The key {self.key!r} belongs to a charge that was given back: take a new key.")
        if record.state == "fail" and self.start:
            raise AnswerFailed
        return _started(page, self.key, record) if self.start and record.state == "reserve" else record

    def deductions(self, page: Page) -> list[Taken]:
        """What would be taken where; BudgetExceeded if it does not fit everywhere."""
        taken: list[Taken] = []
        for due in page.shelf.due(self.bill, page.time):
            taken += _cheapest(page, due)
        return taken


@dataclass(frozen=True, slots=True)
class Start:
    """From now on the data may be read, so the charge is never given back."""

    key: str

    def apply(self, page: Page) -> ChargeRecord:
        record = _known(page, self.key)
        if record.state == "void":
            raise KeyReused(f"The charge {self.key!r} was given back and cannot start.")
        return _started(page, self.key, record) if record.state == "reserve" else record


@dataclass(frozen=True, slots=True)
class Void:
    """Gives back a charge that has not started."""

    key: str
    reason: str

    def apply(self, page: Page) -> None:
        record = _known(page, self.key)
        if record.state != "reserve":
            raise KeyReused(f"The charge {self.key!r} was given back, or has started and stays charged.")
        taken: list[Taken] = []
        for place, units in reserved_of(json.loads(record.text)["balances"]).items():
            now = page.balance(place, 0, opens=False)
            taken.append((place, -units, now.cap, now.spent - units))
        _write(page, "void", {"reason": self.reason}, taken, charge=record.number)
        page.set_charge(self.key, record._replace(state="void"))


@dataclass(frozen=True, slots=True)
class Release:
    """Seals an answer. The first one stays for ever, whoever brings another."""

    key: str
    answer: bytes
    form: str

    def apply(self, page: Page) -> ChargeRecord:
        record = _known(page, self.key)
        if record.state in ("release", "fail"):
            return record
        if record.state != "start":
            raise KeyReused(f"The charge {self.key!r} has not started, so nothing can be answered under it.")
        seal = fingerprint(self.answer)
        page.append("release", {"answer": seal, "form": self.form}, charge=record.number, answer=self.answer)
        record = record._replace(state="release", answer=self.answer, form=self.form, seal=seal)
        page.set_charge(self.key, record)
        return record


@dataclass(frozen=True, slots=True)
class Fail:
    """Says that no answer will come. Nothing about the reason is kept."""

    key: str

    def apply(self, page: Page) -> ChargeRecord:
        record = _known(page, self.key)
        if record.state in ("release", "fail"):
            return record
        if record.state != "start":
            raise KeyReused(f"The charge {self.key!r} has not started, so nothing can fail under it.")
        page.append("fail", {}, charge=record.number)
        record = record._replace(state="fail")
        page.set_charge(self.key, record)
        return record


@dataclass(frozen=True, slots=True)
class Together:
    """Several operations, all of them or none: the first that is refused refuses all."""

    operations: tuple[Operation, ...]
    key: str = ""

    def apply(self, page: Page) -> list[object]:
        page.look_up(operation.key for operation in self.operations)
        with page.whole():
            return [operation.apply(page) for operation in self.operations]


def _known(page: Page, key: str) -> ChargeRecord:
    record = page.charge(key)
    if record is None:
        raise InvalidParameter("a key", key, "be that of a charge")
    return record


def _started(page: Page, key: str, record: ChargeRecord) -> ChargeRecord:
    page.append("start", {}, charge=record.number)
    started = ChargeRecord(record.number, record.request, record.text, "start")
    page.set_charge(key, started)
    return started


def _cheapest(page: Page, due: Due) -> list[Taken]:
    """The first price that fits; BudgetExceeded if none does."""
    refusal = None
    for price in due.prices:
        taken: list[Taken] = []
        for place, units in price:
            now = page.balance(place, due.budget.caps[place.account], opens=bool(place.period))
            if now.spent + units > now.cap:
                refusal = refusal or _refusal(due, place, units, now)
                break
            taken.append((place, units, now.cap, now.spent + units))
        else:
            return taken
    if isinstance(due.budget.rule, DeclaredPlan) or refusal is None:
        wanted = due.asked.promises[0] if isinstance(due.asked, Guarantees) else due.asked
        raise BudgetExceeded(wanted, "no slot that allows it", due.scope)
    raise refusal


def _refusal(due: Due, place: Place, units: int, now: Balance) -> BudgetExceeded:
    one = due.budget.units_of(place.account)
    currency = "delta" if place.account == "delta" else due.budget.currency
    return BudgetExceeded(Fraction(units, one), Fraction(now.cap - now.spent, one), due.scope, currency)


def _write(page: Page, kind: str, body: dict[str, object], taken: list[Taken], *, charge: int | None = None) -> None:
    """A row that changes balances, and the balances."""
    _moved(page, taken)
    changed = [(*place, units, cap, spent) for place, units, cap, spent in taken]
    page.append(kind, {**body, "balances": changed}, charge=charge)


def _moved(page: Page, taken: list[Taken]) -> str:
    """Changes balances from the next row on; returns what that row says of them."""
    for place, _, cap, spent in taken:
        page.set_balance(place, cap, spent)
    return ",".join([f"{_spelled(place)},{units},{cap},{spent}]" for place, units, cap, spent in taken])


@lru_cache(1024)
def _spelled(place: Place) -> str:
    """The beginning of what a row says of a balance."""
    return canonical(place)[:-1]


def reserved_of(balances: Iterable[list[object]]) -> Mapping[Place, int]:
    """What a reservation took, from its row."""
    found: dict[Place, int] = {}
    for budget, part, period, account, units, _, _ in balances:
        if not isinstance(units, int) or not isinstance(period, int):
            raise LedgerUntrusted("A row of the ledger does not say what was taken.")
        found[Place(str(budget), str(part), period, str(account))] = units
    return found

"""Whether a ledger is what was written: every row, every balance, from the first charge on, and what guards them.

Nothing is taken from the code that writes: the rules are stated here a second time. A wrong row is named by its
number, the first of them if there are several.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

from indistinct.errors import InvalidParameter, LedgerUntrusted
from indistinct.ledger.anchors import Anchor
from indistinct.ledger.budgets import Budget
from indistinct.ledger.canonical import GENESIS, digest, fingerprint
from indistinct.ledger.entries import FORMAT, START, Balance, Head, Place, Row
from indistinct.ledger.store import Reader, Store

__all__ = ["Verdict", "check_end", "verify"]

_TAIL = 1000
_MOST_TOLD = 5
_FOLLOWS = {"reserve": {"start", "void"}, "start": {"release", "fail"}}


@dataclass(frozen=True, slots=True)
class Verdict:
    """A ledger that was found whole: how many rows and charges it has, and its end."""

    rows: int
    charges: int
    anchor: Anchor

    def __str__(self) -> str:
        return f"{self.rows:,} rows, {self.charges:,} charges: all as they were written."


@dataclass(slots=True)
class _Replay:
    """What the rows so far imply."""

    last: Head = START
    ledger: str = ""
    budgets: dict[str, Budget] = field(default_factory=dict)
    caps: dict[str, dict[str, int]] = field(default_factory=dict)
    balances: dict[Place, Balance] = field(default_factory=dict)
    states: dict[int, str] = field(default_factory=dict)
    taken: dict[int, list[list[Any]]] = field(default_factory=dict)

    def add(self, row: Row) -> None:
        number = row.number
        if number != self.last.number + 1:
            _wrong(self.last.number + 1, "is missing")
        if digest(self.last.hash, number, row.text) != row.hash:
            _wrong(number, "was changed, or does not follow from the row before it")
        try:
            body = row.body
            told = (body["kind"], body.get("charge"), body.get("key"), body["time"])
            if told != (row.kind, row.charge, row.key, row.time):
                _wrong(number, "is not what its text says")
            if row.time < self.last.time:
                _wrong(number, "is from before the row before it")
            self._follow(row, body)
        except InvalidParameter:
            _wrong(number, "cannot be understood by this version")
        except (ValueError, KeyError, TypeError):
            _wrong(number, "is no row of a ledger")
        self.last = Head(number, row.hash, row.time)

    def _follow(self, row: Row, body: dict[str, Any]) -> None:
        match row.kind:
            case "ledger":
                if row.number != 1 or body["format"] != FORMAT:
                    _wrong(row.number, "begins a ledger where none can begin")
                self.ledger = body["ledger"]
            case "budget":
                self._budget(row.number, Budget.decode(body["budget"]), body["balances"])
            case "grant":
                for *place, units, cap, spent in body["balances"]:
                    before = self._before(row.number, Place(*place))
                    if units <= 0 or (before.cap + units, before.spent) != (cap, spent):
                        _wrong(row.number, "grants something else than it says")
                    self.balances[Place(*place)] = Balance(cap, spent, row.number)
            case "reserve" | "charge":
                for *place, units, cap, spent in body["balances"]:
                    before = self._before(row.number, Place(*place))
                    if units <= 0 or before.cap != cap or before.spent + units != spent or spent > cap:
                        _wrong(row.number, "spends more than there was, or something else than it says")
                    self.balances[Place(*place)] = Balance(cap, spent, row.number)
                self.states[row.number] = "reserve" if row.kind == "reserve" else "start"
                self.taken[row.number] = body["balances"]
            case _:
                self._settle(row, body)

    def _budget(self, number: int, budget: Budget, balances: list[list[Any]]) -> None:
        caps = budget.caps
        parts = budget.parts or ("",)
        expected = {(part, account): cap for part in parts for account, cap in caps.items()}
        found = {(part, account): cap for _, part, _, account, _, cap, _ in balances}
        if budget.name in self.budgets or found != ({} if budget.window else expected):
            _wrong(number, "creates a budget that there was, or another one than it says")
        self.budgets[budget.name], self.caps[budget.name] = budget, caps
        for *place, units, cap, spent in balances:
            if place[0] != budget.name or place[2] != 0 or spent or units != cap:
                _wrong(number, "creates a budget that is not whole")
            self.balances[Place(*place)] = Balance(cap, 0, number)

    def _before(self, number: int, place: Place) -> Balance:
        known = self.balances.get(place)
        if known is not None:
            return known
        budget = self.budgets.get(place.budget)
        if budget is None or not budget.window or place.part not in (budget.parts or ("",)):
            _wrong(number, "takes from a budget that there is not")
        return Balance(self.caps[place.budget][place.account], 0, 0)

    def _settle(self, row: Row, body: dict[str, Any]) -> None:
        charge = row.charge or 0
        before = self.states.get(charge, "")
        if row.kind not in _FOLLOWS.get(before, ()):
            _wrong(row.number, "does not follow from what had become of its charge")
        self.states[charge] = row.kind
        taken = self.taken[charge]
        if row.kind == "void":
            given = {Place(*place): -units for *place, units, _, _ in body["balances"]}
            if given != {Place(*place): units for *place, units, _, _ in taken}:
                _wrong(row.number, "gives back something else than was taken")
            for *place, units, cap, spent in body["balances"]:
                known = self.balances[Place(*place)]
                if (known.cap, known.spent + units) != (cap, spent):
                    _wrong(row.number, "gives back something else than it says")
                self.balances[Place(*place)] = Balance(cap, spent, row.number)
        if row.kind == "release" and (row.answer is None or fingerprint(row.answer) != body["answer"]):
            _wrong(row.number, "holds another answer than was sealed")
        if row.kind in ("void", "release", "fail"):
            del self.states[charge], self.taken[charge]


def verify(store: Store, anchor: Anchor | None = None) -> Verdict:
    """Reads everything; LedgerUntrusted names the first row that is wrong."""
    replay, charges = _Replay(), 0
    with store.reading() as reader:
        for row in _read(reader, replay):
            replay.add(row)
            charges += row.kind in ("reserve", "charge")
        if not replay.ledger:
            _wrong(1, "is missing")
        for place, balance in (found := reader.balances()).items():
            if replay.balances.get(place) != balance:
                _wrong(min(balance.row, replay.last.number + 1), f"and the balance of {place.budget!r} disagree")
        for place, balance in replay.balances.items():
            if place not in found:
                _wrong(balance.row, f"has lost its balance of {place.budget!r}")
        if anchor is not None:
            anchor.check(replay.ledger, reader)
    altered = list(store.alterations())
    if altered:
        told = ", ".join(altered[:_MOST_TOLD]) + (", ..." if len(altered) > _MOST_TOLD else "")
        raise LedgerUntrusted(f"The tables of the ledger are not as they were made: {told}.")
    for defect in store.defects():
        raise LedgerUntrusted(f"The database finds its files damaged: {defect}")
    return Verdict(replay.last.number, charges, Anchor.at(replay.ledger, replay.last))


def check_end(reader: Reader) -> str:
    """What is checked whenever a ledger is opened: its first row, its last ones, and the rows behind every balance.

    Returns the ledger's identity.
    """
    head = reader.head()
    first = reader.rows_at([1]).get(1)
    if first is None or first.kind != "ledger" or digest(GENESIS, 1, first.text) != first.hash:
        raise LedgerUntrusted("Row 1 does not begin a ledger.", 1)
    last: Row | None = None
    for row in reader.rows(max(1, head.number - _TAIL), head.number):
        if last is not None and row.number != last.number + 1:
            _wrong(last.number + 1, "is missing")
        if last is not None and digest(last.hash, row.number, row.text) != row.hash:
            _wrong(row.number, "was changed, or does not follow from the row before it")
        last = row
    balances = reader.balances()
    numbers = {balance.row for balance in balances.values()}
    rows = reader.rows_at(numbers | {number - 1 for number in numbers})
    for place, balance in balances.items():
        told, before = rows.get(balance.row), rows.get(balance.row - 1)
        if told is None or before is None or digest(before.hash, told.number, told.text) != told.hash:
            _wrong(min(balance.row, head.number + 1), "is missing or was changed, and a balance follows from it")
        if [*place, balance.cap, balance.spent] not in [[*row[:4], *row[5:]] for row in told.body.get("balances", [])]:
            _wrong(balance.row, f"and the balance of {place.budget!r} disagree")
    return str(first.body["ledger"])


def _read(reader: Reader, replay: _Replay) -> Iterator[Row]:
    try:
        yield from reader.rows()
    except LedgerUntrusted as error:
        raise LedgerUntrusted(error.reason, replay.last.number + 1) from error


def _wrong(number: int, what: str) -> NoReturn:
    raise LedgerUntrusted(f"Row {number} {what}.", number)

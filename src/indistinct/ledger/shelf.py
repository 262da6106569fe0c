"""The budgets of a ledger, and which of them a charge concerns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from indistinct.errors import InvalidParameter, LedgerUntrusted
from indistinct.ledger.bills import Bill
from indistinct.ledger.budgets import Budget
from indistinct.ledger.canonical import digest
from indistinct.ledger.costs import Amounts, Asked
from indistinct.ledger.entries import Place
from indistinct.ledger.store import Reader

__all__ = ["Due", "Shelf", "parts_of", "period_of", "places_of"]

_MICROSECONDS = 10**6
_MOST_KNOWN = 1024


Price = tuple[tuple[Place, int], ...]
"""How many units are taken where; nothing where it is free."""


@dataclass(frozen=True, slots=True)
class Due:
    """What a bill takes from a part of a budget: the first of these prices that fits."""

    budget: Budget
    part: str
    asked: Asked
    prices: tuple[Price, ...]

    @property
    def scope(self) -> str:
        """The budget and its part, as a refusal names them."""
        return f"{self.budget.name}:{self.part}" if self.part else self.budget.name


@dataclass(frozen=True, slots=True)
class Shelf:
    """All budgets, as of the last row that was about budgets."""

    budgets: dict[str, Budget] = field(default_factory=dict)
    latest: int = 0
    _known: dict[tuple[Bill, tuple[int, ...]], tuple[Due, ...]] = field(default_factory=dict)

    def refreshed(self, reader: Reader) -> Shelf:
        """With the budgets that were created since, perhaps by other processes."""
        latest = reader.latest_budget()
        return self if latest == self.latest else Shelf.read(reader, latest)

    @classmethod
    def read(cls, reader: Reader, latest: int | None = None) -> Shelf:
        """The budgets that the rows tell of; each row must be what the one before it vouches for."""
        rows = list(reader.rows(kinds=("ledger", "budget", "grant")))
        before = reader.rows_at([row.number - 1 for row in rows if row.number > 1])
        budgets = {}
        for row in rows:
            previous = before[row.number - 1].hash if row.number - 1 in before else bytes(32)
            if digest(previous, row.number, row.text) != row.hash:
                raise LedgerUntrusted(f"Row {row.number} of the ledger was changed.", row.number)
            if row.kind == "budget":
                budget = Budget.decode(row.body["budget"])
                budgets[budget.name] = budget
        last = rows[-1].number if rows else 0
        return cls(budgets, last if latest is None else latest)

    def named(self, name: str) -> Budget:
        """The budget of a name."""
        if name not in self.budgets:
            raise InvalidParameter("a budget", name, f"be one of {_listed(self.budgets)}")
        return self.budgets[name]

    def due(self, bill: Bill, time: int) -> tuple[Due, ...]:
        """What a bill may take from each part of each budget that it concerns.

        Every charge concerns a budget of the dataset that holds for everybody and for ever.
        """
        now = bill, tuple(period_of(budget, time) for budget in self.budgets.values() if budget.window)
        found = self._known.get(now)
        if found is None:
            found = tuple(_due(self.concerned(bill.dataset, bill.analyst, bill.parts), bill, time))
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[now] = found
        return found

    def concerned(self, dataset: str | None, analyst: str | None, parts: tuple[str, ...]) -> list[Budget]:
        """The budgets that a charge is deducted from, all of them or none."""
        datasets = list(dict.fromkeys(budget.dataset for budget in self.budgets.values()))
        if dataset is None and len(datasets) != 1:
            raise InvalidParameter("a dataset", dataset, f"be named: one of {_listed(datasets)}")
        if dataset is not None and dataset not in datasets:
            raise InvalidParameter("a dataset", dataset, f"be one of {_listed(datasets)}")
        of_dataset = [budget for budget in self.budgets.values() if dataset is None or budget.dataset == dataset]
        analysts = [budget.analyst for budget in of_dataset if budget.analyst]
        if analysts and analyst not in analysts:
            raise InvalidParameter("an analyst", analyst, "have a budget of their own for this dataset, as others do")
        found = [budget for budget in of_dataset if budget.analyst in ("", analyst)]
        if all(budget.analyst or budget.window for budget in found):
            raise InvalidParameter("a dataset", of_dataset[0].dataset, "have a budget for all answers together")
        known = {part for budget in found for part in budget.parts}
        for part in parts:
            if part not in known:
                raise InvalidParameter("a part", part, f"be one of {_listed(known)}")
        return found


def _due(concerned: list[Budget], bill: Bill, time: int) -> Iterator[Due]:
    asked = bill.asked
    if isinstance(asked, Amounts):
        if asked.is_of_any_currency:
            currencies = sorted({budget.currency or "slots" for budget in concerned})
            if len(currencies) > 1:
                raise InvalidParameter("a cost", "a number", f"be told in each of {', '.join(currencies)}")
        known = {"", "delta", *(name for budget in concerned for name in budget.currencies)}
        for currency, _ in asked.by_currency:
            if currency not in known:
                raise InvalidParameter("a cost's currency", currency, "be that of a budget that is concerned")
    for budget in concerned:
        found, period = budget.prices(asked), period_of(budget, time)
        for account in (account for price in found for account, units in price.items() if units):
            if account not in budget.caps:
                raise InvalidParameter("a cost", account, f"be in a currency of {budget.name!r}")
        for part in parts_of(budget, bill.parts):
            prices = (
                tuple((Place(budget.name, part, period, account), units) for account, units in price.items() if units)
                for price in found
            )
            yield Due(budget, part, asked, tuple(prices))


def parts_of(budget: Budget, parts: Sequence[str]) -> Sequence[str]:
    """The parts that a charge is deducted from; one without a name if there are none.

    A charge that names a part which the budget does not have, as it is one of another partition of the same data, may
    concern any record here, and is deducted from all parts.
    """
    if not budget.parts:
        return ("",)
    known = parts and set(parts) <= set(budget.parts)
    return [part for part in budget.parts if part in parts] if known else budget.parts


def places_of(budget: Budget, account: str, parts: Sequence[str], time: int) -> Iterator[Place]:
    """Where a charge is counted."""
    for part in parts_of(budget, parts):
        yield Place(budget.name, part, period_of(budget, time), account)


def period_of(budget: Budget, time: int) -> int:
    """The stretch of time, from 1 on; 0 for a budget that is not renewed."""
    return time // (budget.window * _MICROSECONDS) + 1 if budget.window else 0


def _listed(names: object) -> str:
    found = sorted(map(repr, names))  # type: ignore[call-overload]  # any collection of text
    return ", ".join(found[:5]) + (", ..." if len(found) > 5 else "") if found else "none: the ledger has no budget"

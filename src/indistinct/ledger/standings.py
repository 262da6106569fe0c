"""How budgets stand: what is left of each, what it promises, what a charge would take from it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from indistinct.errors import BudgetExceeded, InvalidParameter
from indistinct.ledger.budgets import Budget
from indistinct.ledger.entries import Place
from indistinct.ledger.operations import Reserve
from indistinct.ledger.page import Page
from indistinct.ledger.promises import promise
from indistinct.ledger.shelf import Shelf
from indistinct.ledger.store import Reader

__all__ = ["Standing", "Trial", "promised_by", "standings_of", "tried_out"]


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


def standings_of(reader: Reader, shelf: Shelf) -> list[Standing]:
    """What each budget has and has spent, of budgets that are renewed in the latest stretch that was used."""
    balances = reader.balances()
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


def promised_by(reader: Reader, name: str) -> str:
    """What a budget promises, after all that was granted, in words; of one that is renewed, for its largest cap."""
    found = [each for each in standings_of(reader, Shelf.read(reader)) if each.budget.name == name]
    if not found:
        raise InvalidParameter("a budget", name, "be one of the ledger's")
    budget, caps = found[0].budget, dict[str, dict[str, Fraction]]()
    for each in found:
        caps.setdefault(each.part, {})[each.account] = each.cap
    for place, now in reader.balances().items():
        if place.budget == name:
            cap = Fraction(now.cap, budget.units_of(place.account))
            caps[place.part][place.account] = max(cap, caps[place.part][place.account])
    return promise(budget, caps)


def tried_out(wanted: Reserve, page: Page) -> Trial:
    """What a charge would take from a page, and how often; the page is not written."""
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

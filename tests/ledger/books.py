"""What the tests of the ledger begin with."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from indistinct import (
    PureDP,
)
from indistinct.composition.filters import BasicRule
from indistinct.ledger import Budget, Ledger

TENTH = PureDP("0.1")


def basic(address: str, epsilon: object = 1, delta: object = 0, **scope: Any) -> Ledger:
    return Ledger.create(address, Budget("hr", BasicRule(epsilon, delta), **scope))


def spent(ledger: Ledger) -> dict[tuple[str, str, str], Fraction]:
    return {(each.budget.name, each.part, each.account): each.spent for each in ledger.standings() if each.spent}

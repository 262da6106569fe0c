"""A durable budget: nobody overspends it, not even by killing the process."""

from indistinct.ledger.anchors import Anchor
from indistinct.ledger.budgets import Budget
from indistinct.ledger.bundle import Charges
from indistinct.ledger.charge import Charge, Reservation
from indistinct.ledger.entries import ChargeRecord, Row
from indistinct.ledger.ledger import Ledger
from indistinct.ledger.past import Move, Past, PastCharge
from indistinct.ledger.protected import Protected
from indistinct.ledger.receipts import Receipt, read_receipt
from indistinct.ledger.standings import Standing, Trial
from indistinct.ledger.verification import Verdict

__all__ = [
    "Anchor",
    "Budget",
    "Charge",
    "ChargeRecord",
    "Charges",
    "Ledger",
    "Move",
    "Past",
    "PastCharge",
    "Protected",
    "Receipt",
    "Reservation",
    "Row",
    "Standing",
    "Trial",
    "Verdict",
    "read_receipt",
]

"""A durable budget: nobody overspends it, not even by killing the process."""

from indistinct.ledger.anchors import Anchor
from indistinct.ledger.budgets import Budget
from indistinct.ledger.charge import Charge, Reservation
from indistinct.ledger.entries import ChargeRecord, Row
from indistinct.ledger.ledger import Ledger, Standing, Trial
from indistinct.ledger.protected import Protected
from indistinct.ledger.receipts import Receipt, read_receipt
from indistinct.ledger.verification import Verdict

__all__ = [
    "Anchor",
    "Budget",
    "Charge",
    "ChargeRecord",
    "Ledger",
    "Protected",
    "Receipt",
    "Reservation",
    "Row",
    "Standing",
    "Trial",
    "Verdict",
    "read_receipt",
]

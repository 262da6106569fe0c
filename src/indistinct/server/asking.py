"""What is asked over HTTP, read field by field, and what is answered, as JSON.

Amounts are text, exact both ways: "0.1" is one tenth, and what is left is told as "9968723/500000000".
"""

from __future__ import annotations

import datetime as dt
import decimal
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from indistinct.errors import BudgetExceeded, InvalidParameter
from indistinct.ledger import Ledger, read_receipt
from indistinct.numbers import read_number
from indistinct.queries import Answer, Explanation, PrivateDatabase

__all__ = [
    "Ask",
    "answer_told",
    "ask_all",
    "balance_told",
    "explanation_told",
    "history_told",
    "price_of",
    "read_ask",
    "receipt_told",
]

_LONGEST_SQL = 20_000
_LONGEST_NUMBER = 60
_AMOUNTS = ("epsilon", "rho", "delta")
_COUNTS = ("groups", "rows")


@dataclass(frozen=True, slots=True)
class Ask:
    """A question with its options, which are those of `PrivateDatabase.sql`."""

    sql: str
    options: Mapping[str, Any]


def read_ask(given: object) -> Ask:
    """A question from its JSON.

    >>> read_ask({"sql": "SELECT COUNT(*) FROM visits", "rho": "0.001"})
    Ask(sql='SELECT COUNT(*) FROM visits', options={'rho': '0.001'})
    """
    if not isinstance(given, dict):
        raise InvalidParameter("a question", given, 'be an object such as {"sql": "SELECT COUNT(*) FROM visits"}')
    known = {"sql", *_AMOUNTS, *_COUNTS, "keys"}
    if unknown := sorted(str(name) for name in set(given) - known):
        raise InvalidParameter("a question", unknown[0], f"have no fields but {', '.join(sorted(known))}")
    options: dict[str, Any] = {}
    for name in _AMOUNTS:
        if given.get(name) is not None:
            options[name] = _amount(name, given[name])
    for name in _COUNTS:
        if given.get(name) is not None:
            options[name] = _count(name, given[name])
    if given.get("keys") is not None:
        options["keys"] = _keys(given["keys"])
    return Ask(_sql(given.get("sql")), options)


def answer_told(answer: Answer) -> dict[str, object]:
    """An answer: its table, the noise intervals, and what it cost."""
    receipt = answer.receipt
    return {
        "columns": list(answer.columns),
        "rows": [[_value(value) for value in row] for row in answer.rows],
        "noise_intervals": {
            "level": "0.95",
            "of": "privacy noise only",
            "columns": {
                name: [[_value(end) for end in ends] for ends in column] for name, column in answer.intervals().items()
            },
        },
        "receipt": {
            "key": receipt.charge,
            "cost": _amounts(receipt.cost),
            "free": receipt.free,
            "mechanisms": list(receipt.mechanisms),
            "bounds": receipt.bounds,
            "remaining": _amounts(receipt.remaining),
            "ledger": receipt.ledger,
        },
    }


def explanation_told(database: PrivateDatabase, explanation: Explanation) -> dict[str, object]:
    """What a question would do, how often it fits, and what would be left after it."""
    remaining = database.remaining
    try:
        trial = database.ledger.try_out(explanation.cost, dataset=database.name, analyst=database.analyst)
        times = trial.times or 0
    except BudgetExceeded:
        times = 0
    after = {name: left - explanation.cost.get(name, Fraction(0)) for name, left in remaining.items()}
    return {
        "statement": explanation.statement,
        "mechanisms": list(explanation.mechanisms),
        "bounds": explanation.bounds,
        "cost": _amounts(explanation.cost),
        "errors": {name: _value(error) for name, error in explanation.errors.items()},
        "suppression": explanation.suppression,
        "remaining": _amounts(remaining),
        "remaining_after": _amounts(after),
        "times": times,
    }


def price_of(database: PrivateDatabase, asks: list[Ask]) -> dict[str, Fraction]:
    """What several questions cost together, if none was answered before; nothing is charged."""
    total: dict[str, Fraction] = {}
    for ask in asks:
        for name, amount in database.explain(ask.sql, **ask.options).cost.items():
            total[name] = total.get(name, Fraction(0)) + amount
    return total


def ask_all(database: PrivateDatabase, asks: list[Ask], most: Mapping[str, Fraction] | None) -> dict[str, object]:
    """Answers to several questions, once it is known that all of them are allowed and fit together."""
    total, left = price_of(database, asks), database.remaining
    for name, amount in total.items():
        allowed = left.get(name, Fraction(0))
        if most is not None:
            allowed = min(allowed, most.get(name, Fraction(0)))
        if amount > allowed:
            raise BudgetExceeded(amount, allowed, database.name, name)
    return {
        "price": _amounts(total),
        "answers": [answer_told(database.sql(ask.sql, **ask.options)) for ask in asks],
        "remaining": _amounts(database.remaining),
    }


def balance_told(database: PrivateDatabase, *, everybody: bool) -> dict[str, object]:
    """What each budget has and has spent: those that concern a person, or all."""
    mine = {"", database.analyst or ""}
    return {
        "dataset": database.name,
        "remaining": _amounts(database.remaining),
        "budgets": [
            {
                "budget": each.budget.name,
                "analyst": each.budget.analyst or None,
                "part": each.part or None,
                "currency": each.account,
                "cap": str(each.cap),
                "spent": str(each.spent),
                "left": str(each.left),
            }
            for each in database.ledger.standings()
            if each.budget.dataset == database.name and (everybody or each.budget.analyst in mine)
        ],
    }


def history_told(database: PrivateDatabase, analyst: str | None, most: int, before: int | None) -> dict[str, object]:
    """The latest charges, of one person or (None) of all, the newest first, and how the budgets moved meanwhile."""
    page = database.ledger.past(database.name, analyst=analyst, most=most, before=before)
    return {
        "charges": [
            {
                "number": charge.number,
                "key": charge.key,
                "analyst": charge.analyst,
                "cost": charge.asked,
                "time": _time(charge.time),
                "state": charge.state,
            }
            for charge in page.charges
        ],
        "moves": [
            {
                "number": move.number,
                "time": _time(move.time),
                "budget": move.budget,
                "part": move.part or None,
                "currency": move.account,
                "cap": str(move.cap),
                "spent": str(move.spent),
            }
            for move in page.moves
        ],
        "before": page.before,
    }


def receipt_told(ledger: Ledger, key: str, analyst: str | None) -> dict[str, object]:
    """The ledger's receipt of an answer, for whom it was given, or for all (None)."""
    text = ledger.receipt(key)
    if analyst is not None and read_receipt(text).analyst != analyst:
        raise InvalidParameter("a key", key, "be that of a charge with an answer")  # as if there were none
    told: dict[str, object] = json.loads(text)
    return told


def _time(microseconds: int) -> str:
    return dt.datetime.fromtimestamp(microseconds / 1e6, dt.UTC).isoformat()


def _sql(given: object) -> str:
    if not isinstance(given, str) or not 0 < len(given) <= _LONGEST_SQL or "\0" in given:
        raise InvalidParameter("sql", given, f"be text of at most {_LONGEST_SQL:,} characters")
    if any("\ud800" <= letter <= "\udfff" for letter in given):
        raise InvalidParameter("sql", given, "be text that can be written down")
    return given


def _amount(name: str, given: object) -> str:
    if not isinstance(given, str) or len(given) > _LONGEST_NUMBER:
        raise InvalidParameter(name, given, f"be a number as text of at most {_LONGEST_NUMBER} characters")
    read_number(name, given)
    return given


def _count(name: str, given: object) -> int:
    if not isinstance(given, int) or isinstance(given, bool) or not 1 <= given <= 10**9:
        raise InvalidParameter(name, given, "be a whole number from 1 to 1000000000")
    return given


def _keys(keys: object) -> dict[str, list[Any]]:
    if not isinstance(keys, dict):
        raise InvalidParameter("keys", keys, "be an object of lists by column")
    for column, values in keys.items():
        if not isinstance(values, list) or not all(isinstance(each, str | int | bool) for each in values):
            raise InvalidParameter("keys", column, "be lists of text, whole numbers or truth values")
    return keys


def _amounts(amounts: Mapping[str, Fraction]) -> dict[str, str]:
    return {name: str(amount) for name, amount in amounts.items()}


def _value(value: object) -> object:
    """A value of an answer as JSON has it."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case list() | tuple():
            return [_value(each) for each in value]
        case dt.date() | dt.datetime():
            return value.isoformat()
        case decimal.Decimal() | Fraction():
            return float(value)
    return str(value)

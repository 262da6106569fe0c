"""Between the command line and a private database: opening it, its answers as sheets, and what it has left."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from indistinct.cli.sheet import LEVEL, Sheet, spelled
from indistinct.errors import InvalidParameter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from indistinct.queries import Answer, Explanation, Policy, PrivateDatabase, Receipt

__all__ = [
    "check_whose",
    "explanation",
    "history_of",
    "left_of",
    "names_in",
    "opened",
    "share_left",
    "sheet_of",
    "tables_of",
]


def opened(arguments: argparse.Namespace) -> PrivateDatabase:
    """The database that a command names."""
    from indistinct.queries import ROW
    from indistinct.queries import open as open_database
    from indistinct.queries.policy.file import read_policy

    if arguments.policy is not None:
        policy = read_policy(arguments.policy)
        source = _sources(arguments.file, policy)
        return open_database(source, policy=policy, ledger=arguments.ledger, analyst=arguments.analyst)
    return open_database(
        arguments.file,
        unit=ROW if arguments.unit_is_row else arguments.unit,
        epsilon=arguments.epsilon,
        delta=arguments.delta,
        ledger=arguments.ledger,
        analyst=arguments.analyst,
        groups=_count("groups", arguments.groups),
        rows=_count("rows", arguments.rows),
    )


def _sources(file: str, policy: Policy) -> dict[str, object]:
    """The file is the policy's first private table; other tables are where the policy says."""
    from indistinct.queries import PrivateTable

    first = next(table.name for table in policy.tables if isinstance(table, PrivateTable))
    others = {table.name: table.source for table in policy.tables if table.source is not None}
    return {**others, first: file}


def _count(name: str, value: str | None) -> int:
    from indistinct.numbers import read_count

    return 1 if value is None else read_count(f"--{name}", value, least=1)


def sheet_of(answer: Answer, *, made_up: bool = False) -> Sheet:
    """The answer with its noise intervals, and its receipt in lines and as facts."""
    by_name = answer.intervals(LEVEL)
    intervals = {
        index: tuple(None if low is None else (float(low), float(high)) for low, high in by_name[name])
        for index, name in enumerate(answer.columns)
        if any(ends != (None, None) for ends in by_name[name])
    }
    receipt = answer.receipt
    facts = {
        "receipt": {
            "charge": receipt.charge,
            "cost": _exact({} if receipt.free else receipt.cost),
            "mechanisms": list(receipt.mechanisms),
            "bounds": receipt.bounds,
        },
        "remaining": _exact(receipt.remaining),
    }
    notes = tuple(str(receipt).splitlines())
    if made_up:
        return Sheet(answer.columns, answer.rows, intervals, (_MADE_UP, *notes), {"rehearsal": True, **facts})
    return Sheet(answer.columns, answer.rows, intervals, notes, facts)


_MADE_UP = "A rehearsal on made-up rows: the numbers mean nothing."


def explanation(told: Explanation, *, as_json: bool) -> str:
    """What a question would cost and how it would be answered."""
    if not as_json:
        return str(told)
    return json.dumps(
        {
            "cost": _exact(told.cost),
            "mechanisms": list(told.mechanisms),
            "bounds": told.bounds,
            "errors": dict(told.errors),
            "suppression": told.suppression,
            "statement": told.statement,
        },
        indent=2,
    )


def share_left(database: PrivateDatabase) -> float:
    """Of the currency that runs out first, how much of it is left: from 0 to 1."""
    shares = [float(left / cap) for left, cap in _accounts(database).values() if cap]
    return min(shares, default=0.0)


def left_of(database: PrivateDatabase) -> str:
    """What is left of the budget, in a sentence."""
    told = [
        f"{name} {float(left):.4g} of {float(cap):.4g} ({float(left / cap):.0%})"
        for name, (left, cap) in _accounts(database).items()
        if cap
    ]
    return f"Left: {', '.join(told)}."


def _accounts(database: PrivateDatabase) -> dict[str, tuple[Fraction, Fraction]]:
    """What is left and what there was, for each currency; for an analyst, the least of what concerns them."""
    found: dict[str, tuple[Fraction, Fraction]] = {}
    for standing in database.ledger.standings():
        if standing.budget.dataset == database.name and standing.budget.analyst in {"", database.analyst or ""}:
            mine = (standing.left, standing.cap)
            found[standing.account] = min(mine, found.get(standing.account, mine))
    return found


def history_of(asked: Sequence[str], receipts: Sequence[Receipt]) -> str:
    """What was asked in this session, and what it cost."""
    lines = []
    for number, (text, receipt) in enumerate(zip(asked, receipts, strict=True), 1):
        cost = ", ".join(f"{name} {float(amount):.4g}" for name, amount in receipt.cost.items())
        lines += [f"{number}. {spelled(' '.join(text.split()))}"]
        lines += [f"   {'free, as it was answered before' if receipt.free else cost}"]
    return "\n".join(lines) if lines else "Nothing was asked yet."


def tables_of(database: PrivateDatabase) -> str:
    """The tables, each with its columns and their types."""
    lines = []
    for table in database.policy.tables:
        lines.append(spelled(table.name))
        width = max(len(spelled(name)) for name in table.columns)
        lines += [f"  {spelled(name):<{width}}  {column.type}" for name, column in table.columns.items()]
    return "\n".join(lines)


def names_in(database: PrivateDatabase) -> list[str]:
    """All names that a question may use."""
    return [name for table in database.policy.tables for name in (table.name, *table.columns)]


def _exact(amounts: Mapping[str, Fraction]) -> dict[str, str]:
    return {name: str(amount) for name, amount in amounts.items()}


def check_whose(arguments: argparse.Namespace) -> None:
    """Either a policy says whose rows they are and what may be spent, or the options do."""
    if arguments.policy is None:
        if arguments.unit is None and not arguments.unit_is_row:
            raise InvalidParameter(
                "--unit",
                None,
                "name the column that says whose row it is",
                instead="Say --unit-is-row if each row is a person of its own, or give a --policy.",
            )
        return
    for name in ("unit", "epsilon", "delta", "groups", "rows"):
        if getattr(arguments, name) is not None:
            raise InvalidParameter(f"--{name}", getattr(arguments, name), "be left out: the policy says it")

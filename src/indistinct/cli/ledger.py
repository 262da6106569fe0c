"""indistinct ledger: budgets that are kept in a file or in PostgreSQL, created, shown, checked."""

from __future__ import annotations

import argparse
import base64
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indistinct.errors import InvalidParameter, LedgerUnavailable, LedgerUntrusted

if TYPE_CHECKING:
    from indistinct.composition.guarantees import Promise
    from indistinct.ledger import Budget, Row, Standing

__all__ = ["RULES", "budget", "export", "grant", "init", "plan", "receipt", "show", "verify"]

RULES = ("zcdp", "basic", "gaussian", "renyi")


def init(arguments: argparse.Namespace) -> None:
    """Creates a ledger with its first budget."""
    from indistinct.ledger import Ledger

    with Ledger.create(arguments.ledger, _budget_of(arguments)) as ledger:
        print(f"Created the ledger {ledger.identity}.")


def budget(arguments: argparse.Namespace) -> None:
    """Adds a budget to a ledger."""
    from indistinct.ledger import Ledger

    made = _budget_of(arguments)
    with Ledger.open(arguments.ledger) as ledger:
        ledger.add(made)
        print(f"Created the budget {made.name!r}.")


def show(arguments: argparse.Namespace) -> None:
    """Prints what each budget has, has spent, and promises."""
    from indistinct.ledger import Ledger

    with Ledger.open(arguments.ledger) as ledger:
        standings, unfinished = ledger.standings(), ledger.unfinished()
        told = {
            "ledger": ledger.identity,
            "rows": ledger.anchor.number,
            "unfinished": len(unfinished),
            "budgets": [
                {
                    "budget": each.budget.name,
                    "dataset": each.budget.dataset,
                    "part": each.part,
                    "account": each.account,
                    "cap": str(each.cap),
                    "spent": str(each.spent),
                    "left": str(each.left),
                }
                for each in standings
            ],
        }
        if arguments.json:
            print(json.dumps(told, indent=2))
            return
        table = [("budget", "currency", "cap", "spent", "left")]
        table += [
            (_scope(each), each.account, _digits(each.cap), _digits(each.spent), _digits(each.left))
            for each in standings
            if each.cap
        ]
        print("\n".join(_columns(table, right=(2, 3, 4))))
        print()
        for name in dict.fromkeys(each.budget.name for each in standings):
            print(f"{name}: promises {ledger.promise(name)}")
        print(f"{ledger.anchor.number:,} rows; {len(unfinished):,} charges without an outcome.")


def grant(arguments: argparse.Namespace) -> None:
    """Adds to a budget."""
    from indistinct.ledger import Ledger

    with Ledger.open(arguments.ledger) as ledger:
        amount: object = arguments.amount
        if "delta" in arguments:
            currency = next(
                (each.budget.currency for each in ledger.standings() if each.budget.name == arguments.budget), ""
            )
            amount = {currency: arguments.amount, "delta": arguments.delta}
        ledger.grant(arguments.budget, amount, reason=arguments.reason, parts=arguments.part)
        print(f"Granted {arguments.amount} to {arguments.budget!r}.")


def verify(arguments: argparse.Namespace) -> None:
    """Checks every row, and prints the anchor that should be kept elsewhere."""
    from indistinct.ledger import Anchor, Ledger

    kept = Path(arguments.anchor) if arguments.anchor else None
    before = None
    try:
        with Ledger.open(arguments.ledger) as ledger:
            before = Anchor.load(kept) if kept else None
            verdict = ledger.verify(before)
    except LedgerUntrusted as error:
        if arguments.json:
            print(json.dumps({"whole": False, "row": error.row, "reason": error.reason}))
        raise
    if kept:
        verdict.anchor.keep(kept)
    if arguments.json:
        told = {"whole": True, "rows": verdict.rows, "charges": verdict.charges}
        print(json.dumps({**told, "anchor": json.loads(str(verdict.anchor))}))
    else:
        print(verdict)
        print(verdict.anchor)
        if kept and before is None:
            print(f"There was no anchor at {str(kept)!r}: it begins here, and says nothing of what was before.")


def export(arguments: argparse.Namespace) -> None:
    """Prints all rows: a line of a table, or a JSON object, for each."""
    from indistinct.ledger import Ledger

    with Ledger.open(arguments.ledger) as ledger:
        for row in ledger.rows():
            print(json.dumps(_as_object(row)) if arguments.json else _as_line(row))


def plan(arguments: argparse.Namespace) -> None:
    """Says what a charge would cost and how often it would fit."""
    from indistinct.ledger import Ledger

    with Ledger.open(arguments.ledger) as ledger:
        trial = ledger.try_out(
            _cost_of(arguments), dataset=arguments.dataset, analyst=arguments.analyst, parts=arguments.part
        )
    if arguments.json:
        costs = [{"budget": name, "account": account, "cost": str(cost)} for name, account, cost in trial.costs]
        print(json.dumps({"costs": costs, "times": trial.times}, indent=2))
        return
    table = [("budget", "currency", "cost")]
    table += [(name, account, _digits(cost)) for name, account, cost in trial.costs]
    print("\n".join(_columns(table, right=(2,))))
    print()
    print("It costs nothing." if trial.times is None else f"It fits {trial.times:,} times. Nothing was charged.")


def receipt(arguments: argparse.Namespace) -> None:
    """Checks a receipt, or prints the one for a key of a ledger."""
    from indistinct.ledger import Ledger, read_receipt

    if arguments.key:
        with Ledger.open(arguments.file) as ledger:
            print(ledger.receipt(arguments.key))
        return
    try:
        text = Path(arguments.file).read_text(encoding="ascii")
    except OSError as error:
        raise LedgerUnavailable(f"The receipt {arguments.file!r} cannot be read: {error.strerror}.") from None
    except UnicodeError:
        raise LedgerUntrusted("This is not a receipt.") from None
    shown = read_receipt(text)
    if arguments.ledger:
        with Ledger.open(arguments.ledger) as ledger:
            ledger.confirm(shown)
    answer = base64.b64encode(shown.answer).decode() if isinstance(shown.answer, bytes) else shown.answer
    told: dict[str, Any] = {
        "ledger": shown.ledger,
        "key": shown.key,
        "dataset": shown.dataset,
        "analyst": shown.analyst,
        "asked": shown.asked,
        "answer": answer,
        "time": _moment(shown.time),
        "in the ledger": bool(arguments.ledger),
    }
    if arguments.json:
        print(json.dumps({**told, "hashes": shown.hashes}, indent=2))
        return
    print("\n".join(_columns([(name, json.dumps(value)) for name, value in told.items()])))
    print("Nothing in this receipt was changed." + ("" if arguments.ledger else " --ledger asks the ledger as well."))


def _budget_of(arguments: argparse.Namespace) -> Budget:
    from indistinct.ledger import Budget

    return Budget(
        arguments.dataset,
        _rule_of(arguments),
        name=arguments.name,
        analyst=arguments.analyst or "",
        window=arguments.window,
        parts=tuple(arguments.part),
        adjacency=arguments.adjacency,
    )


def _rule_of(arguments: argparse.Namespace) -> Any:
    from indistinct.composition.filters import BasicRule, ConcentratedRule, GaussianRule, RenyiRule

    if arguments.slot:
        if "epsilon" in arguments:
            raise InvalidParameter(
                "a budget", "--slot and --epsilon", "be a plan of slots or have an epsilon, not both"
            )
        return dict(_slot(text) for text in arguments.slot)
    if "epsilon" not in arguments or "delta" not in arguments:
        raise InvalidParameter("a budget", "no --epsilon and --delta", "have both, or be a plan of slots")
    wanted, beside = (arguments.epsilon, arguments.delta), {"black_box": arguments.black_box}
    match arguments.rule:
        case "basic":
            return BasicRule(*wanted)
        case "gaussian":
            return GaussianRule.of_claim(*wanted, **beside)
        case "renyi":
            return RenyiRule.of_claim(arguments.order, *wanted, **beside)
    return ConcentratedRule.of_claim(*wanted, **beside)


def _slot(text: str) -> tuple[Promise, str]:
    from indistinct import ApproximateDP, PureDP

    level, _, times = text.partition("=")
    epsilon, _, delta = level.partition(",")
    return (ApproximateDP(epsilon, delta) if delta else PureDP(epsilon)), times


def _cost_of(arguments: argparse.Namespace) -> object:
    from indistinct import ApproximateDP, GaussianDP, PureDP, ZeroConcentratedDP

    kinds = [name for name in ("epsilon", "rho", "mu") if name in arguments]
    if len(kinds) != 1:
        raise InvalidParameter("--epsilon, --rho and --mu", ", ".join(kinds) or "none", "be given but for two")
    if "delta" in arguments and kinds != ["epsilon"]:
        raise InvalidParameter("--delta", arguments.delta, "stand beside --epsilon")
    match kinds:
        case ["rho"]:
            return ZeroConcentratedDP(arguments.rho)
        case ["mu"]:
            return GaussianDP(arguments.mu)
    return ApproximateDP(arguments.epsilon, arguments.delta) if "delta" in arguments else PureDP(arguments.epsilon)


def _scope(standing: Standing) -> str:
    return f"{standing.budget.name}:{standing.part}" if standing.part else standing.budget.name


def _digits(amount: Fraction) -> str:
    return f"{float(amount):.9g}"


def _moment(microseconds: int) -> str:
    return datetime.fromtimestamp(microseconds / 10**6, UTC).isoformat(timespec="seconds")


def _as_line(row: Row) -> str:
    return f"{row.number:>8}  {_moment(row.time)}  {row.kind:<8}{_about(row)}".rstrip()


def _about(row: Row) -> str:
    body = row.body
    match row.kind:
        case "budget":
            return str(body["budget"]["name"])
        case "grant":
            return f"{body['budget']}: {body['reason']}"
        case "reserve" | "charge":
            return f"{row.key} {json.dumps(body['asked'])}"
        case "void":
            return f"of row {row.charge}: {body['reason']}"
    return f"of row {row.charge}" if row.charge else ""


def _as_object(row: Row) -> dict[str, object]:
    answer = base64.b64encode(row.answer).decode() if row.answer is not None else None
    return {"number": row.number, "text": row.text, "answer": answer, "hash": row.hash.hex()}


def _columns(table: Sequence[Sequence[str]], right: Sequence[int] = ()) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        cells = (
            cell.rjust(width) if at in right else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "   ".join(cells).rstrip()

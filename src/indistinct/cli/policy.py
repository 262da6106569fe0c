"""indistinct policy: is a policy file in order, and a first draft of one from the columns' types."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from indistinct.errors import IndistinctError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indistinct.queries.policy import Budget, Column, Policy, Table

__all__ = ["PolicyHasFaults", "check", "draft"]


class PolicyHasFaults(IndistinctError):
    """A policy file is not in order; each fault is a sentence of its own."""


def check(arguments: argparse.Namespace) -> None:
    """Prints what the policy says, or every fault in it."""
    from indistinct.queries.policy.file import read_policy_file

    reading = read_policy_file(arguments.file)
    if arguments.json:
        found = {"valid": reading.policy is not None, "faults": [_fault(fault) for fault in reading.faults]}
        print(json.dumps(found if reading.policy is None else found | _as_object(reading.policy), indent=2))
    elif reading.policy is not None:
        print("\n".join(_as_text(arguments.file, reading.policy)))
    if reading.faults:
        sentences = [str(fault) for fault in reading.faults]
        few = "one fault" if len(sentences) == 1 else f"{len(sentences)} faults"
        raise PolicyHasFaults("\n  ".join([f"{arguments.file} has {few}:", *sentences]))


def draft(arguments: argparse.Namespace) -> None:
    """Prints a policy for a file, made from the names and types of its columns alone."""
    from indistinct.queries.policy.draft import draft_policy

    print(
        draft_policy(arguments.file, unit=arguments.unit, epsilon=arguments.epsilon, delta=arguments.delta),
        end="",
    )


def _fault(fault: Exception) -> dict[str, str]:
    return {"place": str(getattr(fault, "name", "")), "sentence": str(fault)}


def _as_text(file: str, policy: Policy) -> Iterator[str]:
    from indistinct.cli.sheet import spelled
    from indistinct.queries.policy import PrivateTable

    yield f"{file} is in order."
    yield ""
    yield f"budget   {_budget(policy.budget)}, for all answers together"
    for analyst in policy.analysts:
        most = _budget(analyst.budget) if analyst.budget else "as much as all together"
        yield f"analyst  {spelled(analyst.name)}: {most}"
    for table in policy.tables:
        name = spelled(table.name)
        yield ""
        if isinstance(table, PrivateTable):
            unit = "each row" if not isinstance(table.unit, str) else spelled(table.unit)
            groups, rows = table.contribution.groups, table.contribution.rows
            yield f"table    {name}: the unit is {unit}, and an answer uses {groups} x {rows} rows of it at most"
        else:
            yield f"table    {name}: public"
        width = max(len(spelled(name)) for name in table.columns)
        for column_name, column in table.columns.items():
            yield f"           {spelled(column_name):<{width}}  {_column(column)}"


def _budget(budget: Budget) -> str:
    return f"epsilon = {float(budget.epsilon):.6g}, delta = {float(budget.delta):.6g}"


def _column(column: Column) -> str:
    said: list[str] = [column.type]
    if column.low is not None and column.high is not None:
        said.append(f"from {float(column.low):.6g} to {float(column.high):.6g}")
    if column.step is not None:
        said.append(f"in steps of {float(column.step):.6g}")
    if column.keys is not None:
        said.append(f"{len(column.keys):,} public key" + "s" * (len(column.keys) != 1))
    return ", ".join(said)


def _as_object(policy: Policy) -> dict[str, object]:
    """The policy for JSON, numbers exact as text."""
    return {
        "budget": _numbers(policy.budget),
        "analysts": {each.name: _numbers(each.budget) if each.budget else None for each in policy.analysts},
        "tables": {table.name: _table(table) for table in policy.tables},
    }


def _numbers(budget: Budget) -> dict[str, str]:
    return {"epsilon": str(budget.epsilon), "delta": str(budget.delta)}


def _table(table: Table) -> dict[str, object]:
    from indistinct.queries.policy import PrivateTable

    columns = {name: _column(column) for name, column in table.columns.items()}
    if not isinstance(table, PrivateTable):
        return {"public": True, "source": table.source, "columns": columns}
    return {
        "public": False,
        "source": table.source,
        "unit": table.unit if isinstance(table.unit, str) else None,
        "contribution": {"groups": table.contribution.groups, "rows": table.contribution.rows},
        "columns": columns,
    }

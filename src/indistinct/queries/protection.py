"""What the budget of a data set protects, and whether data that are opened are what it protects.

A budget is for some sources and their unit of privacy. Opened by another unit, its promise would be broken; under
another name, the same rows would have two budgets. Files may move together with their folder, so the budget knows them
by their own names, and other budgets by their paths; a table of a database, by the names of both. Frames have none.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from indistinct.errors import InvalidParameter
from indistinct.ledger import Ledger, Protected
from indistinct.queries.engines.holding import is_address
from indistinct.queries.policy.terms import Policy, PrivateTable

__all__ = ["check_protected", "protected_by"]


def protected_by(policy: Policy, sources: Mapping[str, object]) -> tuple[Protected, ...]:
    """The private tables of a policy, with their units and sources."""
    return tuple(
        Protected(table.name, table.unit if isinstance(table.unit, str) else None, _place(sources.get(table.name)))
        for table in policy.tables
        if isinstance(table, PrivateTable)
    )


def check_protected(book: Ledger, dataset: str, opened: tuple[Protected, ...]) -> None:
    """Refuses data that are protected by another budget of the ledger, or that are not what this one protects."""
    recorded = book.protects()
    for each in opened:
        for other, theirs in recorded.items():
            if other != dataset and each.source and any(_is_same(each.source, one.source) for one in theirs):
                raise InvalidParameter(
                    "name",
                    dataset,
                    f"be {other!r}, under which the ledger protects this source",
                    instead="Two budgets for the same rows would promise less than either says.",
                )
        if own := recorded.get(dataset):
            _check_own(dataset, each, own)


def _check_own(dataset: str, opened: Protected, own: tuple[Protected, ...]) -> None:
    alike = [each for each in own if each.table.casefold() == opened.table.casefold()]
    alike = alike or [each for each in own if opened.source and _name(each.source) == _name(opened.source)]
    units = {each.unit for each in alike or own}
    if opened.unit not in units:
        raise InvalidParameter(
            "unit",
            _told(opened.unit),
            f"be {_told(min(units, key=str))}, which the budget {dataset!r} protects",
            instead="Open the data by that unit, or give them a ledger of their own.",
        )
    sources = {_name(each.source) for each in alike if each.source}
    if opened.source and sources and _name(opened.source) not in sources:
        raise InvalidParameter(
            "source",
            _name(opened.source),
            f"be {min(sources)!r}, which the budget {dataset!r} protects",
            instead="Call the file as it was called, or give the data a ledger or a name of their own.",
        )


def _place(source: object) -> str:
    """Where a source is, without who reads it; empty for what has no place."""
    if isinstance(source, str) and is_address(source):
        parts = urlsplit(source)
        table = parts.fragment if "." in parts.fragment else f"public.{parts.fragment}"
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}#{table}"
    return os.path.abspath(Path(source).expanduser()) if isinstance(source, str | Path) else ""  # noqa: PTH100  # keeps links


def _is_same(one: str, other: str) -> bool:
    return one == other or (not is_address(one) and bool(other) and os.path.realpath(one) == os.path.realpath(other))


def _name(place: str) -> str:
    return place.rpartition("/")[2]


def _told(unit: str | None) -> str:
    return "each row" if unit is None else repr(unit)

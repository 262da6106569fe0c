"""The one place where noise is added: from an engine's whole numbers to what may be seen."""

from __future__ import annotations

import datetime as dt
import json
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from indistinct.errors import InternalError
from indistinct.queries.answers.allotment import Allotment
from indistinct.queries.answers.evaluation import Released
from indistinct.queries.answers.noises import draws
from indistinct.queries.answers.peeling import peeled
from indistinct.queries.answers.quantiles import select_quantile
from indistinct.queries.answers.selection import KeySelection, Selection
from indistinct.queries.plans.plan import Plan
from indistinct.queries.policy.terms import Key

__all__ = ["Exact", "decode", "encode", "exact_of", "release"]

Keys = tuple[Key, ...]


class Exact:
    """What an engine returned, by group: never shown."""

    def __init__(self, plan: Plan, rows: Iterable[Sequence[Any]]) -> None:
        width = len(plan.keys)
        self.units: dict[Keys, int] = {}
        self.numbers: dict[Keys, tuple[int, ...]] = {}
        self.weights: list[dict[Keys, dict[int, int]]] = [{} for _ in plan.quantiles]
        called: list[dict[int, Key]] = []
        if plan.placed:
            called = [
                dict(zip(places, key.public or (), strict=True))
                for places, key in zip(plan.places, plan.keys, strict=True)
            ]
        for row in rows:
            part, keys, cell, first = int(row[0]), tuple(row[1 : 1 + width]), row[1 + width], int(row[2 + width])
            if plan.placed:
                keys = tuple(names[int(place)] for names, place in zip(called, keys, strict=True))
            if part == 0:
                self.units[keys] = first
                self.numbers[keys] = tuple(int(each) for each in row[3 + width :])
            else:
                self.weights[part - 1].setdefault(keys, {})[int(cell)] = first


def exact_of(plan: Plan, rows: Iterable[Sequence[Any]]) -> Exact:
    """The rows of the planned statement, by group."""
    return Exact(plan, rows)


def release(plan: Plan, allotment: Allotment, exact: Exact, *, all_groups: bool = False) -> list[Released]:
    """Adds noise, selects quantiles, and drops groups whose keys are private and have too few units.

    The groups and their order depend on the policy alone, or on which private groups are kept. `all_groups` keeps
    them all, for rows that nobody gave.
    """
    if plan.public:
        groups = list(plan.public_groups())
    else:
        if allotment.selection is None:
            raise InternalError("Private keys need a selection.")
        groups = sorted(exact.units, key=_order)
    nothing = (0,) * len(plan.measures)
    columns = [
        [exact.numbers.get(keys, nothing)[index] + int(drawn) for keys, drawn in zip(groups, noise, strict=True)]
        for index, noise in enumerate(draws(allotment.noises, len(groups)))
    ]
    if allotment.selection is not None and not all_groups:
        kept = _kept(allotment.selection, [exact.units[keys] for keys in groups], columns)
        groups = [keys for keys, keep in zip(groups, kept, strict=True) if keep]
        columns = [[number for number, keep in zip(column, kept, strict=True) if keep] for column in columns]
    if allotment.peel is not None and plan.top is not None:
        groups = [
            groups[place] for place in peeled([exact.units.get(keys, 0) for keys in groups], allotment.peel, plan.top)
        ]
    sets = [_quantiles(plan, allotment, exact, groups, index) for index in range(len(plan.quantiles))]
    grown = any(tree is not None for tree in allotment.trees)
    return [
        Released(
            keys,
            tuple(column[place] for column in columns),
            tuple(cells[place] for cells, _ in sets),
            tuple(prefixes[place] for _, prefixes in sets) if grown else (),
        )
        for place, keys in enumerate(groups)
    ]


def _kept(selection: Selection, units: list[int], columns: list[list[int]]) -> list[bool]:
    """Which private groups are shown."""
    if isinstance(selection, KeySelection):
        return [bool(each) for each in selection.keep(np.array(units, dtype=np.int64))]
    if selection.measure is None:
        (drawn,) = draws([selection.noise], len(units))
        noisy = [number + int(each) for number, each in zip(units, drawn, strict=True)]
    else:
        noisy = columns[selection.measure]
    return [
        number >= selection.first and told >= selection.threshold for number, told in zip(units, noisy, strict=True)
    ]


def _quantiles(
    plan: Plan, allotment: Allotment, exact: Exact, groups: Sequence[Keys], index: int
) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """Of one set of quantiles, for each group the chosen cells, and the tree's estimates if there is one."""
    quantiles, tree = plan.quantiles[index], allotment.trees[index] if allotment.trees else None
    spread = [exact.weights[index].get(keys, {}) for keys in groups]
    grids = [[weights.get(cell, 0) for cell in range(quantiles.cells.number)] for weights in spread]
    if tree is not None:
        prefixes = tree.prefixes(grids)
        return [tuple(tree.chosen(prefix, share) for share in quantiles.shares) for prefix in prefixes], prefixes
    epsilon, rows = allotment.quantile_epsilon[index], plan.contribution.rows
    chosen = [
        tuple(select_quantile(grid, share, epsilon, rows, pure=allotment.pure) for share in quantiles.shares)
        for grid in grids
    ]
    return chosen, [()] * len(grids)


def encode(released: Sequence[Released]) -> bytes:
    """As it is sealed in a ledger: format 1; format 2 where there are estimates of trees."""
    groups: list[list[object]] = [
        [[_spelled(key) for key in each.keys], list(each.numbers), [list(cells) for cells in each.cells]]
        for each in released
    ]
    grown = any(each.prefixes for each in released)
    if grown:
        for told, each in zip(groups, released, strict=True):
            told.append([list(prefix) for prefix in each.prefixes])
    form = {"answer": 2 if grown else 1, "groups": groups}
    return zlib.compress(json.dumps(form, separators=(",", ":")).encode("ascii"))


def decode(sealed: bytes) -> list[Released]:
    """What was sealed."""
    told = json.loads(zlib.decompress(sealed))
    if told.get("answer") not in {1, 2}:
        raise InternalError("The answer is sealed in a format that this version does not know.")
    return [
        Released(
            tuple(_read(key) for key in keys),
            tuple(numbers),
            tuple(tuple(each) for each in cells),
            tuple(tuple(each) for prefixes in others for each in prefixes),
        )
        for keys, numbers, cells, *others in told["groups"]
    ]


def _spelled(key: Key) -> object:
    return {"date": key.isoformat()} if isinstance(key, dt.date) else key


def _read(key: Any) -> Key:
    if isinstance(key, dict):
        return dt.date.fromisoformat(key["date"])
    found: Key = key
    return found


def _order(keys: Keys) -> tuple[tuple[bool, Any], ...]:
    return tuple((key is None, 0 if key is None else key) for key in keys)

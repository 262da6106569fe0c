"""The one place where noise is added: from an engine's whole numbers to what may be seen."""

from __future__ import annotations

import datetime as dt
import json
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from indistinct.errors import InternalError
from indistinct.queries.answers.allotment import Allotment, Noise
from indistinct.queries.answers.evaluation import Released
from indistinct.queries.answers.quantiles import select_quantile
from indistinct.queries.plans.plan import Plan
from indistinct.queries.policy.terms import Key

__all__ = ["Exact", "decode", "encode", "exact_of", "release"]

Keys = tuple[Key, ...]
_LARGEST = 2**61


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
        ordered = sorted(exact.units, key=_order)
        units = np.array([exact.units[keys] for keys in ordered], dtype=np.int64)
        kept = [True] * len(ordered) if all_groups else allotment.selection.keep(units).tolist()
        groups = [keys for keys, keep in zip(ordered, kept, strict=True) if keep]
    nothing = (0,) * len(plan.measures)
    columns = [
        noisy(noise, [exact.numbers.get(keys, nothing)[index] for keys in groups])
        for index, noise in enumerate(allotment.noises)
    ]
    released = []
    for place, keys in enumerate(groups):
        cells = []
        for quantiles, epsilon, weights in zip(plan.quantiles, allotment.quantile_epsilon, exact.weights, strict=True):
            spread = weights.get(keys, {})
            grid = [spread.get(cell, 0) for cell in range(quantiles.cells.number)]
            rows = plan.contribution.rows
            cells.append(
                tuple(select_quantile(grid, share, epsilon, rows, pure=allotment.pure) for share in quantiles.shares)
            )
        released.append(Released(keys, tuple(column[place] for column in columns), tuple(cells)))
    return released


def noisy(noise: Noise, numbers: Sequence[int]) -> list[int]:
    """Every number with noise of its own."""
    if not numbers:
        return []
    if max(abs(each) for each in numbers) < _LARGEST:
        return [int(each) for each in noise.noise.draws(len(numbers)) + np.array(numbers, dtype=object)]
    return [each + noise.noise.draw() for each in numbers]


def encode(released: Sequence[Released]) -> bytes:
    """As it is sealed in a ledger: format 1."""
    groups = [
        [[_spelled(key) for key in each.keys], list(each.numbers), [list(cells) for cells in each.cells]]
        for each in released
    ]
    return zlib.compress(json.dumps({"answer": 1, "groups": groups}, separators=(",", ":")).encode("ascii"))


def decode(sealed: bytes) -> list[Released]:
    """What was sealed."""
    told = json.loads(zlib.decompress(sealed))
    if told.get("answer") != 1:
        raise InternalError("The answer is sealed in a format that this version does not know.")
    return [
        Released(tuple(_read(key) for key in keys), tuple(numbers), tuple(tuple(each) for each in cells))
        for keys, numbers, cells in told["groups"]
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

"""What may be said about a question beside its text: what it costs, and how much of a unit it uses."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

from indistinct.errors import InvalidParameter
from indistinct.queries.policy.terms import Key
from indistinct.queries.pricing import Wish
from indistinct.queries.questions.planner import Wishes
from indistinct.queries.questions.reading import Spoken, is_storable

__all__ = ["Asking", "Options"]


class Options(TypedDict, total=False):
    """The options of `PrivateDatabase.sql`, `explain` and `rehearse`."""

    epsilon: object
    """For noise that is private without any delta; with `delta`, for as much noise as keeps both."""
    rho: object
    """Of zero-concentrated privacy, where the budget counts in that."""
    mu: object
    """Of Gaussian privacy, where the budget counts in its square."""
    delta: object
    """Alone, for the keys of private groups."""
    groups: int | None
    """In at most so many groups a unit is used, within the owner's bound."""
    rows: int | None
    """With at most so many rows in each."""
    keys: Mapping[str, Sequence[Key]] | None
    """The groups of columns, by name: all of them are answered, and no others."""
    cells: int | None
    """Of the grid on which quantiles of real numbers are found: 1,024 to 16,384 unless it is said, by the groups."""
    intervals: bool
    """Whether quantiles are to have intervals of values, even where selecting each by itself has less error."""


@dataclass(frozen=True, slots=True)
class Asking:
    """The options, given or left out."""

    epsilon: object = None
    rho: object = None
    mu: object = None
    delta: object = None
    groups: int | None = None
    rows: int | None = None
    keys: Mapping[str, Sequence[Key]] | None = field(default=None)
    cells: int | None = None
    intervals: bool = False

    def __post_init__(self) -> None:
        for name, value in (("groups", self.groups), ("rows", self.rows), ("cells", self.cells)):
            if value is not None and (type(value) is not int or value < 1):
                raise InvalidParameter(name, value, "be a whole number from 1")
        _check_keys(self.keys)

    def wish(self, spoken: Spoken) -> Wish:
        """About the cost: what is given, else what the text says."""
        told = spoken.options
        return Wish(
            self.epsilon if self.epsilon is not None else told.get("epsilon"),
            self.rho if self.rho is not None else told.get("rho"),
            self.mu,
            self.delta if self.delta is not None else told.get("delta"),
        )

    def wishes(self, spoken: Spoken) -> Wishes:
        """About what is used of a unit."""
        return Wishes(
            groups=self.groups if self.groups is not None else _count(spoken.options, "max_groups_contributed"),
            rows=self.rows if self.rows is not None else _count(spoken.options, "max_rows_contributed"),
            keys=self.keys or {},
            cells=self.cells,
            intervals=self.intervals,
        )


def _check_keys(keys: object) -> None:
    if keys is None:
        return
    if not isinstance(keys, Mapping) or not all(isinstance(name, str) for name in keys):
        raise InvalidParameter("keys", keys, 'be the groups of columns by name, such as {"ward": ["A", "B"]}')
    for name, values in keys.items():
        if isinstance(values, str | bytes) or not isinstance(values, Sequence):
            raise InvalidParameter(f"the keys of {name!r}", values, "be a list of values")
        for key in values:
            if key is not None and not isinstance(key, bool | int | str | dt.date):
                raise InvalidParameter("keys", key, "be whole numbers, text, truth values, dates or None")
            if isinstance(key, str) and not is_storable(key):
                raise InvalidParameter("keys", key, "be text without null characters or halves of characters")


def _count(told: Mapping[str, str], name: str) -> int | None:
    if name not in told:
        return None
    if not told[name].isascii() or not told[name].isdigit():
        raise InvalidParameter(name, told[name], "be a whole number")
    return int(told[name])

"""What a policy file may hold, and how each place of it becomes a part of the policy.

What a value may be is decided by the classes of `policy`; the reader here finds the place of each fault, notes it and
goes on, so that all faults are told at once.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

from indistinct.errors import InvalidParameter
from indistinct.numbers import read_number
from indistinct.queries.policy.terms import (
    ROW,
    Analyst,
    Budget,
    Column,
    Contribution,
    Policy,
    PrivateTable,
    PublicTable,
    Table,
)

__all__ = ["KEYS", "VERSION", "Faulty", "PolicyReader", "Written"]

VERSION: Final = 1

KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "": ("version", "budget", "tables", "analysts"),
    "budget": ("epsilon", "delta", "rule"),
    "tables.NAME": ("source", "unit", "unit_is_row", "public", "contribution", "columns"),
    "tables.NAME.contribution": ("groups", "rows"),
    "tables.NAME.columns.NAME": ("type", "low", "high", "unit_low", "unit_high", "step", "keys", "null_key"),
    "analysts.NAME": ("epsilon", "delta"),
}
"""What each table of the file may hold; NAME is whatever the owner calls it."""

_LARGEST_NUMBER: Final = 10**300
_BARE = re.compile(r"[A-Za-z0-9_-]+")

Made = TypeVar("Made")


class Written(str):
    """A decimal as it is written in the file, to be read exactly."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class _Nothing:
    """What a key is that is not there."""

    def __repr__(self) -> str:
        return "missing"


class Faulty(Exception):
    """What was to be made has a fault, which is noted already."""


@dataclass(slots=True)
class PolicyReader:
    """Reads a parsed file piece by piece; relative sources are taken from the folder."""

    folder: Path | None
    faults: list[InvalidParameter] = field(default_factory=list)

    def policy(self, told: dict[str, Any]) -> Policy:
        """The whole; raises Faulty where there are faults."""
        self._check_keys(told, "", "")
        version = told.get("version", _Nothing())
        if version is True or version != VERSION:
            self._note("version", version, f"be {VERSION}", "It says in which form the file is written.")
        budget = self._tried(partial(self._whole_budget, told))
        tables = [self._tried(partial(self._table, name, each)) for name, each in self._entries(told, "tables", "")]
        analysts = [
            self._tried(partial(self._analyst, name, each))
            for name, each in (self._entries(told, "analysts", "") if "analysts" in told else ())
        ]
        if self.faults or budget is None:
            raise Faulty
        return self._made(
            "",
            lambda: Policy(tables=tuple(filter(None, tables)), budget=budget, analysts=tuple(filter(None, analysts))),
        )

    def _whole_budget(self, told: dict[str, Any]) -> Budget:
        values = self._section(self._needed(told, "budget", ""), "budget", "budget")
        budget = self._budget(values, "budget")
        if "rule" not in values:
            return budget
        rule: Any = self._text(values["rule"], "budget.rule")
        return self._made("budget", lambda: replace(budget, rule=rule))

    def _budget(self, values: dict[str, Any], place: str) -> Budget:
        epsilon = self._number(self._needed(values, "epsilon", place), f"{place}.epsilon")
        delta = self._number(values.get("delta", 0), f"{place}.delta")
        return self._made(place, lambda: Budget(epsilon=epsilon, delta=delta))

    def _analyst(self, name: str, told: object) -> Analyst:
        place = _below("analysts", name)
        values = self._section(told, place, "analysts.NAME")
        budget = self._budget(values, place) if values else None
        return self._made(place, lambda: Analyst(name=name, budget=budget))

    def _table(self, name: str, told: object) -> Table:
        place = _below("tables", name)
        values = self._section(told, place, "tables.NAME")
        source = self._source(values, place)
        columns = self._tried(partial(self._columns, values, place))
        if self._truth(values, "public", place):
            for key in ("unit", "unit_is_row", "contribution"):
                if key in values:
                    self._note(f"{place}.{key}", values[key], "be left out for a public table")
            if columns is None:
                raise Faulty
            return self._made(place, lambda: PublicTable(name=name, columns=columns, source=source))
        if row := self._truth(values, "unit_is_row", place):
            if "unit" in values:
                self._fault(f"{place}.unit", values["unit"], "be left out where unit_is_row is true")
        elif "unit" not in values:
            self._fault(f"{place}.unit", _Nothing(), "name the column that says whose row it is", _NO_UNIT)
        unit = ROW if row else self._text(values["unit"], f"{place}.unit")
        contribution = self._tried(partial(self._contribution, values.get("contribution", {}), f"{place}.contribution"))
        if columns is None or contribution is None:
            raise Faulty
        return self._made(
            place,
            lambda: PrivateTable(name=name, unit=unit, columns=columns, contribution=contribution, source=source),
        )

    def _contribution(self, told: object, place: str) -> Contribution:
        limits = self._section(told, place, "tables.NAME.contribution")
        return self._made(place, lambda: Contribution(**limits))

    def _columns(self, values: dict[str, Any], table: str) -> dict[str, Column]:
        before = len(self.faults)
        entries = list(self._entries(values, "columns", table))
        columns = {name: self._tried(partial(self._column, name, each, table)) for name, each in entries}
        if len(self.faults) > before:
            raise Faulty
        return {name: column for name, column in columns.items() if column is not None}

    def _column(self, name: str, told: object, table: str) -> Column:
        place = _below(f"{table}.columns", name)
        values = self._section(told, place, "tables.NAME.columns.NAME")
        kind: Any = self._text(self._needed(values, "type", place), f"{place}.type")
        bounds = {key: self._number(values[key], f"{place}.{key}") for key in _BOUNDS if key in values}
        return self._made(place, lambda: Column(type=kind, keys=self._keys(values, place), **bounds))

    def _keys(self, values: dict[str, Any], place: str) -> tuple[Any, ...] | None:
        with_null = self._truth(values, "null_key", place)
        if "keys" not in values:
            if with_null:
                self._fault(f"{place}.null_key", True, "go with keys")
            return None
        if not isinstance(values["keys"], list):
            self._fault(f"{place}.keys", values["keys"], "be a list")
        return (*values["keys"], *([None] if with_null else []))

    def _source(self, values: dict[str, Any], place: str) -> str | None:
        if "source" not in values:
            return None
        source = self._text(values["source"], f"{place}.source")
        if self.folder is None or "://" in source or Path(source).is_absolute():
            return source
        return str(self.folder / source)

    def _section(self, told: object, place: str, kind: str) -> dict[str, Any]:
        """A table of the file, each of whose keys is known."""
        if not isinstance(told, dict):
            self._fault(place, told, "be a table of the file", f"Write [{place}] and its keys below.")
        self._check_keys(told, place, kind)
        return {key: value for key, value in told.items() if key in KEYS[kind]}

    def _check_keys(self, told: Mapping[str, Any], place: str, kind: str) -> None:
        known = KEYS[kind]
        for key in told:
            if key not in known:
                near = difflib.get_close_matches(key.lower(), known, 1, 0.5)
                where = f"in {place}" if place else "at the top of the file"
                self._note(
                    f"a key {where}", key, f"be one of {', '.join(known)}", f"Did you mean {near[0]}?" if near else ""
                )

    def _entries(self, told: Mapping[str, Any], key: str, place: str) -> Iterator[tuple[str, object]]:
        """The entries of a table whose keys are the owner's names."""
        where = _below(place, key)
        entries = told.get(key, _Nothing())
        if isinstance(entries, dict) and entries:
            yield from entries.items()
        else:
            self._note(where, entries, "be a table of the file with an entry", f"Write [{where}.NAME] for each.")

    def _needed(self, told: Mapping[str, Any], key: str, place: str) -> Any:
        return told[key] if key in told else self._fault(_below(place, key), _Nothing(), "be given")

    def _number(self, value: object, place: str) -> Any:
        """An int as it is, a decimal as the fraction that it says."""
        if not isinstance(value, int | Written) or isinstance(value, bool):
            self._fault(place, value, "be a number")
        try:
            number = read_number(place, value.replace("_", "")) if isinstance(value, Written) else value
        except InvalidParameter as error:
            self._fault(place, value, error.requirement)
        if not -_LARGEST_NUMBER <= number <= _LARGEST_NUMBER:
            self._fault(place, value, "lie between -10^300 and 10^300")
        return number

    def _text(self, value: object, place: str) -> str:
        if not isinstance(value, str) or isinstance(value, Written) or not value or "\0" in value:
            self._fault(place, value, "be text")
        return value

    def _truth(self, values: Mapping[str, Any], key: str, place: str) -> bool:
        value = values.get(key, False)
        if not isinstance(value, bool):
            self._fault(f"{place}.{key}", value, "be true or false")
        return value

    def _made(self, place: str, make: Callable[[], Made]) -> Made:
        """What `make` makes; if the policy's own classes refuse it, the fault is noted with its place."""
        try:
            return make()
        except InvalidParameter as error:
            known = any(error.name in keys for keys in KEYS.values())
            name = _below(place, error.name) if known else f"the {error.name} of {place or 'the file'}"
            self._fault(name, _shown(error.value), error.requirement, error.instead)

    def _tried(self, make: Callable[[], Made]) -> Made | None:
        try:
            return make()
        except Faulty:
            return None

    def _note(self, place: str, value: object, requirement: str, instead: str = "") -> None:
        told = InvalidParameter(place, value, _on_one_line(requirement), instead=_on_one_line(instead))
        self.faults.append(told)

    def _fault(self, place: str, value: object, requirement: str, instead: str = "") -> NoReturn:
        self._note(place, value, requirement, instead)
        raise Faulty


_BOUNDS = ("low", "high", "unit_low", "unit_high", "step")
_NO_UNIT = "Where each row is a person of its own, say so: unit_is_row = true."


def _shown(value: object) -> object:
    """A value as the file might spell it: fractions as decimals."""
    match value:
        case Fraction():
            return Written(f"{float(value):.12g}")
        case tuple():
            return tuple(_shown(each) for each in value)
    return value


def _below(place: str, key: str) -> str:
    """The place of a key as TOML would spell it."""
    spelled = key if _BARE.fullmatch(key) else '"' + _on_one_line(key.replace("\\", "\\\\").replace('"', '\\"')) + '"'
    return f"{place}.{spelled}" if place else spelled


def _on_one_line(text: str) -> str:
    """Text whose control characters are spelled as TOML spells them: names may hold anything."""
    return "".join(each if each.isprintable() else f"\\U{ord(each):08x}" for each in text)

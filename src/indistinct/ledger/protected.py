"""What a budget is for: which rows, and whose they are. It stands in the row that creates the budget, for ever.

A promise is one for a unit of privacy, and for all that is answered about some data. So the same budget must not be
spent once by patients and once by visits, nor two budgets on the same data: whoever opens data compares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from indistinct.errors import InvalidParameter

__all__ = ["Protected", "decode_protected", "encode_protected"]


@dataclass(frozen=True, slots=True)
class Protected:
    """A table, the column that says whose row it is (None: each row is a unit), and where it is (empty: unknown)."""

    table: str
    unit: str | None
    source: str = ""

    def __post_init__(self) -> None:
        for name, value in (("table", self.table), ("unit", self.unit or ""), ("source", self.source)):
            if not isinstance(value, str) or (name == "table" and not value):  # type: ignore[redundant-expr]  # as callers may be wrong
                raise InvalidParameter(name, value, "be text")


def encode_protected(protects: Sequence[Protected]) -> dict[str, object]:
    """As it is spelled in a row; nothing where nothing is known."""
    return {"protects": [[each.table, each.unit, each.source] for each in protects]} if protects else {}


def decode_protected(body: dict[str, Any]) -> tuple[Protected, ...]:
    """From a row."""
    return tuple(Protected(*each) for each in body.get("protects", ()))
